package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/wire"
	"github.com/laconic-go/laconic/wire/wiretest"
)

// recorder is a provider in memory, and what a transport reports.
type recorder struct {
	mu        sync.Mutex
	bodies    []string
	headers   []http.Header
	decisions []wire.Decision
	events    []middleware.Event

	answer func(n int, body string) *http.Response // nil: a whole answer
}

// RoundTrip implements [http.RoundTripper].
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	r.mu.Lock()
	r.bodies = append(r.bodies, string(data))
	r.headers = append(r.headers, req.Header)
	n := len(r.bodies)
	r.mu.Unlock()
	if r.answer == nil {
		return reply(http.StatusOK, whole), nil
	}
	resp := r.answer(n, string(data))
	if resp == nil {
		return nil, errReset
	}
	return resp, nil
}

var errReset = errors.New("connection reset by peer")

const whole = `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":50,"completion_tokens":3}}`

func reply(status int, body string) *http.Response {
	kind := "application/json"
	if strings.HasPrefix(body, "data:") || strings.HasPrefix(body, "event:") {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

func (r *recorder) options() wire.Options {
	return wire.Options{Observe: func(_ context.Context, d wire.Decision) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.decisions = append(r.decisions, d)
	}}
}

// chain clears all results but the newest, and fits.
func (r *recorder) chain() []middleware.Middleware {
	return []middleware.Middleware{
		middleware.Observe(func(_ context.Context, e middleware.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		}),
		contextedit.New(contextedit.Options{Trigger: trigger.Rounds(2), Keep: 1}), fit.New(fit.Options{}),
	}
}

func (r *recorder) count(k middleware.EventKind) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// rounds is a chat of so many rounds.
func rounds(n int, result string) string {
	var b strings.Builder
	b.WriteString(`{"model":"m", "messages":[{"role":"user","content":"go on"}`)
	for i := range n {
		text := strconv.Quote(fmt.Sprint(i, result))
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":%s}`, i, text)
	}
	b.WriteString(`],"max_tokens":10}`)
	return b.String()
}

var long = strings.Repeat("some words of a result ", 40)

const chatURL = "https://host/v1/chat/completions"

func post(tb testing.TB, url, body string) *http.Request {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(tb, err)
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	return req
}

// do sends a request and reads the answer.
func do(tb testing.TB, rt http.RoundTripper, req *http.Request) (int, string) {
	tb.Helper()
	resp, err := rt.RoundTrip(req)
	require.NoError(tb, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(tb, err)
	require.NoError(tb, resp.Body.Close())
	return resp.StatusCode, string(data)
}

// sameBytes compares texts that are JSON.
func sameBytes(tb testing.TB, want, got string) {
	tb.Helper()
	if want != got {
		tb.Fatalf("want %s, got %s", want, got)
	}
}

func TestEdited(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	rt := wire.Transport(r, r.options(), r.chain()...)
	wiretest.Used(t, rt)
	short, body := rounds(1, long), rounds(4, long)
	_, got := do(t, rt, post(t, chatURL, short))
	sameBytes(t, whole, got)
	sameBytes(t, short, r.bodies[0]) // nothing is edited
	_, got = do(t, rt, post(t, chatURL, body))
	sameBytes(t, whole, got)
	require.Equal(t, 1, strings.Count(r.bodies[1], long), "the newest result is kept")
	require.True(t, json.Valid([]byte(r.bodies[1])))
	require.Contains(t, fmt.Sprint(r.decisions[0].Warnings), `fit: misconfigured: the window of model "m" is not known`)
	for i := range r.decisions {
		r.decisions[i].Warnings = nil
	}
	require.Equal(t, []wire.Decision{
		{Format: "chat", BytesIn: int64(len(short)), BytesOut: int64(len(short)), Added: r.decisions[0].Added},
		{Format: "chat", Edited: true, BytesIn: int64(len(body)), BytesOut: int64(len(r.bodies[1])), Added: r.decisions[1].Added},
	}, r.decisions)
	require.Equal(t, 2, r.count(middleware.Called))
}

// The header forces edits, and never reaches the provider.
func TestForceHeader(t *testing.T) {
	t.Parallel()
	body := rounds(4, long)
	for header, edited := range map[string]bool{"contextedit": true, "trim, contextedit": true, "*": true, "trim": false, "": false} {
		r := &recorder{}
		rt := wire.Transport(r, wire.Options{}, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1 << 30), Keep: 1}))
		req := post(t, chatURL, body)
		req.Header.Set(wire.ForceHeader, header)
		do(t, rt, req)
		require.Equal(t, edited, body != r.bodies[0], header)
		require.Empty(t, r.headers[0].Values(wire.ForceHeader))
		require.Equal(t, header, req.Header.Get(wire.ForceHeader), "the caller's request is not written to")
		other := post(t, "https://host/v1/embeddings", `{}`)
		other.Header.Set(wire.ForceHeader, header)
		do(t, rt, other)
		require.Empty(t, r.headers[1].Values(wire.ForceHeader))
	}
}

