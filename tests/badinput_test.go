package tests

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// eager are stacks that edit whatever they may.
func eager() map[string]middleware.Middleware {
	return map[string]middleware.Middleware{
		"contextedit": contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1, ClearToolInputs: true, ClearThinking: true}),
		"contextedit, by and by": contextedit.New(contextedit.Options{
			Trigger: trigger.Messages(1), Keep: -1, ClearThinking: true, StopAfter: 10,
			MayClear: func(call message.ToolCall, result []message.ToolResult) bool {
				return len(call.ID)%2 == 1 || len(result) > 1
			},
		}),
		"contextedit, with facts": contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1, ClearToolInputs: true, Digest: 40}),
		"folding": middleware.With(middleware.Env{HistoryIsView: true}, append(layers(
			editor{name: "pairs", plan: foldsInPairs}, editor{name: "fold", plan: folds(2)}, editor{name: "newest", plan: foldsNewest},
			editor{name: "around", plan: foldsAround(3)}, editor{name: "shorten", plan: shortens(30)}, editor{name: "offend", plan: offends}),
			contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1}))...),
		"microcompact": microcompact.New(microcompact.Options{
			KeepRounds: -1, Limit: microcompact.Limits{Results: 1, Arguments: 1, Text: 1}, FreshShare: 1e-9,
		}),
		"microcompact, by and by": microcompact.New(microcompact.Options{
			KeepRounds: 1, Limit: microcompact.Limits{Results: 40, Arguments: 1}, Batch: microcompact.Batch{Results: 2, Tokens: 100}, Protect: []string{"other"},
		}),
		"microcompact, with facts": microcompact.New(microcompact.Options{KeepRounds: -1, Limit: microcompact.Limits{Results: 1}, FreshShare: -1, Digest: 40}),
		"trim": trim.New(trim.Options{
			Trigger: trigger.Messages(1), TargetTokens: 1, PreserveStart: -1, PreserveEnd: -1, MinMessages: -1,
		}),
		"trim, by and by": trim.New(trim.Options{Trigger: trigger.Messages(1), Strategy: "oldest", PreserveEnd: -1, MinMessages: -1, Note: "(gone)"}),
		"removing":        middleware.Chain(layers(editor{name: "remove", plan: removes(1, false)}, editor{name: "apart", plan: removes(2, true)}, editor{name: "retell", plan: retells})...),
		"idle":            editor{name: "none", plan: func(look) []middleware.Edit { return nil }}.middleware(),
	}
}

func bigText(n int) string { return strings.Repeat("long text ", n/10) }

