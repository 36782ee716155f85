package tests

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/tokens"
)

// The rules here hold for all views that middleware.Editing makes, and for all chains,
// whatever the middleware is. The rules that a middleware itself may break are in package
// middlewaretest.

// conforming are the middlewares of the library, each with several options.
func conforming() map[string]func() middleware.Middleware {
	low := trigger.Tokens(500)
	all := map[string]func() middleware.Middleware{
		"contextedit and trim": func() middleware.Middleware {
			return middleware.Chain(contextedit.New(contextedit.Options{Trigger: low, Keep: 2}), trim.New(trim.Options{Trigger: low, Note: "[removed]"}))
		},
		"contextedit and fit": func() middleware.Middleware {
			return middleware.Chain(contextedit.New(contextedit.Options{Trigger: low, Keep: 2}), fit.New(fit.Options{Rules: message.Anthropic}))
		},
	}
	for i, o := range []contextedit.Options{
		{},
		{Trigger: low},
		{Trigger: low, Keep: -1},
		{Trigger: low, Keep: 2, ClearToolInputs: true},
		{Trigger: low, KeepTokens: 500},
		{Trigger: low, Keep: 2, ClearAtLeast: 600},
		{Trigger: low, Keep: 2, StopAfter: 1},
		{Trigger: low, Keep: 2, MinCalls: 3},
		{Trigger: trigger.Messages(1), Keep: 1, ClearToolInputs: true, StopAfter: 200},
		{Trigger: low, Keep: 2, ClearThinking: true},
		{Trigger: low, Only: []string{}, ClearThinking: true},
		{Trigger: low, Keep: 2, Digest: 40},
		{Trigger: low, Keep: 1, Digest: 12, StopAfter: 100, ClearToolInputs: true, ClearThinking: true},
	} {
		all[fmt.Sprintf("contextedit %d", i)] = func() middleware.Middleware { return contextedit.New(o) }
	}
	limits := microcompact.Limits{Results: 200, Arguments: 20, Text: 20}
	for i, o := range []microcompact.Options{
		{},
		{KeepRounds: 1},
		{KeepRounds: -1, Limit: limits},
		{KeepRounds: 1, Limit: limits, Batch: microcompact.Batch{Results: 2}},
		{KeepRounds: 1, Limit: limits, MinCalls: 3},
		{Limit: microcompact.Limits{Results: -1}, FreshShare: 1e-9},
		{KeepRounds: 1, Digest: 40},
	} {
		all[fmt.Sprintf("microcompact %d", i)] = func() middleware.Middleware { return microcompact.New(o) }
	}
	for i, o := range []trim.Options{
		{},
		{Trigger: low, Strategy: "middle"},
		{Trigger: low, Strategy: "oldest", PreserveStart: -1, PreserveEnd: -1, MinMessages: -1},
		{Trigger: low, TargetTokens: 100, PreserveStart: -1, PreserveEnd: 1},
		{Trigger: low, Note: "[removed]", Target: 0.3},
		{Trigger: low, MinCalls: 3},
	} {
		all[fmt.Sprintf("trim %d", i)] = func() middleware.Middleware { return trim.New(o) }
	}
	for i, o := range []fit.Options{{}, {Rules: message.OpenAI}, {Rules: message.Anthropic}, {Rules: message.Gemini}, {Target: 0.5}, {Placeholder: "-", Note: "(some is missing)"}} {
		all[fmt.Sprintf("fit %d", i)] = func() middleware.Middleware { return fit.New(o) }
	}
	write := func(_ context.Context, f *summarize.Fold) (string, error) {
		return fmt.Sprintf("Read %d messages; before: %d summaries.", len(f.Messages), len(f.Earlier)), nil
	}
	for i, o := range []summarize.Options{
		{},
		{Trigger: low, Keep: -1},
		{Trigger: low, KeepRounds: 2},
		{Trigger: low, Keep: 2, Role: message.RoleSystem},
		{Trigger: low, Keep: 2, Strategy: summarize.Strategy{OnlyLast: 3}},
		{Trigger: low, Keep: 2, Strategy: summarize.Strategy{Chunks: 4}},
		{Trigger: low, Keep: 2, MinCalls: 3},
	} {
		all[fmt.Sprintf("summarize %d", i)] = func() middleware.Middleware { return summarize.New(summarize.ByFunc(write), o) }
	}
	return all
}

