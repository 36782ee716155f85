package trim_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/tokens"
)

// pictured is the conversation of the pictures in docs/trim.md: s is a system message,
// u the user, a an answer, c a message with calls and r a result. All have 100 tokens
// but the last answer but one, which has 10, and nothing in them is used later.
const pictured = "s u a c r u a c r a u c r a u c r u"

func picturedMessages() []message.Message {
	var h []message.Message
	calls := 0
	for i, letter := range strings.Fields(pictured) {
		text := strings.Repeat("x", 400)
		if i == 13 {
			text = strings.Repeat("x", 40)
		}
		switch letter {
		case "s":
			h = append(h, message.System(text))
		case "u":
			h = append(h, message.User(text))
		case "a":
			h = append(h, message.Assistant(message.Text{Text: text}))
		case "c":
			calls++
			m := message.Assistant(message.Text{Text: text[:388]}, message.ToolCall{ID: fmt.Sprint("k", calls), Name: "read", Arguments: "{}"})
			h = append(h, m)
		case "r":
			h = append(h, message.Result(fmt.Sprint("k", calls), "read", text[:396]))
		}
	}
	return h
}

// picture draws what a trim leaves of the conversation.
func picture(t *testing.T, o trim.Options) (line string, r trim.Report) {
	t.Helper()
	h := picturedMessages()
	o.Trigger = trigger.Messages(1)
	env := middleware.Env{Counter: tokens.Chars4, Framing: tokens.Framing{PerTool: 1}}
	sent, events, err := middleware.Apply(t.Context(), middleware.With(env, trim.New(o)), &middleware.Request{Messages: h})
	require.NoError(t, err)
	letters := strings.Fields(pictured)
	shown := make([]string, len(h))
	for i := range sent.View().Len() {
		if s := sent.View().Span(i); s.Edit == nil {
			shown[s.First] = letters[s.First]
		} else {
			shown[s.Last] = "n"
		}
	}
	for i := range shown {
		if shown[i] == "" {
			shown[i] = "·"
		}
	}
	return strings.Join(shown, " "), events[0].Detail.(trim.Report)
}

// TestPage makes sure that docs/trim.md and the package comment show what is.
func TestPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/trim.md")
	require.NoError(t, err)
	page := string(data)
	comment, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for name, o := range map[string]trim.Options{
		"middle":              {Strategy: "middle", TargetTokens: 1420},
		"middle, used up":     {Strategy: "middle", TargetTokens: 800},
		"oldest":              {Strategy: "oldest", TargetTokens: 1420},
		"oldest, farther":     {Strategy: "oldest", TargetTokens: 1000},
		"oldest, with a note": {Strategy: "oldest", TargetTokens: 1420, Note: "[gone]"},
	} {
		line, r := picture(t, o)
		want := fmt.Sprintf("%-20s %s", name, line)
		t.Logf("%s   %v", want, r)
		require.Contains(t, page, want+"\n", "%+v", r)
		if name == "middle" || name == "oldest" {
			require.Contains(t, string(comment), line)
		}
	}
	require.Contains(t, page, fmt.Sprintf("%-20s %s\n", "before", pictured))
}
