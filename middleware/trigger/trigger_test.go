package trigger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/when"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// viewOf returns the view that an editor would be shown. It counts four bytes
// a token, so that a test can make any number of them.
func viewOf(t *testing.T, req middleware.Request) *middleware.View {
	t.Helper()
	var shown *middleware.View
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		shown = v
		return nil, nil
	}, middleware.Options{})
	_, _, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Counter: tokens.Chars4}, look), &req)
	require.NoError(t, err)
	return shown
}

// history has rounds of two parallel calls each, and the system prompt, the
// question and the answer around them.
func history(rounds int) []message.Message {
	h := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	for i := range rounds {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		h = append(h,
			message.Assistant(message.ToolCall{ID: a, Name: "read", Arguments: `{}`}, message.ToolCall{ID: b, Name: "read", Arguments: `{}`}),
			message.Result(a, "read", strings.Repeat("log ", 50)), message.Result(b, "read", strings.Repeat("log ", 50)))
	}
	return append(h, message.Assistant(message.Text{Text: "I do not know."}))
}

var tools = []message.ToolDef{{Name: "read", Description: "Reads a file.", Parameters: `{"type":"object"}`}}

// noPlan fails the test if a plan is made.
func noPlan(t *testing.T) func() *middleware.Plan {
	t.Helper()
	return func() *middleware.Plan {
		t.Error("a plan was made for a trigger that needs none")
		return nil
	}
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	req := middleware.Request{Messages: history(3), Tools: tools}
	v := viewOf(t, req)
	sent := tokens.Meter{Counter: tokens.Chars4}.Request(req.Messages, req.Tools)
	require.Greater(t, sent, tokens.Meter{Counter: tokens.Chars4}.Request(req.Messages[1:], nil), "system prompt and tools count")
	for _, tt := range []struct {
		name  string
		of    func(int) middleware.Trigger
		value int
	}{
		{"tokens", trigger.Tokens, sent},
		{"messages", trigger.Messages, 12},
		{"rounds", trigger.Rounds, 3},
		{"tool calls", trigger.ToolUses, 6},
	} {
		for limit, want := range map[int]bool{1: true, tt.value - 1: true, tt.value: true, tt.value + 1: false, 1 << 30: false} {
			met, why, err := tt.of(limit).Met(v, noPlan(t))
			require.NoError(t, err, tt.name)
			require.Equal(t, want, met, "%d of a limit of %d", tt.value, limit)
			require.Equal(t, fmt.Sprintf("%d of %d %s", tt.value, limit, tt.name), why, tt.name)
		}
	}
}

// TestRoundsAreCalls counts what a round is: calls, with or without results,
// and not messages that only look like it.
func TestRoundsAreCalls(t *testing.T) {
	t.Parallel()
	call := message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}
	v := viewOf(t, middleware.Request{Messages: []message.Message{
		message.User("q"),
		message.Assistant(message.Text{Text: "no call"}),
		{Role: message.RoleUser, Parts: []message.Part{call}},
		message.Assistant(call), message.Result("a", "read", "x"),
		message.Result("orphan", "read", "x"),
		message.Assistant(message.Text{Text: "two at once"}, call, call),
	}})
	_, why, err := trigger.Rounds(9).Met(v, noPlan(t))
	require.NoError(t, err)
	require.Equal(t, "2 of 9 rounds", why)

	_, why, err = trigger.ToolUses(9).Met(v, noPlan(t))
	require.NoError(t, err)
	require.Equal(t, "3 of 9 tool calls", why, "parallel calls count one by one")
}

