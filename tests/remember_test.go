package tests

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
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// summarizer folds what lies before the newest question once the view is
// longer than a limit, and counts how often it does.
type summarizer struct {
	limit  int  // tokens
	reach  int  // how many of the newest units stay
	beyond bool // it also folds rounds behind the newest question
	made   atomic.Int64
}

func (s *summarizer) middleware() middleware.Middleware {
	return middleware.Editing("summarizer", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		l := lookAt(v)
		question := 0
		for i, m := range l.msgs {
			if m.Role == message.RoleUser {
				question = i
			}
		}
		var runs []message.Run
		for _, u := range l.free() {
			if u.Last < question || s.beyond {
				runs = append(runs, u.Run)
			}
		}
		if len(runs) <= s.reach {
			return nil, nil
		}
		runs = runs[:len(runs)-s.reach]
		return &middleware.Plan{Edits: []middleware.Edit{{
			Kind: journal.Fold, Runs: runs, Estimate: 10,
			Make: func(context.Context) ([]message.Message, error) {
				s.made.Add(1)
				return []message.Message{message.User("Summary " + l.mark(runs...))}, nil
			},
		}}}, nil
	}, middleware.Options{Trigger: trigger.Tokens(s.limit)})
}

// turns is a conversation of several turns of several rounds each, with the
// positions at which a model is called.
func turns(n, rounds int) (history []message.Message, calls []int) {
	for i := range n {
		history = append(history, message.User(fmt.Sprintf("question %d", i)))
		for k := range rounds {
			calls = append(calls, len(history))
			id := fmt.Sprintf("c%d.%d", i, k)
			history = append(history,
				message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"page":%d}`, k)}),
				message.Result(id, "read", strings.Repeat(fmt.Sprintf("page %d of %d. ", k, i), 30)))
		}
		calls = append(calls, len(history))
		history = append(history, message.Assistant(message.Text{Text: fmt.Sprintf("answer %d", i)}))
	}
	return history, calls
}

func TestEachViewExtendsTheOneBefore(t *testing.T) {
	t.Parallel()
	history, calls := turns(8, 6)
	stacks := map[string][]middleware.Middleware{
		"clearing": {contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2000), Keep: 3})},
		"clearing and folding": {
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1500), Keep: 3, ClearToolInputs: true}),
			(&summarizer{limit: 1200, reach: 2}).middleware(),
		},
		"always": layers(editor{name: "clear", plan: clears(2)}, editor{name: "pairs", plan: foldsInPairs}, editor{name: "retell", plan: retells}),
	}
	for name, stack := range stacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := middleware.Chain(stack...)
			var before []message.Message
			edits := 0
			for _, n := range calls {
				shown, events := view(t, chain, history[:n])
				edited := count(events, middleware.Edited)
				require.Equal(t, len(events), edited+count(events, middleware.Refused)+count(events, middleware.Skipped), "edits and refusals alone are told, got %v", events)
				if edited == 0 && before != nil {
					requireExtension(t, before, shown, "a call that edits nothing extends the view before it, at %d", n)
				}
				edits += edited
				repeated, events := view(t, chain, history[:n])
				if count(events, middleware.Edited) == 0 {
					requireSame(t, shown, repeated, "the same call again gives the same view, at %d", n)
				}
				before = repeated
			}
			require.Greater(t, edits, 2, "the chain has edited several times, or this test shows nothing")
		})
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	history, calls := turns(6, 5)
	for name, newJournal := range map[string]func() journal.Journal{
		"memory": func() journal.Journal { return journal.NewMemory(0) },
		"store":  func() journal.Journal { return newTexts() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chainOn := func(j journal.Journal) middleware.Middleware {
				return middleware.With(middleware.Env{Journal: j},
					contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1500), Keep: 3}),
					(&summarizer{limit: 1000, reach: 2}).middleware())
			}
			one, other := newJournal(), newJournal()
			lasting := chainOn(one)
			for _, n := range calls {
				want, wantEvents := view(t, lasting, history[:n])
				got, events := view(t, chainOn(other), history[:n])
				requireSame(t, want, got, "a chain that begins anew on the journal gives the same view, at %d", n)
				require.Equal(t, told(wantEvents), told(events), "and the same edits, at %d", n)
			}
		})
	}
}

// TestFork branches off at each position and compares with what the trunk had
// when it was there.
func TestFork(t *testing.T) {
	t.Parallel()
	history, calls := turns(6, 4)
	journal := journal.NewMemory(0)
	editing := layers(editor{name: "clear", plan: clears(2), when: func(l look) bool { return len(l.msgs)%3 == 0 }},
		editor{name: "fold", plan: folds(3), when: func(l look) bool { return len(l.msgs) > 9 }})
	idle := func() middleware.Middleware {
		return middleware.With(middleware.Env{Journal: journal}, layers(editor{name: "none", plan: func(look) []middleware.Edit { return nil }})...)
	}
	chain := middleware.With(middleware.Env{Journal: journal}, editing...)
	trunk := map[int][]message.Message{}
	for _, n := range calls {
		trunk[n], _ = view(t, chain, history[:n])
	}
	for _, n := range calls {
		fork := append(testkit.Clone(history[:n]), message.Assistant(message.Text{Text: "another way"}), message.User("and now?"))
		for name, mw := range map[string]middleware.Middleware{"same chain": middleware.Chain(idle()), "new chain": idle()} {
			shown, _ := view(t, mw, fork)
			require.Greater(t, len(shown), 2, name)
			requireExtension(t, trunk[n], shown, "%s: a fork at %d has the edits made up to there", name, n)
		}
	}
}

func TestChangedOldMessage(t *testing.T) {
	t.Parallel()
	history, calls := turns(5, 4)
	journal := journal.NewMemory(0)
	chain := middleware.With(middleware.Env{Journal: journal}, contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1}))
	for _, n := range calls {
		view(t, chain, history[:n])
	}
	idle := middleware.With(middleware.Env{Journal: journal}, layers(editor{name: "none", plan: func(look) []middleware.Edit { return nil }})...)
	for at := range history {
		changed := testkit.Clone(history)
		changed[at].Name = "changed"
		req, _, err := middleware.Apply(t.Context(), idle, &middleware.Request{Messages: changed})
		require.NoError(t, err)
		for i := range req.Messages {
			s := req.View().Span(i)
			if s.Edit != nil {
				require.Less(t, s.Last, at, "an edit behind the changed message %d must not be taken over", at)
			}
		}
		requireSame(t, changed[at:], req.Messages[len(req.Messages)-(len(changed)-at):], "all from the changed message %d on is as the caller has it", at)
	}
}

func TestSystemPromptVoidsNothing(t *testing.T) {
	t.Parallel()
	history, calls := turns(5, 4)
	plain := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 2}), (&summarizer{limit: 900, reach: 1}).middleware())
	clock := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 2}), (&summarizer{limit: 900, reach: 1}).middleware())
	for k, n := range calls {
		want, wantEvents := view(t, plain, append([]message.Message{message.System("It is 10:00.")}, history[:n]...))
		system := []message.Message{message.System(fmt.Sprintf("It is 10:%02d.", k))}
		got, events := view(t, clock, append(system, history[:n]...))
		require.Equal(t, told(wantEvents), told(events), "a clock in the system prompt changes no edit, at %d", n)
		requireSame(t, want[1:], got[1:], "a clock in the system prompt changes nothing else, at %d", n)
		requireSame(t, system, got[:1], "the system prompt is that of this call")
		more := append(slices.Clone(system), message.System("more"))
		got, events = view(t, clock, append(more, history[:n]...))
		require.Empty(t, events, "one more system message makes no edit necessary, at %d", n)
		requireSame(t, want[1:], got[2:], "one more system message changes nothing else, at %d", n)
	}
}

// TestViewAsHistory passes each view back as the history of the next call.
func TestViewAsHistory(t *testing.T) {
	t.Parallel()
	whole, calls := turns(6, 4)
	for _, adopts := range []bool{false, true} {
		t.Run(fmt.Sprintf("adopts %t", adopts), func(t *testing.T) {
			t.Parallel()
			s := &summarizer{limit: 400, reach: 1}
			chain := middleware.With(middleware.Env{HistoryIsView: adopts},
				contextedit.New(contextedit.Options{Trigger: trigger.Messages(8), Keep: 2}), s.middleware())
			var history []message.Message
			done := 0
			for _, n := range calls {
				history = append(slices.Clone(history), whole[done:n]...)
				done = n
				shown, _ := view(t, chain, history)
				require.NoError(t, message.Check(shown), "the view is valid, at %d", n)
				again, events := view(t, chain, shown)
				require.Zero(t, count(events, middleware.Edited), "a view passed back is edited no further, at %d: %v", n, events)
				requireSame(t, shown, again, "a view passed back stays as it is, at %d", n)
				for _, m := range again {
					require.LessOrEqual(t, strings.Count(m.Text(), "Summary"), 1, "no summary of summaries")
				}
				history = shown
			}
			require.Positive(t, s.made.Load(), "something was folded, or this test shows nothing")
		})
	}
}

// TestAdoptedPlaceholders shows what Adopts is for: an edit made by a
// middleware is known as one when the view comes back.
func TestAdoptedPlaceholders(t *testing.T) {
	t.Parallel()
	whole, _ := turns(3, 4)
	chain := middleware.With(middleware.Env{HistoryIsView: true},
		contextedit.New(contextedit.Options{Trigger: trigger.Messages(8), Keep: 2}), (&summarizer{limit: 300, reach: 2}).middleware())
	first, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: whole})
	require.NoError(t, err)
	second, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: first.Messages})
	require.NoError(t, err)
	require.Zero(t, count(events, middleware.Edited), "nothing is left to edit, got %v", events)
	require.Len(t, second.Messages, len(first.Messages))
	for i := range first.Messages {
		made, known := first.View().Span(i).Edit, second.View().Span(i).Edit
		require.Equal(t, made == nil, known == nil, "message %d: an edited message is known as edited", i)
		if made != nil {
			require.Equal(t, made.Middleware, known.Middleware, "message %d: and by whom", i)
			require.Equal(t, made.Kind, known.Kind, "message %d: and how", i)
		}
	}
}

// TestUnstableEnds counts the folds that a conversation costs when its end or
// its beginning is not stable.
func TestUnstableEnds(t *testing.T) {
	t.Parallel()
	history, calls := turns(14, 3)
	question := func(h []message.Message) int {
		for i, m := range slices.Backward(h) {
			if m.Role == message.RoleUser {
				return i
			}
		}
		return -1
	}
	cases := map[string]func(k int, h []message.Message) [][]message.Message{
		"a clock in the system prompt": func(k int, h []message.Message) [][]message.Message {
			return [][]message.Message{append([]message.Message{message.System(fmt.Sprintf("It is %d.", k))}, h...)}
		},
		"a context in the newest question": func(k int, h []message.Message) [][]message.Message {
			h = testkit.Clone(h)
			at := question(h)
			h[at].Parts = append(h[at].Parts, message.Text{Text: fmt.Sprintf("context of turn %d", at)})
			return [][]message.Message{h}
		},
		"a context that is another in each call": func(k int, h []message.Message) [][]message.Message {
			h = testkit.Clone(h)
			at := question(h)
			h[at].Parts = append(h[at].Parts, message.Text{Text: fmt.Sprintf("context of call %d", k)})
			return [][]message.Message{h}
		},
		"an edited question": func(k int, h []message.Message) [][]message.Message {
			if at := question(h); at == len(h)-1 {
				draft := testkit.Clone(h)
				draft[at].Parts = []message.Part{message.Text{Text: "first I wanted to ask something else"}}
				return [][]message.Message{draft, h}
			}
			return [][]message.Message{h}
		},
	}
	for _, reach := range []int{0, 2, 5} {
		folds := func(change func(int, []message.Message) [][]message.Message) int {
			s := &summarizer{limit: 900, reach: reach}
			chain := s.middleware()
			for k, n := range calls {
				for _, h := range change(k, history[:n]) {
					view(t, chain, h)
				}
			}
			return int(s.made.Load())
		}
		without := folds(func(_ int, h []message.Message) [][]message.Message { return [][]message.Message{h} })
		require.Greater(t, without, 1, "the conversation is folded several times, or this test shows nothing")
		for name, change := range cases {
			require.LessOrEqual(t, folds(change), without+1, "%s costs at most one more fold, %d units kept", name, reach)
		}
	}
}

// TestOtherTrack finds edits that the same chain made for a shorter history
// in between.
func TestOtherTrack(t *testing.T) {
	t.Parallel()
	history, _ := turns(3, 4)
	long := history[:12]
	journal := journal.NewMemory(0)
	on := false
	switched := editor{name: "clear", plan: clears(1), when: func(look) bool { return on }}
	chain := middleware.With(middleware.Env{Journal: journal}, switched.middleware())
	on = true
	view(t, chain, history[:8])
	on = false
	before, _ := view(t, chain, long)
	on = true
	short, _ := view(t, chain, history[:10])
	on = false
	after, _ := view(t, chain, long)
	requireExtension(t, short, after, "an edit made for the beginning of a known history is found")
	require.NotEqual(t, lines(t, before), lines(t, after), "the view has changed with it")
	fresh, _ := view(t, middleware.With(middleware.Env{Journal: journal}, switched.middleware()), long)
	requireSame(t, fresh, after, "as a new chain would find it")
}

// TestRetry lets the model fail: what was folded is kept, so that the next try
// neither pays again nor sees another beginning.
func TestRetry(t *testing.T) {
	t.Parallel()
	history, calls := turns(4, 5)
	s := &summarizer{limit: 350, reach: 1}
	fails := errors.New("the provider is down")
	var seen [][]message.Message
	fourBytes := middleware.Env{Counter: tokens.Chars4} // by which the summaries, which hold hashes, are short
	model := middleware.With(fourBytes, contextedit.New(contextedit.Options{Trigger: trigger.Messages(8), Keep: 2}), s.middleware())(
		func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			seen = append(seen, slices.Clone(req.Messages))
			return nil, fails
		})
	for _, n := range calls {
		seen = nil
		made := int64(-1)
		for range 3 {
			resp, err := model(t.Context(), &middleware.Request{Messages: history[:n]}, nil)
			require.ErrorIs(t, err, fails, "the error of the model is passed on, at %d", n)
			require.Nil(t, resp, "exactly one of response and error")
			if made < 0 {
				made = s.made.Load()
			}
		}
		require.Equal(t, made, s.made.Load(), "no try after the first folds again, at %d", n)
		requireSame(t, seen[0], seen[1], "the second try sees what the first saw, at %d", n)
		requireSame(t, seen[0], seen[2], "and the third, at %d", n)
	}
	require.Positive(t, s.made.Load(), "something was folded, or this test shows nothing")
}

// TestBetweenEditors lets a middleware of the host add a message in front of,
// behind and between two editors.
func TestBetweenEditors(t *testing.T) {
	t.Parallel()
	history, calls := turns(5, 4)
	host := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Messages = append(slices.Clip(r.Messages), message.User("It is late."))
			return next(ctx, &r, emit)
		}
	}
	for place, reopens := range map[string]bool{"in front": false, "between": true, "behind": false} {
		s := &summarizer{limit: 350, reach: 1}
		chain := []middleware.Middleware{contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 2}), s.middleware()}
		at := map[string]int{"in front": 0, "between": 1, "behind": 2}[place]
		mw := middleware.Chain(slices.Insert(chain, at, middleware.Middleware(host))...)
		reopened := 0
		for _, n := range calls {
			shown, events := view(t, mw, history[:n])
			require.NoError(t, message.Check(shown), "%s: the view is valid, at %d", place, n)
			require.Equal(t, "It is late.", shown[len(shown)-1].Text(), "%s: the host's message comes last, at %d", place, n)
			for _, e := range events {
				if e.Kind == middleware.Notice && strings.Contains(e.Why, "between two editing middlewares") {
					reopened++
				}
			}
		}
		require.Equal(t, reopens, reopened > 0, "%s: an event tells that the second editor begins anew, %d", place, reopened)
		require.Positive(t, s.made.Load(), "%s: something was folded, or this test shows nothing", place)
	}
}