// TestBadHistories passes broken histories through chains that edit whatever
// they may: nothing that was sound may break.
func TestBadHistories(t *testing.T) {
	t.Parallel()
	call := func(id, args string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "tool", Arguments: args})
	}
	result := func(id string) message.Message { return message.Result(id, "tool", bigText(300)) }
	good := []message.Message{call("g", "{}"), result("g"), message.Assistant(message.Text{Text: bigText(300)})}
	with := func(msgs ...message.Message) []message.Message {
		h := []message.Message{message.System("system"), message.User("question")}
		h = append(h, good...)
		h = append(h, msgs...)
		h = append(h, good...)
		return append(h, message.User("another question"), call("last", "{}"), result("last"))
	}
	cases := map[string][]message.Message{
		"no messages":                 {},
		"nil messages":                nil,
		"only system messages":        {message.System("a"), message.System(bigText(100))},
		"one empty message":           {{}},
		"orphaned result":             with(result("orphan")),
		"missing result":              with(call("missing", "{}")),
		"missing result of several":   with(message.Assistant(message.ToolCall{ID: "a", Arguments: "{}"}, message.ToolCall{ID: "b", Arguments: "{}"}), result("a")),
		"result twice":                with(call("twice", "{}"), result("twice"), result("twice")),
		"duplicate call ids":          with(message.Assistant(message.ToolCall{ID: "d", Arguments: "{}"}, message.ToolCall{ID: "d", Arguments: "{}"}), result("d"), result("d")),
		"call ids used again":         with(call("c", "{}"), result("c"), call("c", "{}"), result("c")),
		"displaced result":            with(call("c", "{}"), message.User("hold on"), result("c")),
		"result before its call":      with(result("c"), call("c", "{}")),
		"empty ids":                   with(call("", "{}"), result("")),
		"empty messages":              with(message.User(""), message.Assistant(), message.Message{Role: message.RoleTool}),
		"no role":                     with(message.Message{Parts: []message.Part{message.Text{Text: bigText(200)}}}),
		"unknown role":                with(message.Message{Role: "developer", Parts: []message.Part{message.Text{Text: bigText(200)}}}),
		"tool message first":          append([]message.Message{result("x")}, with()...),
		"only tool messages":          {result("x"), result("y"), result("x")},
		"assistant first":             append([]message.Message{call("x", "{}"), result("x")}, with()...),
		"no user message":             {call("x", "{}"), result("x"), call("y", "{}"), result("y"), message.Assistant(message.Text{Text: bigText(100)})},
		"arguments not JSON":          with(call("c", "not json "+bigText(300)), result("c")),
		"arguments not an object":     with(call("c", "[1,2]"), result("c"), call("d", ""), result("d"), call("e", "null"), result("e")),
		"invalid UTF-8":               with(message.User("\xff\xfe"+bigText(200)), call("\xc3\x28", "{\"a\":\"\xff\"}"), message.Result("\xc3\x28", "\xff", "\xf0\x28\x8c\x28"+bigText(100))),
		"call in a user message":      with(message.Message{Role: message.RoleUser, Parts: []message.Part{message.ToolCall{ID: "u", Arguments: "{}"}}}, result("u")),
		"result in a user message":    with(message.Message{Role: message.RoleUser, Parts: []message.Part{message.ToolResult{CallID: "u", Text: bigText(100)}}}),
		"result inside a result":      with(call("c", "{}"), message.Message{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "c", Content: message.ToolResult{CallID: "c", Text: bigText(100)}}}}),
		"text in a tool message":      with(call("c", "{}"), message.Message{Role: message.RoleTool, Parts: []message.Part{message.Text{Text: bigText(100)}, message.ToolResult{CallID: "c", Text: bigText(100)}}}),
		"system messages in between":  with(message.System(bigText(100)), message.System("b")),
		"message above the window":    with(message.User(bigText(100_000))),
		"result above the window":     with(call("c", "{}"), message.Result("c", "tool", bigText(100_000))),
		"ends with calls":             append(with(), call("pending", "{}")),
		"ends with half the results":  append(with(), message.Assistant(message.ToolCall{ID: "a", Arguments: "{}"}, message.ToolCall{ID: "b", Arguments: "{}"}), result("a")),
		"all pinned":                  pinned(with()),
		"the same message many times": {message.User("a"), message.User("a"), message.User("a"), message.User("a"), message.User("a"), message.User("a")},
		"2,000 calls in one message":  many(2000),
	}
	for name, h := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for stack, mw := range eager() {
				for _, budget := range []*middleware.Budget{nil, {Window: 500, Reserve: 100}} {
					before := testkit.Clone(h)
					req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: budget})
					require.NoError(t, err, "%s: a broken history passes", stack)
					require.Equal(t, before, h, "%s: the history stays as it was", stack)
					requireNoWorse(t, h, req.Messages, stack)
					require.Zero(t, count(events, middleware.Failed), "%s: no editor fails, got %v", stack, events)
					if stack == "idle" {
						requireSame(t, h, req.Messages, "nothing is dropped or repaired silently")
					}
					again, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: append(testkit.Clone(h), message.User("more")), Budget: budget})
					require.NoError(t, err, "%s: and can be gone on with", stack)
					require.NotEmpty(t, again.Messages)
				}
			}
		})
	}
}

// many is a round of many parallel calls.
func many(n int) []message.Message {
	var calls []message.Part
	h := []message.Message{message.User("question"), {}}
	for i := range n {
		id := fmt.Sprint("c", i)
		calls = append(calls, message.ToolCall{ID: id, Name: "tool", Arguments: "{}"})
		h = append(h, message.Result(id, "tool", bigText(50)))
	}
	h[1] = message.Assistant(calls...)
	return append(h, message.Assistant(message.Text{Text: "done"}), message.User("next"))
}

func pinned(h []message.Message) []message.Message {
	for i := range h {
		h[i].Hints.Pinned = true
	}
	return h
}

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

