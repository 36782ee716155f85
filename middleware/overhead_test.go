package middleware_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/when"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// heavy is a request with much in it that no edit can remove: 1,000 tokens
// each of system prompt, of tools, of a pinned message and of the first question,
// and a little around them. Ten rounds have about 100 tokens each.
func heavy() *middleware.Request {
	h := []message.Message{message.System(words(1000)), message.User(words(1000))}
	h = withRounds(h, 5)
	pinned := message.User(words(1000))
	pinned.Hints.Pinned = true
	return &middleware.Request{
		Messages: withRounds(append(h, pinned), 5),
		Tools:    []message.ToolDef{{Name: "read", Description: words(1000), Parameters: "{}"}},
	}
}

// TestOverhead asks triggers that can do nothing but be met, and others.
func TestOverhead(t *testing.T) {
	t.Parallel()
	fourBytes := middleware.Env{Counter: tokens.Chars4}
	any1, all1 := trigger.Any, trigger.All
	panics := trigger.Func(func(v *middleware.View, _ func() *middleware.Plan) (bool, string, error) {
		if v.Len() < 5 {
			panic("so few messages")
		}
		return true, "", nil
	})
	fails := trigger.Func(func(v *middleware.View, _ func() *middleware.Plan) (bool, string, error) {
		if v.Len() < 5 {
			return true, "", fmt.Errorf("so few messages")
		}
		return true, "", nil
	})
	first := trigger.Func(func(v *middleware.View, plan func() *middleware.Plan) (bool, string, error) {
		plan()
		return v.Size().Tokens > 2000, "", nil
	})
	tests := map[string]struct {
		when   middleware.Trigger
		change func(*middleware.Request)
		over   bool
		met    bool // the editor is asked
	}{
		"tokens, met by all of it":       {when: trigger.Tokens(4000), over: true},
		"tokens, met by more":            {when: trigger.Tokens(4200), met: true},
		"a fraction":                     {when: trigger.Fraction(0.5), over: true, change: func(r *middleware.Request) { r.Budget = &middleware.Budget{Window: 8000} }},
		"the default":                    {when: when.Default(0.8), over: true, change: func(r *middleware.Request) { r.Budget = &middleware.Budget{Window: 5000} }},
		"no trigger":                     {met: true},
		"messages":                       {when: trigger.Messages(3), met: true},
		"rounds":                         {when: trigger.Rounds(1), met: true},
		"any of tokens and rounds":       {when: any1(trigger.Tokens(4000), trigger.Rounds(1000)), over: true},
		"all of tokens and rounds":       {when: all1(trigger.Tokens(4000), trigger.Rounds(3)), met: true},
		"all of tokens and messages":     {when: all1(trigger.Tokens(4000), trigger.Messages(3)), over: true},
		"what the plan frees":            {when: trigger.Reclaims(1), met: true},
		"tokens, and what it frees":      {when: all1(trigger.Tokens(4000), trigger.Reclaims(1)), met: true},
		"tokens, when it has the plan":   {when: first, met: true},
		"a trigger that panics on it":    {when: panics, met: true},
		"a trigger that fails on it":     {when: fails, met: true},
		"forced":                         {when: trigger.Tokens(4000), met: true, change: func(r *middleware.Request) { r.Force = []string{"clear"} }},
		"without the system prompt":      {when: trigger.Tokens(4000), met: true, change: func(r *middleware.Request) { r.Messages[0] = message.System("-") }},
		"a pinned question counts once":  {when: trigger.Tokens(4200), met: true, change: func(r *middleware.Request) { r.Messages[1].Hints.Pinned = true }},
		"a pinned question counts":       {when: trigger.Tokens(4000), over: true, change: func(r *middleware.Request) { r.Messages[1].Hints.Pinned = true }},
		"a late system message as well":  {when: trigger.Tokens(5000), over: true, change: func(r *middleware.Request) { r.Messages = append(r.Messages, message.System(words(1000))) }},
		"the last question may go later": {when: trigger.Tokens(5000), met: true, change: func(r *middleware.Request) { r.Messages = append(r.Messages, message.User(words(1000))) }},
		"so may what comes with the first": {when: trigger.Tokens(4200), met: true, change: func(r *middleware.Request) {
			r.Messages[1].Parts = append(r.Messages[1].Parts, message.Media{Type: "text/plain", Data: words(2000)}, message.Opaque{Kind: "note", Data: words(2000)})
		}},
		"its text may not": {when: trigger.Tokens(4000), over: true, change: func(r *middleware.Request) {
			r.Messages[1].Parts = []message.Part{message.Text{Text: words(500)}, message.Media{Type: "image/png"}, message.Text{Text: words(500)}}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := heavy()
			if tt.change != nil {
				tt.change(req)
			}
			asked, edits := 0, 0
			mw := middleware.With(fourBytes, middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				asked++
				return clearAll(v), nil
			}, middleware.Options{Trigger: tt.when, PauseAfter: -1}))
			for call := range 3 {
				_, events, err := middleware.Apply(t.Context(), mw, req)
				require.NoError(t, err)
				edits += len(only(events, middleware.Edited))
				told := notices(events, "no edit can remove")
				require.Equal(t, tt.over && call == 0, len(told) == 1, "it is said once: %v", events)
				for _, e := range told {
					require.Equal(t, "clear", e.By)
				}
			}
			if tt.over {
				require.Equal(t, 1, edits, "nothing is left to clear after the edit that did not satisfy the trigger")
			} else {
				require.Equal(t, tt.met, asked > 0, "whether the editor is asked")
			}
			require.False(t, tt.met && tt.over, "the case makes sense")
		})
	}
}

