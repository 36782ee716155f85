package issues

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// An edit of the last leading system message was not refused if there were several.
func TestLastLeadingMessage(t *testing.T) {
	t.Parallel()
	h := slices.Concat([]message.Message{message.System("one"), message.System("two, which is long enough to be cut")}, rounds(2))
	for name, edits := range map[string][]middleware.Edit{
		"rewrite": {middleware.RewriteOf(1, message.Text{Text: "two"})},
		"fold":    {{Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 4}}, Messages: []message.Message{message.User("summary")}}},
	} {
		mw := planning(name, func(*middleware.View) []middleware.Edit { return edits })
		req, events := apply(t, mw, h)
		require.Equal(t, []middleware.EventKind{middleware.Refused}, kinds(events), name)
		require.Contains(t, events[0].Why, "message 1 is a leading system message", name)
		require.Equal(t, h, req.Messages, name)
	}
}

// sizeOf returns the size of the view of a history.
func sizeOf(t *testing.T, mw middleware.Middleware, h []message.Message) int {
	t.Helper()
	req, _ := apply(t, mw, h)
	return req.View().Size().Tokens
}

// answered is a question and answers of equal length with these usages; 0: none.
func answered(usages ...int) []message.Message {
	h := []message.Message{message.User(strings.Repeat("is it so? ", 30))}
	for _, n := range usages {
		answer := message.Assistant(message.Text{Text: strings.Repeat("it is so ", 30)})
		if n > 0 {
			answer.Usage = &message.Usage{Input: n}
		}
		h = append(h, answer, message.User(strings.Repeat("is it so? ", 30)))
	}
	return h
}

// A fork used the size of a prompt that was reported in another branch.
func TestForkAndUsage(t *testing.T) {
	t.Parallel()
	first := sizeOf(t, idle(), answered())
	second := sizeOf(t, idle(), answered(first))
	chain := middleware.Chain(idle())
	other := answered(first, 3*second/2)
	require.Greater(t, sizeOf(t, chain, other), 3*second/2)
	fork := answered(first, 0)
	fork[2] = message.User(strings.Repeat("or is it? ", 30))
	require.InEpsilon(t, sizeOf(t, idle(), fork), sizeOf(t, chain, fork), 0.3, "only the rate is that of the other branch")
	require.Greater(t, sizeOf(t, chain, other), 3*second/2, "and the other branch keeps it")
}

// A fold around the newest round was still applied after one more result of that round.
func TestEditAndLateResult(t *testing.T) {
	t.Parallel()
	j := journal.NewMemory(0)
	h := rounds(3)
	fold := planning("fold", func(v *middleware.View) []middleware.Edit {
		if v.Len() != len(h) {
			return nil
		}
		short := message.Result("c5", "tool", strings.Repeat("x", 100))
		return []middleware.Edit{{Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 6}}, Messages: []message.Message{v.At(5), short}}}
	})
	chain := middleware.With(middleware.Env{Journal: j}, fold)
	req, events := apply(t, chain, h)
	require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events), "%v", events)
	require.Len(t, req.Messages, 3)
	late := append(slices.Clip(h), message.Result("c5", "tool", "and one more"))
	req, _ = apply(t, chain, late)
	require.Equal(t, late, req.Messages)
	req, _ = apply(t, middleware.With(middleware.Env{Journal: j}, fold), late)
	require.Equal(t, late, req.Messages, "in another process, too")
}

// torn is a journal whose newest entry has lost its edits.
type torn struct {
	journal.Journal

	newest message.ID
}

func (j *torn) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	found, err := j.Journal.Find(ctx, scope, first, ids)
	for i := range found.Entries {
		if e := &found.Entries[i]; e.Rev == j.newest {
			e.Edits = nil
		}
	}
	return found, err
}

// Entries before a broken one were not looked for.
func TestEntriesBeforeABrokenOne(t *testing.T) {
	t.Parallel()
	j := &torn{Journal: journal.NewMemory(0)}
	chain := middleware.With(middleware.Env{Journal: j}, clearing(1))
	var h []message.Message
	for n := range 4 {
		h = rounds(n + 2)
		req, _ := apply(t, chain, h)
		require.Equal(t, n+1, edited(req))
	}
	found, err := j.Find(t.Context(), "", journal.ConversationOf(h), message.IDs(h))
	require.NoError(t, err)
	require.Equal(t, len(h)-1, found.At)
	j.newest = found.Entries[0].Rev
	req, events := apply(t, middleware.With(middleware.Env{Journal: j}, idle()), h)
	require.Equal(t, []middleware.EventKind{middleware.Failed}, kinds(events))
	require.ErrorContains(t, events[0].Err, "entry of message 10")
	require.Equal(t, 3, edited(req), "the edits of the entry before it")
}

// Edits that could not be written were applied to messages of another branch.
func TestForkAndUnwrittenEdits(t *testing.T) {
	t.Parallel()
	h := append(rounds(6), message.User("next"))
	clears := planning("clear", func(v *middleware.View) []middleware.Edit {
		if v.Len() < len(h) {
			return nil
		}
		return []middleware.Edit{middleware.RewriteOf(2, message.Result("c1", "tool", "-").Parts...), middleware.RewriteOf(6, message.Result("c5", "tool", "-").Parts...)}
	})
	other := append(more(slices.Clone(h[:5]), 1), message.User("next"))
	other[6] = message.Result("c5", "tool", strings.Repeat("another ", 50))
	for name, fork := range map[string][]message.Message{"shorter": append(slices.Clone(h[:5]), message.User("or this")), "another result": other} {
		chain := middleware.With(middleware.Env{Journal: full{journal.NewMemory(0)}}, clears)
		req, _ := apply(t, chain, h)
		require.Equal(t, 2, edited(req))
		req, _ = apply(t, chain, fork)
		require.Equal(t, 1, edited(req), "%s: the edit of what is the same", name)
		require.Equal(t, fork[5:], req.Messages[5:], name)
	}
}