func TestManyMessages(t *testing.T) {
	t.Parallel()
	n := soak.Of(100_000, 5)
	if race.Enabled {
		n = 20_000
	}
	h := long("many", n/2)
	mw := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1)})
	shown, events := view(t, mw, h)
	require.Len(t, shown, len(h))
	require.Equal(t, []string{"contextedit: edited"}, told(events))
	again, events := view(t, mw, append(h, message.Assistant(message.Text{Text: "done"})))
	require.Empty(t, told(events), "nothing is left to clear")
	requireSame(t, shown[:100], again[:100], "the view begins as before")
	shown, _ = view(t, editor{name: "remove", plan: removes(n/2-10, false)}.middleware(), h)
	require.Len(t, shown, 1+2*10)
	for _, o := range []trim.Options{{Trigger: trigger.Messages(1)}, {Trigger: trigger.Messages(1), TargetTokens: 1, Strategy: "oldest"}} {
		shown, events = view(t, trim.New(o), h)
		require.Less(t, len(shown), len(h))
		require.Equal(t, []string{"trim: edited"}, told(events))
	}
}

func TestEmptyRequest(t *testing.T) {
	t.Parallel()
	for stack, mw := range eager() {
		req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{})
		require.NoError(t, err, stack)
		require.Empty(t, req.Messages, stack)
		require.Empty(t, events, stack)
		resp, err := mw(answers)(t.Context(), &middleware.Request{Tools: []message.ToolDef{{}}, Params: 1, Force: []string{"", "nobody", "*"}}, nil)
		require.NoError(t, err, stack)
		require.NotNil(t, resp, stack)
	}
}

func TestInvalidBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget middleware.Budget
		want   string
	}{
		{middleware.Budget{}, "Window"},
		{middleware.Budget{Window: -1}, "-1"},
		{middleware.Budget{Window: 100, Reserve: -1}, "Reserve"},
		{middleware.Budget{Window: 100, Reserve: 100}, "100"},
		{middleware.Budget{Window: 100, Reserve: math.MaxInt}, "Reserve"},
		{middleware.Budget{Window: math.MinInt, Reserve: math.MinInt}, "Window"},
	} {
		for stack, mw := range eager() {
			_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: []message.Message{message.User("x")}, Budget: &c.budget})
			require.Error(t, err, "%s: %+v makes no sense", stack, c.budget)
			require.Equal(t, middleware.Invalid, middleware.KindOf(err), "%s: %v", stack, err)
			require.Contains(t, err.Error(), c.want, "%s: the error names what is wrong", stack)
			require.Contains(t, err.Error(), "want", "%s: the error says what is right", stack)
		}
	}
}

