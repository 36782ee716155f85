package gateway_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		edited     bool
		end        string // of the answer
	}{
		"chat":                {chatPath, rounds(5, ""), true, ""},
		"chat, streamed":      {chatPath, rounds(5, `"stream":true,`), true, "data: [DONE]\n\n"},
		"messages":            {"/v1/messages", claudeRounds(5, ""), true, ""},
		"messages, streamed":  {"/v1/messages", claudeRounds(5, `"stream":true,`), true, "message_stop"},
		"responses":           {"/v1/responses", `{"model":"m","input":"a"}`, false, ""},
		"responses, streamed": {"/v1/responses", `{"model":"m","input":"a","stream":true}`, false, "response.completed"},
		"ollama":              {"/api/chat", ollamaRounds(5, `"stream":false,`), true, `"done":true`},
		"ollama, streamed":    {"/api/chat", ollamaRounds(5, ""), true, `"done":true`},
		"gemini":              {"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`, false, ""},
		"gemini, streamed":    {"/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`, false, "STOP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider(t, fakeprovider.Text("All is well."))
			s := listen(t, clears, p.Root, gateway.Options{})
			a := post(t.Context(), t, s.url+c.path, c.body)
			require.NoError(t, a.err)
			require.Equal(t, http.StatusOK, a.status, a.body)
			require.Contains(t, a.body, c.end)
			require.Empty(t, a.header.Get("X-Laconic-Passed"))
			require.NotEmpty(t, a.header.Get("X-Laconic-Added-Us"))
			before, err := strconv.Atoi(a.header.Get("X-Laconic-Tokens-Before"))
			require.NoError(t, err)
			after, err := strconv.Atoi(a.header.Get("X-Laconic-Tokens-After"))
			require.NoError(t, err)
			sent := string(p.Requests()[0].Body)
			format, _, _ := strings.Cut(name, ",")
			if c.edited {
				require.Less(t, after, before)
				require.Less(t, len(sent), len(c.body))
				require.Contains(t, <-s.log, "format="+format+" result=edited")
			} else {
				require.Equal(t, before, after)
				require.Equal(t, c.body, sent)
				require.Contains(t, <-s.log, "format="+format+" result=unchanged")
			}
			metrics := get(t, s.url+"/metrics").body
			require.Contains(t, metrics, `laconic_requests_total{format="`+format+`"`)
			require.Contains(t, metrics, "laconic_added_seconds_count 1\n")
			require.Regexp(t, `(?m)^laconic_added_seconds_sum \S*[1-9]`, metrics)
		})
	}
}

// TestAudit sends 500 requests of ten conversations to a strict server. With an audit they are sent as they came, and log and
// metrics tell of each what is done to it without.
func TestAudit(t *testing.T) {
	t.Parallel()
	figures := regexp.MustCompile(`result=\w+|bytes_\w+=\d+|laconic_edits_total{.*`)
	run := func(kind string) (came, sent, told []string) {
		p, audit := provider(t, fakeprovider.Text("ok")), kind == "msg=audit"
		s := listen(t, clears, p.Root, gateway.Options{Audit: audit})
		for n := range soak.Of(500, 5) {
			came = append(came, strings.Replace(rounds(n/20+1, ""), "go on", fmt.Sprint("talk ", n%10), 1))
			a := post(t.Context(), t, s.url+chatPath, came[n])
			require.True(t, a.status == http.StatusOK && audit == (a.header.Get("X-Laconic-Passed") == "audit"), a.body)
			line := <-s.log
			for !strings.Contains(line, kind) {
				line = <-s.log
			}
			told = append(told, fmt.Sprint(figures.FindAllString(line, -1)))
			sent = append(sent, string(p.Requests()[n].Body))
		}
		require.Empty(t, p.Refused())
		return came, sent, append(told, figures.FindAllString(get(t, s.url+"/metrics").body, -1)...)
	}
	_, _, want := run("msg=request")
	came, sent, got := run("msg=audit")
	require.Equal(t, came, sent)
	require.Greater(t, len(want), len(came), "there are edits")
	require.Equal(t, want, got)
}

