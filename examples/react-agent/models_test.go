package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// reads is a model that reads one file again and again and then answers.
func reads(calls int) fakeprovider.Responder {
	return fakeprovider.ToolLoop{
		Tool: "read_file", Calls: calls, Answer: fakeprovider.Text("None has."),
		Arguments: func(n int) string { return fmt.Sprintf(`{"path": "tree/a.go", "from": %d}`, 60*n-59) },
	}.Responder()
}

// A model that makes one invalid call again and again is stopped.
func TestRepeatedCalls(t *testing.T) {
	stuck := fakeprovider.ToolLoop{
		Tool: "read_file", Calls: 2000, Answer: fakeprovider.Text("Done."), Arguments: func(int) string { return `{"path": 7}` },
	}.Responder()
	server, err := fakeprovider.Start(stuck, fakeprovider.Options{Models: map[string]int{"gpt-4o": 8000}, Key: "a key"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Setenv("OPENAI_API_KEY", "a key")
	t.Setenv("OPENAI_BASE_URL", server.URL)
	dir := write(t, map[string]string{"a.go": "package a\n"})
	status, _, stderr := exec(t, "-model", "openai:gpt-4o", "-task", "Which?", "-dir", dir, "-window", "8000")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, `the model repeats itself: the last 5 answers made the same calls with the same results: read_file({"path": 7})`)
	require.Len(t, server.Requests(), 5)
}

// A real client asks a strict provider, and the chain keeps it within the
// window.
func TestOpenAI(t *testing.T) {
	server, err := fakeprovider.Start(reads(20), fakeprovider.Options{Models: map[string]int{"gpt-4o": 8000}, Key: "a key"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Setenv("OPENAI_API_KEY", "a key")
	t.Setenv("OPENAI_BASE_URL", server.URL)
	dir := write(t, map[string]string{"a.go": strings.Repeat("// a line that says nothing at all\n", 1300)})

	const task = "Which package has no tests?"
	args := []string{"-model", "openai:gpt-4o", "-task", task, "-dir", dir, "-window", "8000"}
	status, stdout, stderr := exec(t, append(args, "-json")...)
	require.Zero(t, status, stderr)
	var r report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.JSONEq(t, `"None has."`, string(r.Answer))
	require.Equal(t, 21, r.ModelCalls)
	require.NotEmpty(t, r.Edits)
	require.Zero(t, r.Violations)
	require.Empty(t, server.Refused())
	require.Contains(t, string(server.Requests()[0].Body), task)

	status, stdout, stderr = exec(t, args...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "react-agent openai:gpt-4o")
	require.NotContains(t, stdout, "stand-in")

	status, _, stderr = exec(t, append(args, "-chain", "none")...)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "maximum context length is 8000 tokens")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)

	t.Setenv("OPENAI_API_KEY", "another")
	status, _, stderr = exec(t, args...)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "401")
}

