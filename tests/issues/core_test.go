// Package issues has a test for each fault that was found and mended, named
// after what went wrong.
package issues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// clearing clears the n oldest results that are not cleared yet, at each call.
func clearing(n int) middleware.Middleware {
	return middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		p := &middleware.Plan{}
		for i, m := range v.Messages() {
			if m.Role != message.RoleTool || v.Protected(i) != (middleware.Protection{}) || v.Span(i).Edit != nil || len(p.Edits) == n {
				continue
			}
			for r := range m.Results() {
				r.Text = "-"
				p.Edits = append(p.Edits, middleware.RewriteOf(i, r))
			}
		}
		return p, nil
	}, middleware.Options{})
}

// planning always wants these edits.
func planning(name string, edits func(v *middleware.View) []middleware.Edit, opts middleware.Options) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: edits(v)}, nil
	}, opts)
}

func idle() middleware.Middleware { return clearing(0) }

// rounds is a question and so many rounds.
func rounds(n int) []message.Message { return more([]message.Message{message.User("do it")}, n) }

func more(h []message.Message, n int) []message.Message {
	for range n {
		id := fmt.Sprintf("c%d", len(h))
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "tool", Arguments: "{}"}),
			message.Result(id, "tool", strings.Repeat("x", 400)))
	}
	return h
}

func apply(t *testing.T, mw middleware.Middleware, h []message.Message) (*middleware.Request, []middleware.Event) {
	t.Helper()
	req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return req, events
}

func edited(r *middleware.Request) int {
	n := 0
	for i := range r.Messages {
		if r.View().Span(i).Edit != nil {
			n++
		}
	}
	return n
}

func kinds(events []middleware.Event) []middleware.EventKind {
	var out []middleware.EventKind
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// More than eight entries in one place made it unreadable.
func TestManyEntriesInOnePlace(t *testing.T) {
	t.Parallel()
	journal := journal.NewMemory(0)
	chain := middleware.With(middleware.Env{Journal: journal}, clearing(1))
	h := append(rounds(80), message.User("next"))
	for i := range 70 {
		_, events := apply(t, chain, h)
		require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events), "call %d", i)
	}
	req, events := apply(t, middleware.With(middleware.Env{Journal: journal}, idle()), h)
	require.Empty(t, events, "a new chain can read the journal")
	require.Equal(t, 70, edited(req), "and finds all edits")
}

// The same happened before the newest question, when each step of a turn
// edited something before it.
func TestManyStepsOfATurn(t *testing.T) {
	t.Parallel()
	journal := journal.NewMemory(0)
	chain := middleware.With(middleware.Env{Journal: journal}, clearing(1))
	h := append(rounds(60), message.User("next"))
	question := len(h) - 1
	for i := range 50 {
		h = more(h, 1)
		_, events := apply(t, chain, h)
		require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events), "step %d", i)
	}
	again := slices.Concat(h[:question], []message.Message{message.User("another question")})
	for name, mw := range map[string]middleware.Middleware{"the chain": chain, "a new chain": middleware.With(middleware.Env{Journal: journal}, idle())} {
		req, _ := apply(t, mw, again)
		require.GreaterOrEqual(t, edited(req), 50, "%s has the edits before an edited question", name)
	}
}

// A part that is a pointer made the chain panic.
func TestPointerPart(t *testing.T) {
	t.Parallel()
	h := []message.Message{{Role: message.RoleUser, Parts: []message.Part{&message.Text{Text: "x"}}}}
	require.NotPanics(t, func() {
		_, _, err := middleware.Apply(t.Context(), idle(), &middleware.Request{Messages: h})
		require.Equal(t, middleware.Invalid, middleware.KindOf(err), "got %v", err)
	})
}

// A fold of several runs could move a protected message behind others.
func TestFoldKeepsOrder(t *testing.T) {
	t.Parallel()
	h := append(rounds(4), message.User("last"))
	mw := planning("fold", func(v *middleware.View) []middleware.Edit {
		return []middleware.Edit{{
			Kind: journal.Fold, Runs: []message.Run{{First: 0, Last: 0}, {First: 3, Last: 4}},
			Messages: []message.Message{v.At(0), message.User("summary")},
		}}
	}, middleware.Options{})
	req, events := apply(t, mw, h)
	require.Equal(t, []middleware.EventKind{middleware.Refused}, kinds(events), "the first question would stand behind the first round")
	require.Equal(t, h, req.Messages)
}