// A chain is closed when its audits have ended, and not with its last request.
func TestAuditsEndBeforeClose(t *testing.T) {
	t.Parallel()
	p, ended := provider(t, fakeprovider.Text("ok")), make(chan struct{})
	var audits atomic.Int64
	s := listen(t, clears, p.Root, gateway.Options{Audit: true, Watch: func(mw middleware.Middleware) middleware.Middleware {
		return middleware.Chain(func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				<-ended
				runtime.Gosched()
				audits.Add(1)
				return next(ctx, req, emit)
			}
		}, mw)
	}})
	for range 20 {
		require.Equal(t, http.StatusOK, post(t.Context(), t, s.url+chatPath, rounds(1, "")).status)
	}
	require.NoError(t, s.stop())
	close(ended)
	require.NoError(t, s.Close())
	require.Equal(t, int64(20), audits.Load())
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	require.Contains(t, w.Body.String(), "laconic_audits_total{result=\"unchanged\"} 20\n")
}

// A request that the upstream refuses as too long is sent again, shorter, and counted.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	s := listen(t, "chain: [{use: fit}]", provider(t, fakeprovider.Text("ok")).Root, gateway.Options{})
	a := post(t.Context(), t, s.url+chatPath, rounds(100, ""))
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Contains(t, <-s.log, "retried=true")
	require.Contains(t, get(t, s.url+"/metrics").body, "laconic_retries_total 1\n")
}

// A credential, wherever it stands, is a tenant: no handle of one is in what another one sends. The same one sends the same
// bytes again.
func TestTenants(t *testing.T) {
	t.Parallel()
	p := provider(t, fakeprovider.Text("ok"))
	s := listen(t, clears, p.Root, gateway.Options{ScopeHeader: "X-User"})
	tenants := [][]string{
		{},
		{"Authorization: Bearer a"},
		{"Authorization: Bearer b"},
		{"X-Api-Key: a"},
		{"Api-Key: a"},
		{"X-Goog-Api-Key: a"},
		{"Authorization: Bearer a", "X-Api-Key: a"},
		{"X-User: a"},
		{"X-User: b", "Authorization: Bearer a"},
	}
	owner, sent := map[store.Handle]string{}, map[string]string{}
	for range 2 {
		for _, header := range tenants {
			name := fmt.Sprint(header)
			a := post(t.Context(), t, s.url+chatPath, rounds(5, ""), header...)
			require.Equal(t, http.StatusOK, a.status, a.body)
			all := p.Requests()
			body := string(all[len(all)-1].Body)
			handles := archived.In(body)
			require.NotEmpty(t, handles)
			for _, h := range handles {
				if by, ok := owner[h]; ok {
					require.Equal(t, by, name, "another tenant has this handle")
				}
				owner[h] = name
			}
			if before, ok := sent[name]; ok {
				require.Equal(t, before, body)
			}
			sent[name] = body
		}
	}
	for _, q := range []string{"key=a", "key=b"} {
		post(t.Context(), t, s.url+chatPath+"?"+q, rounds(5, ""))
		all := p.Requests()
		for _, h := range archived.In(string(all[len(all)-1].Body)) {
			require.Empty(t, owner[h])
			owner[h] = q
		}
	}
}