// Hints of a function reach the middlewares, in each call, and change no bytes that are sent.
func TestHints(t *testing.T) {
	t.Parallel()
	r, got := &recorder{}, []message.Hints(nil)
	see := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			got = append(got, req.Messages[0].Hints)
			return next(ctx, req, emit)
		}
	}
	hints := func(m message.Message) message.Hints {
		return message.Hints{Memory: m.Role == message.RoleUser, Priority: message.PriorityLow, Pinned: m.Role == message.RoleTool}
	}
	rt := wire.Transport(r, wire.Options{Hints: hints}, see, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(1), Keep: 1}))
	for n := 2; n < 4; n++ {
		do(t, rt, post(t, chatURL, rounds(n, long)))
		sameBytes(t, rounds(n, long), r.bodies[n-2]) // all results are pinned
	}
	low := message.Hints{Memory: true, Priority: message.PriorityLow}
	require.Equal(t, []message.Hints{low, low}, got)
}

// TestMadeAnew: a transport for each request is noticed, and said once.
func TestMadeAnew(t *testing.T) {
	t.Parallel()
	var warnings []string
	for n := range 4 {
		r := &recorder{}
		body := strings.Replace(rounds(n, long), "go on", "a conversation of many transports", 1)
		do(t, wire.Transport(r, r.options(), contextedit.New(contextedit.Options{Trigger: trigger.Rounds(9)})), post(t, chatURL, body))
		warnings = append(warnings, r.decisions[0].Warnings...)
	}
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "make one for all requests")
}

// TestWarnings: a decision has what the chain says once, and an Env of the chain is not in the way of one that was not set.
func TestWarnings(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	var seen middleware.Env
	look := middleware.Middleware(func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			seen = req.View().Env()
			return next(ctx, req, emit)
		}
	})
	r := &recorder{}
	rt := wire.Transport(r, r.options(), middleware.With(middleware.Env{Archive: archive},
		contextedit.New(contextedit.Options{Trigger: trigger.Fraction(0.75)}), fit.New(fit.Options{}), look))
	body := strings.Replace(rounds(1, long), `"model":"m"`, `"model":"gpt-4.1-mini"`, 1)
	for range 2 {
		do(t, rt, post(t, strings.Replace(chatURL, "host", "another-host", 1), body))
	}
	require.Equal(t, []string{"contextedit: notice: nothing is edited below 785,675 tokens (three quarters of the room of gpt-4.1-mini)"}, r.decisions[0].Warnings)
	require.NotContains(t, fmt.Sprint(r.decisions[1].Warnings), "below")
	require.Equal(t, store.Store(archive), seen.Archive)
}