// TestOverheadIsNoVeto lets a conversation with overhead grow: whatever can be removed is,
// as soon as that is a tenth of the overhead, also by an editor that is expensive.
func TestOverheadIsNoVeto(t *testing.T) {
	t.Parallel()
	fold := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		first := v.Len() // behind the pinned message
		for first > 0 && !v.Protected(first-1).Whole {
			first--
		}
		if first >= v.Len()-2 {
			return nil, nil
		}
		e := middleware.FoldOf(first, v.Len()-3)
		e.Estimate = 10
		e.Make = func(context.Context) ([]message.Message, error) {
			return []message.Message{message.User("[rounds]")}, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{e}}, nil
	}
	clearing := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) { return clearAll(v), nil }
	for name, editor := range map[string]func(context.Context, *middleware.View) (*middleware.Plan, error){"clear": clearing, "fold": fold} {
		var freed []int
		mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, middleware.Editing(name, editor,
			middleware.Options{Trigger: trigger.Tokens(4000)}))
		req, most := heavy(), 0
		for range 40 {
			sent, events, err := middleware.Apply(t.Context(), mw, req)
			require.NoError(t, err)
			require.Empty(t, only(events, middleware.Paused))
			for _, e := range only(events, middleware.Edited) {
				freed = append(freed, e.Before-e.After)
			}
			most = max(most, tokens.Meter{Counter: tokens.Chars4}.Request(sent.Messages, nil))
			req.Messages = withRounds(req.Messages, 1)
		}
		require.Greater(t, len(freed), 4, name)
		require.Less(t, len(freed), 20, "%s: the prefix is kept meanwhile", name)
		for _, n := range freed[1:] {
			require.GreaterOrEqual(t, n, 402, name)
		}
		require.Less(t, most, 5600, "%s: without edits there are 8,000", name)
	}
}

// clearAll clears all results that may be.
func clearAll(v *middleware.View) *middleware.Plan {
	plan := &middleware.Plan{}
	for i, m := range v.Messages() {
		if r, ok := m.Parts[0].(message.ToolResult); ok && v.Protected(i) == (middleware.Protection{}) && v.Span(i).Edit == nil {
			r.Text = "-"
			plan.Edits = append(plan.Edits, middleware.RewriteOf(i, r))
		}
	}
	return plan
}

// TestOverheadBehindEdits has pinned messages inside a fold, and counts that are
// anchored to what the provider reports.
func TestOverheadBehindEdits(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]bool{4000: true, 4200: false} {
		req := heavy()
		fold := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			if _, now := v.LastEdit("fold"); now || v.Len() < 20 {
				return nil, nil
			}
			return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 14, v.At(12), message.User("[rounds]"))}}, nil
		}, middleware.Options{})
		last := middleware.Editing("last", func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil },
			middleware.Options{Trigger: trigger.Tokens(limit)})
		mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, fold, last)
		_, events, err := middleware.Apply(t.Context(), mw, req)
		require.NoError(t, err)
		require.Len(t, only(events, middleware.Edited), 1, "%v", events)
		require.Equal(t, want, len(notices(events, "no edit can remove")) == 1, "a trigger at %d: %v", limit, events)
	}
	// The provider charges twice of what is counted: for all, and so for the rest.
	for limit, want := range map[int]bool{8000: true, 8600: false} {
		req := heavy()
		counted := tokens.Meter{Counter: tokens.Chars4}.Request(req.Messages, req.Tools)
		answer := message.Assistant(message.Text{Text: "So it is."})
		answer.Usage = &message.Usage{Input: 2 * counted}
		req.Messages = append(req.Messages, answer, message.User("And now?"))
		mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, middleware.Editing("last",
			func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil },
			middleware.Options{Trigger: trigger.Tokens(limit)}))
		_, events, err := middleware.Apply(t.Context(), mw, req)
		require.NoError(t, err)
		require.Equal(t, want, len(notices(events, "no edit can remove")) == 1, "a trigger at %d: %v", limit, events)
	}
}
