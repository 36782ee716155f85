package persons

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/steps"
)

// stAgent is an agent whose editor edits what it is told in each call.
type stAgent struct {
	t       require.TestingT
	env     middleware.Env
	history []message.Message
	sent    []message.Message
	events  middlewaretest.Recorder
	model   middleware.Model
	rounds  int
	answers middleware.Model
}

func newStAgent(t require.TestingT, env middleware.Env, mws ...middleware.Middleware) *stAgent {
	a := &stAgent{t: t, env: env, history: []message.Message{message.System("s"), message.User("Read all files.")}}
	a.answers = func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		call := message.ToolCall{ID: fmt.Sprint("call", a.rounds), Name: "read", Arguments: "{}"}
		return &middleware.Response{Message: message.Assistant(call)}, nil
	}
	a.start(mws...)
	return a
}

func (a *stAgent) start(mws ...middleware.Middleware) {
	mws = append([]middleware.Middleware{a.events.Middleware()}, mws...)
	a.model = middleware.With(a.env, mws...)(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		a.sent = testkit.Clone(req.Messages)
		return a.answers(ctx, req, emit)
	})
}

// call sends the history, and appends the answer and its result.
func (a *stAgent) call(req middleware.Request) {
	req.Messages = a.history
	resp, err := a.model(context.Background(), &req, nil)
	require.NoError(a.t, err)
	a.rounds++
	a.history = append(slices.Clip(a.history), resp.Message)
	for c := range resp.Message.Calls() {
		a.history = append(a.history, message.Result(c.ID, "read", strings.Repeat(fmt.Sprint("line of file ", a.rounds, "\n"), 40)))
	}
}

func (a *stAgent) undo() steps.Step {
	s, err := steps.Undo(context.Background(), a.env, a.history)
	require.NoError(a.t, err)
	return s
}

// cleared returns the positions of the results that were sent cleared.
func (a *stAgent) cleared() (at []int) {
	for i, m := range a.sent {
		for r := range m.Results() {
			if r.Text == "-" {
				at = append(at, i)
			}
		}
	}
	return at
}

// stClear is an editor that clears the results at the positions that Params lists. before is called when it plans.
func stClear(name string, before func()) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if before != nil {
			before()
		}
		var plan middleware.Plan
		wanted, _ := v.Request().Params.([]int)
		for _, at := range wanted {
			for r := range v.At(at).Results() {
				if r.Text != "-" && at < v.Len()-1 && !v.Protected(at).Whole {
					plan.Edits = append(plan.Edits, middleware.RewriteOf(at, message.Result(r.CallID, r.Name, "-").Parts...))
				}
			}
		}
		return &plan, nil
	}, middleware.Options{Strict: true, PauseAfter: -1})
}

func at(positions ...int) middleware.Request { return middleware.Request{Params: positions} }

// stEach runs a test with the environment of each journal, which has nothing of its scope.
func stEach(t *testing.T, run func(t *testing.T, env middleware.Env)) {
	t.Helper()
	for name, j := range stJournals(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j == nil {
				j = journal.NewMemory(0)
			}
			run(t, middleware.Env{Journal: j, Scope: rand.Text()})
		})
	}
}

// A chain that goes on with its own answers sees an undo by another process in its next call, and its next edit does not bring
// the undone one back. The middleware waits for the next message of the user.
func TestUndoByAnotherProcess(t *testing.T) {
	t.Parallel()
	stEach(t, func(t *testing.T, env middleware.Env) {
		t.Helper()
		a := newStAgent(t, env, stClear("clear", nil), stClear("other", nil))
		for range 4 {
			a.call(at())
		}
		before := a.history
		a.call(at(3, 5))
		require.Equal(t, []int{3, 5}, a.cleared())
		a.call(at())
		undone := a.undo()
		require.Equal(t, "clear", undone.By)
		require.Less(t, undone.Before, undone.After, "what is sent becomes longer")
		a.call(at(3, 5))
		require.Equal(t, []int{3, 5}, a.cleared(), "the other editor clears")
		s, err := steps.History(t.Context(), env, a.history)
		require.NoError(t, err)
		require.Equal(t, "other", s[0].By)
		a.undo()
		a.call(at(3, 5))
		require.Empty(t, a.cleared(), "both wait")
		require.Equal(t, before, a.sent[:len(before)], "byte for byte")
		a.call(middleware.Request{Params: []int{7}, Force: []string{"clear"}})
		require.Equal(t, []int{7}, a.cleared(), "what was undone does not come back with another edit")
		a.call(at(3))
		require.Equal(t, []int{3, 7}, a.cleared(), "a forced edit ends the wait")
		a.undo()
		a.call(at(3))
		require.Equal(t, []int{7}, a.cleared())
		a.history = append(a.history, message.Assistant(message.Text{Text: "Done."}), message.User("Again."))
		a.call(at(3))
		require.Equal(t, []int{3, 7}, a.cleared(), "so does a message of the user")
	})
}

