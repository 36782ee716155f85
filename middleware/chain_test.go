package middleware_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// countingJournal counts what is written to a journal.
type countingJournal struct {
	journal.Journal

	puts atomic.Int64
}

func newCountingJournal() *countingJournal {
	return &countingJournal{Journal: journal.NewMemory(0)}
}

func (j *countingJournal) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	j.puts.Add(1)
	return j.Journal.Put(ctx, scope, writes)
}

// shortener returns an editor that halves the results of all rounds but the
// newest keep.
func shortener(name string, keep int, when middleware.Trigger) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		var plan middleware.Plan
		rounds := roundsOf(v)
		for _, u := range rounds[:max(0, len(rounds)-keep)] {
			for i := u.First + 1; i <= u.Last; i++ {
				r, ok := v.At(i).Parts[0].(message.ToolResult)
				if ok && v.Protected(i) == (middleware.Protection{}) && v.Span(i).Edit == nil && len(r.Text) > 200 {
					r.Text = r.Text[:len(r.Text)/2] + "…"
					plan.Edits = append(plan.Edits, middleware.RewriteOf(i, r))
				}
			}
		}
		return &plan, nil
	}, middleware.Options{Trigger: when})
}

// folder returns an editor that folds all rounds between the newest question
// and the newest keep rounds into one line, which takes in the line before.
// Making the line counts as paid.
func folder(name string, keep int, when middleware.Trigger, paid *atomic.Int64) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		units := message.Units(v.Messages())
		end := len(units)
		for n := 0; end > 0 && n <= keep; end-- {
			if units[end-1].Round {
				n++
			}
		}
		begin := end
		for begin > 0 && mayFold(v, units[begin-1]) {
			begin--
		}
		if end-begin < 2 {
			return nil, nil
		}
		old := units[begin:end]
		return &middleware.Plan{
			Edits: []middleware.Edit{{
				Kind:     journal.Fold,
				Runs:     []message.Run{{First: old[0].First, Last: old[len(old)-1].Last}},
				Estimate: 20,
				Make: func(context.Context) ([]message.Message, error) {
					paid.Add(1)
					return []message.Message{message.User(fmt.Sprintf("[%s: %d units from %q on]", name, len(old), firstWords(v.At(old[0].First))))}, nil
				},
			}},
			Why: fmt.Sprintf("folded %d units", len(old)),
		}, nil
	}, middleware.Options{Trigger: when})
}

func roundsOf(v *middleware.View) []message.Unit {
	return slices.DeleteFunc(message.Units(v.Messages()), func(u message.Unit) bool { return !u.Round })
}

func mayFold(v *middleware.View, u message.Unit) bool {
	for i := u.First; i <= u.Last; i++ {
		if v.Protected(i) != (middleware.Protection{}) {
			return false
		}
	}
	return true
}

func firstWords(m message.Message) string {
	text := m.Text()
	return text[:min(len(text), 20)]
}

// inject returns a middleware that puts a message behind the system prompt.
func inject(text string) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Messages = slices.Insert(slices.Clone(req.Messages), message.Leading(req.Messages), message.User(text))
			return next(ctx, &r, emit)
		}
	}
}

func identity(next middleware.Model) middleware.Model { return next }

// conversationsToReplay are led through the chains below, call by call.
func conversationsToReplay() [][]message.Message {
	pinned := middlewaretest.ReAct{Rounds: 20, Parallel: 2, PerTurn: 4, Thought: 60}.Messages()
	pinned[10].Hints.Pinned = true
	return [][]message.Message{
		middlewaretest.ReAct{Rounds: 24, Result: 700}.Messages(),
		middlewaretest.ReAct{Rounds: 20, Result: 500, Thought: 90, PerTurn: 3, Answered: true}.Messages(),
		pinned,
	}
}

// recording is all that shows when conversations are led through a chain.
type recording struct {
	views  [][]message.Message
	events []string
	edits  int
	puts   int64
	paid   int64
}

// record replays the conversations. Each layer of the chain is made anew.
func record(t require.TestingT, chain func(l *layers) middleware.Middleware) recording {
	var rec recording
	var heard middlewaretest.Recorder
	seen := 0 // events
	journal := newCountingJournal()
	l := &layers{}
	script := middlewaretest.Script(slices.Repeat([]middleware.Model{middlewaretest.Say("done")}, 200)...)
	model := middleware.With(middleware.Env{Journal: journal}, heard.Middleware(), chain(l))(script.Model)
	for _, msgs := range conversationsToReplay() {
		for history := range testkit.Prefixes(msgs) {
			req := &middleware.Request{Messages: history, Tools: []message.ToolDef{{Name: "search"}}}
			_, err := model(context.Background(), req, nil)
			require.NoError(t, err)
			for _, e := range heard.Events()[seen:] {
				seen++
				rec.events = append(rec.events, fmt.Sprintf("%d %s %s %d", len(history), e.Kind, e, e.Calls))
				rec.edits += len(e.Edits)
			}
		}
	}
	for _, r := range script.Requests() {
		rec.views = append(rec.views, r.Messages)
	}
	rec.puts, rec.paid = journal.puts.Load(), l.paid.Load()
	return rec
}

// layers makes the layers of a chain.
type layers struct{ paid atomic.Int64 }

func (l *layers) shorten() middleware.Middleware {
	return shortener("shorten", 3, trigger.Tokens(800))
}

func (l *layers) fold() middleware.Middleware {
	return folder("fold", 5, trigger.Tokens(1500), &l.paid)
}

func (l *layers) foldMore() middleware.Middleware {
	return folder("fold more", 2, trigger.Rounds(9), &l.paid)
}

