// Package seeds_test holds one test for each requirement that comes from an
// earlier system, named after its id. The numbers are those of the
// requirement; the packages' own tests go further.
package seeds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// toolCall is one call of a conversation and its result.
type toolCall struct {
	tool, named string // the name in the call, and in the result
	result      string
	failed      bool
}

func reads(n int) []toolCall {
	all := make([]toolCall, n)
	for i := range all {
		all[i] = toolCall{tool: "read", named: "read", result: fmt.Sprintf("%d: %s", i, strings.Repeat("x", 397))}
	}
	return all
}

// conversation asks, makes the calls one after another, and ends in an answer,
// so that the model has seen all results.
func conversation(all []toolCall) []message.Message {
	h := []message.Message{message.System("You are helpful."), message.User("Look into it.")}
	for i, c := range all {
		id := fmt.Sprintf("c%d", i)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: c.tool, Arguments: `{"a":"0123456789012345678901234567"}`}),
			message.Message{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: id, Name: c.named, Text: c.result, Error: c.failed}}})
	}
	return append(h, message.Assistant(message.Text{Text: "I have."}))
}

func edit(t *testing.T, h []message.Message, opts contextedit.Options) (view []message.Message, events []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Counter: tokens.Chars4}, contextedit.New(opts)), &middleware.Request{Messages: h})
	require.NoError(t, err)
	return sent.Messages, events
}

// cleared returns which results of a conversation are, by their number.
func cleared(view []message.Message) []int {
	var which []int
	n := 0
	for _, m := range view {
		for r := range m.Results() {
			if r.Text == "[cleared]" && r.Content == nil {
				which = append(which, n)
			}
			n++
		}
	}
	return which
}

func TestC1(t *testing.T) {
	t.Parallel()
	h := conversation(reads(3))
	now := tokens.Meter{Counter: tokens.Chars4}.Request(h, nil)

	// Below the trigger: unchanged.
	view, events := edit(t, h, contextedit.Options{Trigger: trigger.Tokens(now + 1), Keep: 1})
	require.Equal(t, h, view)
	require.Empty(t, events)

	// It is met at ≥. Three results, keep 1: two cleared, the last intact.
	view, events = edit(t, h, contextedit.Options{Trigger: trigger.Tokens(now), Keep: 1})
	require.Equal(t, []int{0, 1}, cleared(view))
	require.Equal(t, h[7], view[7])
	require.Len(t, events, 1)
	require.Equal(t, 2, events[0].Detail.(contextedit.Report).Results, "results cleared")
	require.Equal(t, now, events[0].Before)
	require.Equal(t, 2*(100-3), events[0].Before-events[0].After, "tokens reclaimed: 100 of each result, and 3 for the placeholder")
	require.Equal(t, -1, events[0].Calls, "how often it fires: the first time")

	// Structure, ids, names, order and the error flag stay.
	all := reads(3)
	all[1].failed = true
	h = conversation(all)
	view, _ = edit(t, h, contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1})
	require.Len(t, view, len(h))
	require.NoError(t, message.Check(view))
	for i, m := range h {
		want := m
		if i == 3 || i == 5 {
			r := m.Parts[0].(message.ToolResult)
			r.Text = "[cleared]"
			want.Parts = []message.Part{r}
		}
		require.Equal(t, want, view[i], "message %d", i)
	}

	// Keep ≥ number: nothing.
	for _, keep := range []int{3, 4} {
		view, events = edit(t, h, contextedit.Options{Trigger: trigger.Tokens(1), Keep: keep})
		require.Equal(t, h, view)
		require.Len(t, events, 1)
		require.Equal(t, middleware.Skipped, events[0].Kind)
	}
}