// What is planted is in no line of the log, in no metric and in no error of the gateway.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = "planted-0123456789"
	down := httptest.NewServer(nil)
	down.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	p := provider(t, fakeprovider.Script(
		fakeprovider.Reply{Text: "ok"}, fakeprovider.Reply{Err: &fakeprovider.Error{Status: 500, Message: "it is broken"}},
		fakeprovider.Reply{Text: "ok " + secret, Cut: true},
	))
	for _, c := range []struct {
		chain, upstream string
		closed          bool
	}{
		{clears, p.Root, false},
		{clears, down.URL, false},
		{"archive: " + filepath.Join(file, "sub") + "\nchain: [{use: contextedit, trigger: {rounds: 2}, keep: 1}]", p.Root, true},
		{"chain: [{use: summarize, by: model, trigger: {rounds: 2}}]", p.Root, true},
		{"chain: [{use: summarize, by: model, trigger: {rounds: 2}}]", p.Root, false},
	} {
		s := listen(t, c.chain, c.upstream, gateway.Options{
			FailClosed: c.closed, MaxBody: 20_000, ScopeHeader: "X-User", ConversationHeader: "X-Chat", Secret: []byte("0123456789abcdef"),
		})
		var said strings.Builder
		for _, path := range []string{chatPath, "/v1/" + secret, "/v1/chat/" + secret + "/%zz", "/v1/messages/count_tokens", "//" + secret} {
			for _, body := range []string{
				rounds(5, `"user":"`+secret+`",`), rounds(50, `"user":"`+secret+`",`), `{"` + secret + `":1,"` + secret + `":2}`, secret, `{"messages":"` + secret + `"`,
				`{"model":"` + secret + `","messages":[{"role":"` + secret + `","content":"` + secret + `"}]}`,
			} {
				if strings.Contains(path, "%zz") {
					continue // no client of Go sends it
				}
				a := post(t.Context(), t, s.url+path+"?key="+secret+"&x="+secret, body, "Authorization: Bearer "+secret,
					"X-Api-Key: "+secret, "X-User: "+secret, "X-Chat: "+secret, "Cookie: "+secret, "User-Agent: "+secret, secret+": "+secret)
				if strings.Contains(a.body, "laconic") {
					said.WriteString(a.body)
				}
				for name, values := range a.header {
					if strings.HasPrefix(name, "X-Laconic") {
						fmt.Fprint(&said, name, values)
					}
				}
				said.WriteString(<-s.log)
			}
		}
		said.WriteString(get(t, s.url+"/metrics").body)
		require.Contains(t, said.String(), "result=")
		require.NotContains(t, said.String(), secret)
		require.NotContains(t, said.String(), file)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply fakeprovider.Reply
		more  string
	}{
		"reset in a whole answer":       {fakeprovider.Reply{Text: "some words of an answer", Cut: true}, ""},
		"reset in a frame of a stream":  {fakeprovider.Reply{Text: strings.Repeat("words ", 50), Cut: true, After: 2}, `"stream":true,`},
		"reset in the first frame":      {fakeprovider.Reply{Text: strings.Repeat("words ", 50), Cut: true}, `"stream":true,`},
		"an error of the provider":      {fakeprovider.Reply{Err: &fakeprovider.Error{Status: 529, Message: "overloaded"}}, ""},
		"an error in a stream":          {fakeprovider.Reply{Text: "some words", Err: &fakeprovider.Error{Status: 500}, After: 1}, `"stream":true,`},
		"a refusal that nothing solves": {fakeprovider.Reply{Err: &fakeprovider.Error{Status: 401, Message: "who are you?"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider(t, func(context.Context, *fakeprovider.Request) fakeprovider.Reply { return c.reply })
			s := listen(t, clears, p.Root, gateway.Options{})
			want := post(t.Context(), t, bare(t, p.Root)+chatPath, rounds(1, c.more))
			for range 2 {
				a := post(t.Context(), t, s.url+chatPath, rounds(1, c.more))
				require.Equal(t, want.status, a.status)
				require.Equal(t, want.err == nil, a.err == nil, "%v", a.err)
				require.Equal(t, sameIDs(want.body), sameIDs(a.body))
				result := "result=refused"
				if want.err != nil {
					result = "result=broken"
				} else if want.status == http.StatusOK {
					result = "result=unchanged"
				}
				require.Contains(t, <-s.log, result)
			}
		})
	}
	down := httptest.NewServer(nil)
	down.Close()
	s := listen(t, clears, down.URL, gateway.Options{})
	a := post(t.Context(), t, s.url+chatPath, rounds(1, ""))
	require.Equal(t, http.StatusBadGateway, a.status)
	require.JSONEq(t, `{"type":"error","error":{"type":"api_error","message":"laconic: the upstream has not answered: connection refused"}}`, a.body)
	line := <-s.log
	require.Contains(t, line, "failure=connection_refused")
	require.Regexp(t, `format=chat .*bytes_in=[1-9]`, line, "what was asked is known without an answer")
	require.Equal(t, http.StatusBadRequest, get(t, s.url+"/v1/../secret").status)
}