// An edit that a call plans while another process takes back what it builds on is not written.
func TestUndoDuringACall(t *testing.T) {
	t.Parallel()
	stEach(t, func(t *testing.T, env middleware.Env) {
		t.Helper()
		var during func()
		a := newStAgent(t, env, stClear("clear", func() {
			if do := during; do != nil {
				during = nil
				do()
			}
		}))
		for range 4 {
			a.call(at())
		}
		a.call(at(3))
		early := a.history
		a.call(at())
		during = func() {
			_, err := steps.Undo(context.Background(), env, early)
			require.NoError(t, err)
		}
		a.call(at(5))
		require.Empty(t, a.cleared(), "the edit of the call is on top of the undone one, so it is not made")
		a.call(at())
		require.Empty(t, a.cleared())
		s, err := steps.History(t.Context(), env, a.history)
		require.NoError(t, err)
		require.Len(t, s, 2, "the edit and its undo")
	})
}

// TestStepsOfAnEarlierProcess reads the steps after a restart.
func TestStepsOfAnEarlierProcess(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	env := middleware.Env{Journal: journal.NewMemory(0), Clock: func() time.Time { return now }}
	a := newStAgent(t, env, stClear("clear", nil))
	for i := range 14 {
		a.call(at(max(1, 2*i-1)))
		if i == 13 {
			a.call(middleware.Request{Params: []int{2*i + 1}, Force: []string{"clear"}})
		}
	}
	s, err := steps.History(t.Context(), env, a.history)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(s), 10)
	for i, step := range s {
		require.Equal(t, "edit", step.Kind)
		require.Equal(t, "clear", step.By)
		require.Equal(t, now, step.Time)
		require.Greater(t, step.Before, step.After)
		require.Equal(t, journal.Cost{Known: true}, step.Cost, "no model was called")
		if i == 0 {
			require.Equal(t, "user", step.Actor)
		} else {
			require.Equal(t, "trigger", step.Actor)
		}
	}
	was := a.sent
	a.start(stClear("clear", nil))
	a.call(at())
	require.Equal(t, was, a.sent[:len(was)])
}

// fit edits in the turn of an undo if the request would not fit otherwise, and says so.
func TestFitAfterAnUndo(t *testing.T) {
	t.Parallel()
	env := middleware.Env{Journal: journal.NewMemory(0)}
	a := newStAgent(t, env, stClear("clear", nil), fit.New(fit.Options{}))
	for range 5 {
		a.call(at())
	}
	a.call(at(3, 5, 7, 9))
	a.undo()
	req := at(3, 5, 7, 9)
	req.Budget = &middleware.Budget{Window: 600}
	a.call(req)
	edited := a.events.Events(middleware.Edited)
	edited = edited[len(edited)-1:]
	require.Equal(t, "fit", edited[0].By)
	require.Contains(t, edited[0].Why, "edits of clear were undone in this turn, and without this one the request would not fit")
}

// Of a caller that passes views back as its history, the messages before an edit are gone.
func TestUndoOfAView(t *testing.T) {
	t.Parallel()
	env := middleware.Env{Journal: journal.NewMemory(0), HistoryIsView: true}
	a := newStAgent(t, env, stClear("clear", nil))
	for range 3 {
		a.call(at())
	}
	a.call(at(3))
	a.history = slices.Concat(a.sent, a.history[len(a.sent):])
	s, err := steps.History(t.Context(), env, a.history)
	require.NoError(t, err)
	require.Len(t, s, 1)
	_, err = steps.Undo(t.Context(), env, a.history)
	require.ErrorIs(t, err, steps.ErrGone)
	_, err = steps.Undo(t.Context(), middleware.Env{}, a.history)
	require.ErrorIs(t, err, middleware.Invalid)
}

