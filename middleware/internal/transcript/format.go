package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Format writes a conversation as [Parse] reads it. It panics if a part has no
// form: an opaque one outside a result.
func Format(h []message.Message) string {
	var b strings.Builder
	for _, m := range h {
		b.WriteString(string(m.Role) + hints(m.Hints) + ":")
		parts := m.Parts
		if len(parts) > 0 {
			if text, ok := parts[0].(message.Text); ok {
				b.WriteString(" " + FormatText(text.Text))
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

func hints(h message.Hints) string {
	var names []string
	if h.Pinned {
		names = append(names, "pinned")
	}
	if h.Memory {
		names = append(names, "memory")
	}
	for name, p := range priorities {
		if h.Priority == p {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return " [" + strings.Join(names, ", ") + "]"
}

func formatPart(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return "text: " + FormatText(p.Text)
	case message.Thinking:
		if p.Signature != "" {
			return fmt.Sprintf("thinking [%s]: %s", p.Signature, FormatText(p.Text))
		}
		return "thinking: " + FormatText(p.Text)
	case message.Media:
		return fmt.Sprintf("media %s %s: %s", p.Type, p.Name, FormatText(p.Data))
	case message.ToolCall:
		return fmt.Sprintf("call %s %s %s", p.ID, p.Name, FormatText(p.Arguments))
	case message.ToolResult:
		return formatResult(p)
	case message.Opaque:
	}
	panic(fmt.Sprintf("transcript: no form for %#v", p))
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
	return fmt.Sprintf("%s %s %s: %s", kind, r.CallID, r.Name, FormatText(text))
}

// FormatText writes one text as [ParseText] reads it.
func FormatText(s string) string {
	if unit, n := repetition(s); n > 0 {
		return fmt.Sprintf("«%s»×%d", unit, n)
	}
	plain := strconv.Quote(s) == `"`+strings.ReplaceAll(s, `"`, `\"`)+`"`
	if s == "" || !plain || strings.TrimSpace(s) != s || strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "«") {
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
