package issues

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// A fold behind contextedit took what StopAfter had let it clear, so that a
// retry of the same call cleared more. Likewise if what it cleared was removed.
func TestRetryBehindAFold(t *testing.T) {
	t.Parallel()
	for name, product := range map[string][]message.Message{"folded": {message.User("I read a page.")}, "removed": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folded := false
			chain := middleware.Chain(
				contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1, StopAfter: 1}),
				planning("fold", func(*middleware.View) []middleware.Edit {
					if folded {
						return nil
					}
					folded = true
					return []middleware.Edit{middleware.FoldOf(1, 2, product...)}
				}, middleware.Options{}))
			h := append(rounds(4), message.Assistant(message.Text{Text: "done"}))
			first, events := apply(t, chain, h)
			require.Len(t, events, 2, "%v", events)
			again, events := apply(t, chain, h)
			require.Empty(t, events, "the same call is edited further")
			require.Equal(t, first.Messages, again.Messages)

			// A new message is another history.
			_, events = apply(t, chain, append(h, message.User("go on")))
			require.Len(t, events, 1)
			require.Equal(t, "contextedit", events[0].By)
		})
	}
}

// Thinking between two pieces of a result, in a message of the wrong role, held
// the pieces apart. Without it they would be one result.
func TestThinkingBetweenResults(t *testing.T) {
	t.Parallel()
	r := message.ToolResult{CallID: "c", Name: "tool", Text: "x"}
	h := []message.Message{
		message.User("do it"),
		message.Assistant(r, message.Thinking{Text: "what is this?"}, r, message.Text{Text: "done"}),
		message.User("go on"),
	}
	req, events := apply(t, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), ClearThinking: true}), h)
	require.Empty(t, events, "the plan is refused")
	require.Equal(t, h, req.Messages)
}

// A question above the trigger ended clearing after the first edit: 135,000 tokens of
// results stayed in the view.
func TestLongQuestionIsNoVeto(t *testing.T) {
	t.Parallel()
	text := func(tokens int) string { return strings.Repeat("abc ", tokens) }
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, contextedit.New(contextedit.Options{}))
	h := []message.Message{message.User(text(60_000))}
	for i := range 30 {
		id := strconv.Itoa(i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}), message.Result(id, "read", text(5000)))
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 80_000}})
		require.NoError(t, err)
		require.LessOrEqual(t, tokens.Meter{Counter: tokens.Chars4}.Request(sent.Messages, nil), 60_000+7*5100, "five results, and one or two that are too little")
	}
}

// A summary with the role of the assistant, after the newest round, made a result look as if a model had seen it.
func TestSummaryAfterTheNewestRound(t *testing.T) {
	t.Parallel()
	chain := middleware.Chain(
		planning("fold", func(v *middleware.View) []middleware.Edit {
			if v.Len() < 5 {
				return nil
			}
			return []middleware.Edit{middleware.FoldOf(3, 3, message.Assistant(message.Text{Text: "short"}))}
		}, middleware.Options{}),
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: -1}))
	h := []message.Message{
		message.User("read it"),
		message.Assistant(message.ToolCall{ID: "c", Name: "read", Arguments: "{}"}),
		message.Result("c", "read", strings.Repeat("a line of the page\n", 50)),
		message.User(strings.Repeat("and be quick ", 20)),
		message.User("go on"),
	}
	req, events := apply(t, chain, h)
	require.Len(t, events, 1, "the fold alone: %v", events)
	require.Equal(t, h[2], req.Messages[2])
}

// The tokens of a placeholder and of cleared arguments are known when the archive has given
// the handles. A result was cleared although its placeholder took as much as the result, if
// the arguments of its call freed enough for both, and the other way round.
func TestClearedTogetherButLonger(t *testing.T) {
	t.Parallel()
	meter := tokens.Meter{}
	var results, arguments int // that were cleared
	for n := range 2000 {
		call := message.ToolCall{ID: "c", Name: "read", Arguments: fmt.Sprintf(`{"page":"%d%s"}`, n, strings.Repeat(" of the pages", n%8))}
		h := []message.Message{
			message.User("Read it."),
			message.Assistant(call),
			message.Result("c", "read", fmt.Sprint(n, strings.Repeat(" word", n/8%16))),
			message.Assistant(message.Text{Text: "I have."}),
		}
		mw := middleware.With(middleware.Env{Archive: store.NewMemory(0)}, contextedit.New(contextedit.Options{
			Trigger: trigger.Tokens(1), Keep: -1, ClearToolInputs: true,
		}))
		req, _ := apply(t, mw, h)
		for i, cleared := range map[int]*int{1: &arguments, 2: &results} {
			if before, after := h[i].Parts[0], req.Messages[i].Parts[0]; before != after {
				*cleared++
				require.Less(t, meter.Part(after), meter.Part(before), "%v becomes %v", before, after)
			}
		}
	}
	require.Positive(t, results)
	require.Positive(t, arguments)
}

// A history of the same length that was changed in the middle is no repeated call: what it lost is edited again.
func TestForkOfTheSameLength(t *testing.T) {
	t.Parallel()
	chain := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1}))
	h := more(append(rounds(3), message.Assistant(message.Text{Text: "done"}), message.User("next")), 4)
	sent, _ := apply(t, chain, h)
	before := edited(sent)
	fork := slices.Clone(h)
	fork[11].Parts = append(slices.Clone(fork[11].Parts), message.Text{Text: "So."}) // in the newest turn
	sent, _ = apply(t, chain, fork)
	require.Equal(t, before, edited(sent))
}

// pairsOfCalls are rounds of two calls; the results of the first one are in the order b, a.
func pairsOfCalls(n int) []message.Message {
	h := []message.Message{message.User("do it")}
	for i := range n {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
		first, second := message.Result(a, "tool", strings.Repeat(a+" ", 200)), message.Result(b, "tool", strings.Repeat(b+" ", 200))
		if i == 0 {
			first, second = second, first
		}
		h = append(h, message.Assistant(message.ToolCall{ID: a, Name: "tool", Arguments: "{}"}, message.ToolCall{ID: b, Name: "tool", Arguments: "{}"}),
			first, second)
	}
	return h
}

// A pin on an old message was ignored in all later calls if the results of an earlier round had not been in
// the order of their calls: the notes of old messages were those of the call before.
func TestPinAfterReorderedResults(t *testing.T) {
	t.Parallel()
	trimming := trim.New(trim.Options{Trigger: trigger.Messages(12), TargetTokens: 2000, PreserveStart: -1, PreserveEnd: 3})
	chain := middleware.Chain(trimming)
	h := pairsOfCalls(6)
	sent, events := apply(t, chain, h)
	require.Equal(t, middleware.Edited, events[0].Kind)
	require.Less(t, len(sent.Messages), len(h), "old messages are left out")
	has := func(m message.Message) bool { return slices.ContainsFunc(sent.Messages, m.Equal) }
	require.False(t, has(h[4]))
	h[4].Hints.Pinned = true // in the second round
	for range 2 {
		sent, _ = apply(t, chain, h)
		require.True(t, has(h[4]), "the pinned message is sent again")
		h = more(h, 1)
	}
}
