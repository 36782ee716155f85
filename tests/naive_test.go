package tests

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/tests/guarantee"
	"github.com/laconic-go/laconic/tokens"
)

// naive is what programs do to a history that is too long when they do it
// themselves.
type naive func(history []message.Message, room int) []message.Message

// dropsOldest leaves out the oldest messages until the rest fits.
func dropsOldest(history []message.Message, room int) []message.Message {
	lead := message.Leading(history)
	for k := lead; k < len(history)-1; k++ {
		kept := slices.Concat(history[:lead], history[k:])
		if (tokens.Meter{Counter: tokens.Chars4}).Request(kept, nil) <= room {
			return kept
		}
	}
	return history[max(0, len(history)-1):]
}

// renames gives calls and results the names that it knows.
func renames(history []message.Message, _ int) []message.Message {
	var out []message.Message
	for _, m := range history {
		m.Parts = slices.Clone(m.Parts)
		for k, p := range m.Parts {
			if c, ok := p.(message.ToolCall); ok {
				c.Name = "run"
				m.Parts[k] = c
			}
		}
		out = append(out, m)
	}
	return out
}

// cutsAll leaves the beginning of each text, whosever it is.
func cutsAll(history []message.Message, room int) []message.Message {
	each := max(8, 4*room/(len(history)+1))
	cut := func(s string) string { return s[:min(len(s), each)] }
	var out []message.Message
	for _, m := range history {
		m.Parts = slices.Clone(m.Parts)
		for k, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				m.Parts[k] = message.Text{Text: cut(p.Text)}
			case message.Thinking:
				m.Parts[k] = message.Thinking{Text: cut(p.Text), Signature: p.Signature}
			case message.ToolCall:
				p.Arguments = cut(p.Arguments)
				m.Parts[k] = p
			case message.ToolResult:
				p.Text = cut(p.Text)
				m.Parts[k] = p
			case message.Media, message.Opaque:
			}
		}
		out = append(out, m)
	}
	return out
}

// rewindsToQuestion puts the first question behind all else, so that it is not
// forgotten.
func rewindsToQuestion(history []message.Message, _ int) []message.Message {
	k := slices.IndexFunc(history, func(m message.Message) bool { return m.Role == message.RoleUser })
	if k < 0 {
		return history
	}
	return slices.Concat(history[:k], history[k+1:], history[k:k+1])
}

// TestCheckerFindsFaults shows that the checker of the guarantees is no rubber
// stamp: it finds in each naive program what is wrong with it.
func TestCheckerFindsFaults(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const conversations = 80
	found := map[guarantee.Guarantee]bool{}
	for name, c := range map[string]struct {
		naive naive
		must  []guarantee.Guarantee
	}{
		"drops the oldest": {dropsOldest, []guarantee.Guarantee{
			guarantee.Valid, guarantee.Accepted, guarantee.Fitting, guarantee.Protected, guarantee.Stable, guarantee.Reported,
		}},
		"cuts all texts":          {cutsAll, []guarantee.Guarantee{guarantee.Valid, guarantee.Protected, guarantee.Verbatim, guarantee.Stable}},
		"renames calls":           {renames, []guarantee.Guarantee{guarantee.Paired}},
		"moves the question":      {rewindsToQuestion, []guarantee.Guarantee{guarantee.Ordered, guarantee.Stable, guarantee.Valid}},
		"sends the whole history": {func(h []message.Message, _ int) []message.Message { return h }, []guarantee.Guarantee{guarantee.Valid, guarantee.Accepted, guarantee.Fitting, guarantee.Limited}},
	} {
		counts := map[guarantee.Guarantee]int{}
		for seed := range conversations {
			for _, b := range judged(c.naive, seed) {
				counts[b.Of]++
				found[b.Of] = true
			}
		}
		for _, g := range c.must {
			require.Positive(t, counts[g], "a program that %s breaks %q somewhere in %d conversations; found %v", name, g, conversations, counts)
		}
		t.Logf("%s: %v", name, counts)
	}
	for _, g := range []guarantee.Guarantee{
		guarantee.Valid, guarantee.Accepted, guarantee.Fitting, guarantee.Limited, guarantee.Protected, guarantee.Ordered,
		guarantee.Verbatim, guarantee.Paired, guarantee.Reported, guarantee.Stable,
	} {
		require.True(t, found[g], "some program breaks %q", g)
	}
}

