package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	process "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/store"
)

// TestDemo starts the demonstration, and sends what its command lines send.
func TestDemo(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none")) // it writes no file: the root of a container may be read-only
	ctx, cancel := context.WithCancel(t.Context())
	out, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--demo", "--listen", "127.0.0.1:0", "--drain-delay", "0", "--report", "view"}, nil, w, io.Discard)
		_ = w.Close()
	}()
	var said bytes.Buffer
	for !strings.Contains(said.String(), "/metrics has the sums.") {
		_, err := io.CopyN(&said, out, 1)
		require.NoError(t, err, said.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // until the command ends
	lines := regexp.MustCompile(`curl .*? (http://\S+) -H '.*?' -d '(.*)'`).FindAllStringSubmatch(said.String(), -1)
	require.Len(t, lines, 2)
	for i, want := range []string{"The linker needs 4 GB.", "message_stop"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, lines[i][1], strings.NewReader(lines[i][2]))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		tr := &http.Transport{}
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		tr.CloseIdleConnections()
		require.Contains(t, string(body), want)
		require.Empty(t, resp.Header.Get("X-Laconic-Passed"))
		if i == 0 {
			require.NotEqual(t, resp.Header.Get("X-Laconic-Tokens-Before"), resp.Header.Get("X-Laconic-Tokens-After"))
		}
	}
	page := regexp.MustCompile(`the calls are shown at (\S+)`).FindStringSubmatch(said.String())
	require.NotNil(t, page, said.String())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page[1]+"events", http.NoBody)
	require.NoError(t, err)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	require.NoError(t, err)
	events := bufio.NewReader(resp.Body)
	for _, want := range []string{`"reset":true`, `"window":`, `"window":`} { // the page has both conversations
		line, err := events.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, want)
		_, err = events.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, resp.Body.Close())
	cancel()
	require.Zero(t, <-done)
}

func TestServeUsage(t *testing.T) {
	t.Parallel()
	chain := write(t, "chain: [{use: contextedit}]")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"", 2, "no upstream: want --upstream URL or --routes FILE"},
		{"--demo --upstream http://a", 2, "--demo has an upstream of its own"},
		{"--chain x --upstream http://a y", 2, `"y" is too much`},
		{"--chain x --upstream http://a --fail half", 2, "want open or closed"},
		{"--chain x --upstream http://a --tls-cert c", 2, "want both --tls-cert and --tls-key"},
		{"--chain x --upstream http://a --max-active 0", 2, "above 0"},
		{"--demo --report all", 2, `--report is "all", want view or force`},
		{"--chain x --archive y --upstream http://a", 2, "want the key archive in x"},
		{"--chain x --upstream http://a --log xml", 2, `--log is "xml"`},
		{"--chain " + chain + " --routes " + chain, 1, "is no URL of a server"},
		{"--chain none --upstream http://a", 1, "no such file"},
	} {
		args := append([]string{"serve", "--check"}, strings.Fields(c.args)...)
		var out, errs bytes.Buffer
		require.Equal(t, c.status, run(t.Context(), args, nil, &out, &errs), c.args)
		require.Contains(t, errs.String(), c.want)
	}
	var out bytes.Buffer
	status := run(t.Context(), []string{"serve", "--check", "--chain", chain, "--upstream", "http://127.0.0.1:1"}, nil, &out, io.Discard)
	stdout := out.String()
	require.Equal(t, 1, status)
	require.Contains(t, stdout, "ok: chain "+chain)
	require.Contains(t, stdout, "failed: upstream http://127.0.0.1:1: ")
	out.Reset()
	run(t.Context(), []string{"serve", "--check", "--archive", "off", "--upstream", "http://127.0.0.1:1"}, nil, &out, io.Discard)
	require.Contains(t, out.String(), "ok: chain preset auto")
}

// TestServeArchive: without a chain file, what is removed is kept below the user's state for one person, and recall reads it there;
// for others, and if it is refused, nothing is written.
func TestServeArchive(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	folder := filepath.Join(state, "laconic")
	check := func(args ...string) {
		var out bytes.Buffer
		run(t.Context(), append([]string{"serve", "--check", "--upstream", "http://127.0.0.1:1"}, args...), nil, &out, io.Discard)
		require.Contains(t, out.String(), "ok: archive\n")
	}
	check("--archive", "off")
	check("--listen", ":0")
	require.NoDirExists(t, folder)
	check()
	secret, err := os.ReadFile(filepath.Join(folder, "secret"))
	require.NoError(t, err)
	check("--listen", "localhost:0")

	file, err := gateway.Preset(filepath.Join(folder, "archive"))
	require.NoError(t, err)
	scope := gateway.ScopeOf(secret, "", http.Header{"X-Api-Key": {"mine"}})
	h, err := store.Keep(t.Context(), file.In(scope).Archive, store.Content{Data: said})
	require.NoError(t, err)
	session := serve(t, "--credential", write(t, "x-api-key: mine"))
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "recall", Arguments: map[string]any{"handle": h.String()}})
	require.NoError(t, err)
	text, ok := got.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	require.Contains(t, text.Text, said)
}