// TestToolUsesAreThoseOfTheView counts calls that are cleared, and none that
// have been folded.
func TestToolUsesAreThoseOfTheView(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit func(*middleware.View) middleware.Edit
		want string
	}{
		"input cleared": {func(v *middleware.View) middleware.Edit {
			a, b := v.At(2).Parts[0].(message.ToolCall), v.At(2).Parts[1].(message.ToolCall)
			a.Arguments, b.Arguments = "{}", "{}"
			return middleware.RewriteOf(2, a, b)
		}, "6 of 9 tool calls"},
		"result cleared": {func(*middleware.View) middleware.Edit {
			return middleware.RewriteOf(3, message.ToolResult{CallID: "a0", Name: "read", Text: "-"})
		}, "6 of 9 tool calls"},
		"folded": {func(*middleware.View) middleware.Edit {
			return middleware.FoldOf(2, 4, message.User("read"))
		}, "4 of 9 tool calls"},
	} {
		h := history(3)
		h[2].Parts = []message.Part{
			message.ToolCall{ID: "a0", Name: "read", Arguments: `{"path":"a.go"}`}, message.ToolCall{ID: "b0", Name: "read", Arguments: `{"path":"b.go"}`},
		}
		var why string
		chain := middleware.Chain(
			middleware.Editing("first", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				return &middleware.Plan{Edits: []middleware.Edit{tt.edit(v)}}, nil
			}, middleware.Options{}),
			middleware.Editing("second", func(_ context.Context, v *middleware.View) (p *middleware.Plan, err error) {
				_, why, err = trigger.ToolUses(9).Met(v, noPlan(t))
				return nil, err
			}, middleware.Options{}))
		_, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h})
		require.NoError(t, err, name)
		require.Len(t, events, 1, "the first edits")
		require.Equal(t, middleware.Edited, events[0].Kind, "%v", events[0])
		require.Equal(t, tt.want, why, name)
	}
}

func TestReclaims(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plan *middleware.Plan
		met  bool
		why  string
	}{
		"less":          {&middleware.Plan{Saved: 99}, false, "frees 99 of 100 tokens"},
		"as much":       {&middleware.Plan{Saved: 100}, true, "frees 100 of 100 tokens"},
		"a plan to not": {&middleware.Plan{Why: "it is not worth it"}, false, "frees 0 of 100 tokens"},
	} {
		met, why, err := trigger.Reclaims(100).Met(nil, func() *middleware.Plan { return tt.plan })
		require.NoError(t, err, name)
		require.Equal(t, tt.met, met, name)
		require.Equal(t, tt.why, why, name)
	}
}

func TestNot(t *testing.T) {
	t.Parallel()
	v := viewOf(t, middleware.Request{Messages: history(1)})
	yes, no, broken := answer{met: true, why: "yes"}, answer{why: "no"}, answer{met: true, why: "half", err: errors.New("broken")}
	for name, tt := range map[string]struct {
		of  middleware.Trigger
		met bool
		why string
		err string
	}{
		"of one that is":          {trigger.Not(yes), false, "not (yes)", ""},
		"of one that is not":      {trigger.Not(no), true, "not (no)", ""},
		"without a reason":        {trigger.Not(answer{}), true, "", ""},
		"an error stays an error": {trigger.Not(broken), false, "", "broken"},
		"inside another":          {trigger.All(trigger.Messages(3), trigger.Not(trigger.Rounds(2))), true, "6 of 3 messages, not (1 of 2 rounds)", ""},
	} {
		requireMet(t, name, v, tt.of, tt.met, tt.why, tt.err)
	}
}

// requireMet checks what a trigger returns, which needs no plan. Without a text there must be no error.
func requireMet(t *testing.T, name string, v *middleware.View, of middleware.Trigger, wantMet bool, wantWhy, wantErr string) {
	t.Helper()
	met, why, err := of.Met(v, noPlan(t))
	require.Equal(t, wantMet, met, name)
	require.Equal(t, wantWhy, why, name)
	if wantErr == "" {
		require.NoError(t, err, name)
	} else {
		require.EqualError(t, err, wantErr, name)
	}
}

func TestFraction(t *testing.T) {
	t.Parallel()
	req := middleware.Request{Messages: history(3), Tools: tools}
	sent := tokens.Meter{Counter: tokens.Chars4}.Request(req.Messages, req.Tools)
	for _, tt := range []struct {
		name            string
		share           float64
		window, reserve int
		want            bool
	}{
		{"one token more", 1, sent + 1, 0, false},
		{"all but the reserve", 1, sent + 500, 500, true},
		{"half of an odd number is rounded up", 0.5, 2*sent + 1, 0, false},
		{"half, too small a reserve", 0.5, 2*sent + 100, 99, false},
		{"three quarters of a large room", 0.75, 200_000, 8_000, false},
	} {
		r := req
		r.Budget = &middleware.Budget{Window: tt.window, Reserve: tt.reserve}
		v := viewOf(t, r)
		met, why, err := trigger.Fraction(tt.share).Met(v, noPlan(t))
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, met, why)
		require.Contains(t, why, fmt.Sprintf("%g of the room of %d", tt.share, tt.window-tt.reserve), tt.name)

		dflt, _, err := when.Default(tt.share).Met(v, noPlan(t))
		require.NoError(t, err, tt.name)
		require.Equal(t, met, dflt, "Default is Fraction where the window is known")
	}
}