// After a question was taken back, the one before it was the last, and a fold
// had swallowed it.
func TestQuestionTakenBack(t *testing.T) {
	t.Parallel()
	chain := planning("fold", func(v *middleware.View) []middleware.Edit {
		if v.Len() < 8 {
			return nil
		}
		return []middleware.Edit{middleware.FoldOf(1, v.Len()-2, message.User("summary"))}
	}, middleware.Options{})
	h := append(rounds(2), message.Assistant(message.Text{Text: "done"}), message.User("second question"))
	h = append(more(h, 1), message.Assistant(message.Text{Text: "done"}))
	req, events := apply(t, chain, append(slices.Clip(h), message.User("third question")))
	require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events))
	require.Len(t, req.Messages, 3)
	req, _ = apply(t, chain, h)
	var questions []string
	for _, m := range req.Messages {
		if m.Role == message.RoleUser {
			questions = append(questions, m.Text())
		}
	}
	require.Contains(t, questions, "second question", "the question that is now the last is in the view")
}

// A caller that drops old messages itself was not told what that costs.
func TestSlidingWindow(t *testing.T) {
	t.Parallel()
	chain := clearing(1)
	for _, step := range []int{1, 2} {
		h := more([]message.Message{message.User(fmt.Sprint("drop ", step))}, 12)
		var sliding []int
		for i := range 4 {
			_, events := apply(t, chain, h[1+i*step:][:16])
			for _, e := range events {
				if e.Kind == middleware.Notice && strings.Contains(e.Why, "drops its oldest messages") {
					sliding = append(sliding, i)
				}
			}
		}
		require.Equal(t, []int{2}, sliding, "one event, when messages are dropped for the second time")
		chain = clearing(1)
	}

	chain = clearing(1)
	for i := range 6 { // conversations that begin with a later question of the one before
		_, events := apply(t, chain, []message.Message{
			message.User(fmt.Sprint("question ", i)), message.Assistant(message.Text{Text: fmt.Sprint("answer ", i)}),
			message.User(fmt.Sprint("question ", i+1)), message.Assistant(message.Text{Text: fmt.Sprint("another answer ", i)}),
		})
		require.Empty(t, events)
	}
}

