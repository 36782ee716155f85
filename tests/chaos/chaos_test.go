// Package chaos lets everything go wrong around the chains of the library:
// models, journals and requests. Whatever it is, it ends, after a bounded number
// of model calls, with an answer or with an error that says what to do.
package chaos

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tests/guarantee"
	"github.com/laconic-go/laconic/tests/lineup"
	"github.com/laconic-go/laconic/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	window = 4000 // tokens
	steps  = 12   // tool calls of the errand
	begun  = 3    // of them: in the history
	rules  = message.Anthropic
)

func budget() *middleware.Budget { return &middleware.Budget{Window: window, Reserve: 400} }

// history is a conversation that is more than twice as long as the window: an
// errand that has been run, a question, and a second errand that is on its way.
func history() []message.Message {
	h := []message.Message{message.System("You read ledgers."), message.User("What is the sum?")}
	h = append(h, errand("old", 10)...)
	h = append(h, message.Assistant(message.Text{Text: "The sum is 10."}), message.User("And of the second ledger?"))
	return append(h, errand("step", begun)...)
}

func errand(ids string, rounds int) []message.Message {
	var h []message.Message
	for i := range rounds {
		id := fmt.Sprintf("%s_%d", ids, i+1)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: toolName, Arguments: fmt.Sprintf(`{"page":%d}`, i+1)}),
			message.Result(id, toolName, page(i+1)))
	}
	return h
}

// page is what the tool reads: about 700 tokens.
func page(n int) string {
	return fmt.Sprintf("page %d\n", n) + strings.Repeat("2026-11-21 paper clips 7.00\n", 100)
}

func tools() []message.ToolDef {
	return []message.ToolDef{{Name: toolName, Description: "Reads a page.", Parameters: `{"type":"object","properties":{"page":{"type":"integer"}}}`}}
}

// each runs a test for each chain of the line-up.
func each(t *testing.T, test func(t *testing.T, chain lineup.Chain)) {
	t.Helper()
	for i, chain := range lineup.Chains() {
		if race.Enabled && i != 1 { // all editors
			continue
		}
		t.Run(chain.Name, func(t *testing.T) {
			t.Parallel()
			test(t, chain)
		})
	}
}

// put puts a chain before a provider.
func put(chain lineup.Chain, env middleware.Env, p *provider) middleware.Model {
	env.Counter = tokens.Chars4
	return middleware.With(env, chain.New(rules)...)(p.model)
}

// goOn makes calls with more and more of a history, the last ones in another process: each goes on, and what is sent keeps
// the guarantees.
func goOn(t *testing.T, chain lineup.Chain, env middleware.Env, what string, check func(sent []message.Message, who string)) {
	t.Helper()
	p := &provider{}
	model := put(chain, env, p)
	h := history()
	for _, n := range []int{4, 8, len(h) - 2, len(h), len(h)} {
		if n == len(h) { // as another process
			model = put(chain, env, p)
		}
		before := p.calls
		who := fmt.Sprintf("%s under %s, the first %d messages", what, chain.Name, n)
		o := ask(t.Context(), model, &middleware.Request{Messages: h[:n], Tools: tools(), Budget: budget()}, false)
		require.Nil(t, o.panicked, "%s: nothing panics", who)
		require.NoError(t, o.err, "%s: the call goes on", who)
		require.Equal(t, before+1, p.calls, "%s: one call", who)
		call := guarantee.Call{
			Rules: rules, Room: budget().Room(), Meter: tokens.Meter{Counter: tokens.Chars4},
			History: h[:n], Tools: tools(), Sent: p.sent[len(p.sent)-1],
		}
		require.Empty(t, call.Broken(), who)
		check(call.Sent, who)
	}
}

// outcome is what came of a call.
type outcome struct {
	resp     *middleware.Response
	err      error
	panicked any
}

