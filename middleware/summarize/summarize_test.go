package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// good is a summary that can be taken.
const good = "Goal: find out why the build fails.\nCurrent state: read_file, twice.\n" +
	"Decisions and reasons: the cache is stale.\nErrors and repairs: known.\nNext steps: clear it."

// writer is a model that answers always the same.
func writer(text string) *middlewaretest.Scripted {
	return writers(middleware.Response{
		Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd,
		Usage: message.Usage{Input: 1000, Output: 100},
	})
}

func writers(answers ...middleware.Response) *middlewaretest.Scripted {
	var all []middleware.Model
	for len(all) < 50 {
		for _, a := range answers {
			all = append(all, testkit.Give(a))
		}
	}
	return middlewaretest.Script(all...)
}

// history returns a conversation whose rounds are worth folding.
func history(rounds int) []message.Message {
	return middlewaretest.ReAct{Rounds: rounds, PerTurn: 4, Result: 1500, Answered: true}.Messages()
}

// fold forces a fold of a history.
func fold(t *testing.T, mw middleware.Middleware, h []message.Message) ([]message.Message, []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Force: []string{"summarize"}, Model: "claude-sonnet-4-5"})
	require.NoError(t, err)
	return sent.Messages, events
}

// summaryIn returns the only message of a view that is not of the history.
func summaryIn(t *testing.T, view, h []message.Message) message.Message {
	t.Helper()
	var found []message.Message
	for _, m := range view {
		if !contains(h, m) {
			found = append(found, m)
		}
	}
	require.Len(t, found, 1, "one message stands for what is folded")
	return found[0]
}

func contains(h []message.Message, m message.Message) bool {
	for i := range h {
		if h[i].Equal(m) {
			return true
		}
	}
	return false
}

func kinds(events []middleware.Event) (out []middleware.EventKind) {
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

func TestMemoriesAndPins(t *testing.T) {
	t.Parallel()
	h := history(8)
	h[5].Hints.Memory = true // results of a round: the round stays
	h[8].Hints.Pinned = true
	view, _ := fold(t, summarize.New(summarize.ByRules(), summarize.Options{PreserveMemory: true}), h)
	for _, i := range []int{0, 1, 4, 5, 8, 9} {
		require.True(t, contains(view, h[i]), "message %d stays", i)
	}
	view, _ = fold(t, summarize.New(summarize.ByRules(), summarize.Options{}), h)
	require.False(t, contains(view, h[5]))
}

func TestKeeps(t *testing.T) {
	t.Parallel()
	h := history(8) // S U (C R)×4 A U (C R)×4 A
	require.Len(t, h, 21)
	for name, c := range map[string]struct {
		opts summarize.Options
		want int // messages at the end
	}{
		"default":           {summarize.Options{}, 7}, // not through a round
		"messages":          {summarize.Options{Keep: 3}, 3},
		"through a round":   {summarize.Options{Keep: 2}, 3},
		"rounds":            {summarize.Options{KeepRounds: 2}, 5},
		"turns":             {summarize.Options{KeepTurns: 1}, 10},
		"the most of all":   {summarize.Options{KeepRounds: 1, Keep: 5}, 5},
		"tokens":            {summarize.Options{KeepTokens: 30}, 1},
		"tokens of a round": {summarize.Options{KeepTokens: 800}, 3},
		"nothing":           {summarize.Options{Keep: -1}, 0},
	} {
		view, _ := fold(t, summarize.New(summarize.ByRules(), c.opts), h)
		n := 0
		for n < len(view) && view[len(view)-1-n].Equal(h[len(h)-1-n]) {
			n++
		}
		require.Equal(t, c.want, n, name)
	}
	sent, _, err := middleware.Apply(t.Context(), summarize.New(summarize.ByRules(), summarize.Options{}), &middleware.Request{Messages: h, Model: "claude-sonnet-4-5"})
	require.NoError(t, err)
	last := sent.View().Size().Charged(sent.View().TokensOf(20))
	for less, kept := range []bool{true, false} {
		view, _ := fold(t, summarize.New(summarize.ByRules(), summarize.Options{KeepTokens: last - less}), h)
		require.Equal(t, kept, contains(view, h[20]), "%d tokens in %d", last, last-less)
	}
}

func TestSummaryIsNotEmitted(t *testing.T) {
	t.Parallel()
	small := middlewaretest.Script(middlewaretest.Say("Goal: x. ", "Decisions and reasons: none."))
	big := middlewaretest.Script(middlewaretest.Say("the answer"))
	model := summarize.New(summarize.By(small.Model, summarize.Ask{Sections: []string{}}), summarize.Options{})(big.Model)
	var emitted strings.Builder
	_, err := model(t.Context(), &middleware.Request{Messages: history(8), Force: []string{"*"}}, func(d middleware.Delta) error {
		_, err := fmt.Fprint(&emitted, d)
		return err
	})
	require.NoError(t, err)
	require.Contains(t, emitted.String(), "the answer")
	require.NotContains(t, emitted.String(), "Goal")
}

func TestParallelChunks(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	together := make(chan struct{})
	s := func(ctx context.Context, f *summarize.Fold) (string, error) {
		n := now.Add(1)
		defer now.Add(-1)
		if n > most.Load() {
			most.Store(n)
		}
		if n == 3 {
			close(together)
		}
		select {
		case <-together:
		case <-ctx.Done():
		}
		return fmt.Sprintf("It begins with %.40q.", f.Messages[0].Text()), nil
	}
	h := history(12)
	mw := summarize.New(summarize.ByFunc(s), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Chunks: 4}, Parallel: 3})
	view, _ := fold(t, mw, h)
	require.Equal(t, int32(3), most.Load(), "as many at a time as may be")
	require.Less(t, len(view), len(h)/2)
}