func TestC2(t *testing.T) {
	t.Parallel()
	h := conversation(reads(4)) // each result frees 97
	now := trigger.Tokens(1)

	// ClearAtLeast is a floor: if the plan cannot free that much, nothing changes
	// and the event says why.
	view, events := edit(t, h, contextedit.Options{Trigger: now, Keep: 2, ClearAtLeast: 2*97 + 1})
	require.Equal(t, h, view)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Skipped, events[0].Kind)
	require.Equal(t, "clearing 2 results would free 194 tokens, less than ClearAtLeast of 195", events[0].Why)

	view, events = edit(t, h, contextedit.Options{Trigger: now, Keep: 2, ClearAtLeast: 2 * 97})
	require.Equal(t, []int{0, 1}, cleared(view))
	require.Equal(t, middleware.Edited, events[0].Kind)

	// A floor of 0 is none.
	view, _ = edit(t, h, contextedit.Options{Trigger: now, Keep: 3, ClearAtLeast: 0})
	require.Equal(t, []int{0}, cleared(view))

	// StopAfter is the other meaning: stop once that much is freed.
	for stop, want := range map[int][]int{1: {0}, 97: {0}, 98: {0, 1}, 10_000: {0, 1, 2}} {
		view, _ = edit(t, h, contextedit.Options{Trigger: now, Keep: 1, StopAfter: stop})
		require.Equal(t, want, cleared(view), "stop after %d", stop)
	}

	// Keep is never violated, not even to reach a floor or a stop.
	view, _ = edit(t, h, contextedit.Options{Trigger: now, Keep: 3, ClearAtLeast: 98, StopAfter: 200})
	require.Empty(t, cleared(view))
}

func TestC3(t *testing.T) {
	t.Parallel()
	now := trigger.Tokens(1)
	all := reads(6)
	all[1].tool = "db_query" // by the call's name
	all[3].named = "db_query"
	all[5].tool, all[5].named = "db_query", "db_query"
	h := conversation(all)

	// Excluded results use no slot of Keep: of 0, 2 and 4, the newest two stay.
	view, _ := edit(t, h, contextedit.Options{Trigger: now, Keep: 2, ExcludeTools: []string{"db_query"}})
	require.Equal(t, []int{0}, cleared(view))

	// KeepRounds and KeepTokens are the other units. A result has 101 tokens, its
	// id included.
	h = conversation(reads(6))
	view, _ = edit(t, h, contextedit.Options{Trigger: now, KeepRounds: 2})
	require.Equal(t, []int{0, 1, 2, 3}, cleared(view))
	for keep, want := range map[int][]int{101: {0, 1, 2, 3, 4}, 201: {0, 1, 2, 3, 4}, 202: {0, 1, 2, 3}} {
		view, _ = edit(t, h, contextedit.Options{Trigger: now, KeepTokens: keep})
		require.Equal(t, want, cleared(view), "keep %d tokens", keep)
	}
}