// oldEntry was written before entries had steps.
const oldEntry = `{"rev":"REV","edits":[{"middleware":"clear","kind":"rewrite",` +
	`"runs":[{"First":2,"Last":2}],"id":"ID","history_len":5,"rewrite":{"role":"","parts":[` +
	`{"type":"result","id":"call0","name":"read","text":"-"}]}}]}`

// An entry without steps has the revision that it always had. It is in force, and cannot be undone.
func TestEntryWithoutSteps(t *testing.T) {
	t.Parallel()
	env := middleware.Env{Journal: journal.NewMemory(0)}
	a := newStAgent(t, env, stClear("clear", nil))
	a.call(at())
	a.call(at())
	ids := message.IDs(a.history[1:])
	text := strings.NewReplacer("REV", "574bbc3c8a1537f1184430013ffeb963", "ID", ids[2].String()).Replace(oldEntry)
	var e journal.Entry
	require.NoError(t, json.Unmarshal([]byte(text), &e))
	require.NoError(t, e.Validate(), "the revision is %s", e.Revision())
	_, err := env.Journal.Put(t.Context(), "", []journal.Write{{ID: ids[4], First: ids[0], Conversation: ids[0], Entry: e}})
	require.NoError(t, err)
	a.call(at())
	require.Equal(t, []int{3}, a.cleared())
	s, err := steps.History(t.Context(), env, a.history)
	require.NoError(t, err)
	require.Empty(t, s)
	_, err = steps.Undo(t.Context(), env, a.history)
	require.ErrorIs(t, err, steps.ErrNothing)
	a.call(at(5))
	require.Equal(t, []int{3, 5}, a.cleared())
	a.undo()
	a.call(at())
	require.Equal(t, []int{3}, a.cleared(), "what is older remains")
}

// TestUndoWithBoundThinking undoes, makes again, pins and edits at random with a model that refuses void thinking.
func TestUndoWithBoundThinking(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx, env := context.Background(), middleware.Env{Journal: journal.NewMemory(0)}
		a := newStAgent(t, env, stClear("clear", nil), stClear("other", nil))
		thinks := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			call := message.ToolCall{ID: fmt.Sprint("call", a.rounds), Name: "read", Arguments: "{}"}
			return &middleware.Response{Message: message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, call)}, nil
		}
		strict, refused := middlewaretest.Strict("bound", thinks)
		a.answers = strict
		done := map[string]int{}
		for range rapid.IntRange(5, 30).Draw(t, "steps") {
			h := a.history
			if rapid.IntRange(0, 3).Draw(t, "as it was sent") == 0 && len(h) > 4 {
				h = h[:len(h)-2]
			}
			var err error
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); what {
			case 0, 1:
				if _, err = steps.Undo(ctx, env, h); err == nil {
					done["undo"]++
				}
			case 2:
				_, err = steps.Redo(ctx, env, h)
			case 3, 4:
				ids := message.IDs(h[1:])
				pin := steps.Pin
				if what == 4 {
					pin = steps.Unpin
				}
				err = pin(ctx, env, h, ids[rapid.IntRange(0, len(ids)-1).Draw(t, "pin")])
			case 5:
				a.start(stClear("clear", nil), stClear("other", nil))
			default:
				wanted := 2*rapid.IntRange(0, len(a.history)/2).Draw(t, "at") + 1
				req := at(wanted)
				if req.Model = "claude-opus-5-5"; wanted >= len(a.history) {
					req.Params = []int{}
				}
				a.call(req)
			}
			if err != nil {
				require.ErrorIs(t, err, steps.ErrNothing)
			}
		}
		require.Empty(t, refused(), "no thinking is void")
	})
}