func TestUntouched(t *testing.T) {
	t.Parallel()
	body := rounds(4, long)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, c := range map[string]struct {
		url, body, reason string
		change            func(*http.Request)
	}{
		"another path":    {url: "https://host/v1/embeddings", reason: "the path is of no known API"},
		"token counting":  {url: "https://host/v1/messages/count_tokens", reason: "token counting"},
		"Gemini counting": {url: "https://host/v1beta/models/g:countTokens", reason: "token counting"},
		"a batch":         {url: "https://host/v1/messages/batches", reason: "a batch"},
		"compressed":      {change: header("Content-Encoding", "gzip"), reason: "the body is compressed"},
		"signed": {
			url: "https://host/model/anthropic.claude-x/invoke", change: header("Authorization", "AWS4-HMAC-SHA256 Credential=x"),
			reason: "the body is signed: put the chain before the signing, with wire.Middleware before bedrock.WithConfig",
		},
		"a digest":      {change: header("Content-Digest", "sha-256=:x:"), reason: "the headers have a digest of the body"},
		"too long":      {body: rounds(40, long), reason: "the body is longer than MaxBody"},
		"no length":     {body: rounds(40, long), change: func(r *http.Request) { r.ContentLength = -1 }, reason: "the body is longer than MaxBody"},
		"not JSON":      {body: `{"messages":[}`, reason: "codec: chat: line 1, column 14: not JSON: invalid character '}' looking for beginning of value"},
		"twice":         {body: `{"messages":[{"role":"user","content":"a"}],"messages":[]}`, reason: "codec: chat: line 1, column 45: messages is here twice: want each key once"},
		"twice within":  {body: `{"messages":[{"role":"user","role":"user","content":"a"}]}`, reason: "codec: chat: line 1, column 29: messages[0].role is here twice: want each key once"},
		"functions":     {body: `{"messages":[{"role":"function","content":"a"}]}`, reason: "codec: chat: messages[0].role is function, the form before tool calls: want role tool with the tool_call_id of its call"},
		"a mark":        {body: "\ufeff" + body, reason: "codec: chat: begins with a byte order mark, which JSON has not"},
		"no messages":   {body: `{"prompt":"a"}`, reason: "codec: chat: messages is missing"},
		"a part":        {url: "https://host/v1/responses", body: `{"input":"a","previous_response_id":"r"}`, reason: "previous_response_id: the provider has the rest of the conversation"},
		"background":    {url: "https://host/v1/responses", body: `{"input":"a","background":true}`, reason: "background: the answer is fetched by other requests"},
		"item_referred": {url: "https://host/v1/responses", body: `{"input":[{"type":"item_reference","id":"fc_1"},{"type":"function_call_output","call_id":"c","output":"x"}]}`, reason: "item_reference: the provider has the call of a result"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			opts := r.options()
			opts.MaxBody = 20_000
			rt := wire.Transport(r, opts, r.chain()...)
			if c.url == "" {
				c.url = chatURL
			}
			if c.body == "" {
				c.body = body
			}
			req := post(t, c.url, c.body)
			if c.change != nil {
				c.change(req)
			}
			_, got := do(t, rt, req)
			sameBytes(t, whole, got)
			require.Equal(t, []string{c.body}, r.bodies)
			require.Len(t, r.decisions, 1)
			require.Equal(t, c.reason, r.decisions[0].Reason)
			require.Zero(t, r.count(middleware.Called))
		})
	}
}

// What is not a POST with JSON passes, and nobody is told.
func TestOtherTraffic(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	rt := wire.Transport(r, r.options(), r.chain()...)
	req := post(t, chatURL, "a=b")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	_, got := do(t, rt, req)
	sameBytes(t, whole, got)
	require.Empty(t, r.decisions)
}

func TestPaths(t *testing.T) {
	t.Parallel()
	messages := `{"max_tokens":5,"messages":[{"role":"user","content":"a"}]}`
	contents := `{"contents":[{"parts":[{"text":"a"}]}]}`
	for url, c := range map[string]struct{ format, body, model string }{
		"https://host/openai/deployments/dep-1/chat/completions?api-version=1":                                       {"chat", rounds(0, ""), "m"},
		"https://host/openai/deployments/dep-1/responses":                                                            {"responses", `{"input":"a"}`, "dep-1"},
		"http://host:11434/api/chat":                                                                                 {"ollama", `{"model":"q","messages":[{"role":"user","content":"a"}]}`, "q"},
		"https://host/anthropic/v1/messages":                                                                         {"messages", messages, ""},
		"https://host/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4@1:streamRawPredict":        {"messages", messages, "claude-opus-4@1"},
		"https://bedrock/model/anthropic.claude-sonnet-4-5-v1:0/invoke":                                              {"messages", messages, "anthropic.claude-sonnet-4-5-v1:0"},
		"https://host/v1beta/models/gemini-3-pro:streamGenerateContent?$alt=json;enum-encoding=int":                  {"gemini", contents, "gemini-3-pro"},
		"https://host/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3-pro:generateContent?alt=json": {"gemini", contents, "gemini-3-pro"},
	} {
		r := &recorder{}
		opts, model := r.options(), "none"
		opts.Budget = func(m string) *middleware.Budget { model = m; return nil }
		_, got := do(t, wire.Transport(r, opts, r.chain()...), post(t, url, c.body))
		sameBytes(t, whole, got)
		require.Equal(t, []string{c.body}, r.bodies)
		require.Empty(t, r.decisions[0].Reason, url)
		require.Equal(t, c.format, r.decisions[0].Format)
		require.Equal(t, c.model, model)
	}
}

const tooLong = `{"error":{"message":"This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens.","code":"context_length_exceeded"}}`

