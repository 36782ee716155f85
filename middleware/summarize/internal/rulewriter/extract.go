package rulewriter

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Limits of an extract.
const (
	longestLine = 160 // code points
	mostLines   = 200
)

// Extract returns the first message of the user and as many of the newest messages as
// fit, one line each, with the number of messages between them, or "" without room.
func Extract(msgs []message.Message, o Options) string {
	w := o.wording()
	first := slices.IndexFunc(msgs, func(m message.Message) bool { return m.Role == message.RoleUser && w.line(&m) != "" })
	// The greatest number that fits: Search returns the least number that does not.
	most := min(len(msgs), mostLines)
	n := sort.Search(most, func(n int) bool { return !o.fits(w.extract(msgs, first, n+1)) })
	for _, first := range []int{first, -1} {
		if words := w.extract(msgs, first, n); o.fits(words) {
			return words
		}
	}
	return ""
}

// extract returns the first message, unless it is -1, and the n newest ones.
func (w *wording) extract(msgs []message.Message, first, n int) string {
	var lines []string
	from := len(msgs) - n
	omitted := from
	if first >= 0 && first < from {
		lines = append(lines, w.line(&msgs[first]))
		omitted--
	}
	if omitted > 0 {
		lines = append(lines, fmt.Sprintf(w.omitted, omitted))
	}
	for i := from; i < len(msgs); i++ {
		if line := w.line(&msgs[i]); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// line returns a message as one line, or "" if it has no text, call or result.
func (w *wording) line(m *message.Message) string {
	said := ""
	for _, p := range m.Parts {
		if len(said) > longestLine {
			break
		}
		switch p := p.(type) {
		case message.Text:
			said += " " + text.Line(p.Text, longestLine)
		case message.ToolCall:
			said += " " + w.calls + " " + text.Line(p.Name+" "+shorten.Head(p.Arguments, longestLine), longestLine)
		case message.ToolResult:
			said += " " + text.Line(p.Name+" "+shorten.Head(p.Text, longestLine), longestLine)
		case message.Thinking, message.Media, message.Opaque:
		}
	}
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	return text.Line(cmp.Or(w.speakers[m.Role], text.Line(string(m.Role), longestTopic))+": "+said, longestLine)
}