// TestBadOptions makes middlewares with options that make no sense.
func TestBadOptions(t *testing.T) {
	t.Parallel()
	none := func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }
	trimming := func(o trim.Options) func() {
		return func() {
			require.Error(t, o.Validate())
			trim.New(o)
		}
	}
	compacting := func(o microcompact.Options) func() {
		return func() {
			require.Error(t, o.Validate())
			microcompact.New(o)
		}
	}
	clearing := func(o contextedit.Options) func() {
		return func() {
			require.Error(t, o.Validate(), "Validate tells what New would panic with")
			contextedit.New(o)
		}
	}
	for name, c := range map[string]struct {
		do   func()
		want []string
	}{
		"KeepRounds":         {clearing(contextedit.Options{KeepRounds: -1}), []string{"contextedit:", "KeepRounds", "-1", "want"}},
		"KeepTokens":         {clearing(contextedit.Options{KeepTokens: -7}), []string{"contextedit:", "KeepTokens", "-7 tokens", "want"}},
		"ClearAtLeast":       {clearing(contextedit.Options{ClearAtLeast: -7}), []string{"contextedit:", "ClearAtLeast", "-7 tokens", "want"}},
		"StopAfter":          {clearing(contextedit.Options{StopAfter: -7}), []string{"contextedit:", "StopAfter", "-7 tokens", "want"}},
		"floor above stop":   {clearing(contextedit.Options{StopAfter: 5, ClearAtLeast: 6}), []string{"contextedit:", "ClearAtLeast", "6", "StopAfter", "5", "want"}},
		"empty tool":         {clearing(contextedit.Options{ExcludeTools: []string{"a", ""}}), []string{"contextedit:", "1", "empty", "want"}},
		"empty tool of Only": {clearing(contextedit.Options{Only: []string{"a", ""}}), []string{"contextedit:", "Only[1]", "empty", "want"}},
		"Only of nothing":    {clearing(contextedit.Options{Only: []string{}}), []string{"contextedit:", "Only is empty", "want", "nil for all"}},
		"in both lists":      {clearing(contextedit.Options{Only: []string{"a"}, ExcludeTools: []string{"b", "a"}}), []string{"contextedit:", `"a"`, "Only", "ExcludeTools", "want"}},
		"MinCalls":           {clearing(contextedit.Options{MinCalls: -2}), []string{"contextedit:", "MinCalls", "-2", "want"}},
		"Tokens 0":           {clearing(contextedit.Options{Trigger: trigger.Tokens(0)}), []string{"Trigger", "0 tokens", "want"}},
		"Messages -1":        {clearing(contextedit.Options{Trigger: trigger.Messages(-1)}), []string{"Trigger", "-1 messages", "want"}},
		"Rounds -1":          {clearing(contextedit.Options{Trigger: trigger.Rounds(-1)}), []string{"Trigger", "-1 rounds", "want"}},
		"ToolUses 0":         {clearing(contextedit.Options{Trigger: trigger.ToolUses(0)}), []string{"Trigger", "0 tool calls", "want"}},
		"Reclaims -1":        {clearing(contextedit.Options{Trigger: trigger.Reclaims(-1)}), []string{"Trigger", "Reclaims(-1)", "want"}},
		"Not of nil":         {clearing(contextedit.Options{Trigger: trigger.Not(nil)}), []string{"trigger.Not", "nil"}},
		"inside Not":         {clearing(contextedit.Options{Trigger: trigger.Not(trigger.Fraction(75))}), []string{"Fraction(75)", "at most 1"}},
		"Fraction 0":         {clearing(contextedit.Options{Trigger: trigger.Fraction(0)}), []string{"Fraction(0)", "want"}},
		"Fraction 75":        {clearing(contextedit.Options{Trigger: trigger.Fraction(75)}), []string{"Fraction(75)", "at most 1"}},
		"Fraction NaN":       {clearing(contextedit.Options{Trigger: trigger.Fraction(math.NaN())}), []string{"Fraction(NaN)", "want"}},
		"Any of nothing":     {clearing(contextedit.Options{Trigger: trigger.Any()}), []string{"trigger.Any", "want"}},
		"All of nil":         {clearing(contextedit.Options{Trigger: trigger.All(trigger.Tokens(1), nil)}), []string{"trigger.All", "nil"}},
		"nested":             {clearing(contextedit.Options{Trigger: trigger.Any(trigger.Tokens(1), trigger.All(trigger.Fraction(2)))}), []string{"Fraction(2)", "want"}},
		"FreshShare":         {compacting(microcompact.Options{FreshShare: 25}), []string{"microcompact:", "FreshShare", "25", "at most 1"}},
		"FreshShare NaN":     {compacting(microcompact.Options{FreshShare: math.NaN()}), []string{"microcompact:", "FreshShare", "NaN", "at most 1"}},
		"batch of results":   {compacting(microcompact.Options{Batch: microcompact.Batch{Results: -2}}), []string{"microcompact:", "Batch", "-2 results", "want"}},
		"batch of tokens":    {compacting(microcompact.Options{Batch: microcompact.Batch{Tokens: -2}}), []string{"microcompact:", "Batch", "-2 tokens", "want"}},
		"Protect":            {compacting(microcompact.Options{Protect: []string{"a", ""}}), []string{"microcompact:", "Protect[1]", "empty", "want"}},
		"all limits off":     {compacting(microcompact.Options{Limit: microcompact.Limits{Results: -1}, FreshShare: -1}), []string{"microcompact:", "nothing", "Limit", "want"}},
		"Strategy":           {trimming(trim.Options{Strategy: "newest"}), []string{"trim:", "Strategy", `"newest"`, `"hybrid", "middle" or "oldest"`}},
		"Warning":            {trimming(trim.Options{Warning: 80}), []string{"trim:", "Warning", "80", "at most 1"}},
		"Threshold NaN":      {trimming(trim.Options{Threshold: math.NaN()}), []string{"trim:", "Threshold", "NaN", "at most 1"}},
		"target above":       {trimming(trim.Options{Target: 0.9}), []string{"trim:", "Target", "0.9", "below the threshold"}},
		"warning too late":   {trimming(trim.Options{Warning: 0.95}), []string{"trim:", "Warning", "0.95", "no later"}},
		"two targets":        {trimming(trim.Options{Target: 0.5, TargetTokens: 5}), []string{"trim:", "Target and TargetTokens", "one of them"}},
		"TargetTokens":       {trimming(trim.Options{TargetTokens: -5}), []string{"trim:", "TargetTokens", "-5 tokens", "want"}},
		"Note of spaces":     {trimming(trim.Options{Note: " "}), []string{"trim:", "Note", `" "`, "want"}},
		"Interval":           {trimming(trim.Options{Interval: -5}), []string{"trim:", "Interval", "-5ns", "want"}},
		"Func of nil":        {clearing(contextedit.Options{Trigger: trigger.Func(nil)}), []string{"trigger.Func"}},
		"no name":            {func() { middleware.Editing("", none, middleware.Options{}) }, []string{"middleware: Editing", "name"}},
		"no editor":          {func() { middleware.Editing("x", nil, middleware.Options{}) }, []string{"middleware: Editing", "editor"}},
		"wrong option":       {func() { middleware.Editing("x", none, middleware.Options{MinCalls: -1}) }, []string{"middleware: Editing", "x", "MinCalls", "-1", "want"}},
		"negative memory":    {func() { journal.NewMemory(-5) }, []string{"journal: NewMemory", "want"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := panicText(c.do)
			require.NotEmpty(t, said, "options that make no sense panic")
			for _, want := range c.want {
				require.Contains(t, said, want, "the text names option, value, and what is right")
			}
		})
	}
}