// bare starts a reverse proxy that does nothing else, and returns its URL.
func bare(tb testing.TB, upstream string) string {
	tb.Helper()
	u, err := url.Parse(upstream)
	require.NoError(tb, err)
	tr := &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true}
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: tr, ErrorLog: silent,
	})
	s.Config.ErrorLog = silent
	s.Start()
	tb.Cleanup(func() { s.Close(); tr.CloseIdleConnections() })
	return s.URL
}

// sameIDs replaces what differs from answer to answer.
func sameIDs(body string) string {
	return regexp.MustCompile(`"(id|created)": ?("[^"]*"|\d+)`).ReplaceAllString(body, "")
}

// The client leaves in the middle of a stream. Then nothing is left of the request; [TestMain] looks for goroutines.
func TestClientGone(t *testing.T) {
	t.Parallel()
	p := provider(t, func(context.Context, *fakeprovider.Request) fakeprovider.Reply {
		return fakeprovider.Reply{Text: strings.Repeat("words ", 50), Hang: true, After: 2}
	})
	s := listen(t, clears, p.Root, gateway.Options{})
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+chatPath, strings.NewReader(rounds(5, `"stream":true,`)))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		tr := &http.Transport{}
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		_, err = io.ReadFull(resp.Body, make([]byte, 10)) // frames are not held back
		require.NoError(t, err)
		cancel()
		_ = resp.Body.Close()
		require.Contains(t, <-s.log, "result=broken")
	}
	require.Eventually(t, func() bool { // the request ends after its line in the log
		return strings.Contains(get(t, s.url+"/metrics").body, "laconic_active_requests 0\n")
	}, time.Minute, time.Millisecond)
}

// A server that stops says so, ends what it has begun, and accepts nothing new.
func TestDrain(t *testing.T) {
	t.Parallel()
	begun, answered := make(chan bool), make(chan bool)
	p := provider(t, func(context.Context, *fakeprovider.Request) fakeprovider.Reply {
		begun <- true
		<-answered
		return fakeprovider.Reply{Text: "done"}
	})
	s := listen(t, clears, p.Root, gateway.Options{DrainDelay: time.Second})
	require.Equal(t, http.StatusOK, get(t, s.url+"/readyz").status)
	require.Equal(t, http.StatusOK, get(t, s.url+"/livez").status)
	got, stopped := make(chan answer, 1), make(chan error, 1)
	go func() { got <- post(t.Context(), t, s.url+chatPath, rounds(5, "")) }()
	<-begun
	go func() { stopped <- s.stop() }()
	require.Eventually(t, func() bool {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
		return w.Code == http.StatusServiceUnavailable
	}, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool { return get(t, s.url+"/livez").err != nil }, time.Minute, 10*time.Millisecond)
	close(answered)
	a := <-got
	require.NoError(t, a.err)
	require.Contains(t, a.body, "done")
	require.NoError(t, <-stopped)
}

