package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

const binding = "claude-opus-5-5"

// thinker is an agent whose model thinks before each answer and refuses void thinking.
type thinker struct {
	t       *testing.T
	env     middleware.Env
	mws     []middleware.Middleware
	req     middleware.Request // without the history
	history []message.Message

	events  middlewaretest.Recorder
	strict  middleware.Model
	refused func() []error
	sent    []message.Message
	mw      middleware.Middleware
	chain   middleware.Model
	rounds  int
}

func newThinker(t *testing.T, env middleware.Env, mws ...middleware.Middleware) *thinker {
	t.Helper()
	a := &thinker{t: t, env: env, mws: mws, req: middleware.Request{Model: binding, Tools: []message.ToolDef{{Name: "read"}}}}
	a.history = []message.Message{message.System("You read files."), message.User("What is in the files?")}
	a.strict, a.refused = middlewaretest.Strict("bound", a.answer)
	a.restart()
	return a
}

// answer is the model.
func (a *thinker) answer(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
	call := message.ToolCall{ID: fmt.Sprint("call-", a.rounds), Name: "read", Arguments: fmt.Sprintf(`{"file":%d}`, a.rounds)}
	return &middleware.Response{Message: message.Assistant(message.Thinking{Text: strings.Repeat("hm, ", 50), Signature: "s"}, call)}, nil
}

// restart begins with a new chain.
func (a *thinker) restart() {
	mws := append([]middleware.Middleware{a.events.Middleware()}, a.mws...)
	a.mw = middleware.With(a.env, mws...)
	a.chain = a.mw(func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		a.sent = testkit.Clone(r.Messages)
		return a.strict(ctx, r, emit)
	})
}

// ask makes a request with the history.
func (a *thinker) ask() (*middleware.Response, error) {
	req := a.req
	req.Messages = slices.Clip(a.history)
	return a.chain(a.t.Context(), &req, nil)
}

// round makes a request and appends the answer and its result.
func (a *thinker) round() {
	a.t.Helper()
	resp, err := a.ask()
	require.NoError(a.t, err)
	a.rounds++
	a.history = append(a.history, resp.Message)
	for c := range resp.Message.Calls() {
		a.history = append(a.history, message.Result(c.ID, c.Name, fmt.Sprintf("file %d: %s", a.rounds, strings.Repeat("text ", 60))))
	}
}

// thoughts returns the positions of the messages of the last request that have thinking.
func (a *thinker) thoughts() (at []int) {
	for i, m := range a.sent {
		if slices.ContainsFunc(m.Parts, func(p message.Part) bool { _, is := p.(message.Thinking); return is }) {
			at = append(at, i)
		}
	}
	return at
}

// on makes an editor whose trigger is whether a flag is set.
func on(flag *atomic.Bool, plan func(v *middleware.View) *middleware.Plan, opts middleware.Options) middleware.Middleware {
	opts.Trigger = trigger.Func(func(*middleware.View, func() *middleware.Plan) (bool, string, error) {
		return flag.Load(), "asked for", nil
	})
	return middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) { return plan(v), nil }, opts)
}

// clearAt clears the result at a position.
func clearAt(at int) func(v *middleware.View) *middleware.Plan {
	return func(v *middleware.View) *middleware.Plan {
		for r := range v.At(at).Results() {
			if r.Text != "[cleared]" {
				return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(at, message.Result(r.CallID, r.Name, "[cleared]").Parts...)}}
			}
		}
		return nil
	}
}

