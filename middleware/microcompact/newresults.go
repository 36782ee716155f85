package microcompact

import (
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
func (o *editor) planNew(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	limit := o.freshLimit(v)
	if limit == 0 || v.Len() <= untouched || v.Repeated(newResultsName) {
		return nil, nil
	}
	var edits []middleware.Edit
	var done Report
	large, call := largeMessages(v, limit)
	for _, i := range large {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
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

// defaultFreshTokens is [Options.FreshTokens] where there is an archive.
const defaultFreshTokens = 8000

// freshLimit returns the most tokens of a new result; 0: any.
func (o *editor) freshLimit(v *middleware.View) int {
	limit := max(o.FreshTokens, 0)
	if o.FreshTokens == 0 && o.FreshShare > 0 && v.Env().Archive != nil {
		limit = defaultFreshTokens
	}
	if budget, ok := v.Budget(); ok && o.FreshShare > 0 {
		share := max(int(o.FreshShare*float64(budget.Room())), smallest)
		if limit == 0 || share < limit {
			limit = share
		}
	}
	return limit
}

// largeMessages returns the tool messages of the newest round above the limit that
// no editor has changed, and the position of the message with their calls. It returns
// no messages if there is no such position.
func largeMessages(v *middleware.View, limit int) (large []int, call int) {
	for i := v.Len() - 1; i >= 0; i-- {
		switch v.At(i).Role {
		case message.RoleTool:
			by := v.Protected(i)
			isNew := by.Newest && !by.Whole
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
		if isProtected(v, i, id) || !o.asked(v, call, id).IsZero() {
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
	most := shorten.Level(sizes, int(float64(limit)*float64(sum)/float64(charged)))
	for k, r := range shorten.Pieces(e.Parts, callID) {
		size := sizes[0]
		sizes = sizes[1:]
		if size <= most {
			continue
		}
		h, contents := v.Archive(e.At, message.Text{Text: r.Text})
		if text := ends(v.Meter().Counter, r.Text, most, h); text != r.Text {
			shorter = true
			r.Text = text
			e.Parts[k] = r
			e.Archive = append(e.Archive, contents...)
		}
	}
	return shorter
}

// ends returns the head and the tail of a text, of at most limit tokens together with
// the placeholder between them. It returns the text if that would not become shorter.
func ends(by tokens.Counter, text string, limit int, h store.Handle) string {
	const least = 64 // bytes
	short, ok := shorten.Within(text, limit, least, by.Count, func(left string) string {
		return removed{chars: length(left), lines: strings.Count(left, "\n"), middle: true, handle: h}.placeholder()
	})
	if !ok {
		return text
	}
	return short
}