func TestReload(t *testing.T) {
	t.Parallel()
	p := provider(t, fakeprovider.Text("ok"))
	s := listen(t, clears, p.Root, gateway.Options{})
	ask := func() string {
		require.Equal(t, http.StatusOK, post(t.Context(), t, s.url+chatPath, rounds(5, "")).status)
		all := p.Requests()
		return string(all[len(all)-1].Body)
	}
	first := ask()
	require.NoError(t, os.WriteFile(s.chain, []byte("chain: [{use: nothing}]"), 0o600))
	require.ErrorContains(t, s.Reload(t.Context()), "nothing")
	require.Equal(t, first, ask())
	require.NoError(t, os.WriteFile(s.chain, []byte(strings.Replace(clears, "rounds: 2", "rounds: 100", 1)), 0o600))
	require.NoError(t, s.Reload(t.Context()))
	require.Equal(t, first, ask(), "edits in memory stay")
	require.NoError(t, os.WriteFile(s.chain, []byte("chain: [{use: contextedit, trigger: {rounds: 100}}]"), 0o600))
	require.NoError(t, s.Reload(t.Context()))
	require.Equal(t, 1, strings.Count(get(t, s.url+"/metrics").body, `laconic_reloads_total{result="done"} 2`))
}

func TestBypassAndPassing(t *testing.T) {
	t.Parallel()
	type got struct{ path, body, encoding, bypass string }
	var mu sync.Mutex
	var seen []got
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, _ := io.ReadAll(req.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, got{req.URL.String(), string(data), req.Header.Get("Accept-Encoding"), req.Header.Get("X-Laconic-Bypass") + req.Header.Get("X-Laconic-Force")})
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(up.Close)
	named, err := gateway.NewRoute("claude", up.URL+"/base")
	require.NoError(t, err)
	s := listen(t, clears, up.URL, gateway.Options{MaxBody: 10_000, Routes: []gateway.Route{named}, RemoveClientLines: true})
	for _, c := range []struct {
		path, body, header, passed, want, encoding string
		edited                                     bool
	}{
		{chatPath + "?a=b", rounds(5, ""), "A: b", "", chatPath + "?a=b", "identity", true},
		{"/claude/v1/messages", claudeRounds(5, ""), "A: b", "", "/base/v1/messages", "identity", true},
		{"/claude/v1/messages", `{"system":"x-anthropic-a: b\nBe brief.","messages":[{"role":"user","content":"a"}]}`, "A: b", "", "/base/v1/messages", "identity", true},
		{chatPath, rounds(5, ""), "X-Laconic-Bypass: true", "bypass", chatPath, "gzip, br", false},
		{chatPath, rounds(5, ""), "X-Headroom-Bypass: 1", "bypass", chatPath, "gzip, br", false},
		{chatPath, rounds(1, ""), "X-Laconic-Force: contextedit", "", chatPath, "identity", false}, // there is nothing to clear
		{chatPath, rounds(5, ""), "X-Laconic-Bypass: true\nX-Laconic-Force: *", "bypass", chatPath, "gzip, br", false},
		{chatPath, rounds(5, ""), "X-Laconic-Bypass: false", "", chatPath, "identity", true},
		{chatPath, rounds(5, ""), "Content-Encoding: zstd", "compressed", chatPath, "gzip, br", false},
		{chatPath, rounds(50, ""), "A: b", "too_long", chatPath, "gzip, br", false},
		{chatPath, `{"messages":[],"messages":[]}`, "A: b", "unreadable", chatPath, "gzip, br", false},
		{"/v1/responses", `{"input":"a","previous_response_id":"b"}`, "A: b", "provider_state", "/v1/responses", "gzip, br", false},
		{"/v1/responses", `{"input":"a","background":true}`, "A: b", "background", "/v1/responses", "gzip, br", false},
		{"/v1/responses", `{"input":[{"type":"item_reference","id":"a"},{"type":"function_call_output","call_id":"b","output":"c"}]}`, "A: b", "provider_state", "/v1/responses", "gzip, br", false},
		{"/v1beta/models/m:generateContent", `{"cachedContent":"a","contents":[{"role":"user","parts":[{"text":"b"}]}]}`, "A: b", "provider_state", "/v1beta/models/m:generateContent", "gzip, br", false},
		{"/v1/messages/count_tokens", `{}`, "A: b", "token_counting", "/v1/messages/count_tokens", "gzip, br", false},
		{"/v1/messages/batches", `{}`, "A: b", "batch", "/v1/messages/batches", "gzip, br", false},
		{"//v1/%2Fembeddings", `{}`, "A: b", "path", "//v1/%2Fembeddings", "gzip, br", false},
		{chatPath, rounds(5, ""), "Content-Digest: sha-256=:x:", "digest", chatPath, "gzip, br", false},
		{chatPath, rounds(5, ""), "Authorization: AWS4-HMAC-SHA256 x", "signed", chatPath, "gzip, br", false},
		{chatPath, rounds(5, ""), "Content-Type: text/plain", "path", chatPath, "gzip, br", false},
	} {
		a := post(t.Context(), t, s.url+c.path, c.body, append([]string{"Accept-Encoding: gzip, br"}, strings.Split(c.header, "\n")...)...)
		require.Equal(t, http.StatusOK, a.status)
		require.Equal(t, c.passed, a.header.Get("X-Laconic-Passed"), c)
		last := seen[len(seen)-1]
		require.Equal(t, c.want, last.path)
		require.Equal(t, c.encoding, last.encoding, c)
		require.Empty(t, last.bypass)
		require.Equal(t, c.edited, c.body != last.body)
	}
}

