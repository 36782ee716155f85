package golden

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// call is the line between two calls of the model.
const call = "==="

// Parse reads a conversation. Ends lists the number of messages in each call of the
// model: up to each line ===, and at last all of them.
func Parse(text string) (h []message.Message, ends []int, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == call:
			ends = append(ends, len(h))
		case strings.HasPrefix(line, "  ") && len(h) == 0:
			return nil, nil, fmt.Errorf("golden: a part before the first message: %s", line)
		case strings.HasPrefix(line, "  "):
			p, err := parsePart(line[2:])
			if err != nil {
				return nil, nil, err
			}
			m := &h[len(h)-1]
			m.Parts = append(m.Parts, p)
		case line != "":
			m, err := parseHead(line)
			if err != nil {
				return nil, nil, err
			}
			h = append(h, m)
		}
	}
	return h, append(ends, len(h)), nil
}

var (
	headForm   = regexp.MustCompile(`^(\w+)(?: \[([a-z, ]+)\])?:(?: (.*))?$`)
	callForm   = regexp.MustCompile(`^call (\S*) (\S*) (.*)$`)
	resultForm = regexp.MustCompile(`^(result|error|image|artifact) (\S*) (\S*): (.*)$`)
	mediaForm  = regexp.MustCompile(`^media (\S*) (\S*): (.*)$`)
	textForm   = regexp.MustCompile(`^(text|thinking)(?: \[(.*?)\])?: (.*)$`)
	repeatForm = regexp.MustCompile(`^«(.+)»×(\d+)$`)
)

// priorities lists the priorities that a message may have, by name.
var priorities = map[string]message.Priority{
	"low":      message.PriorityLow,
	"normal":   message.PriorityNormal,
	"high":     message.PriorityHigh,
	"critical": message.PriorityCritical,
}

func parseHead(line string) (message.Message, error) {
	f := headForm.FindStringSubmatch(line)
	if f == nil {
		return message.Message{}, fmt.Errorf("golden: want “role: text”, got %q", line)
	}
	m := message.Message{Role: message.Role(f[1])}
	for hint := range strings.SplitSeq(f[2], ", ") {
		switch hint {
		case "":
		case "pinned":
			m.Hints.Pinned = true
		case "memory":
			m.Hints.Memory = true
		default:
			if m.Hints.Priority = priorities[hint]; m.Hints.Priority == 0 {
				return m, fmt.Errorf("golden: want pinned, memory, low, normal, high or critical, got %q", hint)
			}
		}
	}
	if f[3] == "" {
		return m, nil
	}
	text, err := ParseText(f[3])
	m.Parts = []message.Part{message.Text{Text: text}}
	return m, err
}

func parsePart(line string) (message.Part, error) {
	if f := callForm.FindStringSubmatch(line); f != nil {
		arguments, err := ParseText(f[3])
		return message.ToolCall{ID: f[1], Name: f[2], Arguments: arguments}, err
	}
	if f := mediaForm.FindStringSubmatch(line); f != nil {
		data, err := ParseText(f[3])
		return message.Media{Type: f[1], Name: f[2], Data: data}, err
	}
	if f := textForm.FindStringSubmatch(line); f != nil {
		text, err := ParseText(f[3])
		if f[1] == "thinking" {
			return message.Thinking{Text: text, Signature: f[2]}, err
		}
		return message.Text{Text: text}, err
	}
	f := resultForm.FindStringSubmatch(line)
	if f == nil {
		return nil, fmt.Errorf("golden: want call, result, error, image, artifact, media, text or thinking, got %q", line)
	}
	content, err := ParseText(f[4])
	r := message.ToolResult{CallID: f[2], Name: f[3], Error: f[1] == "error"}
	switch f[1] {
	case "image":
		r.Content = message.Media{Type: "image/png", Data: content}
	case "artifact":
		r.Content = message.Opaque{Kind: "artifact", Data: content}
	default:
		r.Text = content
	}
	return r, err
}

// ParseText reads one text: plain, quoted as in Go, or «unit»×n.
func ParseText(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		if err != nil {
			return "", fmt.Errorf("golden: %s is not a quoted text", s)
		}
		return text, nil
	}
	if f := repeatForm.FindStringSubmatch(s); f != nil {
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return "", fmt.Errorf("golden: number of repetitions: %w", err)
		}
		return strings.Repeat(f[1], n), nil
	}
	return s, nil
}

// Format writes a conversation in the form that [Parse] reads. It panics if there is
// an opaque part outside a result, for which that form has no line.
func Format(h []message.Message) string {
	var b strings.Builder
	for _, m := range h {
		b.WriteString(string(m.Role) + hints(m.Hints) + ":")
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
		return "text: " + formatText(p.Text)
	case message.Thinking:
		if p.Signature != "" {
			return fmt.Sprintf("thinking [%s]: %s", p.Signature, formatText(p.Text))
		}
		return "thinking: " + formatText(p.Text)
	case message.Media:
		return fmt.Sprintf("media %s %s: %s", p.Type, p.Name, formatText(p.Data))
	case message.ToolCall:
		return fmt.Sprintf("call %s %s %s", p.ID, p.Name, formatText(p.Arguments))
	case message.ToolResult:
		return formatResult(p)
	case message.Opaque:
	}
	panic(fmt.Sprintf("golden: no form for %#v", p))
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

// formatText writes one text in the form that [ParseText] reads.
func formatText(s string) string {
	if unit, n := repetition(s); n > 0 {
		return fmt.Sprintf("«%s»×%d", unit, n)
	}
	plain := strconv.Quote(s) == `"`+strings.ReplaceAll(s, `"`, `\"`)+`"`
	if s == "" || !plain || strings.TrimSpace(s) != s || strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "«") {
		return strconv.Quote(s)
	}
	return s
}

// repetition returns the unit of a text that is a repetition, and how often it
// occurs. n is 0 for all other texts.
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