func requireSame(t require.TestingT, want, got recording) {
	require.Len(t, got.views, len(want.views))
	for i := range want.views {
		require.NoError(t, testkit.Same(want.views[i], got.views[i]), "view %d", i)
	}
	require.Equal(t, want.events, got.events, "events")
	require.Equal(t, want.puts, got.puts, "writes to the journal")
	require.Equal(t, want.paid, got.paid, "folds that were made")
}

func TestChainOfNothingIsTheIdentity(t *testing.T) {
	t.Parallel()
	var got *middleware.Request
	model := middleware.Chain()(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		got = req
		return &middleware.Response{}, nil
	})
	req := &middleware.Request{}
	_, err := model(t.Context(), req, nil)
	require.NoError(t, err)
	require.Same(t, req, got)
}

// Any way to nest any layers gives what the flat chain gives.
func TestChainNestsAtRandom(t *testing.T) {
	t.Parallel()
	type maker func(l *layers) middleware.Middleware
	catalog := map[string]maker{
		"shorten":   (*layers).shorten,
		"fold":      (*layers).fold,
		"fold more": (*layers).foldMore,
		"identity":  func(*layers) middleware.Middleware { return identity },
		"observe": func(*layers) middleware.Middleware {
			return middleware.Observe(func(context.Context, middleware.Event) {})
		},
	}
	names := []string{"fold", "fold more", "identity", "observe", "shorten"}
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfN(rapid.SampledFrom(names), 1, 5).Draw(t, "layers")
		makeAll := func(l *layers) []middleware.Middleware {
			mws := make([]middleware.Middleware, len(chosen))
			for i, name := range chosen {
				mws[i] = catalog[name](l)
			}
			return mws
		}
		var cuts []int
		for len(cuts) < len(chosen)*2 {
			cuts = append(cuts, rapid.IntRange(0, 5).Draw(t, "cut"))
		}
		flat := record(t, func(l *layers) middleware.Middleware { return middleware.Chain(makeAll(l)...) })
		requireSame(t, flat, record(t, func(l *layers) middleware.Middleware { return nest(makeAll(l), cuts) }))
	})
}

// nest joins middlewares as cuts say: each one puts a run of neighbours into a
// chain of its own.
func nest(mws []middleware.Middleware, cuts []int) middleware.Middleware {
	for len(cuts) >= 2 {
		from, to := cuts[0]%(len(mws)+1), cuts[1]%(len(mws)+1)
		if from > to {
			from, to = to, from
		}
		mws = slices.Concat(mws[:from], []middleware.Middleware{middleware.Chain(mws[from:to]...)}, mws[to:])
		cuts = cuts[2:]
	}
	return middleware.Chain(mws...)
}

// A chain writes once a call, whatever the number of its layers.
func TestChainWritesOnceACall(t *testing.T) {
	t.Parallel()
	journal := newCountingJournal()
	l := &layers{}
	mw := middleware.With(middleware.Env{Journal: journal}, l.shorten(), middleware.Chain(l.fold(), folder("fold again", 1, trigger.Tokens(500), &l.paid)))
	history := middlewaretest.ReAct{Rounds: 20, Result: 700}.Messages()
	_, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history})
	require.NoError(t, err)
	require.Len(t, events, 3, "each of the layers has edited: %v", events)
	require.Equal(t, int64(1), journal.puts.Load())
	_, events, err = middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history})
	require.NoError(t, err)
	require.Empty(t, events)
	require.Equal(t, int64(1), journal.puts.Load(), "an idle call writes nothing")
}

func TestMessagesChangedBetweenEditors(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	for name, build := range map[string]func(a, b, c middleware.Middleware) middleware.Middleware{
		"flat": func(a, b, c middleware.Middleware) middleware.Middleware { return middleware.Chain(a, b, c) },
		"inner chain": func(a, b, c middleware.Middleware) middleware.Middleware {
			return middleware.Chain(a, middleware.Chain(b, c))
		},
		"middle chain": func(a, b, c middleware.Middleware) middleware.Middleware {
			return middleware.Chain(a, middleware.Chain(b), c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heard middlewaretest.Recorder
			journal := newCountingJournal()
			l := &layers{}
			mw := middleware.With(middleware.Env{Journal: journal}, heard.Middleware(), build(l.shorten(), inject("Remember the budget."), l.fold()))
			var first []message.Message
			for call := range 2 {
				req, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history})
				require.NoError(t, err)
				require.NoError(t, message.Check(req.Messages))
				require.Equal(t, "Remember the budget.", req.Messages[1].Text())
				require.Len(t, heard.Events(middleware.Notice), call+1, "one event for each call: %s", &heard)
				if call == 0 {
					first = req.Messages
					require.Len(t, heard.Events(middleware.Edited), 2)
					require.Equal(t, int64(2), journal.puts.Load(), "each part of the run keeps its edits")
					continue
				}
				require.NoError(t, testkit.Same(first, req.Messages))
				require.Len(t, heard.Events(middleware.Edited), 2, "both parts find their edits again")
				require.Equal(t, int64(2), journal.puts.Load())
			}
		})
	}
}

// A missing model or request is named.
func TestNothingToCall(t *testing.T) {
	t.Parallel()
	same := func(next middleware.Model) middleware.Model { return next }
	require.PanicsWithValue(t, "middleware: Chain: the model is nil, want a Model", func() { middleware.Chain(same)(nil) })
	model := middleware.Chain(same)(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{}, nil
	})
	require.PanicsWithValue(t, "middleware: the request is nil, want a *Request", func() { _, _ = model(t.Context(), nil, nil) })
}
