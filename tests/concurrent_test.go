package tests

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// together runs fn in so many goroutines that all begin at once.
func together(n int, fn func(k int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for k := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			fn(k)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// meeting is an editor before which all callers wait for each other, so that
// none sees what another has put into the journal.
func meeting(n int) middleware.Middleware {
	var wait sync.WaitGroup
	wait.Add(n)
	return middleware.Editing("meeting", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		wait.Done()
		wait.Wait()
		return nil, nil
	}, middleware.Options{})
}

func TestEqualCallsAtOnce(t *testing.T) {
	t.Parallel()
	history, _ := turns(4, 6)
	history = append(history, message.User("all at once"))
	const callers = 8
	for name, one := range map[string]bool{"one chain": true, "a chain each": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for round := range 10 {
				journal, meet := journal.NewMemory(0), meeting(callers)
				var calls sync.Map
				// Each fold has another text, so that two folds make two views.
				unlike := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
					if v.Len() < 20 {
						return nil, nil
					}
					n := 0
					calls.Range(func(_, _ any) bool { n++; return true })
					calls.Store(n, true)
					return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, 4, message.User(fmt.Sprint("summary ", n)))}}, nil
				}, middleware.Options{})
				build := func() middleware.Middleware {
					return middleware.With(middleware.Env{Journal: journal}, meet, unlike,
						contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 2}))
				}
				shared := build()
				views := [callers][]message.Message{}
				together(callers, func(k int) {
					chain := shared
					if !one {
						chain = build()
					}
					req, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: history})
					if err == nil {
						views[k] = req.Messages
					}
				})
				for k := range views {
					require.NotEmpty(t, views[k], "each call gets a view")
					requireSame(t, views[0], views[k], "round %d: equal calls at once get one view", round)
				}
			}
		})
	}
}

// TestTwoEditorsAtOnce lets two calls on one history make different edits.
func TestTwoEditorsAtOnce(t *testing.T) {
	t.Parallel()
	history, _ := turns(4, 4)
	history = append(history, message.User("go on"))
	for range 20 {
		journal, meet := journal.NewMemory(0), meeting(2)
		build := func(e editor) middleware.Middleware {
			return middleware.With(middleware.Env{Journal: journal}, append([]middleware.Middleware{meet}, layers(e)...)...)
		}
		chains := []middleware.Middleware{build(editor{name: "clear", plan: clears(3)}), build(editor{name: "fold", plan: folds(3)})}
		var shown [2]*middleware.Request
		together(2, func(k int) {
			shown[k], _, _ = middleware.Apply(context.Background(), chains[k], &middleware.Request{Messages: history})
		})
		require.NotNil(t, shown[0])
		require.NotNil(t, shown[1])
		idle := middleware.With(middleware.Env{Journal: journal}, layers(editor{name: "none", plan: func(look) []middleware.Edit { return nil }})...)
		kept, _, err := middleware.Apply(t.Context(), idle, &middleware.Request{Messages: history})
		require.NoError(t, err)
		requireWholePlans(t, kept)
		for k := range shown {
			requireWholePlans(t, shown[k])
			same := slices.Equal(lines(t, shown[k].Messages), lines(t, kept.Messages))
			covered := k == 0 && edits(kept)["fold"] > 0
			require.True(t, same || covered, "what is kept is what each was sent, or a fold that covers it; sent %v, kept %v", edits(shown[k]), edits(kept))
		}
	}
}

// edits counts the edited messages of a view by middleware.
func edits(r *middleware.Request) map[string]int {
	n := map[string]int{}
	for i := range r.Messages {
		if e := r.View().Span(i).Edit; e != nil {
			n[e.Middleware]++
		}
	}
	return n
}

func requireWholePlans(t *testing.T, r *middleware.Request) {
	t.Helper()
	require.NoError(t, message.Check(r.Messages), "a view is valid")
	n := edits(r)
	require.Contains(t, []int{0, 3}, n["clear"], "a plan is in the view whole, or not at all")
	require.Contains(t, []int{0, 1}, n["fold"], "a fold is in the view once at most")
}