func TestFailOpenAndClosed(t *testing.T) {
	t.Parallel()
	p := provider(t, fakeprovider.Text("ok"))
	const fails = "chain: [{use: summarize, by: model, trigger: {rounds: 2}}]" // there is no model for it
	open := post(t.Context(), t, listen(t, fails, p.Root, gateway.Options{}).url+chatPath, rounds(5, ""))
	require.Equal(t, http.StatusOK, open.status)
	require.Equal(t, "chain_failed", open.header.Get("X-Laconic-Passed"))
	require.Equal(t, rounds(5, ""), string(p.Requests()[0].Body))
	closed := post(t.Context(), t, listen(t, fails, p.Root, gateway.Options{FailClosed: true}).url+chatPath, rounds(5, ""))
	require.Equal(t, http.StatusBadGateway, closed.status)
	require.Contains(t, closed.body, "the chain failed")
	require.Len(t, p.Requests(), 1)
}

// An archive that outlives the process needs a secret that does.
func TestSecretOfScopes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := filepath.Join(dir, "chain.yaml")
	require.NoError(t, os.WriteFile(chain, []byte("archive: "+filepath.Join(dir, "archive")+"\nchain: [{use: contextedit}]"), 0o600))
	route, err := gateway.NewRoute("", "http://127.0.0.1:1")
	require.NoError(t, err)
	_, err = gateway.New(t.Context(), gateway.Options{Chain: chain, Routes: []gateway.Route{route}})
	require.ErrorContains(t, err, "want a secret")
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	req.Header.Set("X-Api-Key", "k")
	scopes := map[string]bool{}
	for _, secret := range []string{"a", "a", "b"} {
		g, err := gateway.New(t.Context(), gateway.Options{Chain: chain, Routes: []gateway.Route{route}, Secret: []byte(secret)})
		require.NoError(t, err)
		scopes[g.Scope(req)] = true
		require.NoError(t, g.Close())
	}
	require.Len(t, scopes, 2)
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	all, err := gateway.ParseRoutes("# where to\nopenai: https://api.openai.com\n\nclaude: https://api.anthropic.com/x \n")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "claude", all[1].Name)
	require.Equal(t, "https://api.anthropic.com/x", all[1].Upstream.String())
	for text, want := range map[string]string{
		"openai https://a":              "line 1: want a name",
		"a: https://a\na: https://b":    "line 2: a second route a",
		"a: ftp://a":                    "no URL of a server",
		"a: https://u:p@a":              "has a user",
		"v1: https://a":                 `route "v1"`,
		"A b: https://a":                `route "A b"`,
		"a: https://a/?key=planted-123": "host a has a user, a query",
	} {
		_, err := gateway.ParseRoutes(text)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "planted")
	}
	only, err := gateway.NewRoute("a", "http://127.0.0.1:1")
	require.NoError(t, err)
	chain := filepath.Join(t.TempDir(), "chain.yaml")
	require.NoError(t, os.WriteFile(chain, []byte(clears), 0o600))
	g, err := gateway.New(t.Context(), gateway.Options{Chain: chain, Routes: []gateway.Route{only}})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, chatPath, http.NoBody))
	require.Equal(t, http.StatusNotFound, w.Code)
	require.NoError(t, g.Close())
}