// An edit makes the thinking behind it void: its event says so, it stays left out, and that of later answers is sent.
func TestVoidThinkingIsLeftOut(t *testing.T) {
	t.Parallel()
	var now atomic.Bool
	shared := journal.NewMemory(0)
	a := newThinker(t, middleware.Env{Journal: shared}, on(&now, clearAt(5), middleware.Options{}))
	for range 4 {
		a.round()
	}
	require.Equal(t, []int{2, 4, 6}, a.thoughts())
	now.Store(true)
	a.round()
	now.Store(false)
	require.Equal(t, []int{2, 4}, a.thoughts(), "the thinking behind message 5 is void")
	e := a.events.Events(middleware.Edited)[0]
	require.Equal(t, 2, e.Thinking.Answers)
	require.Greater(t, e.Thinking.Tokens, 100)
	require.Contains(t, e.Why, "the thinking of 2 answers")
	a.round()
	require.Equal(t, []int{2, 4, 10}, a.thoughts(), "that of the answer to the edited request stays")
	want := a.sent
	a.restart()
	_, err := a.ask()
	require.NoError(t, err)
	require.Equal(t, []int{2, 4, 10, 12}, a.thoughts(), "as in the process before")
	require.Equal(t, want, a.sent[:len(want)])
	require.Empty(t, a.refused())
	require.Empty(t, a.events.Events(middleware.ThinkingLeftOut))
	require.Empty(t, a.events.Events(middleware.Missed))

	for name, lost := range map[string]func(){
		"another process without the journal": func() { a.env.Journal = journal.NewMemory(0) },
		"the journal has lost all":            func() { require.NoError(t, shared.Delete(t.Context(), "")) },
	} {
		lost()
		a.restart()
		_, err = a.ask()
		require.NoError(t, err, name)
		require.Empty(t, a.thoughts(), "%s: nothing is known of what was sent", name)
		require.Contains(t, a.events.Events(middleware.ThinkingLeftOut)[0].Why, "the provider says", name)
		a.env.Journal = shared
	}
}

// What changes without an edit of the call has an event of its own.
func TestThinkingLeftOutWithoutAnEdit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(a *thinker)
		why    string
		left   []int
	}{
		"a tool is added":            {func(a *thinker) { a.req.Tools = append(slices.Clip(a.req.Tools), message.ToolDef{Name: "write"}) }, "the system messages or the tools have changed", nil},
		"tools in another order":     {func(a *thinker) { a.req.Tools = []message.ToolDef{a.req.Tools[1], a.req.Tools[0]} }, "", []int{2, 4, 8}},
		"another system message":     {func(a *thinker) { a.history[0] = message.System("You read books.") }, "the system messages or the tools have changed", nil},
		"the window grows":           {func(a *thinker) { a.req.Budget = &middleware.Budget{Window: 900_000} }, "edits before it hold no longer", []int{2, 4}},
		"a cleared result is pinned": {func(a *thinker) { a.history[5].Hints.Pinned = true }, "edits before it hold no longer", []int{2, 4}},
		"nothing":                    {func(*thinker) {}, "", []int{2, 4, 8}},
	} {
		var now atomic.Bool
		a := newThinker(t, middleware.Env{Journal: journal.NewMemory(0)}, on(&now, clearAt(5), middleware.Options{ForWindow: true}))
		a.req.Tools = append(a.req.Tools, message.ToolDef{Name: "list"})
		a.req.Budget = &middleware.Budget{Window: 100_000}
		for range 3 {
			a.round()
		}
		now.Store(true)
		a.round()
		now.Store(false)
		c.change(a)
		for _, restarted := range []bool{false, true} {
			if restarted {
				a.restart()
			}
			_, err := a.ask()
			require.NoError(t, err, name)
			require.Equal(t, c.left, a.thoughts(), name)
		}
		var whys []string
		for _, e := range a.events.Events(middleware.ThinkingLeftOut) {
			require.Positive(t, e.Thinking.Answers)
			require.True(t, e.Warning())
			whys = append(whys, e.Why)
		}
		if c.why == "" {
			require.Empty(t, whys, name)
			continue
		}
		require.Len(t, whys, 1, "%s: reported once, also by a new process", name)
		require.Contains(t, whys[0], c.why, name)
		a.round()
		a.round()
		require.Empty(t, a.refused(), name)
		require.Equal(t, append(slices.Clone(c.left), len(a.history)-4), a.thoughts(), "%s: later thinking is sent", name)
	}
}

// A draft that is committed leaves out what an edit of the call would have.
func TestThinkingOfADraft(t *testing.T) {
	t.Parallel()
	var now atomic.Bool
	a := newThinker(t, middleware.Env{}, on(&now, clearAt(5), middleware.Options{}))
	for range 4 {
		a.round()
	}
	now.Store(true)
	req := a.req
	req.Messages = a.history
	d, err := middleware.Draft(t.Context(), a.mw, &req)
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context()))
	now.Store(false)
	a.round()
	require.Equal(t, []int{2, 4}, a.thoughts())
	require.Empty(t, a.events.Events(middleware.ThinkingLeftOut))
	require.Empty(t, a.refused())
}

