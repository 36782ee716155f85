package digest

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// Result is a result in a view that an edit clears.
type Result struct {
	At     int    // the position of its message
	CallID string // all pieces there with this id are the result
	Frees  int    // its tokens less those of its placeholder, by the counter of the view
}

// Leave adds lines of at most the given number of tokens to the placeholders of results, and returns how many tokens that
// adds to each: fewer than it frees. The edits are rewrites of the view with a placeholder in place of each result; their
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
	counter := v.Meter().Counter
	kept, uncleared := keptBy(v, now)
	lines := Lines(cleared, kept, Options{Tokens: most, Counter: counter, Results: uncleared})
	added := make([]int, len(results))
	for i, r := range results {
		parts := now[r.At]
		for k, piece := range shorten.Pieces(parts, r.CallID) {
			text := Placeholder(piece.Text, lines[i])
			if more := counter.Count(text) - counter.Count(piece.Text); more < r.Frees {
				piece.Text = text
				parts[k], added[i] = piece, more
			}
			break
		}
	}
	return added
}

// clearedBy returns the text of a result that is cleared. If a middleware replaced it before, a fact must be in the text
// that the model has seen and in what the tool returned.
func clearedBy(v *middleware.View, r Result) Cleared {
	c := Cleared{Text: textOf(v.At(r.At).Parts, r.CallID), Tokens: r.Frees - Most(v.Meter().Counter, 0)}
	if c.Tokens == 0 {
		c.Tokens = -1
	}
	if s := v.Span(r.At); s.Edit != nil && s.Edit.Kind == journal.Rewrite {
		c.Of = textOf(v.History()[s.First].Parts, r.CallID)
	}
	return c
}

// textOf returns the text of a result.
func textOf(parts []message.Part, callID string) string {
	var texts []string
	for _, r := range shorten.Pieces(parts, callID) {
		texts = append(texts, r.Text)
	}
	return strings.Join(texts, "\n")
}

// keptBy returns the texts of the view once some messages have other parts, and apart from these the results that are not
// cleared yet. Thinking is left out: most providers do not show it to the model again.
func keptBy(v *middleware.View, now map[int][]message.Part) (kept, uncleared []string) {
	kept = make([]string, 0, v.Len())
	for i, m := range v.Messages() {
		parts, edited := m.Parts, v.Span(i).Edit != nil
		if other, ok := now[i]; ok {
			parts, edited = other, true
		}
		for _, p := range parts {
			text := shorten.Text(p)
			if _, ok := p.(message.ToolResult); ok && (!edited || !hasLine(text)) { // an unedited text may be forged
				uncleared = append(uncleared, text)
			} else {
				kept = append(kept, text)
			}
		}
	}
	return kept, uncleared
}

// The words before a line.
const (
	someFacts     = "some facts: "
	afterSentence = "Some facts: "
)

// Placeholder returns the placeholder of a cleared result with its line. What is there already comes first, so that a handle
// keeps its place:
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

// Most returns about how many tokens a line of the given length adds to a placeholder, with the words before it.
func Most(by tokens.Counter, line int) int { return line + by.Count(" ["+someFacts) + 1 }

// IsPlaceholder reports whether a text is one line in brackets, and not JSON. An unedited text may be so as well.
func IsPlaceholder(text string) bool {
	return strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") && !strings.Contains(text, "\n") && !json.Valid([]byte(text))
}

// imitates reports whether a text looks like a part of a placeholder: a handle, or the beginning of a line. A tool must not
// be able to write one.
func imitates(text string) bool {
	return len(archived.In(text)) > 0 || hasLine(text)
}

// hasLine reports whether a text has the beginning of a line.
func hasLine(text string) bool {
	return strings.Contains(text, someFacts) || strings.Contains(text, afterSentence)
}
