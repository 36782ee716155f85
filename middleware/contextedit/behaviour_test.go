package contextedit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		opts contextedit.Options
		want string
	}{
		{"zero", contextedit.Options{}, ""},
		{"all of it", contextedit.Options{
			Trigger: trigger.Tokens(1), Keep: -1, KeepRounds: 1, KeepTokens: 1, Only: []string{"c"}, ExcludeTools: []string{"a"}, ClearAtLeast: 5, StopAfter: 5,
			MayClear:      func(message.ToolCall, []message.ToolResult) bool { return true },
			ClearThinking: true, ClearToolInputs: true, ClearInputsOf: []string{"b"}, Placeholder: " ", Digest: 1, MinCalls: 1, Strict: true,
		}, ""},
		{"rounds", contextedit.Options{KeepRounds: -1}, "KeepRounds is -1 rounds, want 0 or more"},
		{"floor", contextedit.Options{ClearAtLeast: -1}, "ClearAtLeast is -1 tokens, want 0 or more"},
		{"floor above the stop", contextedit.Options{ClearAtLeast: 6, StopAfter: 5}, "ClearAtLeast is 6 tokens and StopAfter 5, want a floor no higher than the stop"},
		{"empty name", contextedit.Options{ExcludeTools: []string{"a", ""}}, "ExcludeTools[1] is empty, want the name of a tool"},
		{"allowed and excluded", contextedit.Options{Only: []string{"a", "b"}, ExcludeTools: []string{"c", "b"}}, `tool "b" is in Only and in ExcludeTools, want it in one of them`},
		{"nothing allowed", contextedit.Options{Only: []string{}}, "nothing could ever be cleared: Only is empty, want names of tools, nil for all, or ClearThinking"},
		{"calls", contextedit.Options{MinCalls: -1}, "MinCalls is -1 calls, want 0 or more"},
		{"trigger inside", contextedit.Options{Trigger: trigger.Any(trigger.Rounds(0))}, "Trigger: trigger at 0 rounds, want more than 0"},
		{"several", contextedit.Options{KeepRounds: -1, MinCalls: -2}, "KeepRounds is -1 rounds, want 0 or more\nMinCalls is -2 calls, want 0 or more"},
	} {
		if tt.want == "" {
			require.NoError(t, tt.opts.Validate(), tt.name)
			require.NotPanics(t, func() { contextedit.New(tt.opts) }, tt.name)
			continue
		}
		require.EqualError(t, tt.opts.Validate(), tt.want, tt.name)
		require.PanicsWithValue(t, "contextedit: "+tt.want, func() { contextedit.New(tt.opts) }, tt.name)
	}
}