// The journal is written for the first request of a conversation with a model that binds its thinking, and for edits.
func TestWritesForThinking(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][]int64{binding: {1, 1, 1, 2, 2, 2}, "claude-sonnet-4-5": {0, 0, 0, 1, 1, 1}, "gpt-4o": {0, 0, 0, 1, 1, 1}, "": {0, 0, 0, 1, 1, 1}} {
		var now atomic.Bool
		c := newCountingJournal()
		a := newThinker(t, middleware.Env{Journal: c}, on(&now, clearAt(3), middleware.Options{}))
		a.req.Model = model
		if model != binding {
			a.strict, a.refused = middlewaretest.Strict("manual", a.answer)
		}
		for i, n := range want {
			now.Store(i == 3)
			a.round()
			require.Equal(t, n, c.puts.Load(), "%q, call %d", model, i)
		}
	}
}

// A request that is refused all the same is repeated once without thinking, and the reason is reported.
func TestRefusedThinking(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"house-model", "claude-sonnet-4-5"} { // also if the table of models says otherwise
		a := newThinker(t, middleware.Env{}, middleware.Editing("idle", func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }, middleware.Options{}))
		a.req.Model = model
		for range 3 {
			a.round()
		}
		a.history[3] = message.Result("call-0", "read", "another text")
		a.round()
		require.Len(t, a.refused(), 1)
		require.Empty(t, a.thoughts())
		events := a.events.Events(middleware.ThinkingLeftOut)
		require.Len(t, events, 1)
		require.Contains(t, events[0].Why, "the provider says: ")
		require.Equal(t, 3, events[0].Thinking.Answers)
		a.round()
		require.Equal(t, []int{8}, a.thoughts(), "what came after it is sent")
		require.Len(t, a.refused(), 1)
	}

	thought := message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.Text{Text: "1"})
	stubborn := errors.New("400: messages.1.content.0: the block is bound to a different conversation")
	calls := 0
	_, err := middleware.Chain(middleware.Editing("idle", func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }, middleware.Options{}))(
		func(_ context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			calls++
			if emit != nil {
				require.NoError(t, emit(middleware.Delta{Text: "I"}))
			}
			return nil, stubborn
		})(t.Context(), &middleware.Request{Messages: []message.Message{message.User("one"), thought, message.User("two")}, Model: binding}, nil)
	require.Equal(t, middleware.VoidThinking, middleware.KindOf(err))
	require.ErrorIs(t, err, stubborn)
	require.Equal(t, 2, calls, "nothing is known of the conversation, so the provider decides, and is asked once more without thinking")
}

func TestParseVoidThinking(t *testing.T) {
	t.Parallel()
	const text = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
	const rest = "Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	for in, want := range map[string]string{
		text + rest: "",
		text + rest + " The `system` prompt differs from the one this block was created with.":                                           "The `system` prompt differs from the one this block was created with",
		`{"error":{"message":"Provider returned error","metadata":{"raw":"` + text + ` The tools differ from those of the block.\"}"}}}`: "The tools differ from those of the block",
	} {
		changed, ok := middleware.ParseVoidThinking(fmt.Errorf("call: %w", errors.New(in)))
		require.True(t, ok, in)
		require.Equal(t, want, changed)
	}
	for _, in := range []error{nil, errors.New("Invalid `signature` in `thinking` block"), errors.New("prompt is too long")} {
		_, ok := middleware.ParseVoidThinking(in)
		require.False(t, ok, "%v", in)
	}
}

// A layer that asks another model is asked about the thinking of that model, and DeepSeek R1 gets none.
func TestThinkingOfTheModelThatIsAsked(t *testing.T) {
	t.Parallel()
	idle := middleware.Editing("idle", func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }, middleware.Options{})
	for model, want := range map[string]int{"": 1, "deepseek-r1": 0, "gpt-4o": 1, binding: 1} {
		other := func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				own := *r
				own.Model = model
				return next(ctx, &own, emit)
			}
		}
		for name, mws := range map[string][]middleware.Middleware{"before": {other, idle}, "after": {idle, other}} {
			w := wire{reply: middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}}
			_, err := middleware.Chain(mws...)(w.model)(t.Context(), &middleware.Request{Messages: []message.Message{
				message.User("one"), message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.Text{Text: "1"}), message.User("two"),
			}}, nil)
			require.NoError(t, err)
			require.Len(t, w.sent[0].Messages[1].Parts, 1+want, "%q %s the editor", model, name)
		}
	}
}