func TestC4(t *testing.T) {
	t.Parallel()
	now := trigger.Tokens(1)

	// A result that would not get shorter stays: "[cleared]" has 3 tokens.
	all := reads(3)
	all[0].result, all[1].result = strings.Repeat("x", 12), strings.Repeat("x", 13)
	view, _ := edit(t, conversation(all), contextedit.Options{Trigger: now, Keep: 1})
	require.Equal(t, []int{1}, cleared(view))

	// Already cleared: skipped, not counted.
	mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, contextedit.New(contextedit.Options{Trigger: now, Keep: 1}))
	long := conversation(reads(6))
	for _, end := range []int{9, 9, 13} {
		sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: long[:end]})
		require.NoError(t, err)
		switch {
		case len(events) == 0:
			require.Equal(t, []int{0, 1}, cleared(sent.Messages), "the same call again")
		case end == 9:
			require.Equal(t, []int{0, 1}, cleared(sent.Messages))
			require.Equal(t, 2, events[0].Detail.(contextedit.Report).Results)
		default:
			require.Equal(t, []int{0, 1, 2, 3}, cleared(sent.Messages))
			require.Equal(t, 2, events[0].Detail.(contextedit.Report).Results, "not four: two are cleared already")
			require.Equal(t, 2, events[0].Calls, "model calls since the clearing before")
		}
	}

	// Inputs become {} if asked, and for some tools alone.
	all = reads(3)
	all[1].tool = "write"
	h := conversation(all)
	inputs := func(opts contextedit.Options) (found []string) {
		opts.Trigger, opts.Keep = now, 1
		view, _ := edit(t, h, opts)
		for _, m := range view {
			for c := range m.Calls() {
				found = append(found, c.Arguments)
			}
		}
		return found
	}
	arguments := `{"a":"0123456789012345678901234567"}`
	require.Equal(t, []string{arguments, arguments, arguments}, inputs(contextedit.Options{}))
	require.Equal(t, []string{"{}", "{}", arguments}, inputs(contextedit.Options{ClearToolInputs: true}))
	require.Equal(t, []string{arguments, "{}", arguments}, inputs(contextedit.Options{ClearInputsOf: []string{"write"}}))

	// Media and artifacts of a cleared result go too.
	h = conversation(reads(2))
	h[3].Parts = []message.Part{
		message.ToolResult{CallID: "c0", Name: "read", Text: "see the image"},
		message.ToolResult{CallID: "c0", Name: "read", Content: message.Media{Type: "image/png", Data: "x"}},
		message.ToolResult{CallID: "c0", Name: "read", Content: message.Opaque{Kind: "artifact", Data: "x"}},
	}
	view, events := edit(t, h, contextedit.Options{Trigger: now, Keep: 1})
	require.Equal(t, message.Result("c0", "read", "[cleared]"), view[3])
	require.Greater(t, events[0].Before-events[0].After, tokens.DefaultFraming().Images.Unknown)
	require.Equal(t, 1, events[0].Detail.(contextedit.Report).Results)
}

func TestC5(t *testing.T) {
	t.Parallel()
	now := trigger.Tokens(1)

	// The newest results that no model has seen yet are never cleared, whatever
	// keep says.
	h := conversation(reads(3))
	for end, want := range map[int][]int{8: {0, 1}, 9: {0, 1, 2}} {
		view, _ := edit(t, h[:end], contextedit.Options{Trigger: now, Keep: -1})
		require.Equal(t, want, cleared(view), "of %d messages", end)
	}
	h = append(conversation(reads(1)),
		message.Assistant(message.ToolCall{ID: "p", Name: "read", Arguments: "{}"}, message.ToolCall{ID: "q", Name: "read", Arguments: "{}"}),
		message.Result("p", "read", strings.Repeat("x", 400)), message.Result("q", "read", strings.Repeat("x", 400)))
	view, _ := edit(t, h, contextedit.Options{Trigger: now, Keep: -1})
	require.Equal(t, []int{0}, cleared(view), "parallel results are fresh together")

	// Error results go last.
	all := reads(5)
	all[0].failed, all[2].failed = true, true
	h = conversation(all)
	for stop, want := range map[int][]int{97: {1}, 194: {1, 3}, 291: {0, 1, 3}, 388: {0, 1, 2, 3}} {
		view, _ = edit(t, h, contextedit.Options{Trigger: now, Keep: 1, StopAfter: stop})
		require.Equal(t, want, cleared(view), "stop after %d", stop)
	}
}

