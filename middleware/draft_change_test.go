package middleware_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/steps"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestDraftRewrite(t *testing.T) {
	t.Parallel()
	mw := (&layers{}).shorten()
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	d := drafted(t, mw, history)
	before := messagesOf(d.After)
	const i = 3
	require.Equal(t, journal.Rewrite, d.Edits[i].Kind)
	result := history[d.Edits[i].Runs[0].First].Parts[0].(message.ToolResult)
	result.Text = "ten builds failed"
	parts := []message.Part{result}
	e, err := d.Rewrite(i, parts...)
	require.NoError(t, err)
	parts[0] = message.Text{Text: "changed by the caller"}
	require.Equal(t, result, e.After.At(d.Edits[i].Runs[0].First).Parts[0])
	require.Equal(t, []message.Part{result}, e.Edits[i].Parts)
	require.Equal(t, d.Edits[i].Why, e.Edits[i].Why)
	require.Equal(t, d.After.Size().Tokens-e.After.Size().Tokens, e.Edits[i].Freed-d.Edits[i].Freed)
	require.NoError(t, testkit.Same(before, messagesOf(d.After)), "the first draft is as it was")
	for name, bad := range map[string][]message.Part{
		"no result": {message.Text{Text: "x"}}, "another call": {message.ToolResult{CallID: "other", Name: result.Name, Text: "x"}}, "nothing": nil,
	} {
		_, err := d.Rewrite(i, bad...)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err), name)
	}
	_, err = d.Refold(i, message.User("x"))
	require.ErrorContains(t, err, "draft: edit 3: is a rewrite, want a fold")
	_, err = d.Rewrite(len(d.Edits))
	require.Equal(t, middleware.Invalid, middleware.KindOf(err))

	require.NoError(t, e.Commit(t.Context()))
	got, events := sentBy(t, mw, history)
	require.Empty(t, events)
	require.NoError(t, testkit.Same(messagesOf(e.After), got))
	require.Equal(t, middleware.Outdated, middleware.KindOf(d.Commit(t.Context())))
}

// TestDraftRewriteInJSON has a text that is not UTF-8. What a person wrote comes back from a journal as it went in.
func TestDraftRewriteInJSON(t *testing.T) {
	t.Parallel()
	j := journal.NewMemory(0)
	mw := middleware.With(middleware.Env{Journal: j}, (&layers{}).shorten())
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	d := drafted(t, mw, history)
	result := history[d.Edits[0].Runs[0].First].Parts[0].(message.ToolResult)
	result.Text = "ten builds failed: \xff"
	d, err := d.Rewrite(0, result)
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context()))
	found, err := j.Find(t.Context(), "", message.ID{}, message.IDs(history))
	require.NoError(t, err)
	require.Len(t, found.Entries, 1)
	data, err := json.Marshal(found.Entries[0])
	require.NoError(t, err)
	var e journal.Entry
	require.NoError(t, json.Unmarshal(data, &e))
	require.NoError(t, e.Validate())
}

// A draft without edits is outdated as well if the conversation has been edited since.
func TestDraftOfNothingIsOutdated(t *testing.T) {
	t.Parallel()
	mw := (&layers{}).both()
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	d := drafted(t, mw, history)
	require.Empty(t, d.Edits)
	require.NoError(t, d.Commit(t.Context()))
	sentBy(t, mw, history, "fold")
	require.Equal(t, middleware.Outdated, middleware.KindOf(d.Commit(t.Context())))
}

// What was remembered before a draft comes back when an edit over it goes.
func TestDraftWithoutRestoresWhatWasRemembered(t *testing.T) {
	t.Parallel()
	journal := journal.NewMemory(0)
	l := &layers{}
	env := middleware.Env{Journal: journal, Scope: "a"}
	halve := middleware.With(env, halver("halve"))
	history := middlewaretest.ReAct{Rounds: 6, Result: 900}.Messages()
	remembered, _ := sentBy(t, halve, history)
	for name, over := range map[string]middleware.Middleware{
		"a fold":    folder("fold", 2, trigger.Rounds(3), &l.paid),
		"a rewrite": middleware.Editing("clear", clearFirst, middleware.Options{}),
	} {
		d := drafted(t, middleware.With(env, over), history)
		require.Len(t, d.Edits, 1, name)
		require.NoError(t, testkit.Same(remembered, messagesOf(d.Before)), name)
		require.Equal(t, d.Before.Size().Tokens-d.After.Size().Tokens, d.Edits[0].Freed, name)
		e, err := d.Without(0)
		require.NoError(t, err, name)
		require.Empty(t, e.Edits, name)
		require.NoError(t, testkit.Same(remembered, messagesOf(e.After)), name)
	}

	// And it can be committed in the place of what was remembered.
	clearing := middleware.With(env, middleware.Editing("clear", clearFirst, middleware.Options{Trigger: never}))
	d := drafted(t, clearing, history, "clear")
	require.NoError(t, d.Commit(t.Context()))
	got, events := sentBy(t, clearing, history)
	require.Empty(t, events)
	require.NoError(t, testkit.Same(messagesOf(d.After), got))
}