// ask makes a call, streamed or not.
func ask(ctx context.Context, model middleware.Model, req *middleware.Request, streamed bool) (o outcome) {
	defer func() { o.panicked = recover() }()
	var emit middleware.Emit
	if streamed {
		emit = func(middleware.Delta) error { return nil }
	}
	o.resp, o.err = model(ctx, req, emit)
	return o
}

// TestTroubles lets each thing go wrong with a model behind each chain.
func TestTroubles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for _, tr := range troubles() {
			for _, streamed := range []bool{false, true} {
				who := fmt.Sprintf("a model that %s, behind %s, streamed: %t", tr.name, chain.Name, streamed)
				p := &provider{fault: tr.fault}
				model := put(chain, middleware.Env{}, p)
				req := &middleware.Request{Messages: history(), Tools: tools(), Budget: budget()}
				unchanged := testkit.Freeze(req)
				o := ask(t.Context(), model, req, streamed)
				require.NoError(t, unchanged(), who)
				most := tr.most
				if streamed {
					most = cmp.Or(tr.heard, tr.most)
				}
				require.LessOrEqual(t, p.calls, most, "%s is asked %d times at most", who, most)
				requireEnd(t, tr, o, who)
				requireKept(t, p, who)

				p.fault = nil // and then all is well
				o = ask(t.Context(), model, req, streamed)
				require.NoError(t, o.err, "%s: the next call works", who)
				require.NotNil(t, o.resp, who)
			}
		}
	})
}

// requireEnd fails unless a trouble ended as it may.
func requireEnd(t *testing.T, tr trouble, o outcome, who string) {
	t.Helper()
	if tr.panics {
		require.NotNil(t, o.panicked, "%s: the panic goes through", who)
		return
	}
	require.Nil(t, o.panicked, "%s: nothing panics", who)
	require.NotEqual(t, o.resp == nil, o.err == nil, "%s: either an answer or an error, not %v and %v", who, o.resp, o.err)
	if o.err == nil {
		require.True(t, tr.answer, "%s: there is no answer to be had, but there is %v", who, o.resp)
		return
	}
	require.Contains(t, tr.ends, middleware.KindOf(o.err), "%s: the kind of the error %v", who, o.err)
	if tr.wraps != nil {
		require.ErrorIs(t, o.err, tr.wraps, who)
	}
}

// requireKept fails if what a provider was sent breaks a guarantee.
func requireKept(t *testing.T, p *provider, who string) {
	t.Helper()
	for i, sent := range p.sent {
		call := guarantee.Call{
			Rules: rules, Room: budget().Room(), Meter: tokens.Meter{Counter: tokens.Chars4}, Tools: tools(),
			History: history(), Sent: sent,
		}
		require.Empty(t, call.Broken(), "%s: what is sent first and what is sent again keep the guarantees; call %d\n%s", who, i+1, guarantee.Show(sent))
		if i > 0 {
			require.Less(t, call.Meter.Request(sent, nil), call.Meter.Request(p.sent[i-1], nil), "%s: what is sent again is shorter", who)
		}
	}
}

// TestHanging lets a model hang until its caller has had enough.
func TestHanging(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for name, f := range map[string]fault{
			"hangs":                 hangs,
			"hangs when asked anew": first(refuses(1, tooLong(9000, 3000)), hangs),
			"hangs after a piece":   first(breaksOff(1, nil), hangs),
		} {
			for _, streamed := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					p := &provider{fault: f}
					o := ask(ctx, put(chain, middleware.Env{}, p), &middleware.Request{Messages: history(), Tools: tools(), Budget: budget()}, streamed)
					require.Nil(t, o.resp, name)
					require.ErrorIs(t, o.err, context.DeadlineExceeded, "%s: the error of the context keeps its identity", name)
					require.Equal(t, middleware.Canceled, middleware.KindOf(o.err), name)
					require.LessOrEqual(t, p.calls, 2, name)
				})
			}
		}
	})
}