// The provider refuses the request as too long: fit shortens it before the client hears of it.
func TestRefusedAsTooLong(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	r.answer = func(n int, _ string) *http.Response {
		if n == 1 {
			return reply(http.StatusBadRequest, tooLong)
		}
		return reply(http.StatusOK, whole)
	}
	rt := wire.Transport(r, r.options(), fit.New(fit.Options{}))
	status, got := do(t, rt, post(t, chatURL, rounds(9, long)))
	require.Equal(t, http.StatusOK, status)
	sameBytes(t, whole, got)
	require.Len(t, r.bodies, 2)
	require.Less(t, len(r.bodies[1]), len(r.bodies[0]))
	require.Len(t, r.decisions, 1)
	require.True(t, r.decisions[0].Retried)
}

// An error of the provider reaches the client as it was sent, and a second request has the same bytes.
func TestProviderErrors(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadRequest} {
		r := &recorder{}
		r.answer = func(n int, _ string) *http.Response {
			if n == 1 {
				return reply(status, `{"error":{"message":"no"}}`)
			}
			return reply(http.StatusOK, whole)
		}
		rt := wire.Transport(r, r.options(), r.chain()...)
		got, body := do(t, rt, post(t, chatURL, rounds(4, long)))
		require.Equal(t, status, got)
		sameBytes(t, `{"error":{"message":"no"}}`, body)
		do(t, rt, post(t, chatURL, rounds(4, long)))
		require.Equal(t, r.bodies[0], r.bodies[1])
		require.Less(t, len(r.bodies[0]), len(rounds(4, long)))
	}
}

// Scopes share no edits, and one transport serves them.
func TestScope(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	opts := r.options()
	opts.Scope = func(req *http.Request) string { return req.Header.Get("Tenant") }
	rt := wire.Transport(r, opts, r.chain()...)
	for _, tenant := range []string{"a", "a", "b"} {
		req := post(t, chatURL, rounds(4, long))
		req.Header.Set("Tenant", tenant)
		do(t, rt, req)
	}
	require.Equal(t, r.bodies[0], r.bodies[1])
	require.Equal(t, 2, r.count(middleware.Edited), "one edit in each scope")
}

// Claude Code's line is other in each request. It is removed for upstreams that are not Anthropic's, if that is asked for.
func TestClientLinesAreRemoved(t *testing.T) {
	t.Parallel()
	const line = "x-anthropic-billing-header: cc_version=2.1.177; cch=00001;"
	body := func(system string) string {
		return `{"model":"kimi-k2.5","max_tokens":9,"system":` + system + `,"messages":[{"role":"user","content":"Why?"}]}`
	}
	agent := `[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]`
	for _, c := range []struct{ url, system, want string }{
		{"https://host/v1/messages", `[{"type":"text","text":"` + line + `"},` + agent[1:], agent},
		{"https://host/v1/messages", `"` + line + `\nBe brief."`, `"Be brief."`},
		{"https://host/v1/messages", `"` + line + `"`, ""},
		{"https://host/v1/messages", `"Be brief.\n` + line + `"`, `"Be brief.\n` + line + `"`},
		{"https://api.anthropic.com/v1/messages", `"` + line + `"`, `"` + line + `"`},
	} {
		r := &recorder{}
		opts := r.options()
		opts.RemoveClientLines = true
		do(t, wire.Transport(r, opts, r.chain()...), post(t, c.url, body(c.system)))
		want := body(c.want)
		if c.want == "" {
			want = strings.Replace(want, `"system":,`, "", 1)
		}
		sameBytes(t, want, r.bodies[0])
		require.Equal(t, c.system != c.want, r.decisions[0].Edited)
	}
}

// A pause that is longer than the provider keeps its cache makes edits free: the time is that of the requests.
func TestPauseOfAClient(t *testing.T) {
	t.Parallel()
	for pause, want := range map[time.Duration]int{4 * time.Minute: 0, 6 * time.Minute: 1} {
		now, r := time.Unix(1_800_000_000, 0), &recorder{}
		opts := r.options()
		opts.Env.Clock = func() time.Time { return now }
		rt := wire.Transport(r, opts, contextedit.New(contextedit.Options{Trigger: trigger.Cold(trigger.EconomyOptions{TTL: 5 * time.Minute}), Keep: 1}))
		for n := 2; n < 5; n++ {
			do(t, rt, post(t, chatURL, rounds(n, long)))
			now = now.Add(time.Second)
		}
		now = now.Add(pause)
		do(t, rt, post(t, chatURL, rounds(5, long)))
		edited := 0
		for _, d := range r.decisions {
			if d.Edited {
				edited++
			}
		}
		require.Equal(t, want, edited, "after %v", pause)
	}
}
