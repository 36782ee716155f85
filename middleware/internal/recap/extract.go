package recap

import (
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/prose"
)

// A line of an extract has at most so many code points, and an extract so many
// lines.
const (
	longestLine = 160
	mostLines   = 200
)

// Extract returns what always can be said of messages: the beginning of the
// first one of the user, and of the newest ones, a line each, as many as fit. It
// never fails: with no room at all, the heading and the count line remain.
func Extract(msgs []message.Message, o Options) string {
	o = o.filled(prose.Of(msgs))
	e := extract{Options: o, msgs: msgs, wording: wordings[o.Language], first: -1}
	for i := range msgs {
		switch msgs[i].Role {
		case message.RoleUser:
			e.users++
			if e.first < 0 && e.line(i) != "" {
				e.first = i
			}
		case message.RoleAssistant:
			e.assistants++
		default:
		}
	}
	// The longest that fits is looked for by halving.
	few, many := 0, min(len(msgs), mostLines)
	for few < many {
		n := few + (many-few+1)/2
		if o.fits(e.text(n)) {
			few = n
		} else {
			many = n - 1
		}
	}
	if text := e.text(few); few > 0 || o.fits(text) {
		return text
	}
	e.first = -1
	if text := e.text(0); !o.Bare || o.fits(text) {
		return text
	}
	return ""
}

// extract is one that is being made.
type extract struct {
	Options
	wording

	msgs              []message.Message
	first             int // message of the user; -1: there is none, or no room for it
	users, assistants int
}

// text writes it with so many of the newest messages.
func (e *extract) text(n int) string {
	var lines []string
	from := len(e.msgs) - n
	if e.first >= 0 && e.first < from {
		lines = append(lines, e.line(e.first))
	}
	omitted := from
	if e.first >= 0 && e.first < from {
		omitted--
	}
	if omitted > 0 {
		lines = append(lines, fmt.Sprintf(e.omitted, omitted))
	}
	for i := from; i < len(e.msgs); i++ {
		if line := e.line(i); line != "" {
			lines = append(lines, line)
		}
	}
	return e.framed(e.extract, strings.Join(lines, "\n"), fmt.Sprintf(e.count, len(e.msgs), e.users, e.assistants))
}

// line tells a message; "": it has nothing that can be told.
func (e *extract) line(i int) string {
	m := &e.msgs[i]
	said := ""
	for _, p := range m.Parts {
		if len(said) > longestLine {
			break
		}
		switch p := p.(type) {
		case message.Text:
			said += " " + prose.Line(p.Text, longestLine)
		case message.ToolCall:
			said += " " + e.calls + " " + prose.Line(p.Name+" "+prose.Head(p.Arguments, longestLine), longestLine)
		case message.ToolResult:
			said += " " + prose.Line(p.Name+" "+prose.Head(p.Text, longestLine), longestLine)
		case message.Thinking, message.Media, message.Opaque:
		}
	}
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	return prose.Line(e.speaker(m.Role)+": "+said, longestLine)
}

func (e *extract) speaker(r message.Role) string {
	switch r {
	case message.RoleUser:
		return e.user
	case message.RoleAssistant:
		return e.assistant
	case message.RoleSystem:
		return e.system
	case message.RoleTool:
		return e.tool
	default:
		return prose.Line(string(r), longestTopic)
	}
}
