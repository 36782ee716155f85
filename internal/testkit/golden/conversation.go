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
	partForm   = regexp.MustCompile(`^(\w+)(?: \[(.*?)\]:|:| (\S*) (\S*?):?) (.*)$`) // kind, seal, ID, name, text
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
			m.Hints.Priority = priorities[hint]
			if m.Hints.Priority == 0 {
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
	f := partForm.FindStringSubmatch(line)
	if f == nil {
		f = make([]string, 6)
	}
	kind, seal, id, name := f[1], f[2], f[3], f[4]
	text, err := ParseText(f[5])
	switch kind {
	case "text":
		return message.Text{Text: text}, err
	case "thinking":
		return message.Thinking{Text: text, Signature: seal}, err
	case "media":
		return message.Media{Type: id, Name: name, Data: text}, err
	case "call":
		return message.ToolCall{ID: id, Name: name, Arguments: text}, err
	case "result", "error":
		return message.ToolResult{CallID: id, Name: name, Text: text, Error: kind == "error"}, err
	case "image":
		return message.ToolResult{CallID: id, Name: name, Content: message.Media{Type: "image/png", Data: text}}, err
	case "artifact":
		return message.ToolResult{CallID: id, Name: name, Content: message.Opaque{Kind: "artifact", Data: text}}, err
	}
	return nil, fmt.Errorf("golden: want call, result, error, image, artifact, media, text or thinking, got %q", line)
}

// ParseText reads one text: plain, quoted as in Go, or «unit»×n.
func ParseText(s string) (string, error) {
	f := repeatForm.FindStringSubmatch(s)
	switch {
	case strings.HasPrefix(s, `"`):
		text, err := strconv.Unquote(s)
		if err != nil {
			err = fmt.Errorf("golden: %s is not a quoted text", s)
		}
		return text, err
	case f == nil:
		return s, nil
	}
	n, err := strconv.Atoi(f[2])
	if err != nil {
		return "", fmt.Errorf("golden: number of repetitions: %w", err)
	}
	return strings.Repeat(f[1], n), nil
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
		seal := ""
		if p.Signature != "" {
			seal = " [" + p.Signature + "]"
		}
		return "thinking" + seal + ": " + formatText(p.Text)
	case message.Media:
		return fmt.Sprintf("media %s %s: %s", p.Type, p.Name, formatText(p.Data))
	case message.ToolCall:
		return fmt.Sprintf("call %s %s %s", p.ID, p.Name, formatText(p.Arguments))
	case message.ToolResult:
		kind, text := "result", p.Text
		if p.Error {
			kind = "error"
		}
		if image, ok := p.Content.(message.Media); ok {
			kind, text = "image", image.Data
		}
		if artifact, ok := p.Content.(message.Opaque); ok {
			kind, text = "artifact", artifact.Data
		}
		return fmt.Sprintf("%s %s %s: %s", kind, p.CallID, p.Name, formatText(text))
	case message.Opaque:
	}
	panic(fmt.Sprintf("golden: no form for %#v", p))
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
		n = len(s) / size
		if s == strings.Repeat(unit, n) && !strings.ContainsAny(unit, "\n»") {
			return unit, n
		}
	}
	return "", 0
}
