package guarantee

import (
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/fit"
)

// mark is what fit puts where the middle of a text was.
var mark = regexp.MustCompile(`\[… \d+ characters left out …\]`)

// marks returns how many marks a text has.
func marks(text string) int {
	if !strings.Contains(text, "characters left out") { // most texts: to search them for the expression takes far longer
		return 0
	}
	return len(mark.FindAllString(text, -1))
}

// notes checks that no note stands inside another, or twice for the same: what was
// shortened is not shortened again around its mark, and one remark tells of all
// messages that are gone.
func (l *ledger) notes() {
	if mentions(l.call.History) {
		return // the caller's own words, or a view that was passed back
	}
	remarks := 0
	for i, m := range l.call.Sent {
		for _, p := range m.Parts {
			text := withoutHandles(textOf(p))
			if n := marks(text); n > 1 {
				l.notef(Plain, "message %d has a text with %d marks in it: %s", i, n, text)
			}
			_, result := p.(message.ToolResult)
			if result && text != fit.DefaultPlaceholder && strings.Contains(text, fit.DefaultPlaceholder) {
				l.notef(Plain, "message %d has a placeholder inside of something else: %s", i, text)
			}
			remarks += strings.Count(text, fit.DefaultNote)
		}
	}
	if remarks > 1 {
		l.notef(Plain, "%d remarks tell that messages are gone", remarks)
	}
}

// handle is how a note names a handle.
var handle = regexp.MustCompile(`(: |; | To read it: )recall [a-z]{12,}`)

// withoutHandles returns a text with its notes as they are without an archive.
func withoutHandles(text string) string {
	if !strings.Contains(text, "recall ") { // most texts, as in marks
		return text
	}
	return handle.ReplaceAllString(text, "")
}

// mentions reports whether a history has what looks like a note of fit.
func mentions(msgs []message.Message) bool {
	return slices.ContainsFunc(msgs, func(m message.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
			text := textOf(p)
			return marks(text) > 0 || strings.Contains(text, fit.DefaultPlaceholder) || strings.Contains(text, fit.DefaultNote)
		})
	})
}

// textOf returns the text of a part that an edit may change.
func textOf(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolResult:
		return p.Text
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return ""
}
