package tests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// none is an editor that never edits, to look at what is remembered.
func none() middleware.Middleware {
	return editor{name: "none", plan: func(look) []middleware.Edit { return nil }}.middleware()
}

// meanwhile is an editor before which something else happens, once.
func meanwhile(do func()) middleware.Middleware {
	done := false
	return middleware.Editing("meanwhile", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		if !done {
			done = true
			do()
		}
		return nil, nil
	}, middleware.Options{})
}

// TestQuickerCall lets another call on the same history end while the first is
// still planning.
func TestQuickerCall(t *testing.T) {
	t.Parallel()
	history, _ := turns(4, 4)
	history = append(history, message.User("go on"))
	for name, c := range map[string]struct {
		quick, slow func(look) []middleware.Edit
		wins        string
	}{
		"the slower one covers the quicker one": {clears(2), foldsAround(14), "quick"},
		"it does not":                           {foldsNewest, clears(2), "quick"},
		"both do the same":                      {clears(2), clears(2), "quick"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journal := journal.NewMemory(0)
			on := func(mws ...middleware.Middleware) middleware.Middleware {
				return middleware.With(middleware.Env{Journal: journal}, mws...)
			}
			var quick []message.Message
			slow := on(
				meanwhile(func() { quick, _ = view(t, on(editor{name: "quick", plan: c.quick}.middleware()), history) }),
				editor{name: "slow", plan: c.slow}.middleware())
			req, _, err := middleware.Apply(t.Context(), slow, &middleware.Request{Messages: history})
			require.NoError(t, err)
			require.Positive(t, edits(req)[c.wins], "what the model is sent has the edits of the call that wins, got %v", edits(req))
			if c.wins == "quick" {
				requireSame(t, quick, req.Messages, "the slower call gets the view of the quicker one")
			}
			kept, _ := view(t, on(none()), history)
			requireSame(t, req.Messages, kept, "what is kept is what the model was sent")
			live, _ := view(t, on(none()), history)
			requireSame(t, live, kept, "the chain itself remembers the same")
			another := append(slices.Clone(history[:len(history)-1]), message.User("something else"))
			kept, _ = view(t, on(none()), another)
			n := len(req.Messages) - 1
			requireExtension(t, req.Messages[:n], kept, "so does what is kept for another question")
		})
	}
}

// meetingCounter lets calls wait for each other when they count the end of
// their way: then all have begun with what the chain knew before.
type meetingCounter struct{ all sync.WaitGroup }

func (c *meetingCounter) gather(n int) { c.all.Add(n) }

func (c *meetingCounter) Count(text string) int {
	if strings.HasPrefix(text, "end of way") {
		c.all.Done()
		c.all.Wait()
	}
	return tokens.Chars4.Count(text)
}

// TestForksAtOnce lets calls that go on from one history in different ways
// begin at once, so that all of them grow what the chain knows of it.
func TestForksAtOnce(t *testing.T) {
	t.Parallel()
	history, calls := turns(4, 4)
	history = history[:calls[len(calls)-1]]
	stack := func() middleware.Middleware {
		return middleware.Chain(layers(editor{name: "clear", plan: clears(4)}, editor{name: "fold", plan: folds(5)})...)
	}
	for round := range 20 {
		const forks = 8
		meet := &meetingCounter{}
		chain := middleware.With(middleware.Env{Counter: meet}, stack())
		for _, n := range calls { // what the chain knows grows, and has room to grow
			view(t, chain, history[:n])
		}
		var got [2][forks][]message.Message
		ways := func(k, n int) []message.Message {
			h := slices.Clip(history)
			for i := range n {
				h = append(h, message.User(fmt.Sprintf("way %d step %d", k, i)), message.Assistant(message.Text{Text: fmt.Sprintf("answer %d of way %d", i, k)}))
			}
			return append(h, message.User(fmt.Sprintf("end of way %d", k)))
		}
		for step := range got {
			meet.gather(forks)
			together(forks, func(k int) {
				req, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: ways(k, 1+2*step)})
				if err == nil {
					got[step][k] = req.Messages
				}
			})
		}
		for k := range forks {
			alone := stack()
			for _, n := range calls {
				view(t, alone, history[:n])
			}
			for step := range got {
				want, _ := view(t, alone, ways(k, 1+2*step))
				requireSame(t, want, got[step][k], "round %d: way %d is seen as if it were alone", round, k)
			}
		}
	}
}

// TestOtherProcess edits a history that another process knows already.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	history, _ := turns(3, 4)
	journal := newTexts()
	on := func(mw middleware.Middleware) middleware.Middleware {
		return middleware.With(middleware.Env{Journal: journal}, mw)
	}
	here := on(none())
	shown, _ := view(t, here, history)
	requireSame(t, history, shown, "nothing is edited yet")
	there, _ := view(t, on(editor{name: "clear", plan: clears(3)}.middleware()), history)
	shown, _ = view(t, here, append(slices.Clip(history), message.User("more")))
	requireExtension(t, there, shown, "what another process has edited meanwhile, at the last known message, is found")
}

// onceBroken fails at its first reading, also when that is repeated.
type onceBroken struct {
	journal.Journal
	calls int
}

func (j *onceBroken) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	j.calls++
	if j.calls <= 2 {
		return journal.Found{}, errMood
	}
	return j.Journal.Find(ctx, scope, first, ids)
}