// Where all is dropped, nobody is asked, and the summary says so.
func TestAllDropped(t *testing.T) {
	t.Parallel()
	h := history(8)
	for i := range h {
		h[i].Time = time.Unix(int64(i), 0)
	}
	view, _ := fold(t, summarize.New(summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) {
		return "", errors.New("nobody should be asked")
	}), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Since: time.Unix(1000, 0)}}), h)
	require.Contains(t, summaryIn(t, view, h).Text(), "(18 messages compacted: 0 of the user, 10 of the assistant; 18 of them left out)")
}

// What another editor has removed without a trace is covered by a fold around it,
// which says that no words are about it.
func TestRemovedByOthers(t *testing.T) {
	t.Parallel()
	h := history(8)
	removes := middleware.Editing("remove", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < len(h) {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(4, 5)}}, nil
	}, middleware.Options{})
	mw := middleware.Chain(removes, summarize.New(summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) {
		return "The logs were read.", nil
	}), summarize.Options{}))
	for range 2 {
		view, _ := fold(t, mw, h)
		text := summaryIn(t, view, h).Text()
		require.True(t, strings.HasSuffix(text, fmt.Sprintf("(%d messages compacted: 0 of the user, 6 of the assistant; 2 of them left out)", len(h)-len(view)+1)), text)
	}
}

// A conversation that goes on after a fold never pays for it again, whatever
// happens to the calls: also when the model fails, or the call was called off
// before the edit was kept.
func TestPaidOnce(t *testing.T) {
	t.Parallel()
	small := writer(good)
	opts := summarize.Options{Trigger: trigger.Messages(16), KeepRounds: 2}
	failing := true
	model := summarize.New(summarize.By(small.Model, summarize.Ask{}), opts)(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if failing {
			return nil, errors.New("502")
		}
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"})}, nil
	})
	h := history(8)
	_, err := model(t.Context(), &middleware.Request{Messages: h}, nil)
	require.Error(t, err)
	require.Len(t, small.Requests(), 1)
	failing = false
	_, err = model(t.Context(), &middleware.Request{Messages: h}, nil)
	require.NoError(t, err)
	require.Len(t, small.Requests(), 1)

	// A dry run pays, and the call behind it does not.
	small = writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), opts)
	for range 3 {
		_, err = middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err)
	}
	_, _, err = middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Len(t, small.Requests(), 1)

	// Equal conversations of two tenants do not meet.
	mws := []middleware.Middleware{middleware.With(middleware.Env{Scope: "a"}, mw), middleware.With(middleware.Env{Scope: "b"}, mw)}
	for _, scoped := range mws {
		_, _, err = middleware.Apply(t.Context(), scoped, &middleware.Request{Messages: h})
		require.NoError(t, err)
	}
	require.Len(t, small.Requests(), 3)
}

// A summary that was made of longer messages is not used where it would be no
// shorter than they are now.
func TestMadeForLongerMessages(t *testing.T) {
	t.Parallel()
	asked := 0
	mw := summarize.New(summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
		asked++
		return strings.TrimSpace(strings.Repeat("log ", f.Tokens*9/10)), nil
	}), summarize.Options{Keep: 2})
	h := history(8)
	_, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h, Force: []string{"*"}})
	require.NoError(t, err)
	require.Equal(t, 1, asked)
	cleared := middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		p := &middleware.Plan{}
		for i, m := range v.Messages() {
			if m.Role == message.RoleTool {
				r, _ := m.Parts[0].(message.ToolResult)
				r.Text = "a line of the log is all that is left"
				p.Edits = append(p.Edits, middleware.RewriteOf(i, r))
			}
		}
		return p, nil
	}, middleware.Options{})
	view, events := fold(t, middleware.Chain(cleared, mw), h)
	require.Equal(t, 2, asked)
	require.NotContains(t, kinds(events), middleware.Refused)
	require.Less(t, len(view), len(h)/2)
}

// TestCustomIsArchived: what a custom strategy replaces can be had again.
func TestCustomIsArchived(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0).Scope("a")
	custom := summarize.Strategy{Custom: func(context.Context, *summarize.Fold) ([]message.Message, error) {
		return []message.Message{message.User("There was more.")}, nil
	}}
	mw := middleware.With(middleware.Env{Archive: archive}, summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Messages(9), Strategy: custom}))
	view, _ := apply(t, mw, history(20))
	handles := archived.In(textsOf(view))
	require.NotEmpty(t, handles)
	_, err := archive.Get(t.Context(), handles[0])
	require.NoError(t, err)
}