// TestServeCheckWrites: the check writes to the stores, and leaves nothing there.
func TestServeCheckWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := write(t, "journal: sqlite:"+dir+"/edits.db\narchive: "+dir+"/contents\nchain: [{use: fit}]\n")
	secret := write(t, "0123456789abcdef")
	check := func() string {
		var out bytes.Buffer
		run(t.Context(), []string{"serve", "--check", "--chain", chain, "--secret", secret, "--upstream", "http://127.0.0.1:1"}, nil, &out, io.Discard)
		return out.String()
	}
	require.Contains(t, check(), "ok: journal\nok: archive\n")
	var kept bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"journal", "ls", "sqlite:" + dir + "/edits.db"}, nil, &kept, io.Discard))
	require.Equal(t, "nothing is kept\n", kept.String())
	require.NoError(t, filepath.WalkDir(dir+"/contents", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			i, _ := e.Info()
			require.Less(t, i.Size(), int64(1000), path)
		}
		return err
	}))
	require.NoError(t, os.RemoveAll(dir+"/contents"))
	require.NoError(t, os.WriteFile(dir+"/contents", nil, 0o600))
	require.Contains(t, check(), "failed: archive: ")
}

// serveArgs has the arguments of a process that TestKilled starts.
const serveArgs = "LACONIC_TEST_SERVE"

// A process that is killed and started again with the same stores and secret sends the same bytes, and one that gets SIGTERM
// ends with status 0 when its request is answered.
func TestKilled(t *testing.T) {
	if args := os.Getenv(serveArgs); args != "" {
		os.Exit(run(context.Background(), strings.Fields(args), nil, os.Stdout, os.Stderr))
	}
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	begun, answered := make(chan bool, 1), make(chan bool)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, _ := io.ReadAll(req.Body)
		mu.Lock()
		bodies = append(bodies, string(data))
		mu.Unlock()
		if req.Header.Get("X-Slow") != "" {
			begun <- true
			<-answered
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`)
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	secret, chain := filepath.Join(dir, "secret"), filepath.Join(dir, "chain.yaml")
	require.NoError(t, os.WriteFile(secret, []byte("0123456789abcdef"), 0o600))
	require.NoError(t, os.WriteFile(chain, []byte("journal: sqlite://"+filepath.Join(dir, "edits.db")+"\narchive: "+filepath.Join(dir, "archive")+
		"\nchain: [{use: contextedit, trigger: {rounds: 2}, keep: 1}, {use: fit}]\n"), 0o600))
	start := func() (*process.Cmd, string) {
		cmd := process.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), serveArgs+"=serve --listen 127.0.0.1:0 --drain-delay 0 --log off --chain "+chain+" --secret "+secret+" --upstream "+up.URL)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		return cmd, "http://" + strings.TrimSpace(strings.TrimPrefix(line, "laconic serves at "))
	}
	ask := func(url, header string, rounds int) (int, error) {
		var b strings.Builder
		b.WriteString(`{"model":"m","messages":[{"role":"user","content":"go on"}`)
		for i := range rounds {
			fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i)
			fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":%q}`, i, strings.Repeat(fmt.Sprint(i, " a line of a file "), 40))
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(b.String()+"]}"))
		if err != nil {
			return 0, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Slow", header)
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		resp, err := tr.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, errors.Join(err, resp.Body.Close())
	}

	first, url := start()
	for n := 1; n <= 5; n++ {
		status, err := ask(url, "", n)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
	}
	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait())
	second, url := start()
	status, err := ask(url, "", 5)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, bodies[4], bodies[5])
	require.Contains(t, bodies[5], "[cleared")

	done := make(chan error, 1)
	go func() {
		status, err := ask(url, "yes", 6)
		if status != http.StatusOK && err == nil {
			err = fmt.Errorf("status %d", status)
		}
		done <- err
	}()
	<-begun
	require.NoError(t, second.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { _, err := ask(url, "", 1); return err != nil }, time.Minute, 10*time.Millisecond, "nothing new is accepted")
	close(answered)
	require.NoError(t, <-done, "what was accepted is answered")
	require.NoError(t, second.Wait())
}
