package microcompact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// smallest is how many tokens a result has to have that is shortened at birth,
// whatever the window: what is smaller is no use if half of it is missing.
const smallest = 1000

// birth is the editor of results that no model has seen yet.
type birth struct {
	share   float64
	protect []string
}

func (b *birth) plan(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
	budget, ok := v.Budget()
	if !ok || v.Len() <= untouched {
		return nil, nil
	}
	limit := max(int(b.share*float64(budget.Room())), smallest)
	var r round
	var edits []middleware.Edit
	var done Report
	for _, i := range large(v, limit, &r, b.protect) {
		if e, n := b.shorten(v, i, limit, &r); n > 0 {
			edits = append(edits, e)
			done.Results += n
		}
	}
	if len(edits) == 0 {
		return nil, nil
	}
	return &middleware.Plan{
		Why:   fmt.Sprintf("%s of more than %d tokens became head and tail", done, limit),
		Items: done.Items(), Detail: done, Edits: edits,
	}, nil
}

// large returns the messages of the newest round that may have results to
// shorten, and reads the round.
func large(v *middleware.View, limit int, r *round, protect []string) []int {
	var found []int
	for i := v.Len() - 1; i >= 0; i-- {
		switch v.At(i).Role {
		case message.RoleTool:
			if v.Protected(i)&(middleware.Fresh|middleware.Whole) == middleware.Fresh &&
				v.Size().Charged(v.TokensOf(i)) > limit && v.Span(i).Edit == nil {
				found = append(found, i)
			}
		case message.RoleAssistant:
			r.read(v.At(i), i, protect)
			slices.Reverse(found)
			return found
		case message.RoleSystem, message.RoleUser:
		}
	}
	return nil
}

// shorten returns the edit of a message by which its large results become shorter,
// and how many that are. What a model has recalled stays: it is as much as the tool
// gives at once, and shortened it would lead to nothing but itself.
func (b *birth) shorten(v *middleware.View, i, limit int, r *round) (e middleware.Edit, n int) {
	e = middleware.RewriteOf(i, slices.Clone(v.At(i).Parts)...)
	for k, p := range e.Parts {
		piece, ok := p.(message.ToolResult)
		if !ok || indexOf(e.Parts, piece.CallID) < k || r.protects(v.At(i).Parts, piece.CallID, b.protect) ||
			!r.asked(v, piece.CallID).IsZero() {
			continue
		}
		if shortenPieces(v, &e, piece.CallID, limit) {
			n++
		}
	}
	return e, n
}

// shortenPieces shortens the longest pieces of a result in an edit, until all its
// texts together have no more tokens than the limit. Media stay.
func shortenPieces(v *middleware.View, e *middleware.Edit, callID string, limit int) (shorter bool) {
	var sizes []int
	sum := 0
	for _, p := range e.Parts {
		if r, ok := p.(message.ToolResult); ok && r.CallID == callID {
			sizes = append(sizes, v.Meter().Counter.Count(r.Text))
			sum += sizes[len(sizes)-1]
		}
	}
	charged := v.Size().Charged(sum)
	if charged <= limit {
		return false
	}
	most := level(sizes, int(float64(limit)*float64(sum)/float64(charged)))
	for k, p := range e.Parts {
		r, ok := p.(message.ToolResult)
		if !ok || r.CallID != callID {
			continue
		}
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

// level returns the size to which the largest have to come down so that all
// together have no more than the sum.
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
