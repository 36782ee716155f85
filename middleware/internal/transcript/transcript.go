// Package transcript writes conversations down as text that people read: the
// golden conversations of the middlewares' tests. A message is a paragraph
// without blank lines:
//
//	system: You fix builds.
//	user [pinned]: Why does the build fail?
//	  media image/png screen.png: «.»×4000
//	assistant: I look.
//	  thinking: The log will tell.
//	  thinking [seal]: signed by the provider
//	  call c1 read_log {"job":"nightly"}
//	  call c2 read_log {"job":"weekly"}
//	tool:
//	  result c1 read_log: «exit status 2 »×40
//	  error c2 read_log: no such job
//	tool:
//	  result c3 shot: two pieces, this one
//	  image c3 shot: «.»×4000
//	  artifact c3 shot: build.zip
//
// A text is written as it is, as «unit»×n if it repeats, or quoted as in Go. A
// line === means that the model is called with what stands above it. Behind a
// role may stand pinned, memory and one of the priorities low, normal, high and
// critical, with commas between them.
package transcript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
)

const call = "==="

// Parse reads a conversation, and after how many messages the model is called; at
// the end it is in any case.
func Parse(text string) (h []message.Message, ends []int, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == call:
			ends = append(ends, len(h))
		case strings.HasPrefix(line, "  ") && len(h) == 0:
			return nil, nil, fmt.Errorf("transcript: a part before the first message: %s", line)
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

// priorities are those that a message may have, by name.
var priorities = map[string]message.Priority{
	"low":      message.PriorityLow,
	"normal":   message.PriorityNormal,
	"high":     message.PriorityHigh,
	"critical": message.PriorityCritical,
}

func parseHead(line string) (message.Message, error) {
	f := headForm.FindStringSubmatch(line)
	if f == nil {
		return message.Message{}, fmt.Errorf("transcript: want “role: text”, got %q", line)
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
				return m, fmt.Errorf("transcript: want pinned, memory, low, normal, high or critical, got %q", hint)
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
		return nil, fmt.Errorf("transcript: want call, result, error, image, artifact, media, text or thinking, got %q", line)
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

// ParseText reads one text.
func ParseText(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		if err != nil {
			return "", fmt.Errorf("transcript: %s is no quoted text", s)
		}
		return text, nil
	}
	if f := repeatForm.FindStringSubmatch(s); f != nil {
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return "", fmt.Errorf("transcript: how often? %w", err)
		}
		return strings.Repeat(f[1], n), nil
	}
	return s, nil
}
