package tests

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// eager are stacks that edit whatever they may.
func eager() map[string]middleware.Middleware {
	return map[string]middleware.Middleware{
		"contextedit": contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1, ClearToolInputs: true, ClearThinking: true}),
		"folding": middleware.With(middleware.Env{HistoryIsView: true}, append(layers(
			editor{name: "pairs", plan: foldsInPairs}, editor{name: "fold", plan: folds(2)}, editor{name: "newest", plan: foldsNewest},
			editor{name: "around", plan: foldsAround(3)}, editor{name: "shorten", plan: shortens(30)}, editor{name: "offend", plan: offends}),
			contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1}))...),
		"microcompact": microcompact.New(microcompact.Options{
			KeepRounds: -1, Limit: microcompact.Limits{Results: 1, Arguments: 1, Text: 1}, FreshShare: 1e-9,
		}),
		"trim": trim.New(trim.Options{
			Trigger: trigger.Messages(1), TargetTokens: 1, PreserveStart: -1, PreserveEnd: -1, MinMessages: -1,
		}),
		"idle": editor{name: "none", plan: func(look) []middleware.Edit { return nil }}.middleware(),
	}
}

func bigText(n int) string { return strings.Repeat("long text ", n/10) }

// requireNoWorse fails if a view breaks rules more often than the history. A
// result without a place may be orphaned in the one and a duplicate in the
// other: which of them it is depends on what stands before it.
func requireNoWorse(t require.TestingT, history, shown []message.Message, who string) {
	key := func(v message.Violation) string {
		switch v.Rule {
		case "orphaned result", "duplicate result", "displaced result":
			return "result " + v.CallID
		default:
			return v.Rule + " " + v.CallID
		}
	}
	had := map[string]int{}
	for _, v := range message.Rules(0).Violations(history) {
		had[key(v)]++
	}
	for _, v := range message.Rules(0).Violations(shown) {
		had[key(v)]--
		if had[key(v)] < 0 {
			require.Fail(t, "the view breaks a rule more often than the history", "%s: %s", who, v)
		}
	}
}

func TestPartsThatAreNone(t *testing.T) {
	t.Parallel()
	var nothing *message.Text
	for name, p := range map[string]message.Part{
		"nil":                   nil,
		"pointer":               &message.Text{Text: "x"},
		"nil pointer":           nothing,
		"foreign":               struct{ message.Part }{},
		"pointer in a result":   message.ToolResult{CallID: "c", Content: &message.Media{}},
		"foreign in a result":   message.ToolResult{CallID: "c", Content: struct{ message.Part }{}},
		"pointer to a result":   &message.ToolResult{CallID: "c"},
		"foreign around a text": struct{ message.Part }{message.Text{Text: "x"}},
	} {
		for _, role := range []message.Role{message.RoleSystem, message.RoleUser, message.RoleTool} {
			for stack, mw := range eager() {
				for _, place := range []string{"first", "later"} {
					bad := message.Message{Role: role, Parts: []message.Part{message.Text{Text: "x"}, p}}
					h := []message.Message{bad, message.User("x")}
					if place == "later" {
						h = []message.Message{message.User("x"), message.Assistant(message.Text{Text: "y"})}
						view(t, mw, h)
						h = append(h, bad)
					}
					require.NotPanics(t, func() {
						_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
						require.Error(t, err, "%s in a %s message, %s: a part that is none is an error", name, role, stack)
						require.Equal(t, middleware.Invalid, middleware.KindOf(err), "%s in a %s message, %s: of kind Invalid: %v", name, role, stack, err)
						require.Contains(t, err.Error(), "part 1", "%s: the error says where", name)
					}, "%s in a %s message, %s", name, role, stack)
				}
			}
		}
	}
}

// TestMisfits gives options that do not fit the request: one event a
// conversation, and an error under Strict.
func TestMisfits(t *testing.T) {
	t.Parallel()
	history, _ := turns(2, 8)
	opts := contextedit.Options{Trigger: trigger.Fraction(0.5)}
	want := []string{"contextedit", "Fraction(0.5)", "some-model", "Budget"}
	mw := contextedit.New(opts)
	var all []middleware.Event
	for n := 10; n < len(history); n += 2 {
		req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history[:n], Model: "some-model"})
		require.NoError(t, err)
		requireSame(t, history[:n], req.Messages, "the call goes on as if the middleware were not there")
		all = append(all, events...)
	}
	require.Len(t, all, 1, "one event a conversation, got %v", all)
	require.Equal(t, middleware.Misconfigured, all[0].Kind)
	opts.Strict = true
	_, _, err := middleware.Apply(t.Context(), contextedit.New(opts), &middleware.Request{Messages: history, Model: "some-model"})
	require.Equal(t, middleware.Invalid, middleware.KindOf(err), "under Strict the call fails: %v", err)
	for _, w := range want {
		require.Contains(t, all[0].String(), w, "the event names option, model and the cure")
		require.ErrorContains(t, err, w, "and so does the error")
	}
}

// TestPanics lets everything panic that a caller may bring along.
func TestPanics(t *testing.T) {
	t.Parallel()
	history, _ := turns(2, 4)
	boom := func(context.Context, *middleware.View) (*middleware.Plan, error) { panic("boom") }
	later := func(context.Context, *middleware.View) (*middleware.Plan, error) {
		e := middleware.FoldOf(1, 2)
		e.Make = func(context.Context) ([]message.Message, error) { panic("boom") }
		return &middleware.Plan{Edits: []middleware.Edit{e}}, nil
	}
	when := trigger.Func(func(*middleware.View, func() *middleware.Plan) (bool, string, error) { panic("boom") })
	for name, mw := range map[string]middleware.Middleware{
		"editor":  middleware.Editing("x", boom, middleware.Options{}),
		"fold":    middleware.Editing("x", later, middleware.Options{}),
		"trigger": middleware.Editing("x", later, middleware.Options{Trigger: when}),
		"plan asked for by a trigger": middleware.Editing("x", boom, middleware.Options{
			Trigger: trigger.Func(func(_ *middleware.View, plan func() *middleware.Plan) (bool, string, error) {
				return plan() != nil, "", nil
			}),
		}),
		"observer": middleware.Chain(middleware.Observe(func(context.Context, middleware.Event) { panic("boom") }), editor{name: "clear", plan: clears(2)}.middleware()),
	} {
		require.NotPanics(t, func() {
			req, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history})
			require.NoError(t, err, name)
			if name != "observer" {
				requireSame(t, history, req.Messages, "%s: the view stays as it was", name)
			}
		}, name)
	}
	_, _, err := middleware.Apply(t.Context(), middleware.Editing("x", boom, middleware.Options{Strict: true}), &middleware.Request{Messages: history})
	require.ErrorContains(t, err, "boom", "under Strict the call fails")
}