// played is one answered call: what was passed, sent and reported.
type played struct {
	history, sent []message.Message
	meter         tokens.Meter
	events        []middleware.Event
}

// talks are conversations that need no repair by any provider's rules.
func talks() map[string][]message.Message {
	rich := middlewaretest.ReAct{Rounds: 9, Parallel: 2, Result: 500, Thought: 80, PerTurn: 3}.Messages()
	rounds := 0
	for i := range rich {
		switch m := &rich[i]; m.Role {
		case message.RoleAssistant:
			rounds++
			if rounds%2 == 0 {
				m.Parts = append([]message.Part{message.Thinking{Text: strings.Repeat("I think. ", 7), Signature: "sealed"}}, m.Parts...)
			}
		case message.RoleTool:
			m.Hints.Pinned = rounds == 2
			if r, ok := m.Parts[0].(message.ToolResult); ok && rounds == 4 {
				r.Text, r.Content = "", message.Media{Type: "image/png", Data: "\x89PNG\xff"}
				m.Parts = append(m.Parts, r)
			}
		case message.RoleSystem, message.RoleUser:
			m.Hints.Pinned = i > 20
		}
	}
	chat := []message.Message{message.System("You are brief."), message.System("Today is Monday.")}
	for i := range 12 {
		chat = append(chat, message.User(strings.Repeat(fmt.Sprintf("Question %d. ", i), 16)), message.Assistant(message.Text{Text: strings.Repeat(fmt.Sprintf("Answer %d. ", i), 28)}))
	}
	return map[string][]message.Message{
		"parallel calls":       message.Portable.Repair(rich).Messages,
		"one long task":        message.Portable.Repair(middlewaretest.ReAct{Rounds: 12, Thought: 100, Result: 600, Answered: true}.Messages()).Messages,
		"a chat without tools": message.Portable.Repair(append(chat, message.User("Last question: what did we say?"))).Messages,
	}
}

// play sends each prefix of a conversation through a middleware, with force and with less
// room than it needs.
func play(t *testing.T, mw middleware.Middleware, msgs []message.Message, force, tight bool) (calls []played) {
	t.Helper()
	full := tokens.Meter{Counter: tokens.Chars4}.Request(msgs, nil)
	var rec middlewaretest.Recorder
	seen := 0
	var now played
	model := middleware.Chain(rec.Middleware(), mw)(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		now.sent = testkit.Clone(req.Messages)
		if v := req.View(); v != nil {
			now.meter = v.Meter()
		}
		return middlewaretest.Say("done")(ctx, req, emit)
	})
	for history := range testkit.Prefixes(msgs) {
		req := &middleware.Request{Messages: history, Model: "some-model", Budget: &middleware.Budget{Window: 1_000_000, Reserve: 1_000}}
		if tight {
			req.Budget = &middleware.Budget{Window: full * 2 / 3, Reserve: full / 20}
		}
		if force {
			req.Force = []string{"*"}
		}
		now = played{history: history}
		_, err := model(t.Context(), req, nil)
		now.events = rec.Events()[seen:]
		seen += len(now.events)
		if err != nil {
			require.True(t, tight && middleware.KindOf(err) != middleware.Unknown, "an error of a known kind: %v", err)
			continue
		}
		calls = append(calls, now)
	}
	return calls
}

// eachTalk runs a check for each middleware and conversation, in one amount of room, or in each of them in a soak.
func eachTalk(t *testing.T, check func(t *testing.T, newMiddleware func() middleware.Middleware, play func(middleware.Middleware) []played)) {
	t.Helper()
	all, rooms := conforming(), []string{"roomy", "forced", "tight"}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			msgs := talks()
			for k, talk := range slices.Sorted(maps.Keys(msgs)) {
				for n, room := range rooms {
					if (i+k+n)%soak.Every(len(rooms)) > 0 || race.Enabled && room != "tight" { // one goroutine
						continue
					}
					t.Run(talk+", "+room, func(t *testing.T) {
						check(t, all[name], func(mw middleware.Middleware) []played {
							return play(t, mw, msgs[talk], room == "forced", room == "tight")
						})
					})
				}
			}
		})
	}
}