// A plan for messages that are not there made the chain panic.
func TestPlanBeyondTheEnd(t *testing.T) {
	t.Parallel()
	h := rounds(3)
	n := len(h)
	for name, e := range map[string]middleware.Edit{
		"rewrite, after the last":   middleware.RewriteOf(n, message.Text{Text: "x"}),
		"rewrite, before the first": middleware.RewriteOf(-1, message.Text{Text: "x"}),
		"fold, after the last":      middleware.FoldOf(1, n, message.User("x")),
		"fold, before the first":    middleware.FoldOf(-1, 2, message.User("x")),
		"fold, the wrong way round": middleware.FoldOf(4, 3, message.User("x")),
		"fold, of nothing":          {Kind: journal.Fold},
	} {
		mw := planning("plan", func(*middleware.View) []middleware.Edit { return []middleware.Edit{e} })
		req, events := apply(t, mw, h)
		require.Equal(t, []middleware.EventKind{middleware.Refused}, kinds(events), name)
		require.Equal(t, h, req.Messages, name)
	}
}

// A draft of a conversation without messages could not be committed.
func TestCommitOfAnEmptyDraft(t *testing.T) {
	t.Parallel()
	chain := middleware.Chain(clearing(1))
	_, events := apply(t, chain, rounds(3))
	require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events))
	d, err := middleware.Draft(t.Context(), chain, &middleware.Request{})
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context()))
}

// unheard is a journal that stores, but whose first answer is lost.
type unheard struct {
	journal.Journal

	puts int
}

func (j *unheard) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	winner, err := j.Journal.Put(ctx, scope, writes)
	j.puts++
	if j.puts == 1 {
		return journal.Entry{}, errors.New("timeout")
	}
	return winner, err
}

// Edits whose write was stored in spite of an error were not looked at.
func TestStoredInSpiteOfAnError(t *testing.T) {
	t.Parallel()
	j := &unheard{Journal: journal.NewMemory(0)}
	chain := middleware.With(middleware.Env{Journal: j}, clearing(1))
	for n := range 3 {
		_, events := apply(t, chain, append(rounds(6), message.User("next")))
		want := []middleware.EventKind{middleware.Edited}
		if n == 0 {
			want = append(want, middleware.Failed)
		}
		require.Equal(t, want, kinds(events))
	}
	for _, h := range [][]message.Message{append(rounds(6), message.User("next")), append(rounds(6), message.User("another"))} {
		req, events := apply(t, middleware.With(middleware.Env{Journal: j}, idle()), h)
		require.Empty(t, events)
		require.Equal(t, 3, edited(req), "another process has all edits")
	}
	idleAgain := middleware.With(middleware.Env{Journal: &unheard{Journal: journal.NewMemory(0)}}, planning("one", func(v *middleware.View) []middleware.Edit {
		if v.Span(2).Edit != nil {
			return nil
		}
		return []middleware.Edit{middleware.RewriteOf(2, message.Result("c1", "tool", "-").Parts...)}
	}))
	for _, want := range [][]middleware.EventKind{{middleware.Edited, middleware.Failed}, nil, nil} {
		req, events := apply(t, idleAgain, rounds(6))
		require.Equal(t, want, kinds(events))
		require.Equal(t, 1, edited(req))
	}
}

// A reserve that leaves no room was accepted.
func TestBudgetWithoutRoom(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]middleware.Budget{
		"": {Window: 10, Reserve: 9},
		"Budget.Reserve is 10 tokens, want 0 to less than the window of 10": {Window: 10, Reserve: 10},
		"Budget.Reserve is -1 tokens, want 0 to less than the window of 10": {Window: 10, Reserve: -1},
		"Budget.Window is 0 tokens, want more than 0":                       {},
	} {
		_, _, err := middleware.Apply(t.Context(), idle(), &middleware.Request{Messages: rounds(1), Budget: &b})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err))
	}
}

// A usage without the size of the prompt was reported as one that cannot be right.
func TestUsageWithoutInput(t *testing.T) {
	t.Parallel()
	h := answered(0, 0)
	h[1].Usage, h[3].Usage = &message.Usage{Output: 20}, &message.Usage{}
	req, events := apply(t, idle(), h)
	require.Empty(t, events)
	require.Equal(t, sizeOf(t, idle(), answered(0, 0)), req.View().Size().Tokens)
}

// A rewrite that gives a result to another call, or makes an error of it, was made.
func TestRewriteOfAResult(t *testing.T) {
	t.Parallel()
	h := append(rounds(3), message.User("next"))
	is := message.ToolResult{CallID: "c1", Name: "tool", Text: "-"}
	for name, change := range map[string]func(r *message.ToolResult){
		"":             func(*message.ToolResult) {},
		"another call": func(r *message.ToolResult) { r.CallID = "c3" },
		"another tool": func(r *message.ToolResult) { r.Name = "other" },
		"an error":     func(r *message.ToolResult) { r.Error = true },
	} {
		r := is
		change(&r)
		mw := planning("rewrite", func(*middleware.View) []middleware.Edit { return []middleware.Edit{middleware.RewriteOf(2, r)} })
		req, events := apply(t, mw, h)
		if name == "" {
			require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events))
			continue
		}
		require.Equal(t, []middleware.EventKind{middleware.Refused}, kinds(events), name)
		require.Contains(t, events[0].Why, "a rewrite must keep calls, results and opaque parts, with their IDs", name)
		require.Equal(t, h, req.Messages, name)
	}
}
