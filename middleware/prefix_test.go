package middleware_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// wire is a model that keeps what it was sent.
type wire struct {
	sent  []*middleware.Request
	reply middleware.Response
	err   error
}

func (w *wire) model(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	if w.err != nil {
		return nil, w.err
	}
	sent := *req
	sent.Messages = testkit.Clone(req.Messages)
	w.sent = append(w.sent, &sent)
	return &w.reply, nil
}

// naive returns the tokens that the newest request has in common with the one before it.
func (w *wire) naive() int {
	if len(w.sent) < 2 {
		return 0
	}
	a, b := w.sent[len(w.sent)-2], w.sent[len(w.sent)-1]
	if a.Model != b.Model || !slices.Equal(a.Tools, b.Tools) {
		return 0
	}
	n := 0
	for n < min(len(a.Messages), len(b.Messages)) && a.Messages[n].Equal(b.Messages[n]) {
		n++
	}
	return tokens.Meter{}.Request(b.Messages[:n], b.Tools)
}

// setting is what a case of TestCache may change from call to call.
type setting struct {
	req   middleware.Request
	tools []message.ToolDef // that a layer adds
	note  string            // that a layer appends
	err   error
}

// layer is one of a host, after the editors.
func (s *setting) layer(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		r := *req
		if s.tools != nil {
			r.Tools = append(slices.Clip(r.Tools), s.tools...)
		}
		if s.note != "" {
			r.Messages = append(slices.Clip(r.Messages), message.User(s.note))
		}
		return next(ctx, &r, emit)
	}
}

func mender(rules message.Rules) middleware.Middleware {
	return middleware.Repairing("mend", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
		return rules.Repair(v.Messages()), nil
	})
}

// Each reason why a request does not begin like the one before, and who is told.
func TestCacheBroken(t *testing.T) {
	t.Parallel()
	h := lookups(12)
	open := append(lookups(2), message.Assistant(message.ToolCall{ID: "late", Name: "lookup", Arguments: "{}"}), message.User("and?"))
	closed := slices.Insert(slices.Clone(open), len(open)-1, message.Result("late", "lookup", "found"))
	other := slices.Clone(h)
	other[2] = message.Assistant(message.ToolCall{ID: "x", Name: "lookup", Arguments: `{"other":1}`})
	ahead := func(text string, msgs []message.Message) []message.Message {
		return append([]message.Message{message.System(text)}, msgs...)
	}
	tool := message.ToolDef{Name: "lookup"}
	whole := func(h []message.Message) setting { return setting{req: middleware.Request{Messages: h}} }
	for name, c := range map[string]struct {
		mw     middleware.Middleware // nil: an editor that never edits
		calls  []setting
		broken string
		missed string // what the event of the last call says; "": there is none
	}{
		"the first call":   {calls: []setting{whole(h)}},
		"the same again":   {calls: []setting{whole(h), whole(h)}},
		"after a failure":  {calls: []setting{whole(h[:8]), {req: middleware.Request{Messages: h}, err: errors.New("down")}, whole(h)}},
		"other tools":      {calls: []setting{whole(h), {req: middleware.Request{Messages: h, Tools: []message.ToolDef{tool}}}}, broken: "tools"},
		"another model":    {calls: []setting{whole(h), {req: middleware.Request{Messages: h, Model: "other"}}}, broken: "model"},
		"a system message": {calls: []setting{whole(ahead("one", h)), whole(ahead("two", h))}, broken: "history"},
		"a branch":         {calls: []setting{whole(h), whole(other)}, broken: "history"},
		"an edit":          {mw: halver("a"), calls: []setting{whole(h[:8]), whole(lookups(24))}, broken: "edit"},
		"a call later":     {mw: shortener("a", 2, trigger.Tokens(2000)), calls: []setting{whole(h[:8]), whole(lookups(30)), whole(lookups(31))}},
		"a repair":         {mw: mender(message.OpenAI), calls: []setting{whole(open[:4]), whole(open)}},
		"a repair is gone": {
			mw: mender(message.OpenAI), calls: []setting{whole(h[:3]), whole(h)}, broken: "chain", missed: "repairs differ",
		},
		"a new repair": {
			mw: mender(message.OpenAI), calls: []setting{whole(closed), whole(append(slices.Clone(closed[:len(closed)-2]), closed[len(closed)-1]))},
			broken: "edit",
		},
		"a change of the caller that ends a repair": {
			mw: mender(message.OpenAI), calls: []setting{whole(open), whole(closed)}, broken: "history",
		},
		"tools of a layer": {
			calls: []setting{whole(h), {req: middleware.Request{Messages: h}, tools: []message.ToolDef{tool}}}, broken: "chain",
			missed: "a layer of the chain declares other tools",
		},
		"a note of a layer": {
			calls: []setting{{req: middleware.Request{Messages: h[:8]}, note: "it is late"}, {req: middleware.Request{Messages: h}, note: "it is late"}}, broken: "chain",
			missed: "a layer after the last editor",
		},
		"a repair that another one undoes": {
			mw:     middleware.Chain(fickle(), mender(message.OpenAI)),
			calls:  []setting{whole(h), whole(h)},
			broken: "chain", missed: "repairs differ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rec middlewaretest.Recorder
			var w wire
			var now setting
			mw := c.mw
			if mw == nil {
				mw = sayer("a")
			}
			model := middleware.Chain(rec.Middleware(), mw, func(next middleware.Model) middleware.Model {
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					return now.layer(next)(ctx, req, emit)
				}
			})(w.model)
			var resp *middleware.Response
			for _, now = range c.calls {
				var err error
				w.err = now.err
				resp, err = model(t.Context(), &now.req, nil)
				require.ErrorIs(t, err, now.err)
			}
			require.Equal(t, w.naive(), resp.Cache.Prefix, "as by comparing the requests")
			require.Equal(t, c.broken, resp.Cache.Broken)
			missed := rec.Events(middleware.Missed)
			if c.missed == "" {
				require.Empty(t, missed)
				return
			}
			require.Len(t, missed, 1)
			require.Contains(t, missed[0].Why, c.missed)
			require.True(t, missed[0].Warning())
			require.Equal(t, resp.Cache.Prefix, missed[0].After)
			require.Equal(t, tokens.Meter{}.Request(w.sent[0].Messages, w.sent[0].Tools), missed[0].Before)
		})
	}
}

