package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/wire"
)

// talk is a client that runs a loop of a tool, on the bytes of the wire.
type talk struct {
	path, first string
	then        func(request, answer map[string]any) (calls int) // adds an answer and the results of its calls
}

func items(v any) []any { all, _ := v.([]any); return all }

func members(v any) map[string]any { o, _ := v.(map[string]any); return o }

var talks = map[string]talk{
	"messages": {
		"/v1/messages",
		`{"model":"claude-sonnet-5-5","max_tokens":200,"system":"Be brief.","tools":[{"name":"read","input_schema":{"type":"object","properties":{}}}],` +
			`"messages":[{"role":"user","content":"Read all."}]}`,
		func(request, answer map[string]any) (calls int) { return readOn(request, answer, result) },
	},
	"messages of an agent": {
		"/v1/messages",
		`{"model":"claude-sonnet-5-5","max_tokens":200,"system":"Be brief.","tools":[{"name":"read","input_schema":{"type":"object","properties":{}}}],` +
			`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},` +
			`"messages":[{"role":"user","content":"Read all."},{"role":"system","content":"The sandbox is on."}]}`,
		func(request, answer map[string]any) (calls int) {
			calls = readOn(request, answer, result)
			if messages := items(request["messages"]); len(messages) == 8 {
				request["messages"] = append(messages, map[string]any{"role": "system", "content": "The user is away."})
			}
			return calls
		},
	},
	"responses": {
		"/v1/responses",
		`{"model":"gpt-4o","instructions":"Be brief.","store":false,"tools":[{"type":"function","name":"read","parameters":{"type":"object","properties":{}}}],` +
			`"input":[{"role":"user","content":"Read all."}]}`,
		func(request, answer map[string]any) (calls int) {
			input := append(items(request["input"]), items(answer["output"])...)
			for _, it := range items(answer["output"]) {
				if it := members(it); it["type"] == "function_call" {
					input = append(input, map[string]any{"type": "function_call_output", "call_id": it["call_id"], "output": fmt.Sprint(it["call_id"], result)})
					calls++
				}
			}
			request["input"] = input
			return calls
		},
	},
	"chat": {
		chatPath,
		`{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{}}}}],` +
			`"messages":[{"role":"user","content":"Read all."}]}`,
		func(request, answer map[string]any) (calls int) {
			m := members(members(items(answer["choices"])[0])["message"])
			messages := append(items(request["messages"]), m)
			for _, call := range items(m["tool_calls"]) {
				id := members(call)["id"]
				messages = append(messages, map[string]any{"role": "tool", "tool_call_id": id, "content": fmt.Sprint(id, result)})
				calls++
			}
			request["messages"] = messages
			return calls
		},
	},
}

// readOn adds an answer of Messages and the results of its calls.
func readOn(request, answer map[string]any, text string) (calls int) {
	var results []any
	for _, b := range items(answer["content"]) {
		if b := members(b); b["type"] == "tool_use" {
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": fmt.Sprint(b["id"], text)})
		}
	}
	request["messages"] = append(items(request["messages"]), map[string]any{"role": "assistant", "content": answer["content"]},
		map[string]any{"role": "user", "content": results})
	return len(results)
}

// run runs the loop to its end, at several URLs in turn, and returns the calls that were made.
func (c talk) run(t *testing.T, urls ...string) (calls int) {
	t.Helper()
	var request map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.first), &request))
	for n := 0; ; n++ {
		url := urls[n%len(urls)]
		body, err := json.Marshal(request)
		require.NoError(t, err)
		a := post(t.Context(), t, url+c.path, string(body), "X-Api-Key: k")
		require.Equal(t, http.StatusOK, a.status, a.body)
		var answer map[string]any
		require.NoError(t, json.Unmarshal([]byte(a.body), &answer))
		n := c.then(request, answer)
		if n == 0 {
			return calls
		}
		calls += n
	}
}

func allAccepted(t *testing.T, p *fakeprovider.Server) {
	t.Helper()
	for _, r := range p.Refused() {
		t.Errorf("%v: %s", r.Refused, r.Body)
	}
}

