package guarantee

import (
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Show writes messages one a line, short enough to be read, for failure texts.
func Show(msgs []message.Message) string {
	var b strings.Builder
	for i, m := range msgs {
		fmt.Fprintf(&b, "%3d %s", i, m.Role)
		if m.Name != "" {
			fmt.Fprintf(&b, " %q", m.Name)
		}
		if m.Hints.Pinned {
			b.WriteString(" (pinned)")
		}
		for _, p := range m.Parts {
			b.WriteString(" " + showPart(p))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func showPart(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return short(p.Text)
	case message.Thinking:
		return "thinking " + short(p.Text) + " sealed " + short(p.Signature)
	case message.Media:
		return fmt.Sprintf("media %s %s of %d bytes", p.Type, short(p.URL), len(p.Data))
	case message.ToolCall:
		return fmt.Sprintf("call %s %s(%s)", short(p.ID), p.Name, short(p.Arguments))
	case message.ToolResult:
		text := "result " + short(p.CallID) + " " + short(p.Text)
		if p.Content != nil {
			text += " with " + showPart(p.Content)
		}
		if p.Error {
			text += " (error)"
		}
		return text
	case message.Opaque:
		return "opaque " + p.Kind + " " + short(p.Data)
	}
	return fmt.Sprintf("%T", p)
}

// short quotes a text, of a long one its beginning, its end and its length.
func short(s string) string {
	const most = 48
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…%q (%d bytes)", s[:most/2], s[len(s)-most/4:], len(s))
}