func TestFractionNeedsTheWindow(t *testing.T) {
	t.Parallel()
	v := viewOf(t, middleware.Request{Messages: history(1), Model: "mini-9"})
	met, _, err := trigger.Fraction(0.75).Met(v, noPlan(t))
	require.False(t, met)
	for _, part := range []string{"trigger.Fraction(0.75)", `"mini-9"`, "Budget", "trigger.Tokens"} {
		require.ErrorContains(t, err, part, "the error names option, model and cures")
	}
}

// answer is a trigger of the caller's own.
type answer struct {
	met  bool
	why  string
	err  error
	plan bool      // asks for the plan
	log  *[]string // who was asked
}

func (a answer) Met(_ *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if a.log != nil {
		*a.log = append(*a.log, a.why)
	}
	if a.plan {
		plan()
	}
	return a.met, a.why, a.err
}

func TestAnyAndAll(t *testing.T) {
	t.Parallel()
	v := viewOf(t, middleware.Request{Messages: history(1)})
	yes, no, broken := answer{met: true, why: "yes"}, answer{why: "no"}, answer{err: errors.New("broken")}
	list := func(ts ...middleware.Trigger) []middleware.Trigger { return ts }
	for _, tt := range []struct {
		name string
		of   middleware.Trigger
		met  bool
		why  string
		err  string
	}{
		{"any of several", trigger.Any(no, yes, no), true, "yes", ""},
		{"any of none that is", trigger.Any(no, no), false, "no, no", ""},
		{"any, met in spite of one that cannot work", trigger.Any(broken, no, yes), true, "yes", ""},
		{"any, not met and one cannot work", trigger.Any(no, broken), false, "", "broken"},
		{"any of several that cannot work", trigger.Any(broken, answer{err: errors.New("as well")}), false, "", "broken\nas well"},
		{"all of several", trigger.All(yes, yes), true, "yes, yes", ""},
		{"all but one", trigger.All(yes, no), false, "no", ""},
		{"all, not met, so it does not matter that one cannot work", trigger.All(broken, no), false, "no", ""},
		{"all, met but for one that cannot work", trigger.All(yes, broken, yes), false, "", "broken"},
		{
			"with our own, which come first",
			trigger.All(list(yes, trigger.Messages(2), trigger.Rounds(1))...), true, "6 of 2 messages, 1 of 1 rounds, yes", "",
		},
	} {
		requireMet(t, tt.name, v, tt.of, tt.met, tt.why, tt.err)
	}
}

func TestCheapTriggersAreAskedFirst(t *testing.T) {
	t.Parallel()
	v := viewOf(t, middleware.Request{Messages: history(1)})
	met, unmet := trigger.Messages(1), trigger.Messages(1000)
	dear := func(log *[]string) middleware.Trigger {
		return trigger.Func(func(v *middleware.View, plan func() *middleware.Plan) (bool, string, error) {
			return answer{met: true, why: "dear", plan: true, log: log}.Met(v, plan)
		})
	}
	var log []string
	own := func(why string) middleware.Trigger { return answer{met: true, why: why, log: &log} }
	for name, of := range map[string]middleware.Trigger{
		"any":                            trigger.Any(dear(&log), met),
		"any, both inside others":        trigger.Any(trigger.All(dear(&log)), trigger.All(met)),
		"any, one of the caller's own":   trigger.Any(own("own"), trigger.Any(met)),
		"all, and the cheap one says no": trigger.All(dear(&log), unmet),
		"all, behind Default":            trigger.All(own("own"), dear(&log), when.Default(0.5)),
		"all, the plan":                  trigger.All(trigger.Reclaims(1), unmet),
		"any, not of a dear one":         trigger.Any(trigger.Not(trigger.All(dear(&log))), trigger.Not(trigger.Not(met))),
		"all, the plan deep inside":      trigger.All(trigger.Any(trigger.All(trigger.Not(trigger.Reclaims(1)))), trigger.Any(unmet)),
	} {
		_, _, err := of.Met(v, noPlan(t))
		require.NoError(t, err)
		require.Empty(t, log, "%s: a dear trigger was asked", name)
	}

	// The caller's own come before the plan.
	_, _, err := trigger.All(trigger.Reclaims(1), trigger.Not(own("own"))).Met(v, noPlan(t))
	require.NoError(t, err)
	require.Equal(t, []string{"own"}, log)
	log = nil

	// Among equals the order is the caller's, and the caller's slice stays.
	triggers := []middleware.Trigger{own("1"), own("2"), met, own("3")}
	_, why, err := trigger.All(triggers...).Met(v, noPlan(t))
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3"}, log)
	require.Equal(t, "6 of 1 messages, 1, 2, 3", why)
	require.Equal(t, "1", triggers[0].(answer).why)
}