// URLs did not count for the bound of memory.
func TestDataURLs(t *testing.T) { //nolint:paralleltest // measures the heap
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	chain, before := idle(), heap()
	for i := range 40 {
		url := fmt.Sprintf("data:%d,%s", i, strings.Repeat("A", 4<<20))
		apply(t, chain, []message.Message{{Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/png", URL: url}}}})
	}
	require.Less(t, heap(), before+80<<20, "a chain keeps about 64 MB of histories")
	runtime.KeepAlive(chain)
}

// copies is a journal that gives copies, as a store does.
type copies struct {
	mu      sync.Mutex
	heads   map[message.ID]message.ID
	entries map[message.ID][]byte
	largest int
}

func (j *copies) Find(_ context.Context, _ string, _ message.ID, ids []message.ID) (journal.Found, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for at, id := range slices.Backward(ids) {
		found := journal.Found{At: at}
		for rev := j.heads[id]; !rev.IsZero(); rev = found.Entries[len(found.Entries)-1].Base {
			var e journal.Entry
			if err := json.Unmarshal(j.entries[rev], &e); err != nil {
				return found, err
			}
			found.Entries = append(found.Entries, e)
		}
		if len(found.Entries) > 0 {
			return found, nil
		}
	}
	return journal.Found{At: -1}, nil
}

func (j *copies) Put(_ context.Context, _ string, writes []journal.Write) (winner journal.Entry, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, w := range writes {
		if there := j.heads[w.ID]; !there.IsZero() && there != w.Over {
			if i == 0 {
				err := json.Unmarshal(j.entries[there], &winner)
				return winner, err
			}
			continue
		}
		text, err := json.Marshal(w.Entry)
		if err != nil {
			return w.Entry, err
		}
		j.heads[w.ID], j.entries[w.Entry.Rev] = w.Entry.Rev, text
		j.largest = max(j.largest, len(text))
	}
	return writes[0].Entry, nil
}

func (j *copies) Delete(context.Context, string, ...message.ID) error { return errors.ErrUnsupported }

// With a store, each entry held all edits instead of the new ones.
func TestDeltasInAStore(t *testing.T) {
	t.Parallel()
	journal := &copies{heads: map[message.ID]message.ID{}, entries: map[message.ID][]byte{}}
	chain := middleware.With(middleware.Env{Journal: journal}, clearing(1))
	h := append(rounds(40), message.User("next"))
	for range 20 {
		h = more(h, 1)
		apply(t, chain, h)
	}
	require.Less(t, journal.largest, 1500, "an entry holds what one call has edited")
}

type misfit struct{}

func (misfit) Met(*middleware.View, func() *middleware.Plan) (met bool, why string, err error) {
	return false, "", errors.New("cannot work")
}

// The event that an option does not fit was told for one conversation of a
// chain alone.
func TestMisfitInEachConversation(t *testing.T) {
	t.Parallel()
	chain := planning("x", func(*middleware.View) []middleware.Edit { return nil }, middleware.Options{Trigger: misfit{}})
	for i := range 3 {
		h := more([]message.Message{message.User("hi"), message.Assistant(message.Text{Text: fmt.Sprint("conversation ", i)})}, 2)
		h = append(h, message.User(fmt.Sprint("go on ", i)))
		_, events := apply(t, chain, h)
		require.Equal(t, []middleware.EventKind{middleware.Misconfigured}, kinds(events), "conversation %d", i)
		_, events = apply(t, chain, append(h, message.Assistant(message.Text{Text: fmt.Sprint("answer ", i)})))
		require.Empty(t, events, "conversation %d: once", i)
	}
}

// An editor that rewrites what another has folded was not held back by
// MinCalls.
func TestMinCallsOfRewrittenFold(t *testing.T) {
	t.Parallel()
	fold := planning("fold", func(v *middleware.View) []middleware.Edit {
		if v.Span(1).Edit != nil {
			return nil
		}
		return []middleware.Edit{middleware.FoldOf(1, 2, message.Assistant(message.Text{Text: strings.Repeat("s", 200)}))}
	}, middleware.Options{})
	times := 0
	shorten := planning("shorten", func(v *middleware.View) []middleware.Edit {
		s := v.At(1).Text()
		times++
		return []middleware.Edit{middleware.RewriteOf(1, message.Text{Text: s[:len(s)-20]})}
	}, middleware.Options{MinCalls: 3})
	chain := middleware.Chain(fold, shorten)
	h := rounds(4)
	for range 6 {
		apply(t, chain, h)
		h = more(h, 1)
	}
	require.Equal(t, 2, times, "six calls, with three between one edit and the next")
}

// Usage that was read anew for each call made the chain copy all it knew.
func TestUsageReadAnew(t *testing.T) { //nolint:paralleltest // measures allocations
	history := func() []message.Message {
		h := rounds(500)
		for i := range h {
			h[i].Usage = &message.Usage{Input: i}
		}
		return h
	}
	model := idle()(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{}, nil
	})
	call := func(h []message.Message) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := model(t.Context(), &middleware.Request{Messages: h}, nil)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		return after.TotalAlloc - before.TotalAlloc
	}
	call(history())
	require.Less(t, call(history()), uint64(64<<10), "a call with nothing new keeps nothing new")
}

// A plan could leave nothing to send.
func TestEmptyView(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.Assistant(message.Text{Text: "hello there"})}
	chain := planning("remove", func(v *middleware.View) []middleware.Edit {
		return []middleware.Edit{middleware.FoldOf(0, v.Len()-1)}
	}, middleware.Options{})
	req, events := apply(t, chain, h)
	require.Equal(t, []middleware.EventKind{middleware.Refused}, kinds(events))
	require.Equal(t, h, req.Messages)
}

// planted is a journal that somebody else has written to.
type planted struct {
	journal.Journal
	entry journal.Entry
}

func (j planted) Find(context.Context, string, message.ID, []message.ID) (journal.Found, error) {
	return journal.Found{Entries: []journal.Entry{j.entry}}, nil
}