// fickle returns a repairer that changes the first message in every second call, and reports nothing.
func fickle() middleware.Middleware {
	var mu sync.Mutex
	calls := 0
	return middleware.Repairing("fickle", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if calls%2 == 0 {
			return nil, nil
		}
		msgs := slices.Clone(v.Messages())
		msgs[0] = message.User("another beginning")
		return &message.Repaired{Messages: msgs}, nil
	})
}

// Edits of another process come from the journal, and an event says so.
func TestCacheBrokenByAnotherProcess(t *testing.T) {
	t.Parallel()
	var rec middlewaretest.Recorder
	var w wire
	env := middleware.Env{Journal: journal.NewMemory(0)}
	force := &middleware.Request{Messages: lookups(8), Force: []string{"a"}}
	here := middleware.With(env, rec.Middleware(), shortener("a", 2, trigger.Tokens(1<<30)))(w.model)
	there := middleware.With(env, shortener("a", 2, trigger.Tokens(1<<30)))(new(wire).model)
	_, err := here(t.Context(), &middleware.Request{Messages: lookups(8)}, nil)
	require.NoError(t, err)
	_, err = there(t.Context(), force, nil)
	require.NoError(t, err)
	for i, want := range []string{"edit", ""} {
		resp, err := here(t.Context(), &middleware.Request{Messages: lookups(9 + i)}, nil)
		require.NoError(t, err)
		require.Equal(t, want, resp.Cache.Broken)
		require.Equal(t, w.naive(), resp.Cache.Prefix)
	}
	require.Empty(t, rec.Events(middleware.Missed))
	told := rec.Events(middleware.Notice)
	require.Len(t, told, 1)
	require.Contains(t, told[0].Why, "another call or process has changed the edits of this conversation since the call before")
	require.NotEmpty(t, told[0].Edits)
	require.Equal(t, 3, told[0].First)
}

// Edits for a window that has grown end with an event; those of a committed draft have the events of the draft.
func TestCacheBrokenWithAnEvent(t *testing.T) {
	t.Parallel()
	var rec middlewaretest.Recorder
	var w wire
	mw := middleware.Chain(rec.Middleware(), middleware.Editing("tight", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 3)}}, nil
	}, middleware.Options{Trigger: trigger.Fraction(0.5), ForWindow: true}))
	model := mw(w.model)
	ask := func(n, window int) string {
		resp, err := model(t.Context(), &middleware.Request{Messages: lookups(n), Budget: &middleware.Budget{Window: window}}, nil)
		require.NoError(t, err)
		require.Equal(t, w.naive(), resp.Cache.Prefix)
		return resp.Cache.Broken
	}
	require.Empty(t, ask(6, 1<<20))
	require.Equal(t, "edit", ask(7, 400), "an edit")
	require.Equal(t, "edit", ask(8, 1<<20), "it ends")
	d, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: lookups(9), Budget: &middleware.Budget{Window: 1 << 20}, Force: []string{"tight"}})
	require.NoError(t, err)
	require.NotEmpty(t, d.Edits)
	require.Empty(t, ask(9, 1<<20), "a draft sends nothing")
	require.NoError(t, d.Commit(t.Context()))
	require.Equal(t, "edit", ask(10, 1<<20), "the edits of the draft")
	require.Empty(t, rec.Events(middleware.Missed))
}