// burden is a request that is hard to make fit.
type burden struct {
	name     string
	messages []message.Message
	tools    []message.ToolDef
	declared int  // the window that the caller names; 0: 4,000
	served   int  // the one that the provider has; 0: the same
	most     int  // model calls; 0: 1
	fits     bool // else it is irreducible, and no model is asked
	of       message.Rules
}

// burdens are all of them. They are made once, and nobody changes them.
var burdens = sync.OnceValue(func() []burden {
	long := strings.Repeat("word ", 20_000) // five times the window
	shots := screenshots()
	call := message.Assistant(message.ToolCall{ID: "c", Name: toolName, Arguments: "{}"})
	return []burden{
		{name: "system prompt above the window", messages: []message.Message{message.System(long), message.User("Hello?")}},
		{name: "tools above the window", messages: history(), tools: []message.ToolDef{{Name: toolName, Description: long}}},
		{name: "pinned message above the window", messages: pinned(1, message.System("s"), message.User(long), message.Assistant(message.Text{Text: "a"}), message.User("q"))},
		{name: "question above the window", messages: []message.Message{message.System("s"), message.User(long)}},
		{name: "answer above the window", messages: []message.Message{message.User("q"), message.Assistant(message.Text{Text: long}), message.User("and?")}, fits: true},
		{name: "old result above the window", messages: []message.Message{message.User("q"), call, message.Result("c", toolName, long), message.Assistant(message.Text{Text: "a"}), message.User("and?")}, fits: true},
		{name: "newest result above the window", messages: []message.Message{message.User("q"), call, message.Result("c", toolName, long)}, fits: true},
		{name: "newest result of one word above the window", messages: []message.Message{message.User("q"), call, message.Result("c", toolName, strings.Repeat("x", 100_000))}, fits: true},
		{name: "newest result of bytes that are no text", messages: []message.Message{message.User("q"), call, message.Result("c", toolName, strings.Repeat("\xff\x80", 50_000))}, fits: true},
		{name: "newest calls above the window", messages: []message.Message{message.User("q"), message.Assistant(message.ToolCall{ID: "c", Name: toolName, Arguments: `{"text":"` + long + `"}`}), message.Result("c", toolName, "ok")}, fits: true},
		{name: "two hundred results at once", messages: many(200), fits: true},
		{name: "thinking above the window", messages: []message.Message{message.User("q"), message.Assistant(message.Thinking{Text: long, Signature: "s"}, message.Text{Text: "a"}), message.User("and?")}, fits: true},
		{name: "sealed part above the window", messages: []message.Message{message.User("q"), message.Assistant(message.Opaque{Kind: "sealed", Data: long}, message.Text{Text: "a"}), message.User("and?")}, fits: true},
		{name: "a window that is served smaller than declared", messages: history(), declared: 100_000, served: window, most: 2, fits: true},
		{name: "a window that is served larger than declared", messages: history(), served: 100_000, fits: true},
		{name: "a window that is served much smaller than declared", messages: history(), declared: 100_000, served: 500, most: 2, fits: true},
		{name: "a window smaller than everything", messages: history(), declared: 10},
		{name: "42 screenshots of 34 MB", messages: shots, declared: 1_000_000, fits: true},
		{name: "42 screenshots of 34 MB, for Bedrock", messages: shots, declared: 1_000_000, fits: true, of: message.Bedrock},
		{name: "pinned screenshots of 34 MB", messages: pinned(len(shots), slices.Clone(shots)...), declared: 1_000_000},
		{name: "a screenshot that is too wide", messages: []message.Message{message.User("q"), call, shot("c", 9000, 100)}, fits: true},
		{name: "no message", messages: nil, fits: true},
		{name: "an empty question", messages: []message.Message{message.User("")}, fits: true},
		{name: "nothing but system messages", messages: []message.Message{message.System("a"), message.System("b")}, fits: true},
		{name: "ends with calls", messages: []message.Message{message.User("q"), call}, fits: true},
		{name: "begins with a result", messages: []message.Message{message.Result("c", toolName, long), message.User("q")}, fits: true},
	}
})

