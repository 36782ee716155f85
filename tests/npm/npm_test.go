// Package npm_test runs clients of npm against the gateway and a strict provider. `make clients` installs them.
package npm_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/gateway"
)

const chain = "window: 9000\nchain: [{use: microcompact}, {use: contextedit}, {use: fit}]\n"

// folder has the clients. It is outside of the tree of the module, in which tests look for files.
const folder = "../../.tools/npm"

// run runs the script in a process that ends with the test.
func run(t *testing.T, args ...string) (out []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{"clients.mjs"}, args...)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "OTEL_SDK_DISABLED=true", "LANGSMITH_TRACING=false")
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	return out
}

// Sixty calls of a tool with each client, in a window for about a quarter of them: through the gateway they are answered,
// without it they are refused, or with Ollama cut. The provider checks in front of each thinking block of Claude that
// nothing has changed.
func TestClients(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node: install Node.js 20 or later")
	}
	if _, err := os.Stat(folder + "/node_modules"); err != nil {
		t.Skip("the clients are not installed: run make clients, which needs the registry of npm")
	}
	script, err := os.ReadFile("clients.mjs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(folder+"/clients.mjs", script, 0o600))
	var names []string
	require.NoError(t, json.Unmarshal(run(t, "list"), &names))
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, through := range []bool{false, true} {
				provider, url := start(t, name, through)
				var got struct {
					Calls  int    `json:"calls"`
					Answer string `json:"answer"`
					Error  string `json:"error"`
				}
				require.NoError(t, json.Unmarshal(run(t, name, url), &got))
				cut := 0
				for _, r := range provider.Requests() {
					if r.Request != nil {
						cut += r.Request.Cut
					}
				}
				if !through {
					require.True(t, len(provider.Refused()) == 1 && got.Error != "" || cut > 0, "%+v", got)
					continue
				}
				require.Empty(t, got.Error)
				require.Equal(t, 60, got.Calls)
				require.Equal(t, "done", got.Answer)
				require.Zero(t, cut)
				require.LessOrEqual(t, len(provider.Refused()), 1, "one refusal at most, from which the window is learned")
				require.Len(t, provider.Requests(), 31+len(provider.Refused()), "no client has repeated a request")
			}
		})
	}
}

// start starts a provider for a client, and a gateway in front of it if it is wanted.
func start(t *testing.T, client string, through bool) (p *fakeprovider.Server, url string) {
	t.Helper()
	opts := fakeprovider.Options{Models: map[string]int{"gpt-4o": 9000, "claude-sonnet-5-5": 9000, "qwen3": 9000}}
	if strings.Contains(strings.ToLower(client), "anthropic") {
		opts.Bound = true
	}
	p, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: 60, Parallel: 2}.Responder(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	if !through {
		return p, p.Root
	}
	file := filepath.Join(t.TempDir(), "chain.yaml")
	require.NoError(t, os.WriteFile(file, []byte(chain), 0o600))
	route, err := gateway.NewRoute("", p.Root)
	require.NoError(t, err)
	g, err := gateway.New(t.Context(), gateway.Options{Chain: file, Routes: []gateway.Route{route}})
	require.NoError(t, err)
	server := httptest.NewServer(g)
	t.Cleanup(func() { server.Close(); require.NoError(t, g.Close()) })
	return p, server.URL
}
