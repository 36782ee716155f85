package microcompact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// smallest is the smallest limit in tokens for a new result, in any window: half of a
// smaller result is of little use.
const smallest = 1000

// planNew shortens large results of the newest round to head and tail.
func (o *editor) planNew(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
	budget, ok := v.Budget()
	if !ok || v.Len() <= untouched {
		return nil, nil
	}
	limit := max(int(o.FreshShare*float64(budget.Room())), smallest)
	var edits []middleware.Edit
	var done Report
	large, call := largeMessages(v, limit)
	for _, i := range large {
		if e, n := o.shortenNew(v, i, call, limit); n > 0 {
			edits = append(edits, e)
			done.Results += n
		}
	}
	if len(edits) == 0 {
		return nil, nil
	}
	return &middleware.Plan{
		Why:    fmt.Sprintf("%s of more than %d tokens became head and tail", done.list(), limit),
		Detail: done, Edits: edits,
	}, nil
}

// largeMessages returns the tool messages of the newest round above the limit that
// no editor has changed, and the position of the message with their calls. It returns
// no messages if there is no such position.
func largeMessages(v *middleware.View, limit int) (large []int, call int) {
	for i := v.Len() - 1; i >= 0; i-- {
		switch v.At(i).Role {
		case message.RoleTool:
			isNew := v.Protected(i)&(middleware.Fresh|middleware.Whole) == middleware.Fresh
			if isNew && v.Size().Charged(v.TokensOf(i)) > limit && v.Span(i).Edit == nil {
				large = append(large, i)
			}
		case message.RoleAssistant:
			slices.Reverse(large)
			return large, i
		case message.RoleSystem, message.RoleUser:
		}
	}
	return nil, -1
}

// shortenNew returns the edit that shortens the large results of message i, and their
// number. Recalled results are kept: the tool limits their size, and the handle in a
// shortened one would only lead to itself.
func (o *editor) shortenNew(v *middleware.View, i, call, limit int) (e middleware.Edit, n int) {
	parts := v.At(i).Parts
	e = middleware.RewriteOf(i, slices.Clone(parts)...)
	for id := range shorten.CallIDs(parts) {
		if o.isProtected(v, call, parts, id) || !o.asked(v, call, id).IsZero() {
			continue
		}
		if shortenPieces(v, &e, id, limit) {
			n++
		}
	}
	return e, n
}

// shortenPieces shortens the longest pieces of a result in an edit, until the texts of
// all pieces have no more tokens than the limit. Media are kept.
func shortenPieces(v *middleware.View, e *middleware.Edit, callID string, limit int) (shorter bool) {
	var sizes []int
	sum := 0
	for _, r := range shorten.Pieces(e.Parts, callID) {
		sizes = append(sizes, v.Meter().Counter.Count(r.Text))
		sum += sizes[len(sizes)-1]
	}
	charged := v.Size().Charged(sum)
	if charged <= limit {
		return false
	}
	most := level(sizes, int(float64(limit)*float64(sum)/float64(charged)))
	for k, r := range shorten.Pieces(e.Parts, callID) {
		size := sizes[0]
		if sizes = sizes[1:]; size <= most {
			continue
		}
		h, contents := v.Archive(message.Text{Text: r.Text})
		if text := ends(v.Meter().Counter, r.Text, most, h); text != r.Text {
			shorter = true
			r.Text = text
			e.Parts[k] = r
			e.Archive = append(e.Archive, contents...)
		}
	}
	return shorter
}

// level returns the size to which the largest have to be reduced so that the total is
// no more than sum.
func level(sizes []int, sum int) int {
	sizes = slices.SortedFunc(slices.Values(sizes), cmp.Compare)
	for k, n := range sizes {
		share := sum / (len(sizes) - k)
		if n > share {
			return share
		}
		sum -= n
	}
	return sum
}

// ends returns the head and the tail of a text, of at most limit tokens together with
// the placeholder between them. It returns the text if that would not become shorter.
func ends(by tokens.Counter, text string, limit int, h store.Handle) string {
	size := by.Count(text)
	mark := by.Count("\n" + removed{chars: len(text), lines: len(text), middle: true, handle: h}.placeholder() + "\n")
	each := (limit - mark) / 2
	if size <= limit || each <= 0 {
		return text
	}
	guess := int(float64(len(text)) * float64(each) / float64(size))
	head := longest(by, each, guess, len(text), func(n int) string { return shorten.Head(text, n) })
	tail := longest(by, each, guess, len(text)-head, func(n int) string { return shorten.Tail(text, n) })
	short := shorten.Ends(text, head, tail, func(left string) string {
		return removed{chars: length(left), lines: strings.Count(left, "\n"), middle: true, handle: h}.placeholder()
	})
	if len(short) >= len(text) || by.Count(short) >= size {
		return text
	}
	return short
}

// longest returns the number of bytes, at most most, whose piece has no more tokens
// than the limit, to about a thirtieth. The search begins at the guess.
func longest(by tokens.Counter, limit, guess, most int, piece func(n int) string) int {
	fits, above := 0, max(guess, 1)
	for above < most && by.Count(piece(above)) <= limit {
		fits, above = above, 2*above
	}
	above = min(above, most)
	for above-fits > above/32+1 {
		n := fits + (above-fits)/2
		if by.Count(piece(n)) <= limit {
			fits = n
		} else {
			above = n
		}
	}
	return fits
}
