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
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// randomTrimming is a trim with any options.
func randomTrimming(d dice, alone bool) trim.Options {
	o := trim.Options{
		Strategy:       []string{"", "middle", "oldest", "hybrid"}[d.roll("strategy", 4)],
		Trigger:        randomTrigger(d, 2, alone),
		PreserveStart:  d.roll("start", 6) - 1,
		PreserveEnd:    d.roll("end", 6) - 1,
		MinMessages:    d.roll("least", 6) - 1,
		EfficiencyOnly: d.roll("efficiency", 2) == 0,
		MinCalls:       d.roll("calls", 3),
	}
	switch d.roll("target", 3) {
	case 0:
		o.TargetTokens = 1 + d.roll("tokens", 400)
	case 1:
		o.Target = 0.1 * float64(1+d.roll("share", 8))
	}
	if d.roll("note", 3) == 0 {
		o.Note = "(gone)"
	}
	if d.roll("score", 3) == 0 {
		o.Score = func(*middleware.View) func(message.Unit) float64 { return func(message.Unit) float64 { return 0 } }
	}
	return o
}

// TestTrimmingAnyConversation lets two processes with the same chain, of trims and
// now and then a fold between them, take turns in a conversation that grows.
func TestTrimmingAnyConversation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkTrimming)
}

func checkTrimming(t *rapid.T) {
	d := rapidDice{t}
	trims, fold := 1+d.roll("trims", 2), d.roll("with a fold", 2) == 1
	var mws []middleware.Middleware
	for range trims {
		mws = append(mws, trim.New(randomTrimming(d, trims == 1 && !fold)))
	}
	if fold {
		mws = slices.Insert(mws, d.roll("place", len(mws)+1), editor{name: "fold", plan: folds(6)}.middleware())
	}
	grow := func(c *chat, h []message.Message) []message.Message {
		if h = growSome(c, h); d.roll("pinned", 12) == 0 {
			h = slices.Clone(h)
			h[len(h)-1].Hints.Pinned = true
		}
		return h
	}
	takeTurns(t, "trim", mws, nil, grow, func(now turn) {
		requireTrimmed(t, now.history, now.sent.View())
		requireTold(t, now.events)
	})
}

// requireTrimmed fails unless a view is the history with messages left out, none of
// them protected, and perhaps with notes, or with what folds of others have put.
func requireTrimmed(t require.TestingT, h []message.Message, v *middleware.View) {
	kept, last := map[int]bool{}, -1
	for i, m := range v.Messages() {
		s := v.Span(i)
		if s.Edit != nil {
			require.Equal(t, journal.Fold, s.Edit.Kind)
			require.True(t, s.Edit.Middleware != "trim" || m.Text() == "(gone)", "%v", m)
			for k := s.First; k <= s.Last; k++ {
				kept[k] = kept[k] || s.Edit.Middleware != "trim" && slices.ContainsFunc(s.Edit.Messages, h[k].Equal)
			}
			continue
		}
		require.Greater(t, s.First, last, "messages keep their order")
		requireSame(t, h[s.First:s.First+1], []message.Message{m}, "what is left is as it was")
		kept[s.First], last = true, s.First
	}
	first, last := -1, -1
	for i, m := range h {
		if m.Role == message.RoleUser {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	for i, m := range h {
		if m.Role == message.RoleSystem || m.Hints.Pinned || i == first || i == last {
			require.True(t, kept[i], "message %d of %d is protected, and gone", i, len(h))
		}
	}
}

// requireTold fails unless each removal reaches its target, or says that it does not.
func requireTold(t require.TestingT, events []middleware.Event) {
	for _, e := range events {
		if e.By != "trim" {
			continue
		}
		require.NoError(t, e.Err, "trim proposes nothing that breaks a rule: %v", e)
		r, ok := e.Detail.(trim.Report)
		if !ok {
			continue
		}
		require.Equal(t, e.After <= r.Target, r.Reached, "%v: %+v", e, r)
		require.Less(t, e.After, e.Before)
		require.Positive(t, r.Messages)
	}
}

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