func TestC6(t *testing.T) {
	t.Parallel()
	now := trigger.Tokens(1)
	all := reads(6)
	all[1].tool, all[1].named = "db_query", "db_query"
	all[2].tool, all[2].named = "search", "search"
	all[4].tool = "search" // by the call's name
	h := conversation(all)
	edited := func(opts contextedit.Options) []int {
		opts.Trigger = now
		view, _ := edit(t, h, opts)
		return cleared(view)
	}

	// An allow list beside ExcludeTools. What it does not name uses no slot of
	// Keep.
	require.Equal(t, []int{2, 4}, edited(contextedit.Options{Keep: -1, Only: []string{"search"}}))
	require.Equal(t, []int{2}, edited(contextedit.Options{Keep: 1, Only: []string{"search"}}))
	require.Equal(t, []int{0, 3}, edited(contextedit.Options{Keep: 1, Only: []string{"read"}, ExcludeTools: []string{"search"}}), "excluded wins: 4 is both")
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, edited(contextedit.Options{Keep: -1, Only: nil}))
	require.Error(t, contextedit.Options{Only: []string{"read"}, ExcludeTools: []string{"read"}}.Validate(), "the same tool in both")
	require.Error(t, contextedit.Options{Only: []string{}}.Validate(), "an empty list would let nothing go")

	// A predicate for both.
	firstThree := func(_ message.ToolCall, result []message.ToolResult) bool { return result[0].Text < "3" }
	require.Equal(t, []int{0, 1, 2}, edited(contextedit.Options{Keep: -1, MayClear: firstThree}))
	require.Equal(t, []int{0, 1}, edited(contextedit.Options{Keep: 1, MayClear: firstThree}))
	require.Equal(t, []int{0, 1}, edited(contextedit.Options{Keep: -1, MayClear: firstThree, Only: []string{"read", "db_query"}}))
	require.Equal(t, []int{0, 2}, edited(contextedit.Options{Keep: -1, MayClear: firstThree, ExcludeTools: []string{"db_query"}}))
	byCall := func(call message.ToolCall, _ []message.ToolResult) bool { return call.Name == "search" }
	require.Equal(t, []int{2, 4}, edited(contextedit.Options{Keep: -1, MayClear: byCall}))
}

// TestCSuperseded is the line of section C on superseded reads.
func TestCSuperseded(t *testing.T) {
	t.Parallel()
	h := conversation(reads(5))
	for i, a := range map[int]string{2: `{"n":1}`, 4: `{"n":2,"m":0}`, 6: `{"n":3}`, 8: `{ "m": 0, "n": 2 }`, 10: `{"n":4}`} {
		c := h[i].Parts[0].(message.ToolCall)
		c.Arguments = a
		h[i] = message.Assistant(c)
	}
	for stop, want := range map[int][]int{97: {1}, 194: {0, 1}, 291: {0, 1, 2}} {
		view, _ := edit(t, h, contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1, StopAfter: stop})
		require.Equal(t, want, cleared(view), "stop after %d: the same tool, the same arguments, later", stop)
	}
}

// TestCThinking is the line of section C on old thinking blocks.
func TestCThinking(t *testing.T) {
	t.Parallel()
	h := conversation(reads(2))
	think := message.Thinking{Text: strings.Repeat("x", 400), Signature: "s"}
	for _, i := range []int{2, 4, 6} {
		h[i].Parts = append([]message.Part{think}, h[i].Parts...)
	}
	opts := contextedit.Options{Trigger: trigger.Tokens(1), ClearThinking: true}

	// Never in the newest turn, and whole blocks once there is another one.
	view, events := edit(t, h, opts)
	require.Equal(t, h, view)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Skipped, events[0].Kind)
	h = append(h, message.User("And now?"), message.Assistant(think, message.Text{Text: "Wait."}))
	view, events = edit(t, h, opts)
	for i, m := range h {
		want := m
		if i == 2 || i == 4 || i == 6 {
			want.Parts = m.Parts[1:]
		}
		require.Equal(t, want, view[i], "message %d", i)
	}
	require.Len(t, events, 1)
	require.Equal(t, 300, events[0].Before-events[0].After)
	require.Zero(t, events[0].Detail.(contextedit.Report).Results, "no results are cleared")

	// Not without being asked.
	opts.ClearThinking = false
	view, _ = edit(t, h, opts)
	require.Equal(t, h, view)
}
