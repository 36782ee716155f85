package transcript

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
)

const (
	callMark    = "===" // the line at which the model is called
	mostRepeats = 1 << 20
)

var (
	headForm   = regexp.MustCompile(`^(\w+)((?: \[\w+\])*):(?: (.*))?$`)
	callForm   = regexp.MustCompile(`^call (\S*) (\S*) (.*)$`)
	resultForm = regexp.MustCompile(`^(result|error|image|artifact) (\S*) (\S*): (.*)$`)
	textForm   = regexp.MustCompile(`^(text|thinking)(?: \[(.*?)\])?: (.*)$`)
	repeatForm = regexp.MustCompile(`^«(.+)»×(\d+)$`)
)

// priorities are the names of the priorities, as hints.
var priorities = map[message.Priority]string{
	message.PriorityLow:      "low",
	message.PriorityNormal:   "normal",
	message.PriorityHigh:     "high",
	message.PriorityCritical: "critical",
}

// Parse reads a conversation, and after how many messages the model is called; at
// the end it is in any case. The error says which line it cannot read.
func Parse(text string) (msgs []message.Message, ends []int, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		switch {
		case line == callMark:
			ends = append(ends, len(msgs))
		case strings.HasPrefix(line, "  ") && len(msgs) == 0:
			err = fmt.Errorf("a part before the first message: %s", line)
		case strings.HasPrefix(line, "  "):
			var p message.Part
			p, err = parsePart(line[2:])
			m := &msgs[len(msgs)-1]
			m.Parts = append(m.Parts, p)
		case line != "":
			var m message.Message
			m, err = parseHead(line)
			msgs = append(msgs, m)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("transcript: line %d: %w", n, err)
		}
	}
	return msgs, append(ends, len(msgs)), nil
}

func parseHead(line string) (message.Message, error) {
	f := headForm.FindStringSubmatch(line)
	if f == nil {
		return message.Message{}, fmt.Errorf("want “role: text”, got %q", line)
	}
	m := message.Message{Role: message.Role(f[1])}
	for hint := range strings.FieldsSeq(f[2]) {
		if err := setHint(&m.Hints, strings.Trim(hint, "[]")); err != nil {
			return m, err
		}
	}
	if f[3] == "" {
		return m, nil
	}
	text, err := ParseText(f[3])
	m.Parts = []message.Part{message.Text{Text: text}}
	return m, err
}

func setHint(h *message.Hints, hint string) error {
	if hint == "pinned" {
		h.Pinned = true
		return nil
	}
	for p, name := range priorities {
		if name == hint {
			h.Priority = p
			return nil
		}
	}
	return fmt.Errorf("[%s] is no hint, want pinned or one of %v", hint, slices.Sorted(maps.Values(priorities)))
}

func parsePart(line string) (message.Part, error) {
	if f := callForm.FindStringSubmatch(line); f != nil {
		arguments, err := ParseText(f[3])
		return message.ToolCall{ID: f[1], Name: f[2], Arguments: arguments}, err
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
		return nil, fmt.Errorf("want call, result, error, image, artifact, text or thinking, got %q", line)
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

// ParseText reads a text by itself, as it stands in a conversation.
func ParseText(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s, err)
		}
		return text, nil
	}
	if f := repeatForm.FindStringSubmatch(s); f != nil {
		n, err := strconv.Atoi(f[2])
		if err != nil || n > mostRepeats {
			return "", fmt.Errorf("%s: want at most %d times", s, mostRepeats)
		}
		return strings.Repeat(f[1], n), nil
	}
	return s, nil
}