// rounds is a question and so many rounds of one call each.
func rounds(n, size int) []message.Message {
	h := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"page":%d}`, i)}),
			message.Result(id, "read", strings.Repeat("x", size)+id))
	}
	return h
}

// apply returns the view and the events of a call.
func apply(t *testing.T, mw middleware.Middleware, h []message.Message) ([]message.Message, []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return sent.Messages, events
}

// TestBatchesWhereTheTriggerStaysMet has more than the trigger allows in what
// may not be cleared. Without a floor each call clears one result and moves the
// prefix; a floor or MinCalls makes batches of that.
func TestBatchesWhereTheTriggerStaysMet(t *testing.T) {
	t.Parallel()
	h := slices.Insert(rounds(100, 1000), 2, message.User(strings.Repeat("A very long question. ", 1000)))
	for name, tt := range map[string]struct {
		opts contextedit.Options
		want int
	}{
		"neither":  {contextedit.Options{}, 95},
		"a floor":  {contextedit.Options{ClearAtLeast: 2000}, 10}, // 9 results of 248 tokens are enough
		"MinCalls": {contextedit.Options{MinCalls: 10}, 10},
	} {
		tt.opts.Trigger = trigger.Tokens(5000)
		mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, contextedit.New(tt.opts))
		told := map[middleware.EventKind]int{}
		for n := 3; n <= len(h); n += 2 {
			_, events := apply(t, mw, h[:n])
			for _, e := range events {
				told[e.Kind]++
				require.NotEqual(t, middleware.Notice, e.Kind, "%v", e)
			}
		}
		require.Equal(t, tt.want, told[middleware.Edited], name)
	}
}

// TestSupersededAsGiven has results and arguments that another editor shortened:
// what is not there any more supersedes nothing, and calls whose arguments look
// alike since they were shortened are not the same.
func TestSupersededAsGiven(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User("Look into it.")}
	for i, path := range []string{"z", "a", "b", "a", "b", "a"} {
		id := fmt.Sprintf("c%d", i)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: `{"path":"` + path + strings.Repeat("/dir", 20) + `"}`}),
			message.Result(id, "read", strings.Repeat("x", 400)))
	}
	h = append(h, message.Assistant(message.Text{Text: "So it is."}))
	arguments := func(i int) middleware.Edit {
		c := h[i].Parts[0].(message.ToolCall)
		c.Arguments = `{"path":"long"}`
		return middleware.RewriteOf(i, c)
	}
	result := func(i int) middleware.Edit {
		r := h[i].Parts[0].(message.ToolResult)
		r.Text = "long"
		return middleware.RewriteOf(i, r)
	}
	for _, tt := range []struct {
		name  string
		edits []middleware.Edit
		want  int // the message that goes
	}{
		{"as they are", nil, 4},
		{"arguments that look alike now", []middleware.Edit{arguments(1), arguments(3), arguments(5), arguments(7), arguments(9), arguments(11)}, 4},
		{"the newest result is short now", []middleware.Edit{result(12)}, 4},
		{"so are all that are newer", []middleware.Edit{result(8), result(12)}, 6},
		{"there is no newer one", []middleware.Edit{result(8), result(10), result(12)}, 2},
		{"a fold has put another in its place", []middleware.Edit{middleware.FoldOf(7, 12, h[7], message.Result("c3", "read", "long"))}, 2},
		{"it has been folded", []middleware.Edit{middleware.FoldOf(7, 12, message.User("I read a, b and a."))}, 2},
	} {
		other := middleware.Editing("other", func(context.Context, *middleware.View) (*middleware.Plan, error) {
			return &middleware.Plan{Edits: tt.edits}, nil
		}, middleware.Options{})
		clearing := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: -1, StopAfter: 1})
		_, events := apply(t, middleware.Chain(other, clearing), h)
		cleared := events[len(events)-1]
		require.Equal(t, "contextedit", cleared.By, tt.name)
		require.Len(t, cleared.Edits, 1, tt.name)
		require.Equal(t, tt.want, cleared.First, "%v", events)
	}
}

// TestMayClear tells what is asked, and when.
func TestMayClear(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 400)
	h := []message.Message{
		message.User("Look into it."),
		message.Result("c0", "read", long), // without a call
		message.Assistant(
			message.ToolCall{ID: "c1", Name: "read", Arguments: `{"a":1}`}, message.ToolCall{ID: "c2", Name: "ls", Arguments: `{"a":2}`},
			message.ToolCall{ID: "c3", Name: "read", Arguments: `{"a":3}`}, message.ToolCall{ID: "c4", Name: "db_query", Arguments: "{}"},
		),
		{Role: message.RoleTool, Parts: []message.Part{
			message.ToolResult{CallID: "c1", Text: long},
			message.ToolResult{CallID: "c2", Name: "ls", Text: long},
			message.ToolResult{CallID: "c1", Content: message.Media{Type: "image/png", Data: "x"}},
		}},
		message.Result("c3", "read", "short"),
		message.Result("c4", "db_query", long),
		message.Assistant(message.Text{Text: "So it is."}),
	}
	var asked []string
	opts := contextedit.Options{
		Trigger: trigger.Tokens(1), Keep: -1, ExcludeTools: []string{"db_query"}, ClearToolInputs: true,
		MayClear: func(call message.ToolCall, result []message.ToolResult) bool {
			asked = append(asked, fmt.Sprintf("%s %s %s: %d of %s", call.ID, call.Name, call.Arguments, len(result), result[0].CallID))
			return call.Name != "ls"
		},
	}
	view, events := apply(t, contextedit.New(opts), h)
	require.Equal(t, []string{"  : 1 of c0", `c1 read {"a":1}: 2 of c1`, `c2 ls {"a":2}: 1 of c2`}, asked, "neither the short result nor the excluded one")
	require.Len(t, events, 1)
	require.Equal(t, 2, events[0].Detail.(contextedit.Report).Results)
	require.Equal(t, h[3].Parts[1], view[3].Parts[1], "the result that is spared stays")
	require.Equal(t, h[2].Parts[1:], view[2].Parts[1:], "and the input of its call, and of those that are not cleared")
	require.NotEqual(t, h[2].Parts[0], view[2].Parts[0])

	asked = nil
	opts.Trigger = trigger.Messages(1000)
	apply(t, contextedit.New(opts), h)
	require.Empty(t, asked, "it is asked though the trigger is not met")

	opts.Trigger = trigger.Tokens(1)
	opts.MayClear = func(message.ToolCall, []message.ToolResult) bool { panic("out of order") }
	view, events = apply(t, contextedit.New(opts), h)
	require.Equal(t, h, view)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Failed, events[0].Kind)
	require.ErrorContains(t, events[0].Err, "out of order")
}

// Two calls of an answer may have one ID: each keeps a result, and its arguments, for which there is one handle only.
func TestTwins(t *testing.T) {
	t.Parallel()
	long := func(word string) string { return strings.Repeat(word+" ", 400) }
	call := func(word string) message.Part {
		return message.ToolCall{ID: "x", Name: "read", Arguments: `{"of":"` + long(word) + `"}`}
	}
	h := []message.Message{
		message.User("Read both."), message.Assistant(call("first"), call("second")),
		{Role: message.RoleTool, Parts: []message.Part{
			message.ToolResult{CallID: "x", Name: "read", Text: long("one")}, message.ToolResult{CallID: "x", Name: "read", Text: long("two")},
		}},
		message.Assistant(message.Text{Text: "Done."}), message.User("And now?"),
	}
	require.NoError(t, message.Chat.Check(h))
	view, events := apply(t, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: -1, ClearToolInputs: true}), h)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Edited, events[0].Kind)
	require.NotEqual(t, h[2], view[2])
	require.Equal(t, h[1], view[1])
	require.NoError(t, message.Chat.Check(view))
}

func pieces(m message.Message, callID string) (found []message.ToolResult) {
	for r := range m.Results() {
		if r.CallID == callID {
			found = append(found, r)
		}
	}
	return found
}

// requireThinking checks that a message has all its thinking or none, and all if
// it is of the newest turn, pinned, or would be empty.
func requireThinking(t require.TestingT, opts contextedit.Options, h, view []message.Message) {
	newest := true
	for i, m := range slices.Backward(h) {
		was, is := thinking(m), thinking(view[i])
		left := m
		left.Parts = view[i].Parts
		empty := slices.ContainsFunc(message.Internals(inside.Key{}).Content(left), func(v message.Violation) bool { return v.Rule == "empty message" })
		switch {
		case newest || m.Hints.Pinned || !opts.ClearThinking:
			require.Equal(t, was, is, "the thinking of message %d", i)
		case len(is) > 0:
			require.Equal(t, was, is, "of message %d some thinking is gone, and some is not", i)
		case len(was) > 0:
			require.False(t, empty, "message %d has nothing left", i)
		}
		newest = newest && m.Role != message.RoleUser
	}
}

func thinking(m message.Message) (found []message.Thinking) {
	for _, p := range m.Parts {
		if p, ok := p.(message.Thinking); ok {
			found = append(found, p)
		}
	}
	return found
}

// TestDefaultTrigger reports the number from which on results are cleared without an option: three quarters of the window,
// or 0.9 of the window less the reserve, if this is above a quarter of it.
func TestDefaultTrigger(t *testing.T) {
	t.Parallel()
	for want, req := range map[string]middleware.Request{
		"8 of 6144 tokens, 0.75 of the window of 8192":    {Model: "gpt-4"},
		"8 of 7500 tokens, 0.75 of the window of 10000":   {Budget: &middleware.Budget{Window: 10_000, Reserve: 2_500}},
		"8 of 6750 tokens, 0.9 of the room of 7499":       {Budget: &middleware.Budget{Window: 10_000, Reserve: 2_501}},
		"8 of 900 tokens, 0.9 of the room of 1000":        {Budget: &middleware.Budget{Window: 10_000, Reserve: 9_000}},
		"8 of 100000 tokens":                              {Model: "unknown"},
		"8 of 75000 tokens, 0.75 of the window of 100000": {Budget: &middleware.Budget{Window: 100_000}},
	} {
		req.Messages = []message.Message{message.User("hi")}
		mw := middleware.With(middleware.Env{Explain: true}, contextedit.New(contextedit.Options{}))
		_, events, err := middleware.Apply(t.Context(), mw, &req)
		require.NoError(t, err)
		require.Equal(t, "[contextedit: not met: "+want+"]", fmt.Sprint(events))
	}
}