// Several processes call, undo and make again at the same time: none gets another error than that there is nothing to do, or
// that others were first.
func TestUndoAtOnce(t *testing.T) {
	t.Parallel()
	stEach(t, func(t *testing.T, env middleware.Env) {
		t.Helper()
		a := newStAgent(t, env, stClear("clear", nil))
		for i := range 6 {
			a.call(at(max(1, 2*i-1)))
		}
		h := a.history
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, err := steps.Undo(t.Context(), env, h); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, err := steps.History(t.Context(), env, h)
		require.NoError(t, err)
		var edits, undone []message.ID
		for _, s := range all {
			if s.Kind == "edit" {
				edits = append(edits, s.ID)
			}
			if s.Undone {
				undone = append(undone, s.ID)
			}
		}
		require.Equal(t, edits[:2], undone, "each takes an edit back, the newest first")

		for n := range 4 {
			wg.Go(func() {
				b := newStAgent(t, env, stClear("clear", nil))
				b.history = h
				for i := range 8 {
					do := steps.Undo
					if (n+i)%2 == 0 {
						do = steps.Redo
					}
					_, err := do(t.Context(), env, h)
					if err != nil && middleware.KindOf(err) != middleware.Outdated && !errors.Is(err, steps.ErrNothing) {
						t.Error(err)
					}
					req := at(2*(i%6) + 1)
					req.Force = []string{"clear"}
					req.Messages = h
					if _, err := b.model(t.Context(), &req, nil); err != nil {
						t.Error(err)
					}
					for _, e := range b.events.Events(middleware.Failed) {
						t.Error(e)
					}
				}
			})
		}
		wg.Wait()
	})
}

// A person undoes an edit in one branch. Another branch, which has forked behind the edit, keeps it; its later edits do not bring it
// back in forks at the question.
func TestUndoBesideAnOlderBranch(t *testing.T) {
	t.Parallel()
	stEach(t, func(t *testing.T, env middleware.Env) {
		t.Helper()
		a := newStAgent(t, env, stClear("clear", nil))
		a.call(at())
		a.call(at())
		a.history = append(a.history, message.Assistant(message.Text{Text: "Done."}), message.User("Read more."))
		question := a.history
		a.call(at())
		a.call(at(3))
		branch := a.history
		a.history = append(slices.Clip(question), message.Assistant(message.Text{Text: "No."}))
		a.undo()
		a.history = branch
		a.call(at(5))
		require.Equal(t, []int{3, 5}, a.cleared(), "the older branch keeps the edit")
		a.history = append(slices.Clip(question[:len(question)-1]), message.User("Read something else."))
		a.call(at())
		require.Equal(t, []int{5}, a.cleared(), "what was undone stays undone")
	})
}

// What the model has asked for stays undone in the turn, as what a trigger has made does; the program may force it.
func TestUndoOfWhatTheModelAskedFor(t *testing.T) {
	t.Parallel()
	a := newStAgent(t, middleware.Env{Journal: journal.NewMemory(0)}, stClear("clear", nil))
	for range 4 {
		a.call(middleware.Request{})
	}
	asked := middleware.Request{Params: []int{3}, Force: []string{"clear"}, Asked: true}
	a.call(asked)
	require.Equal(t, []int{3}, a.cleared())
	a.undo()
	for range 2 {
		a.call(asked)
		require.Empty(t, a.cleared(), "it is not made again")
	}
	a.call(middleware.Request{Params: []int{3}, Force: []string{"clear"}})
	require.Equal(t, []int{3}, a.cleared(), "the program forces it")
}

// A pin belongs to its message: it holds in all histories that have it, whether they fork before or behind the place where it was
// set, also where another branch has been edited since.
func TestPinInForks(t *testing.T) {
	t.Parallel()
	stEach(t, func(t *testing.T, env middleware.Env) {
		t.Helper()
		a := newStAgent(t, env, stClear("clear", nil))
		_, err := a.model(t.Context(), &middleware.Request{Messages: a.history[:1]}, nil)
		require.NoError(t, err, "a history of system messages has no pins")
		for range 6 {
			a.call(at())
		}
		a.call(at(3))
		whole, id := a.history, message.IDs(a.history)[5]
		b := newStAgent(t, env, stClear("clear", nil))
		b.history = append(slices.Clip(whole[:9]), message.User("Another way."))
		b.call(at(3, 5))
		require.Equal(t, []int{3, 5}, b.cleared())
		require.NoError(t, steps.Pin(t.Context(), env, whole, id))
		for _, n := range []int{6, 8, 9, 11, len(whole)} {
			c := newStAgent(t, env, stClear("clear", nil))
			c.history = append(slices.Clip(whole[:n]), message.User("Try something else."))
			c.call(at(5))
			require.NotContains(t, c.cleared(), 5, "a fork at message %d", n)
		}
		b.call(at(5))
		require.Equal(t, []int{3}, b.cleared(), "the pin ends the edit of a branch that others have not seen")
		told := b.events.Events(middleware.Notice)
		require.Contains(t, told[len(told)-1].Why, "a person has pinned messages")
		require.NoError(t, steps.Unpin(t.Context(), env, whole, id))
		b.call(at(5))
		require.Equal(t, []int{3, 5}, b.cleared())
	})
}

