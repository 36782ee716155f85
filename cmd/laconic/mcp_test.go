package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

const said = "step 14: the linker ran out of memory; exit status 2, as on all nights of this week"

// clearedBy lets the chain of a file clear a result in a scope, as a program does, and returns the handle.
func clearedBy(t *testing.T, path, scope string) store.Handle {
	t.Helper()
	file, err := chainfile.Load(path)
	require.NoError(t, err)
	end, err := file.Open(t.Context(), engine.Options{})
	require.NoError(t, err)
	req, _, err := middleware.Apply(t.Context(), file.In(scope).With(middleware.Env{}), &middleware.Request{Messages: []message.Message{
		message.User("Why does the nightly build fail?"),
		{Role: message.RoleAssistant, Parts: []message.Part{message.ToolCall{ID: "c", Name: "read", Arguments: "{}"}}},
		{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "c", Name: "read", Text: said}}},
		{Role: message.RoleAssistant, Parts: []message.Part{message.Text{Text: "The linker has too little memory."}}},
		message.User("How much does it need?"),
	}})
	require.NoError(t, err)
	require.NoError(t, end())
	result, ok := req.Messages[2].Parts[0].(message.ToolResult)
	require.True(t, ok)
	handles := archived.In(result.Text)
	require.Len(t, handles, 1, result.Text)
	return handles[0]
}

// serve runs the command and returns a client that is connected with it.
func serve(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	var stderr bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- run(context.Background(), append([]string{"mcp"}, args...), fromClient, toClient, &stderr)
		_ = toClient.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, session.Close())
		require.Zero(t, <-status, "the end of the input is the end: %s", stderr.String())
		require.Empty(t, stderr.String())
	})
	return session
}

// recall calls the tool and returns its text.
func recall(t *testing.T, s *mcp.ClientSession, arguments any) (text string, failed bool) {
	t.Helper()
	out, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "recall", Arguments: arguments})
	require.NoError(t, err)
	require.Len(t, out.Content, 1)
	c, ok := out.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	return c.Text, out.IsError
}

// A client finds the tool, and reads by the handle in a placeholder what a chain of another process has cleared; in another
// scope it does not.
func TestMCP(t *testing.T) {
	t.Parallel()
	for name, archive := range map[string]string{
		"folder": filepath.Join(t.TempDir(), "archive"), "database": "sqlite:" + filepath.Join(t.TempDir(), "a.db"),
	} {
		chain := write(t, "archive: '"+archive+"'\nscope: acme\nchain: [{use: contextedit, trigger: {tokens: 1}, keep: none}]")
		own, other := clearedBy(t, chain, "acme"), clearedBy(t, chain, "other")
		secret, credential := write(t, "a secret of the gateway"), write(t, "X-Api-Key: sk-1\n")
		tenant := clearedBy(t, chain, gateway.ScopeOf([]byte("a secret of the gateway"), "acme", http.Header{"X-Api-Key": {"sk-1"}}))
		require.NotEqual(t, own, other, name)
		for _, c := range []struct {
			args []string
			sees store.Handle
			not  store.Handle
		}{
			{[]string{"--chain", chain}, own, other},
			{[]string{"--chain", chain, "--scope", "other"}, other, own},
			{[]string{"--chain", chain, "--secret", secret, "--credential", credential}, tenant, own},
		} {
			s := serve(t, c.args...)
			tools, err := s.ListTools(t.Context(), nil)
			require.NoError(t, err)
			require.Len(t, tools.Tools, 1)
			require.Equal(t, "recall", tools.Tools[0].Name)
			require.True(t, tools.Tools[0].Annotations.ReadOnlyHint)
			schema, err := json.Marshal(tools.Tools[0].InputSchema)
			require.NoError(t, err)
			require.Contains(t, string(schema), `"handle"`)

			for _, handle := range []string{c.sees.String(), archived.Hash(c.sees)} {
				text, failed := recall(t, s, map[string]any{"handle": handle})
				require.False(t, failed, text)
				require.Equal(t, said, text, name)
			}
			text, failed := recall(t, s, map[string]any{"handle": c.not.String()})
			require.False(t, failed)
			require.Contains(t, text, "nothing is kept under "+c.not.String(), name)
		}
	}
}

// What is wrong in a request is answered, and the next one is served.
func TestMCPSurvives(t *testing.T) {
	t.Parallel()
	chain := write(t, "archive: '"+filepath.Join(t.TempDir(), "archive")+"'\nchain: [{use: contextedit, trigger: {tokens: 1}, keep: none}]")
	h := clearedBy(t, chain, "")
	s := serve(t, "--chain", chain)
	for _, wrong := range []any{nil, map[string]any{}, map[string]any{"handle": 3}, map[string]any{"handle": "x", "depth": 1}} {
		text, failed := recall(t, s, wrong)
		require.True(t, failed, "%v", wrong)
		require.Contains(t, text, "handle")
	}
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "forget"})
	require.Error(t, err)
	text, _ := recall(t, s, map[string]any{"handle": h.String()})
	require.Equal(t, said, text)
}

func TestMCPRefuses(t *testing.T) {
	t.Parallel()
	const chain = "chain: [{use: contextedit}]"
	for want, args := range map[string][]string{
		"no chain":                          {"mcp"},
		"1 argument, want none":             {"mcp", "--chain", write(t, chain), "x"},
		"names no folder and no database":   {"mcp", "--chain", write(t, chain)},
		"names no folder and no database, ": {"mcp", "--chain", write(t, "archive: memory\n"+chain)},
		"c.yaml":                            {"mcp", "--chain", "no/such/c.yaml"},
		"or --secret and --credential":      {"mcp", "--chain", write(t, chain), "--secret", "s"},
		"is no header":                      {"mcp", "--chain", write(t, chain), "--secret", write(t, "a secret of 16 bytes"), "--credential", write(t, "sk")},
	} {
		status, stdout, stderr := exec(t, "", args...)
		require.NotZero(t, status)
		require.Empty(t, stdout)
		require.Contains(t, stderr, strings.TrimSuffix(want, " "))
	}
}
