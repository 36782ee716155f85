package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Format writes a conversation as [Parse] reads it. It panics if there is a part
// that the form does not have: media or opaque parts outside of results.
func Format(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(string(m.Role))
		if m.Hints.Pinned {
			b.WriteString(" [pinned]")
		}
		if name := priorities[m.Hints.Priority]; name != "" {
			b.WriteString(" [" + name + "]")
		}
		b.WriteString(":")
		parts := m.Parts
		if len(parts) > 0 {
			if text, ok := parts[0].(message.Text); ok {
				b.WriteString(" " + formatText(text.Text))
				parts = parts[1:]
			}
		}
		b.WriteString("\n")
		for _, p := range parts {
			b.WriteString("  " + formatPart(p) + "\n")
		}
	}
	return b.String()
}

func formatPart(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return "text: " + formatText(p.Text)
	case message.Thinking:
		if p.Signature != "" {
			return fmt.Sprintf("thinking [%s]: %s", p.Signature, formatText(p.Text))
		}
		return "thinking: " + formatText(p.Text)
	case message.ToolCall:
		return fmt.Sprintf("call %s %s %s", p.ID, p.Name, formatText(p.Arguments))
	case message.ToolResult:
		return formatResult(p)
	case message.Media, message.Opaque:
	}
	panic(fmt.Sprintf("transcript: the form has no %#v", p))
}

func formatResult(r message.ToolResult) string {
	kind, text := "result", r.Text
	switch c := r.Content.(type) {
	case message.Media:
		kind, text = "image", c.Data
	case message.Opaque:
		kind, text = "artifact", c.Data
	case nil, message.Text, message.Thinking, message.ToolCall, message.ToolResult:
	}
	if r.Error {
		kind = "error"
	}
	return fmt.Sprintf("%s %s %s: %s", kind, r.CallID, r.Name, formatText(text))
}

func formatText(s string) string {
	if unit, n := repetition(s); n > 0 {
		return fmt.Sprintf("«%s»×%d", unit, n)
	}
	if s == "" || strings.TrimSpace(s) != s || strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "«") ||
		strconv.Quote(s) != `"`+strings.ReplaceAll(s, `"`, `\"`)+`"` {
		return strconv.Quote(s)
	}
	return s
}

// repetition returns the unit that a long text repeats, and how often.
func repetition(s string) (unit string, n int) {
	const longest, fewest = 40, 4
	for size := 1; size <= min(longest, len(s)/fewest); size++ {
		unit = s[:size]
		if n = len(s) / size; s == strings.Repeat(unit, n) && !strings.ContainsAny(unit, "\n»") {
			return unit, n
		}
	}
	return "", 0
}