// Undo takes back what is in force: not what a pin has ended.
func TestUndoBehindAPin(t *testing.T) {
	t.Parallel()
	env := middleware.Env{Journal: journal.NewMemory(0)}
	a := newStAgent(t, env, stClear("clear", nil), stClear("other", nil))
	for range 4 {
		a.call(at())
	}
	a.call(middleware.Request{Params: []int{3}, Force: []string{"other"}})
	a.call(middleware.Request{Params: []int{5}})
	require.Equal(t, []int{3, 5}, a.cleared())
	require.NoError(t, steps.Pin(t.Context(), env, a.history, message.IDs(a.history)[5]))
	a.call(at())
	require.Equal(t, []int{3}, a.cleared())
	a.undo()
	a.call(at())
	require.Empty(t, a.cleared(), "the edit that was in force")
	_, err := steps.Undo(t.Context(), env, a.history)
	require.ErrorIs(t, err, steps.ErrNothing)
	_, err = steps.Redo(t.Context(), env, a.history)
	require.NoError(t, err)
	a.call(at())
	require.Equal(t, []int{3}, a.cleared())
	a.undo()
	require.NoError(t, steps.Pin(t.Context(), env, a.history, message.IDs(a.history)[3]))
	_, err = steps.Redo(t.Context(), env, a.history)
	require.ErrorIs(t, err, steps.ErrNothing, "a pin holds it off")
}

// A fold of a cleared result is undone, and its call is pinned: there is nothing to make again, although the result is cleared.
func TestRedoOfAFoldBehindAPin(t *testing.T) {
	t.Parallel()
	env := middleware.Env{Journal: journal.NewMemory(0)}
	folds := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Request().Params != "fold" {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 3, message.User("It was read."))}}, nil
	}, middleware.Options{Strict: true})
	a := newStAgent(t, env, stClear("clear", nil), folds)
	for range 3 {
		a.call(at())
	}
	a.call(at(3))
	a.call(middleware.Request{Params: "fold"})
	require.Equal(t, "fold", a.undo().By)
	require.NoError(t, steps.Pin(t.Context(), env, a.history, message.IDs(a.history[1:])[1]))
	_, err := steps.Redo(t.Context(), env, a.history)
	require.ErrorIs(t, err, steps.ErrNothing)
	a.call(at())
	require.Equal(t, []int{3}, a.cleared())
}

// Every message can be named, in whatever order the results of a round came, and by both kinds of chain: those that put them into
// the order of the calls, and those that pass on what a client has sent.
func TestPinWithResultsInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"", "messages"} {
		env := middleware.Env{Journal: journal.NewMemory(0)}
		a := newStAgent(t, env, stClear("clear", nil))
		two := []message.Part{message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "read", Arguments: "{}"}}
		a.history = append(a.history, message.Assistant(two...),
			message.Result("b", "read", strings.Repeat("b", 400)), message.Result("a", "read", strings.Repeat("a", 400)))
		for range 3 {
			a.call(middleware.Request{Format: format})
		}
		ids := message.IDs(a.history)
		swapped := slices.Clone(a.history)
		swapped[3], swapped[4] = swapped[4], swapped[3]
		require.Equal(t, ids[5:], message.IDs(swapped)[5:])
		require.NoError(t, steps.Pin(t.Context(), env, a.history, ids[4], ids[6]))
		pinned, err := steps.Pinned(t.Context(), env, swapped)
		require.NoError(t, err)
		require.ElementsMatch(t, []message.ID{ids[4], ids[6]}, pinned)
		a.call(middleware.Request{Params: []int{3, 4, 6, 8}, Format: format})
		require.Len(t, a.cleared(), 2)
		require.Equal(t, "clear", a.undo().By)
		a.call(middleware.Request{Format: format})
		require.Empty(t, a.cleared())
	}
}