func TestTLS(t *testing.T) {
	t.Parallel()
	made := httptest.NewTLSServer(nil)
	made.Close()
	key, err := x509.MarshalPKCS8PrivateKey(made.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	dir := t.TempDir()
	opts := gateway.Options{TLSCert: filepath.Join(dir, "cert"), TLSKey: filepath.Join(dir, "key")}
	require.NoError(t, os.WriteFile(opts.TLSCert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate().Raw}), 0o600))
	require.NoError(t, os.WriteFile(opts.TLSKey, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	s := listen(t, clears, "http://127.0.0.1:1", opts)
	client := made.Client()
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(s.url, "http:", "https:", 1)+"/readyz", http.NoBody)
	require.NoError(t, err)
	resp, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	p := provider(t, fakeprovider.Text("ok"))
	for _, c := range listen(t, clears, p.Root, gateway.Options{}).Check(t.Context()) {
		require.NoError(t, c.Err, c.What)
	}
	all := listen(t, "chain: [{use: summarize, by: model}]", "http://127.0.0.1:1", gateway.Options{}).Check(t.Context())
	require.Error(t, all[0].Err, "there is no model for the summaries")
	require.Error(t, all[len(all)-1].Err)
}

// TestOverpaid: a trigger that breaks the cached prefix in each call costs more than it saves. This is counted, and told once.
func TestOverpaid(t *testing.T) {
	t.Parallel()
	p, err := fakeprovider.Start(fakeprovider.Text("I go on."), fakeprovider.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	s := listen(t, "chain: [{use: contextedit, trigger: {tokens: 1}, keep: 20}]", p.Root, gateway.Options{})
	told := 0
	for n := 18; n < 30; n++ {
		a := post(t.Context(), t, s.url+chatPath, strings.Replace(rounds(n, ""), `"m"`, `"gpt-4o"`, 1))
		require.Equal(t, http.StatusOK, a.status, a.body)
		for line := <-s.log; ; line = <-s.log {
			if !strings.Contains(line, "level=WARN") {
				break
			}
			require.Regexp(t, `cached prefix broken 3 times, cost \$0\.\d+ more than it saved`, line)
			told++
		}
	}
	text := get(t, s.url+"/metrics").body
	require.Equal(t, 1, told, text)
	require.Contains(t, text, "laconic_cache_broken_total 9\n")
	require.Contains(t, text, "laconic_saved_dollars -0.")
}

// TestClock: a conversation whose first message has a clock is told once, with what to do.
func TestClock(t *testing.T) {
	t.Parallel()
	s := listen(t, clears, provider(t, fakeprovider.Text("I go on.")).Root, gateway.Options{})
	told := 0
	for n := range 5 {
		body := strings.Replace(rounds(3, ""), "go on", fmt.Sprintf("It is 2026-11-29 10:0%d. Repair issue 7.", n), 1)
		require.Equal(t, http.StatusOK, post(t.Context(), t, s.url+chatPath, body).status)
		for line := <-s.log; strings.Contains(line, "level=WARN"); line = <-s.log {
			require.Contains(t, line, "the first message of the conversation has changed, in digits alone")
			told++
		}
	}
	require.Equal(t, 1, told)
}