func TestDraftChangesThatBreakARule(t *testing.T) {
	t.Parallel()
	l := &layers{}
	history := lookups(14)
	history[4].Hints.Pinned = true
	shorten := drafted(t, shortener("shorten", 3, trigger.Rounds(4)), history)
	fold := drafted(t, l.foldMore(), history)
	result := shorten.Edits[0].Parts[0].(message.ToolResult)
	other := result
	other.CallID = "call-9"
	for _, tt := range []struct {
		name string
		do   func() (*middleware.DraftResult, error)
		want string
	}{
		{"no such edit", func() (*middleware.DraftResult, error) { return fold.Refold(1) }, "edit 1: is not one of the 1 of the draft"},
		{"a fold of a rewrite", func() (*middleware.DraftResult, error) { return shorten.Refold(0) }, "edit 0: is a rewrite, want a fold"},
		{"longer", func() (*middleware.DraftResult, error) {
			return fold.Refold(0, message.User(strings.Repeat("Long. ", 1500)))
		}, "the view would not become shorter"},
		{"an empty message", func() (*middleware.DraftResult, error) { return fold.Refold(0, message.User(" ")) }, "the fold would add an invalid message: empty message"},
		{"a call without a result", func() (*middleware.DraftResult, error) {
			return fold.Refold(0, message.Assistant(message.ToolCall{ID: "new", Name: "lookup", Arguments: "{}"}))
		}, `unanswered call "new" would result`},
	} {
		e, err := tt.do()
		require.ErrorContains(t, err, tt.want, tt.name)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err), tt.name)
		require.Nil(t, e, tt.name)
	}

	// A fold over a pinned message that kept it may not lose it.
	around := middleware.Editing("around", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(4, 9, v.At(4), v.At(5), message.User("[two lookups]"))}}, nil
	}, middleware.Options{})
	d := drafted(t, around, history)
	_, err := d.Refold(0, history[5], message.User("[three lookups]"))
	require.ErrorContains(t, err, "message 4 is protected, and the fold would remove it")
	_, err = d.Refold(0, history[4], history[5], message.User("[two more lookups]"))
	require.NoError(t, err)
}

// The journal keeps what the steps of a committed draft have done, not what they would have done before it was changed.
func TestDraftChangesAreInTheSteps(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	const changed = ", changed before it was committed"
	last := func(d *middleware.DraftResult) int { return len(d.Edits) - 1 } // a rewrite behind the fold
	clearAll := middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		var plan middleware.Plan
		for i := range v.Len() {
			if r, ok := v.At(i).Parts[0].(message.ToolResult); ok && v.Protected(i) == (middleware.Protection{}) {
				r.Text = "cleared"
				plan.Edits = append(plan.Edits, middleware.RewriteOf(i, r))
			}
		}
		return &plan, nil
	}, middleware.Options{})
	shortenAndFold := middleware.Chain((&layers{}).shorten(), (&layers{}).fold())
	for name, tt := range map[string]struct {
		mw     middleware.Middleware
		change func(d *middleware.DraftResult) (*middleware.DraftResult, error)
		want   []string // the names of the steps, + if changed
	}{
		"nothing": {shortenAndFold, func(d *middleware.DraftResult) (*middleware.DraftResult, error) { return d, nil }, []string{"shorten", "fold"}},
		"without a rewrite": {shortenAndFold, func(d *middleware.DraftResult) (*middleware.DraftResult, error) {
			return d.Without(last(d))
		}, []string{"shorten+", "fold"}},
		"without the fold": {shortenAndFold, func(d *middleware.DraftResult) (*middleware.DraftResult, error) {
			return d.Without(foldOfThem(t, d))
		}, []string{"shorten"}},
		"another fold": {shortenAndFold, func(d *middleware.DraftResult) (*middleware.DraftResult, error) {
			return d.Refold(foldOfThem(t, d), message.User("What was done: the logs of ten builds were read."))
		}, []string{"shorten", "fold+"}},
		"without a rewrite over another": {middleware.Chain((&layers{}).shorten(), clearAll), func(d *middleware.DraftResult) (*middleware.DraftResult, error) {
			return d.Without(3)
		}, []string{"shorten+", "clear+"}},
	} {
		env := middleware.Env{Journal: journal.NewMemory(0)}
		d, err := tt.change(drafted(t, middleware.With(env, tt.mw), history, "*"))
		require.NoError(t, err, name)
		require.NoError(t, d.Commit(t.Context()), name)
		all, err := steps.History(t.Context(), env, history)
		require.NoError(t, err, name)
		slices.Reverse(all)
		var got []string
		size := d.Before.Size().Tokens
		for _, s := range all {
			by := s.By
			if why, ok := strings.CutSuffix(s.Why, changed); ok {
				by += "+"
				require.NotContains(t, why, changed, name)
			}
			got = append(got, by)
			require.Equal(t, size, s.Before, "%s: %s begins with what is there", name, s.By)
			require.Less(t, s.After, s.Before, "%s: %s", name, s.By)
			size = s.After
		}
		require.Equal(t, tt.want, got, name)
		require.Equal(t, d.After.Size().Tokens, size, "%s: the last step leaves what the draft shows", name)
	}
}

// clearFirst empties the first result that may be emptied.
func clearFirst(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
	for i, m := range v.Messages() {
		if r, ok := m.Parts[0].(message.ToolResult); ok && v.Protected(i) == (middleware.Protection{}) && len(r.Text) > 10 {
			r.Text = "cleared"
			return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(i, r)}}, nil
		}
	}
	return nil, nil
}
