package digest

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// Result is a result in a view that an edit clears.
type Result struct {
	At     int    // the position of its message
	CallID string // all pieces there with this id are the result
	Frees  int    // its tokens less those of its placeholder, by the counter of the view
}

// Leave adds lines of at most the given number of tokens to the placeholders of
// results, and returns how many tokens that adds to each: fewer than it frees. The
// edits are rewrites of the view with a placeholder in place of each result; their
// parts are changed. Facts that the view has with these edits are left out.
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

// clearedBy returns the text of a result that is cleared. If a middleware replaced
// it before, a fact must be in the text that the model has seen and in what the
// tool returned.
func clearedBy(v *middleware.View, r Result) Cleared {
	c := Cleared{Text: textOf(v.At(r.At), r.CallID), Tokens: r.Frees - Most(v.Meter().Counter, 0)}
	if c.Tokens == 0 {
		c.Tokens = -1
	}
	s := v.Span(r.At)
	if s.Edit == nil {
		return c
	}
	if s.Edit.Kind == journal.Rewrite {
		c.Of = textOf(v.History()[s.First], r.CallID)
	}
	if c.Of != c.Text {
		c.Text = factsOf(c.Text)
	}
	return c
}

// textOf returns the text of a result.
func textOf(m message.Message, callID string) string {
	var texts []string
	for piece := range m.Results() {
		if piece.CallID == callID {
			texts = append(texts, piece.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// keptBy returns the texts of the view once some messages have other parts.
// Thinking is left out: most providers do not show it to the model again.
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

// put adds a line to the placeholder of a result, unless the result would free
// nothing then. It returns the tokens that this adds.
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

// The words before a line.
const (
	someFacts     = "some facts: "
	afterSentence = "Some facts: "
)

// Placeholder returns the placeholder of a cleared result with its line. What is
// there already comes first, so that a handle keeps its place:
//
//	[cleared]                         [cleared; some facts: total: 54.04]
//	[cleared: recall kqvmzhtwrcxa]    [cleared: recall kqvmzhtwrcxa; some facts: total: 54.04]
//	[It was left out.]                [It was left out. Some facts: total: 54.04]
//	(gone)                            (gone) [some facts: total: 54.04]
//
// With an empty line it returns the text as it is.
func Placeholder(text, line string) string {
	if line == "" {
		return text
	}
	inner, ok := strings.CutSuffix(text, "]")
	switch {
	case !ok && text == "":
		return "[" + someFacts + line + "]"
	case !ok:
		return text + " [" + someFacts + line + "]"
	case strings.HasSuffix(inner, "."):
		return inner + " " + afterSentence + line + "]"
	default:
		return inner + "; " + someFacts + line + "]"
	}
}

// Most returns about how many tokens a line of the given length adds to a
// placeholder, with the words before it.
func Most(by tokens.Counter, line int) int { return line + by.Count(" ["+someFacts) + 1 }

// factsOf returns what a line is made of if a middleware has replaced the result
// before: the line of a placeholder, each group of facts on a line of its own, or
// the text if it is not a placeholder.
func factsOf(text string) string {
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") || strings.ContainsAny(text, "\n") || json.Valid([]byte(text)) {
		return text
	}
	for _, words := range []string{someFacts, afterSentence} {
		if _, line, ok := strings.Cut(text[:len(text)-1], words); ok {
			return strings.ReplaceAll(line, "; ", "\n")
		}
	}
	return ""
}

// imitates reports whether a text looks like a part of a placeholder: a handle, or
// the beginning of a line. A tool must not be able to write one.
func imitates(text string) bool {
	return len(store.HandlesIn(text)) > 0 || strings.Contains(text, someFacts) || strings.Contains(text, afterSentence)
}
