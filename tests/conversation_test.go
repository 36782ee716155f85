package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// dice decides what a random conversation does: a property test or the bytes
// of a fuzz input.
type dice interface {
	roll(what string, sides int) int // 0 to sides-1
}

type rapidDice struct{ t *rapid.T }

func (d rapidDice) roll(what string, sides int) int {
	return rapid.IntRange(0, sides-1).Draw(d.t, what)
}

// byteDice rolls what its bytes say, and 0 when they are used up.
type byteDice struct{ left []byte }

func (d *byteDice) roll(_ string, sides int) int {
	if len(d.left) == 0 {
		return 0
	}
	b := d.left[0]
	d.left = d.left[1:]
	return int(b) % sides
}

// fixedDice is the same at each run.
type fixedDice struct{ state uint64 }

func (d *fixedDice) roll(_ string, sides int) int {
	d.state = d.state*6364136223846793005 + 1442695040888963407
	return int(d.state>>33) % sides
}

// chat writes conversations as an agent would have them.
type chat struct {
	dice   dice
	serial int  // so that texts differ
	broken bool // messages that break rules occur
}

// grow appends what may come next: a question, an answer, or a round.
func (c *chat) grow(h []message.Message) []message.Message {
	if c.broken && c.dice.roll("broken", 3) == 0 {
		return append(h, c.nonsense())
	}
	last := message.RoleSystem
	if len(h) > 0 {
		last = h[len(h)-1].Role
	}
	switch n := c.dice.roll("step", 16); {
	case last == message.RoleSystem, last == message.RoleAssistant && n < 12:
		return append(h, message.User(c.text("question")))
	case n < 9:
		return c.round(h)
	case n < 13:
		return append(h, message.Assistant(message.Text{Text: c.text("answer")}))
	case n == 13:
		return append(h, message.User(c.text("interruption")))
	case n == 14:
		return append(h, message.System(c.text("reminder")))
	}
	return append(h, message.Message{Role: message.RoleAssistant, Name: "planner", Parts: []message.Part{
		message.Thinking{Text: c.text("thought"), Signature: "sig"}, message.Text{Text: c.text("answer")},
	}})
}

// nonsense is a message that need not make sense where it stands.
func (c *chat) nonsense() message.Message {
	roles := []message.Role{message.RoleTool, message.RoleAssistant, message.RoleUser, message.RoleSystem, "", "developer"}
	m := message.Message{Role: roles[c.dice.roll("role", len(roles))]}
	for range c.dice.roll("parts", 4) {
		id := fmt.Sprintf("call_%d", c.dice.roll("id", 3))
		var p message.Part
		switch c.dice.roll("part", 9) {
		case 0, 1:
			p = message.ToolResult{CallID: id, Name: "tool", Text: c.text("result")}
		case 2, 3:
			p = message.ToolCall{ID: id, Name: "tool", Arguments: []string{"{}", "[]", "", "{\"a\":", "\xff"}[c.dice.roll("arguments", 5)]}
		case 4:
			p = message.Opaque{Kind: "kind", Data: c.text("data")}
		case 5:
			p = message.Media{Data: c.text("data")}
		case 6:
			p = message.Text{}
		case 7:
			p = message.Thinking{Text: c.text("thought")}
		default:
			p = message.Text{Text: c.text("text")}
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

// round appends an assistant message with calls, and all its results.
func (c *chat) round(h []message.Message) []message.Message {
	n := 1 + c.dice.roll("calls", 6)/3
	var parts []message.Part
	if c.dice.roll("text with calls", 3) == 0 {
		parts = append(parts, message.Text{Text: c.text("plan")})
	}
	ids := make([]string, n)
	for i := range n {
		c.serial++
		ids[i] = fmt.Sprintf("c%d", c.serial)
		if c.dice.roll("id as local models give", 4) == 0 {
			ids[i] = fmt.Sprintf("call_%d", i)
		}
		parts = append(parts, message.ToolCall{ID: ids[i], Name: "tool", Arguments: fmt.Sprintf(`{"n":%d}`, c.serial)})
	}
	h = append(h, message.Assistant(parts...))
	if shape := c.dice.roll("results", 8); n > 1 && shape == 0 {
		var all []message.Part
		for _, id := range ids {
			all = append(all, message.ToolResult{CallID: id, Name: "tool", Text: c.text("result")})
		}
		return append(h, message.Message{Role: message.RoleTool, Parts: all})
	}
	for _, id := range ids {
		result := message.Result(id, "tool", c.text("result"))
		switch c.dice.roll("result", 12) {
		case 0:
			result.Parts = append(result.Parts, message.ToolResult{CallID: id, Name: "tool", Content: message.Media{Type: "image/png", Data: c.text("data")}})
		case 1:
			result.Parts = append(result.Parts, message.ToolResult{CallID: id, Name: "tool", Text: c.text("more")})
		case 2:
			result.Parts[0] = message.ToolResult{CallID: id, Name: "tool", Text: c.text("error"), Error: true}
		}
		h = append(h, result)
	}
	return h
}

// text is a text of some length and script. Some texts are alike.
func (c *chat) text(what string) string {
	c.serial++
	words := []string{"lorem", "ipsum", "上下文", "压缩", "🙂", "naïve", "{}", "\"x\"", "\xff\xfe", "\n"}
	switch n := c.dice.roll("text", 8); n {
	case 0:
		return "ok"
	case 1, 2, 3:
		return fmt.Sprintf("%s %d", what, c.serial)
	default:
		word := words[c.dice.roll("script", len(words))]
		if word == "\xff\xfe" && c.dice.roll("not UTF-8", 3) > 0 {
			word = "caf\ufffd"
		}
		return fmt.Sprintf("%s %d ", what, c.serial) + strings.Repeat(word+" ", 10*(n-3))
	}
}

// lines writes each message in one line, with all that it holds: equal lines
// are equal bytes for the model.
func lines(t require.TestingT, msgs []message.Message) []string {
	out := make([]string, len(msgs))
	for i, m := range msgs {
		b, err := json.Marshal(m)
		require.NoError(t, err, "message %d", i)
		out[i] = string(b)
	}
	return out
}

// requireSame fails unless two views are the same byte for byte.
func requireSame(t require.TestingT, want, got []message.Message, why string, args ...any) {
	alike := func(a, b message.Message) bool {
		usage := a.Usage == b.Usage || a.Usage != nil && b.Usage != nil && *a.Usage == *b.Usage
		return a.Equal(b) && a.Hints == b.Hints && a.Time.Equal(b.Time) && usage
	}
	if slices.EqualFunc(want, got, alike) {
		return
	}
	w, g := lines(t, want), lines(t, got)
	require.Equal(t, strings.Join(w, "\n"), strings.Join(g, "\n"), append([]any{why}, args...)...)
}

// requireExtension fails unless a view begins with the whole one before it.
func requireExtension(t require.TestingT, before, after []message.Message, why string, args ...any) {
	require.GreaterOrEqual(t, len(after), len(before), append([]any{why}, args...)...)
	requireSame(t, before, after[:len(before)], why, args...)
}

// view returns what a model would be sent.
func view(tb testing.TB, mw middleware.Middleware, h []message.Message) []message.Message {
	tb.Helper()
	req, _, err := middleware.Apply(tb.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(tb, err, "a call on a sound history works")
	return req.Messages
}

// kinds counts the events of one kind.
func count(events []middleware.Event, k middleware.EventKind) int {
	n := 0
	for _, e := range events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

func TestMain(m *testing.M) {
	soak.Checks(30)
	os.Exit(m.Run())
}
