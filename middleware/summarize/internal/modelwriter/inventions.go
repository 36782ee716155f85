package modelwriter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
)

// Inventions are what a text must not contain: items that its source does not have. The zero value checks nothing.
type Inventions struct {
	Source func() *claims.Source // what the text is written from
	Do     string                // Reject, Remove or Report; "": Remove
}

// What is done with a text that has an item without support.
const (
	Reject = "reject" // the text is not accepted; that of the last attempt is treated as by Remove
	Remove = "remove" // the sentence is removed; a text that is mostly inventions is not accepted
	Report = "report" // only the items are returned
)

// apply returns a text as it is accepted, and its items. In the last attempt no other follows. The heading of a required
// section is kept.
func (v Inventions) apply(text string, sections []string, last bool) (words string, items []string, r *RejectedError) {
	if v.Source == nil {
		return text, nil, nil
	}
	found := v.Source().Check(text)
	size := 0
	for i, f := range found {
		found[i].From += headingLen(text[f.From:f.To], sections)
		size += f.To - f.From
		items = append(items, f.Items...)
	}
	items = slices.Compact(slices.Sorted(slices.Values(items)))
	switch {
	case found == nil || v.Do == Report:
		return text, items, nil
	case v.Do == Reject && !last || 2*size > len(text):
		r = reject(Invented, "the record does not have %d of its items", len(items)) // without text of the conversation
		r.items = items
		return "", items, r
	}
	return claims.Without(text, found), items, nil
}

// headingLen returns the length of a required heading at the beginning of a line, with its colon, or 0.
func headingLen(line string, sections []string) int {
	if !slices.ContainsFunc(sections, func(s string) bool { return isHeading(line, heading(s)) }) {
		return 0
	}
	for _, colon := range [...]string{":", "："} {
		if k := strings.Index(line, colon); k >= 0 {
			return k + len(colon)
		}
	}
	return len(strings.TrimRight(line, "\n"))
}

// List returns items for people and for a model, in quotes. Of many only the first ones are in it.
func List(items []string) string {
	const most, longest = 12, 80 // items; bytes of one
	var quoted []string
	for _, item := range items[:min(len(items), most)] {
		quoted = append(quoted, strconv.Quote(shorten.Head(item, longest)))
	}
	if n := len(items) - most; n > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(quoted, ", ")
}