// TestViewsOfEditors checks the order, the protection and the size of each view.
func TestViewsOfEditors(t *testing.T) {
	t.Parallel()
	eachTalk(t, func(t *testing.T, newMiddleware func() middleware.Middleware, play func(middleware.Middleware) []played) {
		for n, c := range play(newMiddleware()) {
			require.NoError(t, inOrder(c.history, c.sent), "call %d", n)
			require.NoError(t, isProtected(c.history, c.sent), "call %d", n)
			require.LessOrEqual(t, c.meter.Request(c.sent, nil), c.meter.Request(c.history, nil), "call %d: tokens", n)
			for _, e := range c.events {
				require.False(t, e.Kind == middleware.Edited && e.After >= e.Before, "call %d: an edit frees tokens: %s", n, e)
			}
		}
	})
}

// TestChainOfOne checks that a middleware alone, in a Chain, and in a Chain inside a Chain
// has the same views and events.
func TestChainOfOne(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	eachTalk(t, func(t *testing.T, newMiddleware func() middleware.Middleware, play func(middleware.Middleware) []played) {
		alone := play(newMiddleware())
		require.NoError(t, samePlay(alone, play(middleware.Chain(newMiddleware())), true))
		require.NoError(t, samePlay(alone, play(middleware.Chain(middleware.Chain(), middleware.Chain(middleware.Chain(newMiddleware())))), true))
	})
}

// samePlay compares the views of the same calls, and their events.
func samePlay(want, got []played, events bool) error {
	if len(want) != len(got) {
		return fmt.Errorf("%d answered calls, want %d", len(got), len(want))
	}
	for n, w := range want {
		if err := testkit.Same(w.sent, got[n].sent); err != nil {
			return fmt.Errorf("call %d: %w", n, err)
		}
		if a, b := fmt.Sprint(w.events), fmt.Sprint(got[n].events); events && a != b {
			return fmt.Errorf("call %d: events %s, want %s", n, b, a)
		}
	}
	return nil
}

// TestCanceledAtEachLook cancels each call when the middleware looks at its context for
// the first time, for the second time, and so on, if the model has not been called. The
// same call is then made again. It and the calls after it must not differ from those
// without a cancellation.
func TestCanceledAtEachLook(t *testing.T) {
	t.Parallel()
	eachTalk(t, func(t *testing.T, newMiddleware func() middleware.Middleware, play func(middleware.Middleware) []played) {
		const most = 30
		next := func(looks int) int { return looks + 1 + looks*soak.Nth(20, 6)/10 } // the first ones matter most
		if race.Enabled {
			next = func(looks int) int { return looks + 10 }
		}
		want := play(newMiddleware())
		for looks := 1; looks <= most; looks = next(looks) {
			var canceled atomic.Int64
			require.NoError(t, samePlay(want, play(interrupted(newMiddleware(), looks, &canceled)), false), "canceled at look %d", looks)
			if canceled.Load() == 0 {
				break
			}
		}
	})
}

// fuse is a context that is canceled at a number of looks at it.
type fuse struct {
	context.Context //nolint:containedctx // it is one

	cancel func()
	left   atomic.Int64
	asked  atomic.Bool // the model has been called
}

func (f *fuse) look() {
	if f.left.Add(-1) == 0 {
		f.cancel()
	}
}

func (f *fuse) Err() error {
	f.look()
	return f.Context.Err()
}

func (f *fuse) Done() <-chan struct{} {
	f.look()
	return f.Context.Done()
}

// fuseKey finds the fuse in the contexts that are derived from it.
type fuseKey struct{}

func (f *fuse) Value(key any) any {
	if key == (fuseKey{}) {
		return f
	}
	return f.Context.Value(key)
}

// interrupted returns the middleware with each call canceled at the given look at its
// context, if the model has not been called by then, and then made again. It counts the
// canceled calls.
func interrupted(mw middleware.Middleware, looks int, canceled *atomic.Int64) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		model := mw(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if f, ok := ctx.Value(fuseKey{}).(*fuse); ok {
				f.left.Store(0) // no cancellation any more
				f.asked.Store(true)
			}
			return next(context.WithoutCancel(ctx), req, emit)
		})
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			f := &fuse{}
			f.Context, f.cancel = context.WithCancel(ctx)
			f.left.Store(int64(looks))
			defer f.cancel()
			resp, err := model(f, req, emit) //nolint:contextcheck // the fuse is made of the context
			if f.Context.Err() == nil || err == nil || f.asked.Load() {
				return resp, err
			}
			canceled.Add(1)
			return model(ctx, req, emit)
		}
	}
}