// TestSharedHistory lets eight goroutines call one chain with one history,
// each with its own length, while others only read.
func TestSharedHistory(t *testing.T) {
	t.Parallel()
	history, calls := turns(6, 5)
	before := testkit.Clone(history)
	chain := middleware.Chain(
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1500), Keep: 3}),
		(&summarizer{limit: 1000, reach: 2}).middleware(),
		editor{name: "pairs", plan: foldsInPairs}.middleware(),
		editor{name: "shorten", plan: shortens(60)}.middleware())
	model := chain(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		if err := message.Check(req.Messages); err != nil {
			return nil, err
		}
		_ = append(req.Messages, message.User("a model may append to what it is given"))
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"})}, nil
	})
	errs := [8]error{}
	together(8, func(k int) {
		for i, n := range calls {
			if k%2 == 1 {
				n = calls[(i*7+k)%len(calls)]
			}
			if _, err := model(context.Background(), &middleware.Request{Messages: history[:n]}, nil); err != nil {
				errs[k] = err
			}
		}
	})
	for _, err := range errs {
		require.NoError(t, err, "every view is valid")
	}
	require.Equal(t, before, history, "the caller's history stays as it was")
}

// TestConversationsAtOnce interleaves conversations on one chain: none may
// show in another.
func TestConversationsAtOnce(t *testing.T) {
	t.Parallel()
	stack := func() middleware.Middleware {
		return middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(9), Keep: 2}), (&summarizer{limit: 600, reach: 2}).middleware())
	}
	shared := stack()
	var got, want [8][]message.Message
	conversation := func(k int) []message.Message {
		h, _ := turns(4, 3)
		h[2].Name = fmt.Sprintf("reader %d", k) // from here on they differ
		return h
	}
	run := func(chain middleware.Middleware, k int) (last []message.Message) {
		h := conversation(k)
		_, calls := turns(4, 3)
		for _, n := range calls {
			req, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: h[:n]})
			if err != nil {
				return nil
			}
			last = req.Messages
		}
		return last
	}
	together(8, func(k int) { got[k] = run(shared, k) })
	for k := range want {
		want[k] = run(stack(), k)
		require.NotEmpty(t, got[k])
		requireSame(t, want[k], got[k], "conversation %d is edited as if it were alone", k)
	}
}

// TestChangedInPlace changes a message in the slice that the chain was given
// before.
func TestChangedInPlace(t *testing.T) {
	t.Parallel()
	history, _ := turns(3, 4)
	for at := range history {
		for part := range history[at].Parts {
			h := testkit.Clone(history)
			chain := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1}))
			view(t, chain, h)
			switch p := h[at].Parts[part].(type) {
			case message.Text:
				h[at].Parts[part] = message.Text{Text: "changed"}
			case message.ToolCall:
				p.Arguments = `{"changed":true}`
				h[at].Parts[part] = p
			case message.ToolResult:
				p.Error = true
				h[at].Parts[part] = p
			case message.Thinking, message.Media, message.Opaque:
			}
			got, _ := view(t, chain, h)
			want, _ := view(t, middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1})), h)
			requireSame(t, want, got, "a change of part %d of message %d, made in place, is noticed", part, at)
		}
	}
}

// TestScopes keeps two tenants with equal histories apart.
func TestScopes(t *testing.T) {
	t.Parallel()
	history, _ := turns(3, 4)
	journal := journal.NewMemory(0)
	one := middleware.With(middleware.Env{Journal: journal, Scope: "one"}, layers(editor{name: "clear", plan: clears(9)})...)
	shown, _ := view(t, one, history)
	require.NotEqual(t, lines(t, history), lines(t, shown))
	idle := editor{name: "none", plan: func(look) []middleware.Edit { return nil }}
	for _, scope := range []string{"", "two", "on", "one "} {
		got, _ := view(t, middleware.With(middleware.Env{Journal: journal, Scope: scope}, layers(idle)...), history)
		requireSame(t, history, got, "scope %q must not see the edits of scope one", scope)
	}
	require.NoError(t, journal.Delete(t.Context(), "one"))
	require.Zero(t, held(journal), "after Delete nothing is kept")
}