// A real model writes the summaries, and the stand-in goes on with them.
func TestSummarizer(t *testing.T) {
	const said = "The agent reads the tree page by page and has found nothing so far."
	server, err := fakeprovider.Start(func(context.Context, *fakeprovider.Request) fakeprovider.Reply {
		return fakeprovider.Reply{Text: "Goal\nThe audit.\nCurrent state\nread_file.\n" +
			"Decisions and reasons\n" + said + "\nErrors and repairs\nReading.\nNext steps\nRead on."}
	}, fakeprovider.Options{Models: map[string]int{"gpt-4o": 12_000}, Key: "a key"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Setenv("OPENAI_API_KEY", "a key")
	t.Setenv("OPENAI_BASE_URL", server.URL)
	dir := large(t)
	status, stdout, stderr := exec(t, "-summarizer", "openai:gpt-4o", "-dir", dir, "-json")
	require.Zero(t, status, stderr)
	r, a := decode(t, stdout)
	require.Equal(t, byAST(t, dir), a)
	require.Empty(t, server.Refused())
	i := slices.IndexFunc(r.Edits, func(e edits) bool { return e.By == "summarize" })
	require.GreaterOrEqual(t, i, 0, "%v", r.Edits)
	require.Len(t, server.Requests(), r.Edits[i].Count, "one request for each summary")
	require.Contains(t, string(server.Requests()[len(server.Requests())-1].Body), said, "the next summary begins with the one before")
}

// A missing key is one line that says what to set.
func TestNoKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	status, stdout, stderr := exec(t, "-model", "openai:gpt-4o")
	require.Equal(t, 2, status)
	require.Empty(t, stdout)
	require.Equal(t, "react-agent: -model openai:gpt-4o needs a key: set OPENAI_API_KEY, and OPENAI_BASE_URL for an endpoint other than OpenAI's\n", stderr)
}

// Ollama is told the window, and reached with or without http:// in the host.
func TestOllama(t *testing.T) { //nolint:paralleltest // sets the environment
	var asked struct {
		Model   string `json:"model"`
		Options struct {
			Window int `json:"num_ctx"`
		} `json:"options"`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &asked)
		}
		if err != nil || r.URL.Path != "/api/chat" {
			http.Error(w, fmt.Sprint(r.URL.Path, " ", err), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, `{"model":"qwen3","message":{"role":"assistant","content":"Hel"},"done":false}`)
		fmt.Fprintln(w, `{"model":"qwen3","message":{"role":"assistant","content":"lo."},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":2}`)
	}))
	t.Cleanup(server.Close)
	for _, host := range []string{server.URL, strings.TrimPrefix(server.URL, "http://")} {
		t.Setenv("OLLAMA_HOST", host)
		status, stdout, stderr := exec(t, "-model", "ollama:qwen3", "-task", "Say hello.", "-json", "-window", "9000")
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, `"answer": "Hello."`)
		require.Equal(t, "qwen3", asked.Model)
		require.Equal(t, 9000, asked.Options.Window)
	}
	server.Close()
	status, _, stderr := exec(t, "-model", "ollama:qwen3")
	require.Equal(t, 1, status)
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
}

func TestStandinStreams(t *testing.T) {
	t.Parallel()
	req := &middleware.Request{Messages: []message.Message{message.User(audits)}}
	text, calls := "", 0
	resp, err := play(t, "../../react", window)(t.Context(), req, func(d middleware.Delta) error {
		text += d.Text
		if d.Call != nil {
			require.Equal(t, calls, d.Call.Index)
			calls++
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, resp.Message.Text(), text)
	require.Equal(t, 2, calls)
	require.Equal(t, middleware.StopTools, resp.Stop)
	require.Equal(t, tokens.Meter{}.Request(req.Messages, nil), resp.Usage.Input)
	require.Positive(t, resp.Usage.Output)

	whole, err := play(t, "../../react", window)(t.Context(), req, nil)
	require.NoError(t, err)
	require.Equal(t, resp, whole)

	gone := errors.New("gone")
	_, err = play(t, "../../react", window)(t.Context(), req, func(middleware.Delta) error { return gone })
	require.ErrorIs(t, err, gone)
}

func TestStandinRejects(t *testing.T) {
	t.Parallel()
	call := message.ToolCall{ID: "1", Name: "search", Arguments: "{}"}
	cases := map[string]struct {
		msgs   []message.Message
		window int
		kind   middleware.ErrorKind
	}{
		"no result": {[]message.Message{message.User(audits), message.Assistant(call)}, window, middleware.Invalid},
		"no task":   {[]message.Message{message.System(system)}, window, middleware.Invalid},
		"nothing":   {nil, window, middleware.Invalid},
		"too long":  {[]message.Message{message.User(audits)}, 10, middleware.Overflow},
	}
	for name, c := range cases {
		resp, err := play(t, "../../react", c.window)(t.Context(), &middleware.Request{Messages: c.msgs}, nil)
		require.Nil(t, resp, name)
		require.Equal(t, c.kind, middleware.KindOf(err), "%s: %v", name, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := play(t, "../../react", window)(ctx, &middleware.Request{Messages: []message.Message{message.User(audits)}}, nil)
	require.ErrorIs(t, err, context.Canceled)
}