// inOrder reports texts, calls and results of a view that are there twice or in another
// order than in the history.
func inOrder(history, view []message.Message) error {
	places := map[string]int{}
	for k, name := range landmarks(history) {
		places[name] = k
	}
	last, lastName := -1, ""
	for _, name := range landmarks(view) {
		place, ok := places[name]
		switch {
		case !ok:
			continue
		case place == last:
			return fmt.Errorf("%s is there twice", name)
		case place < last:
			return fmt.Errorf("%s is after %s, and in the history before it", name, lastName)
		}
		last, lastName = place, name
	}
	return nil
}

// landmarks names the texts, calls and results of messages.
func landmarks(msgs []message.Message) (names []string) {
	for _, m := range msgs {
		var last string
		for _, p := range m.Parts {
			name := ""
			switch p := p.(type) {
			case message.Text:
				name = fmt.Sprintf("the %s text %.30q", m.Role, p.Text)
			case message.ToolCall:
				name = fmt.Sprintf("the call %q", p.ID)
			case message.ToolResult: // a result of several pieces counts once
				name = fmt.Sprintf("the result of call %q", p.CallID)
			case message.Thinking, message.Media, message.Opaque:
			}
			if name != "" && name != last {
				names = append(names, name)
				last = name
			}
		}
	}
	return names
}

// isProtected reports what is missing in a view: system messages, the texts of the first
// and the last user message, pinned messages, and the newest round, of whose results only
// the middle may be missing.
func isProtected(history, view []message.Message) error {
	lead := message.Leading(history)
	if err := testkit.Same(history[:lead], view[:min(lead, len(view))]); err != nil {
		return fmt.Errorf("system messages: %w", err)
	}
	var users []message.Message
	for k, m := range history {
		if (m.Role == message.RoleSystem || m.Hints.Pinned) && !slices.ContainsFunc(view, m.Equal) {
			return fmt.Errorf("message %d of the history is a system message or pinned, and missing", k)
		}
		if m.Role == message.RoleUser {
			users = append(users, m)
		}
	}
	for _, u := range slices.Concat(users[:min(1, len(users))], users[max(0, len(users)-1):]) {
		if !slices.ContainsFunc(view, func(m message.Message) bool { return hasTextsOf(m, u) }) {
			return fmt.Errorf("the text of a user message is missing: %s", u.Text())
		}
	}
	return newestRoundIntact(history, view)
}

// hasTextsOf reports whether a user message has all texts of another one, in their order. A
// text may be in the place of media, and a repair may have joined messages.
func hasTextsOf(m, of message.Message) bool {
	want := slices.DeleteFunc(slices.Clone(of.Parts), func(p message.Part) bool { _, ok := p.(message.Text); return !ok })
	for _, p := range m.Parts {
		if len(want) > 0 && p == want[0] {
			want = want[1:]
		}
	}
	return m.Role == message.RoleUser && len(want) == 0
}

// newestRoundIntact checks the round that no model has answered, if there is one.
func newestRoundIntact(history, view []message.Message) error {
	units := message.Units(history)
	if len(units) == 0 || !units[len(units)-1].Round {
		return nil
	}
	round := history[units[len(units)-1].First:]
	at := slices.IndexFunc(view, round[0].Equal)
	if at < 0 || len(view)-at != len(round) {
		return fmt.Errorf("the newest round has %d messages, and is not the end of the view", len(round))
	}
	for i := range round {
		for k, want := range round[i].Parts {
			got := view[at+i].Parts
			if k >= len(got) || got[k] != want && !isShortened(want, got[k]) {
				return fmt.Errorf("in the newest round, part %d of message %d is neither whole nor its beginning and end", k, i)
			}
		}
	}
	return nil
}

