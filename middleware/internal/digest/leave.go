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
		cleared[i] = Cleared{Text: textOf(v, r), Tokens: r.Frees - Most(v.Counter(), 1)}
		if cleared[i].Tokens == 0 {
			cleared[i].Tokens = -1
		}
	}
	lines := Lines(cleared, keptBy(v, now), Options{Tokens: most, Counter: v.Counter()})
	added := make([]int, len(results))
	for i, r := range results {
		if lines[i] != "" {
			added[i] = put(v, now[r.At], r, lines[i])
		}
	}
	return added
}

// textOf returns what a result says in the view.
func textOf(v *middleware.View, r Result) string {
	var texts []string
	for piece := range v.At(r.At).Results() {
		if piece.CallID == r.CallID {
			texts = append(texts, piece.Text)
		}
	}
	text := strings.Join(texts, "\n")
	if v.Span(r.At).Edit != nil {
		return leftIn(text)
	}
	return text
}

// keptBy returns the texts that the view has once some messages have other
// parts. Thinking is none: most providers do not show it to the model again.
func keptBy(v *middleware.View, now map[int][]message.Part) []Kept {
	kept := make([]Kept, 0, v.Len())
	for i, m := range v.All() {
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
		if added = v.Counter().Count(text) - v.Counter().Count(piece.Text); added >= r.Frees {
			return 0
		}
		piece.Text = text
		parts[k] = piece
		return added
	}
	return 0
}