// What fits after an undo is sent, also if the thinking of the newest round, which was written since the edit, is left out.
func TestFitAfterAnUndoWithBoundThinking(t *testing.T) {
	t.Parallel()
	env := middleware.Env{Journal: journal.NewMemory(0)}
	a := newStAgent(t, env, stClear("clear", nil), fit.New(fit.Options{}))
	thinks := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		call := message.ToolCall{ID: fmt.Sprint("call", a.rounds), Name: "read", Arguments: `{"text":"` + strings.Repeat("word ", 2000) + `"}`}
		return &middleware.Response{Message: message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, call)}, nil
	}
	strict, refused := middlewaretest.Strict("bound", thinks)
	a.answers = strict
	large := middleware.Request{Model: "claude-opus-5-5", Params: []int{}}
	for range 3 {
		a.call(large)
	}
	clearing := large
	clearing.Params = []int{3}
	a.call(clearing)
	a.call(large)
	a.undo()
	history := a.history
	a.call(large)
	a.history = history // the answer is dropped, and the call made again
	small := large
	small.Budget = &middleware.Budget{Window: 2000}
	a.call(small)
	require.Empty(t, refused())
}

// Without takes back all that a draft has made of a message: no step of it is left.
func TestWithoutOverTwoRewrites(t *testing.T) {
	t.Parallel()
	ctx, env := t.Context(), middleware.Env{Journal: journal.NewMemory(0)}
	mws := []middleware.Middleware{stEditor("one"), stEditor("two"), stEditor("fold")}
	a := newStAgent(t, env, mws...)
	for range 4 {
		a.call(middleware.Request{})
	}
	p := stPlan{one: map[int]string{2: "shorter by one"}, two: map[int]string{2: "two"}, fold: [2]int{3, 4}, text: "folded"}
	d, err := middleware.Draft(ctx, middleware.With(env, mws...), &middleware.Request{Messages: a.history, Params: p})
	require.NoError(t, err)
	require.Len(t, d.Edits, 2)
	d, err = d.Without(0)
	require.NoError(t, err)
	require.Equal(t, a.history[3], d.After.Messages()[3])
	require.NoError(t, d.Commit(ctx))
	all, err := steps.History(ctx, env, a.history)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "fold", all[0].By)
}

// An undo holds where a process has an edit in memory that the journal did not take.
func TestUndoBesideAnEditInMemory(t *testing.T) {
	t.Parallel()
	j := &refusing{Journal: journal.NewMemory(0)}
	env := middleware.Env{Journal: j}
	a := newStAgent(t, env, stClear("clear", nil))
	for range 3 {
		a.call(at())
	}
	a.call(at(3))
	j.refuses.Store(true)
	a.call(at(5))
	require.Equal(t, []int{3, 5}, a.cleared())
	j.refuses.Store(false)
	a.undo()
	a.call(at())
	require.NotContains(t, a.cleared(), 3, "it is undone")
	a.call(at())
	require.NotContains(t, a.cleared(), 3, "it stays undone")
}

// refusing is a journal that may refuse what is written.
type refusing struct {
	journal.Journal

	refuses atomic.Bool
}

func (r *refusing) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if r.refuses.Load() {
		return journal.Entry{}, errors.New("read only")
	}
	return r.Journal.Put(ctx, scope, writes)
}

// A host may insert other text into the newest question in each call: what was undone waits all the same.
func TestUndoWithAQuestionThatVaries(t *testing.T) {
	t.Parallel()
	a := newStAgent(t, middleware.Env{Journal: journal.NewMemory(0)}, stClear("clear", nil))
	for range 3 {
		a.call(at())
	}
	a.history = append(a.history, message.Assistant(message.Text{Text: "Done."}), message.User("(12:00) Go on."))
	a.call(at(3))
	require.Equal(t, []int{3}, a.cleared())
	a.undo()
	varied := slices.Clone(a.history)
	varied[len(varied)-3] = message.User("(12:01) Go on.")
	a.history = varied
	a.call(at(3))
	require.Empty(t, a.cleared(), "it waits for the next message of the user")
	a.history = append(a.history, message.Assistant(message.Text{Text: "Done."}), message.User("(12:02) And now?"))
	a.call(at(3))
	require.Equal(t, []int{3}, a.cleared())
}