// What providers report, in their conventions.
func TestCacheRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		usage        message.Usage
		prompt, read int // prompt 0: as counted
	}{
		"nothing":                   {},
		"only the answer":           {usage: message.Usage{Output: 5}},
		"no cache":                  {usage: message.Usage{Input: 1200}, prompt: 1200},
		"cached as part of input":   {usage: message.Usage{Input: 1200, CacheRead: 900, CacheWrite: 100}, prompt: 1200, read: 900},
		"cached besides input":      {usage: message.Usage{Input: 200, CacheRead: 900, CacheWrite: 100}, prompt: 1200, read: 900},
		"more than was sent before": {usage: message.Usage{Input: 1200, CacheRead: 1200}, prompt: 1200, read: 1200},
	} {
		w := wire{reply: middleware.Response{Usage: c.usage, Cache: report.Cache{Prefix: 7, Broken: "x", Miss: "tools_changed", Missed: 3}}}
		resp, err := sayer("a")(w.model)(t.Context(), &middleware.Request{Messages: lookups(12)}, nil)
		require.NoError(t, err)
		if c.prompt == 0 {
			c.prompt = tokens.Meter{}.Request(lookups(12), nil)
		}
		require.Equal(t, report.Cache{Prompt: c.prompt, Read: c.read, Miss: "tools_changed", Missed: 3}, resp.Cache, name)
		require.Equal(t, "x", w.reply.Cache.Broken, "the response of the model is not written to")
	}
}

// Whatever editors, repairers, layers and the caller do: the tokens are those that a comparison of the requests finds.
func TestCachePrefixAtRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		react := middlewaretest.ReAct{
			Rounds: rapid.IntRange(6, 24).Draw(t, "rounds"), Parallel: rapid.IntRange(1, 2).Draw(t, "parallel"),
			PerTurn: rapid.IntRange(2, 12).Draw(t, "rounds a turn"), Result: rapid.SampledFrom([]int{100, 600, 1200}).Draw(t, "result"),
		}
		l := &layers{}
		mws := []middleware.Middleware{l.shorten(), l.fold(), l.foldMore(), mender(message.OpenAI)}
		to := rapid.IntRange(3, 4).Draw(t, "to")
		mws = mws[rapid.IntRange(0, 2).Draw(t, "from"):to]
		now := &setting{}
		var w wire
		var rec middlewaretest.Recorder
		all := slices.Concat([]middleware.Middleware{rec.Middleware()}, mws, []middleware.Middleware{now.layer})
		model := middleware.Chain(all...)(w.model)
		history, calls := react.Messages(), 0
		for h := range testkit.Prefixes(history) {
			if rapid.IntRange(0, 3).Draw(t, "break a round") == 0 && h[len(h)-1].Role == message.RoleTool {
				h = append(slices.Clone(h[:len(h)-1]), message.User("what?"))
			}
			if to == 3 { // else the note is between two layers that look at views
				now.note = rapid.SampledFrom([]string{"", "", "", "a note"}).Draw(t, "note")
			}
			req := &middleware.Request{Messages: h, Force: rapid.SampledFrom([][]string{nil, nil, {"*"}}).Draw(t, "force")}
			resp, err := model(context.Background(), req, nil)
			require.NoError(t, err)
			require.Equal(t, w.naive(), resp.Cache.Prefix, "call %d", calls)
			require.Equal(t, calls > 0 && w.naive() < w.size(), resp.Cache.Broken != "", "call %d: %q", calls, resp.Cache.Broken)
			calls++
		}
		for _, e := range rec.Events(middleware.Missed) {
			require.Regexp(t, "^(repairs differ|a layer after the last editor)", e.Why)
		}
	})
}

// size returns the tokens of the request before the newest one.
func (w *wire) size() int {
	before := w.sent[len(w.sent)-2]
	return tokens.Meter{}.Request(before.Messages, before.Tools)
}