// A record that is null made the chain panic.
func TestNullRecord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"edits":[null]}`, `{"edits":[{"by":"x","kind":"fold","runs":[{"First":0,"Last":1}],"under":[null]}]}`} {
		var e journal.Entry
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		require.NotPanics(t, func() {
			chain := middleware.With(middleware.Env{Journal: planted{journal.NewMemory(0), e}}, idle())
			_, events := apply(t, chain, rounds(2))
			require.Equal(t, []middleware.EventKind{middleware.Failed}, kinds(events))
			_, err := journal.NewMemory(0).Put(t.Context(), "", []journal.Write{{ID: message.ID{1}, Entry: e}})
			require.NoError(t, err)
		}, text)
	}
}

// A round that was folded while a result was missing stayed folded when the
// result came, which then had no call.
func TestResultAfterFold(t *testing.T) {
	t.Parallel()
	chain := middleware.Chain(planning("fold", func(v *middleware.View) []middleware.Edit {
		if v.At(1).Role != message.RoleAssistant || !v.At(1).HasCalls() || v.Protected(1) != (middleware.Protection{}) {
			return nil
		}
		return []middleware.Edit{middleware.FoldOf(1, 2)}
	}, middleware.Options{Strict: true}))

	round := []message.Message{
		message.User("do it"),
		message.Assistant(message.ToolCall{ID: "a", Name: "tool", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "tool", Arguments: "{}"}),
		message.Result("a", "tool", "done"),
	}
	stopped := append(slices.Clip(round), message.User("never mind"), message.Assistant(message.Text{Text: "All right."}))
	req, _ := apply(t, chain, stopped)
	require.Len(t, req.Messages, 3, "the round is folded")

	resumed := append(slices.Clip(round), message.Result("b", "tool", "done as well"))
	req, _ = apply(t, chain, resumed)
	require.NoError(t, message.Check(req.Messages))
	require.Equal(t, resumed, req.Messages)
}

// A pin that moved to a cleared result was ignored, since only the number of pins was
// compared.
func TestPinThatMoves(t *testing.T) {
	t.Parallel()
	chain := middleware.Chain(clearing(10))
	h := append(rounds(4), message.User("next"))
	h[1].Hints.Pinned = true
	sent, _ := apply(t, chain, h)
	require.NotEqual(t, h[2].Parts, sent.Messages[2].Parts, "the result is cleared")
	h = append([]message.Message{}, h...)
	h[1].Hints.Pinned, h[2].Hints.Pinned = false, true
	sent, _ = apply(t, chain, h)
	require.Equal(t, h[2].Parts, sent.Messages[2].Parts, "the pinned result is whole again")
}

// A chain kept its own record of an edit where the journal had an equal one that was made
// earlier, so MinCalls counted from another call than in a process that reads the journal.
func TestEqualEditMadeEarlier(t *testing.T) {
	t.Parallel()
	clears := func(positions ...int) func(v *middleware.View) []middleware.Edit {
		return func(v *middleware.View) []middleware.Edit {
			for _, at := range positions {
				if at < v.Len()-2 && v.Span(at).Edit == nil {
					r := slices.Collect(v.At(at).Results())[0]
					r.Text = "-"
					return []middleware.Edit{middleware.RewriteOf(at, r)}
				}
			}
			return nil
		}
	}
	by := func(events []middleware.Event) (names []string) {
		for _, e := range events {
			if e.Kind == middleware.Edited {
				names = append(names, e.By)
			}
		}
		return names
	}
	chain := middleware.Chain(planning("first", clears(2), middleware.Options{}), planning("later", clears(4, 7), middleware.Options{MinCalls: 4}))
	h := append(rounds(2), message.User("go on"))
	question := len(h) - 1
	_, events := apply(t, chain, h)
	require.Equal(t, []string{"first"}, by(events), "kept under the question, and under the message before it")

	h = more(h, 2)
	_, events = apply(t, chain, h)
	require.Equal(t, []string{"later"}, by(events), "kept under the last message, and under the one before the question")

	h = slices.Clone(h)
	h[len(h)-1] = message.Result("c8", "tool", "changed")
	h = more(h, 1)
	_, events = apply(t, chain, h)
	require.Equal(t, []string{"later"}, by(events), "under the question is only the first edit, so the other one is made again")

	h = slices.Clone(h)
	h[question] = message.User("go on, please")
	h = more(h, 3)
	_, events = apply(t, chain, h)
	require.Equal(t, []string{"later"}, by(events), "four calls after the edit that is kept under the message before the question")
}

// In a broken history, a fold that no longer held could be planned again and was sound. Since the
// journal had it already, it was taken for the work of another writer and left out of the view,
// although an event said that it was made.
func TestFoldMadeAgain(t *testing.T) {
	t.Parallel()
	fold := func(last int) func(v *middleware.View) []middleware.Edit {
		return func(v *middleware.View) []middleware.Edit {
			for i := v.Len() - 1; i > 0; i-- {
				if s := v.Span(i); s.First == last && s.Edit == nil && v.Protected(i) == (middleware.Protection{}) {
					if last == 3 {
						return []middleware.Edit{middleware.FoldOf(1, 3, message.User("-"))}
					}
					return []middleware.Edit{middleware.FoldOf(i, i)}
				}
			}
			return nil
		}
	}
	env := middleware.Env{Journal: journal.NewMemory(0)}
	long := strings.Repeat("x", 400)
	h := []message.Message{
		message.User("do it"),
		message.Assistant(message.ToolCall{ID: "a", Name: "tool", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "tool", Arguments: "{}"}),
		message.Result("a", "tool", long),
		message.Result("b", "tool", long),
		{Parts: []message.Part{message.ToolCall{ID: "a", Name: "tool", Arguments: "{}"}}},
		message.Result("a", "tool", long),
		message.Assistant(message.Text{Text: "done"}),
		message.User("go on"),
	}
	for range 3 { // each in a process of its own
		chain := middleware.With(env, planning("remove", fold(5), middleware.Options{}), planning("fold", fold(3), middleware.Options{}))
		req, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Force: []string{"remove", "fold"}})
		require.NoError(t, err)
		require.Contains(t, kinds(events), middleware.Edited)
		require.Equal(t, "-", req.Messages[1].Text(), "the view has the fold that the event reports")
	}
}