// The provider compacts by itself, in requests of our own. It accepts what stands behind a compaction with all its thinking, and
// the compactions of compactions.
func TestNativeEditor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"messages", "messages of an agent", "responses"} {
		c := talks[name]
		for _, bound := range []bool{false, true} {
			if name == "responses" && bound {
				continue // OpenAI compares reasoning with nothing
			}
			t.Run(fmt.Sprint(name, " ", bound), func(t *testing.T) {
				t.Parallel()
				p, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: 60, Parallel: 2}.Responder(), fakeprovider.Options{
					Models: map[string]int{"claude-sonnet-5-5": 6000, "gpt-4o": 6000}, Bound: bound,
				})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, p.Close()) })
				s := listen(t, "window: 6000\narchive: memory\nchain: [{use: native, trigger: {fraction: 0.7}}, {use: fit}]", p.Root, gateway.Options{})
				require.Equal(t, 60, c.run(t, s.url))
				allAccepted(t, p)
				compactions, behind, thinking := 0, 0, 0
				for _, r := range p.Requests() {
					body := string(r.Body)
					own := strings.Contains(body, `"compaction":{"type":"summarize"`) || r.Reply == nil
					switch {
					case own:
						compactions++
					case strings.Contains(body, `"type":"compaction"`):
						behind++
						thinking += strings.Count(body, `"type":"thinking"`)
						if name == "messages of an agent" {
							require.Regexp(t, `"type":"compaction".*"The sandbox is on\."`, body, "what the agent says in between stays")
							require.Equal(t, 2, strings.Count(body, `"role":"system"`))
						}
						if bound && name == "messages" {
							require.Equal(t, strings.Count(body, `"role":"assistant"`)-1, strings.Count(body, `"type":"thinking"`), "no thinking behind it is left out: %s", body)
						}
					}
				}
				require.GreaterOrEqual(t, compactions, 2, "a compaction is compacted")
				require.Greater(t, behind, 15)
				require.Equal(t, bound, thinking > behind, "%d answers", thinking)
				newest := string(p.Requests()[len(p.Requests())-1].Body)
				handle := regexp.MustCompile(`has compacted \d+ messages here\. To read it: recall ([a-z]{12})`).FindStringSubmatch(newest)
				require.NotEmpty(t, handle, newest)
				h, err := store.ParseHandle(handle[1])
				require.NoError(t, err)
				kept, err := s.Archive(s.Scope(&http.Request{URL: &url.URL{}, Header: http.Header{"X-Api-Key": {"k"}}})).Get(t.Context(), h)
				require.NoError(t, err)
				require.Contains(t, kept.Data, "Read all.", "what was compacted can be read")
				require.Len(t, p.Requests(), 31+compactions)
				metrics := get(t, s.url+"/metrics").body
				require.Contains(t, metrics, `laconic_edits_total{middleware="native"}`)
				require.Contains(t, metrics, fmt.Sprintf("laconic_compactions_total %d\n", compactions))
			})
		}
	}
}