// TestThePlanIsMadeOnceAndOnlyIfAskedFor goes through a whole middleware.
func TestThePlanIsMadeOnceAndOnlyIfAskedFor(t *testing.T) {
	t.Parallel()
	asks := answer{met: true, why: "asks", plan: true}
	for name, tt := range map[string]struct {
		of    middleware.Trigger
		plans int
	}{
		"not met":                        {trigger.Messages(1000), 0},
		"not met before it is asked for": {trigger.All(asks, trigger.Messages(1000)), 0},
		"asked for and not met":          {trigger.All(asks, answer{why: "no", plan: true}), 1},
		"to see what it would free":      {trigger.Reclaims(1), 1},
		"to see it several times":        {trigger.All(trigger.Not(trigger.Reclaims(1)), trigger.Not(trigger.Reclaims(2)), asks), 1},
	} {
		plans := 0
		mw := middleware.Editing("count", func(context.Context, *middleware.View) (*middleware.Plan, error) {
			plans++
			return nil, nil
		}, middleware.Options{Trigger: tt.of})
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history(1)})
		require.NoError(t, err)
		require.Equal(t, tt.plans, plans, name)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	nan := func() float64 { zero := 0.0; return zero / zero }()
	yes := answer{met: true}
	for _, tt := range []struct {
		name string
		of   middleware.Trigger
		want string
	}{
		{"no tokens", trigger.Tokens(0), "Trigger: trigger at 0 tokens, want more than 0"},
		{"reclaims nothing", trigger.Reclaims(0), "Trigger: trigger.Reclaims(0), want more than 0 tokens"},
		{"not of nil", trigger.Not(nil), "Trigger: trigger.Not of nil"},
		{"not, deep inside", trigger.All(yes, trigger.Not(trigger.Not(trigger.Fraction(2)))), "Trigger: trigger.Fraction(2), want more than 0 and at most 1"},
		{"all of the room", trigger.Fraction(1), ""},
		{"a percentage", trigger.Fraction(75), "Trigger: trigger.Fraction(75), want more than 0 and at most 1"},
		{"no share", trigger.Fraction(0), "Trigger: trigger.Fraction(0), want more than 0 and at most 1"},
		{"not a number", trigger.Fraction(nan), "Trigger: trigger.Fraction(NaN), want more than 0 and at most 1"},
		{"default of a percentage", when.Default(75), "Trigger: trigger.Fraction(75), want more than 0 and at most 1"},
		{"func of nil", trigger.Func(nil), "Trigger: trigger.Func of nil"},
		{"any of nothing", trigger.Any(), "Trigger: trigger.Any of nothing, want at least one trigger"},
		{"any of nil", trigger.Any(trigger.Tokens(1), nil), "Trigger: trigger.Any: a trigger is nil"},
		{"deep inside", trigger.Any(yes, trigger.All(yes, trigger.Any(trigger.Tokens(-3)))), "Trigger: trigger at -3 tokens, want more than 0"},
	} {
		opts := middleware.Options{Trigger: tt.of}
		if tt.want == "" {
			require.NoError(t, opts.Validate(), tt.name)
			continue
		}
		require.EqualError(t, opts.Validate(), tt.want, tt.name)
		require.PanicsWithValue(t, "middleware: Editing: x: "+tt.want, func() {
			middleware.Editing("x", func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }, opts)
		}, tt.name)
	}
}
