package tests

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// randomTrigger is any of those that the library has, alone or together. Not and
// Reclaims may be met since another editor has made the view shorter, so they
// are for chains of one.
func randomTrigger(d dice, depth int, alone bool) middleware.Trigger {
	n := 1 + d.roll("threshold", 300)
	inner := func() middleware.Trigger { return randomTrigger(d, depth-1, alone) }
	kinds := []func() middleware.Trigger{
		func() middleware.Trigger { return trigger.Tokens(n) },
		func() middleware.Trigger { return trigger.ToolUses(1 + n/40) },
		func() middleware.Trigger { return trigger.Rounds(1 + n/40) },
		func() middleware.Trigger { return trigger.Messages(1 + n/20) },
	}
	if alone {
		kinds = append(kinds, func() middleware.Trigger { return trigger.Reclaims(n) })
	}
	if depth > 0 {
		kinds = append(kinds,
			func() middleware.Trigger { return trigger.Any(inner(), inner()) },
			func() middleware.Trigger { return trigger.All(inner(), inner()) })
	}
	if depth > 0 && alone {
		kinds = append(kinds, func() middleware.Trigger { return trigger.Not(inner()) })
	}
	return kinds[d.roll("kind of trigger", len(kinds))]()
}

// randomClearing is a contextedit with any options.
func randomClearing(d dice, alone bool) contextedit.Options {
	o := contextedit.Options{
		Trigger:         randomTrigger(d, 2, alone),
		Keep:            d.roll("keep", 4) - 1,
		KeepRounds:      d.roll("keep rounds", 3),
		ClearToolInputs: d.roll("inputs", 2) == 0,
		ClearThinking:   d.roll("thinking", 3) > 0,
		StopAfter:       40 * d.roll("stop", 4),
		MinCalls:        d.roll("calls", 3),
		Digest:          []int{0, 0, 10, 40}[d.roll("digest", 4)],
		Placeholder:     "-",
	}
	switch d.roll("tools", 5) {
	case 0:
		o.Only = []string{"tool"}
	case 1:
		o.ExcludeTools = []string{"tool"}
	case 2:
		if o.ClearThinking {
			o.Only = []string{}
		}
	case 3:
		o.MayClear = func(call message.ToolCall, result []message.ToolResult) bool {
			return strings.HasSuffix(call.ID, "1") || len(result) > 1 || strings.HasPrefix(result[0].Text, "result 2")
		}
	}
	return o
}

// TestClearingAnyConversation lets two processes with the same chain, of
// clearings and now and then a fold between them, take turns in a conversation
// that grows.
func TestClearingAnyConversation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkClearing)
}

func checkClearing(t *rapid.T) {
	d := rapidDice{t}
	clearings, fold := 1+d.roll("clearings", 2), d.roll("with a fold", 2) == 1
	var mws []middleware.Middleware
	for range clearings {
		mws = append(mws, contextedit.New(randomClearing(d, clearings == 1 && !fold)))
	}
	if fold {
		mws = slices.Insert(mws, d.roll("place", len(mws)+1), editor{name: "fold", plan: folds(6)}.middleware())
	}
	takeTurns(t, "contextedit", mws, nil, growSome, func(now turn) {
		for _, e := range now.events {
			if e.By == "fold" && now.chat.broken { // it cuts a broken history at units, which may tear more
				continue
			}
			require.NoError(t, e.Err, "contextedit proposes nothing that breaks a rule: %v", e)
		}
		if !fold {
			requireThinkingLeft(t, now.history, now.sent.Messages)
		}
	})
}

// requireThinkingLeft fails if thinking of the newest turn is not as it was. The
// view has as many messages as the history.
func requireThinkingLeft(t require.TestingT, h, shown []message.Message) {
	for i, m := range slices.Backward(h) {
		if m.Role == message.RoleUser {
			return
		}
		require.Equal(t, thinking(m), thinking(shown[i]), "message %d", i)
	}
}

func thinking(m message.Message) (found []message.Part) {
	for _, p := range m.Parts {
		if _, ok := p.(message.Thinking); ok {
			found = append(found, p)
		}
	}
	return found
}