func panicText(fn func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	fn()
	return ""
}

// TestMisfits gives options that do not fit the request: one event a
// conversation, and an error under Strict.
func TestMisfits(t *testing.T) {
	t.Parallel()
	history, _ := turns(2, 8)
	for name, c := range map[string]struct {
		opts   contextedit.Options
		budget *middleware.Budget
		want   []string
	}{
		"no window": {contextedit.Options{Trigger: trigger.Fraction(0.5)}, nil, []string{"contextedit", "Fraction(0.5)", "some-model", "Budget"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mw := contextedit.New(c.opts)
			var all []middleware.Event
			for n := 10; n < len(history); n += 2 {
				req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history[:n], Model: "some-model", Budget: c.budget})
				require.NoError(t, err)
				requireSame(t, history[:n], req.Messages, "the call goes on as if the middleware were not there")
				all = append(all, events...)
			}
			require.Len(t, all, 1, "one event a conversation, got %v", all)
			require.Equal(t, middleware.Misconfigured, all[0].Kind)
			for _, want := range c.want {
				require.Contains(t, all[0].String(), want, "the event names option, model and the cure")
			}
			c.opts.Strict = true
			_, _, err := middleware.Apply(t.Context(), contextedit.New(c.opts), &middleware.Request{Messages: history, Model: "some-model", Budget: c.budget})
			require.Equal(t, middleware.Invalid, middleware.KindOf(err), "under Strict the call fails: %v", err)
			for _, want := range c.want {
				require.ErrorContains(t, err, want, "the error names option, model and the cure")
			}
		})
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

// TestCanceled cancels at each point at which the chain hands over control.
func TestCanceled(t *testing.T) {
	t.Parallel()
	history, _ := turns(2, 4)
	gone := errors.New("gone")
	for name, build := range map[string]func(cancel func()) middleware.Middleware{
		"editor": func(cancel func()) middleware.Middleware {
			return middleware.Editing("x", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				cancel()
				return &middleware.Plan{Edits: clears(2)(lookAt(v))}, nil
			}, middleware.Options{})
		},
		"fold": func(cancel func()) middleware.Middleware {
			return middleware.Editing("x", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				e := folds(2)(lookAt(v))[0]
				e.Make = func(context.Context) ([]message.Message, error) {
					cancel()
					return []message.Message{message.User("s")}, nil
				}
				return &middleware.Plan{Edits: []middleware.Edit{e}}, nil
			}, middleware.Options{})
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		journal := journal.NewMemory(0)
		mw := middleware.With(middleware.Env{Journal: journal}, build(func() { cancel(gone) }))
		_, _, err := middleware.Apply(ctx, mw, &middleware.Request{Messages: history})
		require.ErrorIs(t, err, context.Canceled, "%s: the error keeps its identity", name)
		require.Equal(t, middleware.Canceled, middleware.KindOf(err), name)
		require.Zero(t, held(journal), "%s: a call that is cancelled while planning leaves the journal as it was", name)
	}
}