// Where the provider has no compaction, or refuses it, summaries of ours fold.
func TestNativeFallsBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"messages", "chat"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: 60, Parallel: 2}.Responder(), fakeprovider.Options{
				Models: map[string]int{"claude-sonnet-5-5": 6000, "gpt-4o": 6000},
			})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, p.Close()) })
			u, err := url.Parse(p.Root)
			require.NoError(t, err)
			tr := &http.Transport{}
			proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: tr}
			refused := 0
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				data, _ := io.ReadAll(req.Body)
				if strings.Contains(string(data), `"compaction":`) {
					refused++
					http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"compaction: Extra inputs are not permitted"}}`, http.StatusBadRequest)
					return
				}
				req.Body = io.NopCloser(strings.NewReader(string(data)))
				proxy.ServeHTTP(w, req)
			}))
			t.Cleanup(func() { up.Close(); tr.CloseIdleConnections() })
			s := listen(t, "window: 6000\nchain: [{use: native, trigger: {fraction: 0.7}}, {use: summarize, trigger: {fraction: 0.7}}, {use: fit}]",
				up.URL, gateway.Options{})
			require.Equal(t, 60, talks[name].run(t, s.url))
			require.LessOrEqual(t, len(p.Refused()), 1)
			require.Equal(t, name == "messages", refused > 0)
			require.LessOrEqual(t, refused, 3, "it is not asked for ever")
			require.Contains(t, get(t, s.url+"/metrics").body, `laconic_edits_total{middleware="summarize"}`)
		})
	}
}

// Two gateways with one journal know the compactions of one another, and their thinking stays valid.
func TestNativeInReplicas(t *testing.T) {
	t.Parallel()
	p, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: 60, Parallel: 2}.Responder(), fakeprovider.Options{
		Models: map[string]int{"claude-sonnet-5-5": 6000}, Bound: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	chain := "journal: sqlite://" + filepath.Join(t.TempDir(), "edits.db") +
		"\nwindow: 6000\nchain: [{use: native, trigger: {fraction: 0.7}}, {use: fit}]"
	opts := gateway.Options{Secret: []byte("0123456789abcdef"), FailClosed: true}
	require.Equal(t, 60, talks["messages"].run(t, listen(t, chain, p.Root, opts).url, listen(t, chain, p.Root, opts).url))
	allAccepted(t, p)
	require.Contains(t, string(p.Requests()[len(p.Requests())-1].Body), `"type":"compaction"`)
}

// A client such as Codex compacts by itself, and sends its whole list for that, which is longer than the window: it never was as
// long as the usage has told. The compaction is made of what the chain has sent, and the client goes on with it, and later ours covers it.
func TestClientCompacts(t *testing.T) {
	t.Parallel()
	p, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: 60}.Responder(), fakeprovider.Options{
		Models: map[string]int{"gpt-4o": 6000},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	s := listen(t, "window: 6000\nchain: [{use: native, trigger: {fraction: 0.7}}, {use: contextedit, trigger: {rounds: 4}, keep: 4}, {use: fit}]",
		p.Root, gateway.Options{})
	c := talks["responses"]
	whole := c.first
	then := c.then
	c.then = func(request, answer map[string]any) int {
		calls := then(request, answer)
		body, err := json.Marshal(map[string]any{"model": request["model"], "instructions": request["instructions"], "input": request["input"]})
		require.NoError(t, err)
		whole = string(body)
		return calls
	}
	require.Equal(t, 60, c.run(t, s.url))
	a := post(t.Context(), t, s.url+"/v1/responses/compact", whole, "X-Api-Key: k")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, "compact", a.header.Get("X-Laconic-Native"))
	var compacted map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &compacted))
	var request map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.first), &request))
	request["input"] = compacted["output"]
	body, err := json.Marshal(request)
	require.NoError(t, err)
	c.first = string(body)
	s = listen(t, "window: 6000\nchain: [{use: native, trigger: {fraction: 0.7}}, {use: fit}]", p.Root, gateway.Options{})
	require.Equal(t, 60, c.run(t, s.url))
	require.Regexp(t, `laconic_compactions_total [1-9]`, get(t, s.url+"/metrics").body, "what the client has compacted is compacted with the rest")
	allAccepted(t, p)
}

// A chain counts by what the provider has charged: also if each request comes to a new process, which has the journal alone, and if
// the provider is asked to edit and does not say that it has. Then it shortens as rarely, and as much thinking stays valid.
func TestUsageIsKept(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, more string, anew bool, window, calls, size int) (edits, thinking int) {
		t.Helper()
		p, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: calls}.Responder(), fakeprovider.Options{
			Models: map[string]int{"claude-sonnet-5-5": window}, Bound: true,
		})
		require.NoError(t, err)
		defer func() { require.NoError(t, p.Close()) }()
		u, err := url.Parse(p.Root)
		require.NoError(t, err)
		e, err := engine.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "edits.db"), engine.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Close()) }()
		base, opts := &http.Transport{}, wire.Options{
			Env: middleware.Env{Journal: e.Journal()}, Budget: func(string) *middleware.Budget { return &middleware.Budget{Window: window} },
		}
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if anew || proxy.Transport == nil {
				proxy.Transport = wire.Transport(base, opts, fit.New(fit.Options{}))
			}
			proxy.ServeHTTP(w, req)
		}))
		defer func() { s.Close(); base.CloseIdleConnections() }()
		c := talks["messages"]
		c.first = strings.Replace(c.first, `"tools"`, more+`"tools"`, 1)
		c.then = func(request, answer map[string]any) int { return readOn(request, answer, strings.Repeat(result, size)) }
		require.Equal(t, calls, c.run(t, s.URL))
		allAccepted(t, p)
		before := 0
		for _, r := range p.Requests() {
			now := strings.Count(string(r.Body), "[cleared") + strings.Count(string(r.Body), "left out here")
			if now != before {
				edits++
			}
			before = now
			thinking += strings.Count(string(r.Body), `"type":"thinking"`)
		}
		return edits, thinking
	}
	const asks = `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`
	edits, thinking := run(t, "", false, 9000, 60, 1)
	require.LessOrEqual(t, edits, 5)
	e, kept := run(t, "", true, 9000, 60, 1)
	require.Equal(t, edits, e, "new processes")
	require.InEpsilon(t, thinking, kept, 0.05, "new processes")
	e, kept = run(t, asks, false, 9000, 60, 1)
	require.Less(t, e, edits, "the provider edits")
	require.Greater(t, kept, thinking, "the provider edits")
	e, _ = run(t, asks, false, 100_000, 80, 13)
	t.Logf("80 results of 2,300 tokens: %d breaks", e)
	require.LessOrEqual(t, e, 5)
}