// judged runs a random conversation through a naive program, call by call.
func judged(n naive, seed int) (broken []guarantee.Breach) {
	d := &fixedDice{state: uint64(seed)}
	w := &wild{chat: chat{dice: d}, careless: seed%2 == 0}
	history, tools := w.conversation()
	rules, room := randomRules(d), 40<<d.roll("room", 8)
	if seed%4 == 1 {
		history = rules.Repair(history).Messages
	}
	var before *guarantee.Call
	for _, k := range callsOf(history) {
		now := &guarantee.Call{
			Rules: rules, Limits: rules.Limits(room), Room: room, Meter: tokens.Meter{Counter: tokens.Chars4},
			History: history[:k], Tools: tools, Sent: n(history[:k], room),
		}
		broken = append(broken, now.Broken()...)
		broken = append(broken, now.BrokenSince(before)...)
		before = now
	}
	return broken
}

// TestCheckerFindsLies shows that false numbers do not pass.
func TestCheckerFindsLies(t *testing.T) {
	t.Parallel()
	history := []message.Message{
		message.System("system"), message.User("a question"), message.Assistant(message.Text{Text: strings.Repeat("a long answer ", 20)}), message.User("another"),
	}
	call := guarantee.Call{Rules: message.OpenAI, Room: 20, Meter: tokens.Meter{Counter: tokens.Chars4}, History: history}
	honest := fit.Irreducible{Limit: "tokens", Room: 20, Total: 25, Window: 20, Largest: "the questions", LargestSize: 13}
	refuse := func(e fit.Irreducible) error {
		return &middleware.Error{Kind: middleware.Irreducible, Op: "fit", Err: &e}
	}
	require.Equal(t, 22, call.Meter.Request(slices.Delete(slices.Clone(history), 2, 3), nil), "what may not be left out")
	for name, c := range map[string]struct {
		err  error
		room int
		says string
	}{
		"another error":         {errors.New("no"), 20, `kind ""`},
		"no numbers":            {&middleware.Error{Kind: middleware.Irreducible, Op: "fit", Err: errors.New("no")}, 20, "not sent"},
		"fits":                  {refuse(with(honest, func(e *fit.Irreducible) { e.Room = 30 })), 30, "would fit"},
		"another room":          {refuse(with(honest, func(e *fit.Irreducible) { e.Room = 19 })), 20, "the error has a room of 19"},
		"negative":              {refuse(with(honest, func(e *fit.Irreducible) { e.LargestSize = -1 })), 20, "have -1 of 25"},
		"no name":               {refuse(with(honest, func(e *fit.Irreducible) { e.Largest = "" })), 20, `"" have 13 of 25`},
		"wrong system":          {refuse(with(honest, func(e *fit.Irreducible) { e.Largest = "the system messages" })), 20, "system messages have at most 6"},
		"not the largest":       {refuse(with(honest, func(e *fit.Irreducible) { e.LargestSize = 5 })), 20, "the system messages have 6"},
		"wrong tools":           {refuse(with(honest, func(e *fit.Irreducible) { e.Largest = "the tools" })), 20, "the tools have at most 0"},
		"more than there is":    {refuse(with(honest, func(e *fit.Irreducible) { e.LargestSize = 19 })), 20, "the questions have at most 13"},
		"could be made to fit":  {refuse(with(honest, func(e *fit.Irreducible) { e.Room = 22 })), 22, "but this fits into 22"},
		"the truth as it seems": {refuse(with(honest, func(e *fit.Irreducible) { e.Total = 22 })), 20, ""},
	} {
		one := call
		one.Room = c.room
		broken := one.Refused(c.err)
		if c.says == "" {
			require.Empty(t, broken, name)
			continue
		}
		require.NotEmpty(t, broken, "%s: a breach is found", name)
		require.Contains(t, broken[0].Text, c.says, name)
	}
}

// with returns a copy of a breakdown with something changed.
func with(e fit.Irreducible, change func(*fit.Irreducible)) fit.Irreducible {
	change(&e)
	return e
}