// pinned pins the first messages of a history.
func pinned(n int, msgs ...message.Message) []message.Message {
	for i := range msgs {
		msgs[i].Hints.Pinned = i < n+message.Leading(msgs)
	}
	return msgs
}

// many is a round of many parallel calls, with results of 700 tokens each.
func many(n int) []message.Message {
	h := []message.Message{message.User("q"), {Role: message.RoleAssistant}}
	for i := range n {
		id := fmt.Sprint("c", i)
		h[1].Parts = append(h[1].Parts, message.ToolCall{ID: id, Name: "r", Arguments: "{}"})
		h = append(h, message.Result(id, "r", page(i)))
	}
	return h
}

// screenshots is a run in which each of 42 steps ends with a picture; together they
// have 34 MB in base64.
func screenshots() []message.Message {
	const n, bytes = 42, 34_000_000
	h := []message.Message{message.User("Book a flight.")}
	for i := range n {
		id := fmt.Sprint("shot_", i)
		m := shot(id, 1200, 800)
		r, _ := m.Parts[0].(message.ToolResult)
		media, _ := r.Content.(message.Media)
		media.Data += strings.Repeat("\x00", bytes/n/4*3)
		r.Content = media
		m.Parts[0] = r
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "screenshot", Arguments: "{}"}), m)
	}
	return h
}

// shot is a result that holds a picture of some size: the head of a PNG.
func shot(id string, width, height uint32) message.Message {
	chunk := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	chunk = binary.BigEndian.AppendUint32(chunk, height)
	chunk = append(chunk, 8, 2, 0, 0, 0)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk))
	media := message.Media{Type: "image/png", Data: "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(chunk)}
	return message.Message{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: id, Name: "screenshot", Content: media}}}
}

// TestBurdens makes each request through each chain, streamed and not.
func TestBurdens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for _, b := range burdens() {
			for _, streamed := range []bool{false, true} {
				b.run(t, chain, streamed)
			}
		}
	})
}

func (b burden) run(t *testing.T, chain lineup.Chain, streamed bool) {
	t.Helper()
	who := fmt.Sprintf("%s, through %s, streamed: %t", b.name, chain.Name, streamed)
	if b.declared == 0 {
		b.declared = window
	}
	if b.of == 0 {
		b.of = rules
	}
	p := &provider{window: b.served}
	var heard middlewaretest.Recorder
	mws := append([]middleware.Middleware{heard.Middleware()}, chain.New(b.of)...)
	model := middleware.With(middleware.Env{Counter: tokens.Chars4}, mws...)(p.model)
	req := &middleware.Request{Messages: b.messages, Tools: b.tools, Budget: &middleware.Budget{Window: b.declared}}
	o := ask(t.Context(), model, req, streamed)
	require.Nil(t, o.panicked, "%s: nothing panics", who)
	require.LessOrEqual(t, p.calls, max(1, b.most), "%s: model calls", who)
	call := guarantee.Call{
		Rules: b.of, Limits: b.of.Limits(b.declared), Room: b.declared, Meter: tokens.Meter{Counter: tokens.Chars4},
		History: b.messages, Tools: b.tools, Events: heard.Events(), Folded: strings.Contains(chain.Name, "native"),
	}
	for _, sent := range p.sent {
		call.Sent = sent
		require.Empty(t, call.Broken(), who)
	}
	if b.fits {
		require.NoError(t, o.err, who)
		require.NotNil(t, o.resp, who)
		if b.served > 0 {
			require.LessOrEqual(t, call.Meter.Request(call.Sent, b.tools), b.served, "%s: what is sent last fits into the window that is served", who)
		}
		return
	}
	require.Nil(t, o.resp, who)
	require.Zero(t, p.calls, "%s: nobody is asked what cannot be answered", who)
	require.Empty(t, call.Refused(o.err), "%s: %v", who, o.err)
}