// TestJournalRecovers finds old edits once the journal can be read again, also
// for a fork.
func TestJournalRecovers(t *testing.T) {
	t.Parallel()
	history, _ := turns(4, 4)
	for name, next := range map[string][]message.Message{
		"same":  history,
		"grown": append(slices.Clip(history), message.User("more")),
		"fork":  append(slices.Clone(history[:24]), message.User("another way")),
	} {
		journal := newTexts()
		edited, _ := view(t, middleware.With(middleware.Env{Journal: journal}, editor{name: "clear", plan: clears(3)}.middleware()), history[:20])
		chain := middleware.With(middleware.Env{Journal: &onceBroken{Journal: journal}}, none())
		shown, events := view(t, chain, history)
		requireSame(t, history, shown, "%s: nothing is known", name)
		require.Equal(t, 1, count(events, middleware.Failed), "%s: and an event says so", name)
		shown, events = view(t, chain, next)
		require.Len(t, events, count(events, middleware.Notice), "%s: no event but that there are edits: %v", name, events)
		requireExtension(t, edited, shown, "%s: the journal is asked for all that it was not asked before", name)
	}
}

// TestOtherWriterDuringAnOutage has an edit that could not be written when another process edits the same history in
// another way: what is written holds, and the own edit is given up.
func TestOtherWriterDuringAnOutage(t *testing.T) {
	t.Parallel()
	history, _ := turns(4, 4)
	history = append(history, message.User("go on"))
	shared := journal.NewMemory(0)
	edited := false
	once := func(l look) []middleware.Edit {
		if edited {
			return nil
		}
		edited = true
		return clears(2)(l)
	}
	own := middleware.With(middleware.Env{Journal: &unwritable{Journal: shared, fails: 1}}, editor{name: "own", plan: once}.middleware())
	mine, events := view(t, own, history)
	require.Positive(t, count(events, middleware.Failed), "the edit cannot be written: %v", events)
	require.Positive(t, count(events, middleware.Edited))
	other, _ := view(t, middleware.With(middleware.Env{Journal: shared}, editor{name: "other", plan: foldsNewest}.middleware()), history)
	require.NotEqual(t, len(mine), len(other))
	now, _ := view(t, own, append(slices.Clip(history), message.Assistant(message.Text{Text: "ok"}), message.User("more")))
	requireExtension(t, other, now, "what another process has written holds")
}

// unwritable is a journal whose first writes fail.
type unwritable struct {
	journal.Journal

	fails int
}

func (u *unwritable) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	u.fails--
	if u.fails >= 0 {
		return journal.Entry{}, errors.New("the disk is full")
	}
	return u.Journal.Put(ctx, scope, writes)
}

// TestChainBehindChain puts a chain behind another as its model: it edits the
// view of the other as if that were the history.
func TestChainBehindChain(t *testing.T) {
	t.Parallel()
	history, _ := turns(3, 4)
	outside, inside := journal.NewMemory(0), journal.NewMemory(0)
	var sent []message.Message
	model := func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		sent = slices.Clone(req.Messages)
		return &middleware.Response{}, nil
	}
	inner := middleware.With(middleware.Env{Journal: inside}, editor{name: "fold", plan: folds(4)}.middleware())
	outer := middleware.With(middleware.Env{Journal: outside}, editor{name: "clear", plan: clears(4)}.middleware())
	_, err := outer(inner(model))(t.Context(), &middleware.Request{Messages: history}, nil)
	require.NoError(t, err)
	require.Positive(t, held(inside), "the inner chain has a journal of its own")
	cleared, _ := view(t, middleware.With(middleware.Env{Journal: outside}, none()), history)
	folded, _ := view(t, middleware.With(middleware.Env{Journal: inside}, none()), cleared)
	requireSame(t, folded, sent, "each remembers its own edits, the inner one those of the outer's view")
	plain, _ := view(t, middleware.With(middleware.Env{Journal: inside}, none()), history)
	requireSame(t, history, plain, "the inner chain has kept nothing for a history that it did not see")
}

// TestQuickerCallBehindTheQuestion is a slower call that loses: nothing of what
// it wanted may be kept for another question either.
func TestQuickerCallBehindTheQuestion(t *testing.T) {
	t.Parallel()
	history, calls := turns(3, 5)
	history = history[:calls[len(calls)-1]]
	question := 0
	for i, m := range history {
		if m.Role == message.RoleUser {
			question = i
		}
	}
	behind := func(l look) []middleware.Edit {
		var out []middleware.Edit
		for _, e := range clears(99)(l) {
			if e.At > question {
				out = append(out, e)
			}
		}
		return out
	}
	journal := journal.NewMemory(0)
	on := func(mws ...middleware.Middleware) middleware.Middleware {
		return middleware.With(middleware.Env{Journal: journal}, mws...)
	}
	var quick []message.Message
	slow := on(
		meanwhile(func() { quick, _ = view(t, on(editor{name: "quick", plan: behind}.middleware()), history) }),
		editor{name: "slow", plan: clears(2)}.middleware())
	shown, _ := view(t, slow, history)
	requireSame(t, quick, shown, "the slower call gets the view of the quicker one")
	another := append(slices.Clone(history[:question]), message.User("something else"))
	kept, _ := view(t, on(none()), another)
	requireSame(t, another, kept, "the edits of a call that has lost are kept nowhere")
}
