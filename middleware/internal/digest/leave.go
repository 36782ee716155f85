package digest

import (
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Result is a result in a view that an edit clears.
type Result struct {
	At     int    // the position of its message
	CallID string // all pieces there with this id are the result
	Frees  int    // tokens that go with it, less those of its placeholder, by the counter of the view
}

// Leave puts lines of at most so many tokens into the placeholders of results,
// and returns how many tokens that adds to each: fewer than it frees. The edits
// are rewrites of the view, with a placeholder in place of each result, and their
// parts are changed. Facts that the view will show with these edits are left out.
func Leave(v *middleware.View, edits []middleware.Edit, results []Result, most int) []int {
	now := make(map[int][]message.Part, len(edits))
	for _, e := range edits {
		now[e.At] = e.Parts
	}
	cleared := make([]Cleared, len(results))
	for i, r := range results {
		cleared[i] = clearedBy(v, r)
	}
	lines := Lines(cleared, keptBy(v, now), Options{Tokens: most, Counter: v.Meter().Counter})
	added := make([]int, len(results))
	for i, r := range results {
		if lines[i] != "" {
			added[i] = put(v, now[r.At], r, lines[i])
		}
	}
	return added
}

// clearedBy returns what is known of a result that goes. If a middleware has put
// something in place of it before, that is what the model has seen, and what the
// tool gave is what is true: a fact has to be in both.
func clearedBy(v *middleware.View, r Result) Cleared {
	c := Cleared{Text: textOf(v.At(r.At), r.CallID), Tokens: r.Frees - Most(v.Meter().Counter, 0)}
	if c.Tokens == 0 {
		c.Tokens = -1
	}
	s := v.Span(r.At)
	if s.Edit == nil {
		return c
	}
	if s.Edit.Kind == middleware.Rewrite {
		c.Of = textOf(v.History()[s.First], r.CallID)
	}
	if c.Of != c.Text {
		c.Text = leftIn(c.Text)
	}
	return c
}

// textOf returns what a result says.
func textOf(m message.Message, callID string) string {
	var texts []string
	for piece := range m.Results() {
		if piece.CallID == callID {
			texts = append(texts, piece.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// keptBy returns the texts that the view has once some messages have other
// parts. Thinking is none: most providers do not show it to the model again.
func keptBy(v *middleware.View, now map[int][]message.Part) []Kept {
	kept := make([]Kept, 0, v.Len())
	for i, m := range v.Messages() {
		parts := m.Parts
		if other, ok := now[i]; ok {
			parts = other
		}
		for _, p := range parts {
			switch p := p.(type) {
			case message.Text:
				kept = append(kept, Kept{Text: p.Text, Said: m.Role == message.RoleUser || m.Role == message.RoleAssistant})
			case message.ToolCall:
				kept = append(kept, Kept{Text: p.Arguments, Said: true})
			case message.ToolResult:
				kept = append(kept, Kept{Text: p.Text})
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
	return kept
}

// put puts a line into the placeholder of a result, unless that frees nothing any
// more. It returns the tokens that this adds.
func put(v *middleware.View, parts []message.Part, r Result, line string) (added int) {
	for k, p := range parts {
		piece, ok := p.(message.ToolResult)
		if !ok || piece.CallID != r.CallID {
			continue
		}
		text := Placeholder(piece.Text, line)
		if added = v.Meter().Counter.Count(text) - v.Meter().Counter.Count(piece.Text); added >= r.Frees {
			return 0
		}
		piece.Text = text
		parts[k] = piece
		return added
	}
	return 0
}