// isShortened reports whether a result is another one with its middle left out: at least
// half of its text is the beginning and the end of the other text.
func isShortened(was, is message.Part) bool {
	long, ok1 := was.(message.ToolResult)
	short, ok2 := is.(message.ToolResult)
	if !ok1 || !ok2 || long.CallID != short.CallID || len(short.Text) >= len(long.Text) || strings.TrimSpace(short.Text) == "" {
		return false
	}
	head, tail := 0, 0
	for head < len(short.Text) && short.Text[head] == long.Text[head] {
		head++
	}
	for tail < len(short.Text)-head && short.Text[len(short.Text)-1-tail] == long.Text[len(long.Text)-1-tail] {
		tail++
	}
	return 2*(head+tail) >= len(short.Text)
}

// TestViewChecksFindFaults changes views so that they break the rules.
func TestViewChecksFindFaults(t *testing.T) {
	t.Parallel()
	h := middlewaretest.ReAct{Rounds: 6, Parallel: 2, PerTurn: 3}.Messages()
	h[1].Hints.Pinned, h[4].Hints.Pinned = true, true
	require.NoError(t, inOrder(h, h))
	require.NoError(t, isProtected(h, h))
	last := len(h) - 1
	for name, c := range map[string]struct {
		change func(v []message.Message) []message.Message
		want   string
	}{
		"swaps old results":   {func(v []message.Message) []message.Message { v[3], v[4] = v[4], v[3]; return v }, `the result of call "c1.1" is after the result of call "c1.2"`},
		"repeats a question":  {func(v []message.Message) []message.Message { return append(v, v[1], v[1]) }, "is after"},
		"repeats a result":    {func(v []message.Message) []message.Message { return slices.Insert(v, 4, v[3]) }, "there twice"},
		"own system prompt":   {func(v []message.Message) []message.Message { v[0] = message.System("Be brief."); return v }, "system messages: message 0"},
		"no system prompt":    {func(v []message.Message) []message.Message { return v[1:] }, "system messages: message 0"},
		"no pinned result":    {func(v []message.Message) []message.Message { return slices.Delete(v, 4, 5) }, "pinned, and missing"},
		"shortens a question": {func(v []message.Message) []message.Message { v[12] = message.User("Question 2"); return v }, "the text of a user message is missing"},
		"clears a new result": {func(v []message.Message) []message.Message {
			v[last] = message.Result("c6.2", "read_file", "[cleared]")
			return v
		}, "neither whole"},
		"removes new results": {func(v []message.Message) []message.Message { return v[:last] }, "not the end of the view"},
		"no newest calls":     {func(v []message.Message) []message.Message { return slices.Delete(v, last-2, last-1) }, "not the end of the view"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := c.change(testkit.Clone(h))
			err := inOrder(h, view)
			if err == nil {
				err = isProtected(h, view)
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestPlayChecksFindFaults has middlewares that behave differently in a chain, or after a
// cancellation.
func TestPlayChecksFindFaults(t *testing.T) {
	t.Parallel()
	msgs := middlewaretest.ReAct{Rounds: 3}.Messages()
	hurry := func(when func(context.Context) bool) middleware.Middleware {
		return func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				r := *req
				if when(ctx) {
					r.Messages = append([]message.Message{message.System("The user was in a hurry.")}, req.Messages...)
				}
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return next(ctx, &r, emit)
			}
		}
	}
	inChain := func(context.Context) bool {
		var pcs [64]uintptr
		frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
		chains := 0
		for f, more := frames.Next(); more; f, more = frames.Next() {
			if strings.Contains(f.Function, "(*chain).enter") {
				chains++
			}
		}
		return chains > 1
	}
	alone := play(t, hurry(inChain), msgs, false, false)
	require.ErrorContains(t, samePlay(alone, play(t, middleware.Chain(middleware.Chain(hurry(inChain))), msgs, false, false), true), "call 0")

	var was atomic.Bool
	remembers := func(ctx context.Context) bool {
		if ctx.Err() != nil {
			was.Store(true)
			return false
		}
		return was.Load()
	}
	calm := play(t, hurry(remembers), msgs, false, false)
	var canceled atomic.Int64
	require.ErrorContains(t, samePlay(calm, play(t, interrupted(hurry(remembers), 1, &canceled), msgs, false, false), false), "call 0: message 0 of 3")
	require.Equal(t, int64(3+1), canceled.Load(), "each call was canceled")
}
