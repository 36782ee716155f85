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
		return nil, nil //nolint:nilnil // no plan is what an editor says when there is nothing to do
	}
	limit := max(int(b.share*float64(budget.Room())), smallest)
	var r round
	var edits []middleware.Edit
	var done Report
	for _, i := range large(v, limit, &r, b.protect) {
		if parts, n := b.shorten(v, i, limit, &r); n > 0 {
			edits = append(edits, middleware.RewriteOf(i, parts...))
			done.Results += n
		}
	}
	if len(edits) == 0 {
		return nil, nil //nolint:nilnil // no plan is what an editor says when there is nothing to do
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
				v.Charged(v.TokensOf(i)) > limit && v.Span(i).Edit == nil {
				found = append(found, i)
			}
		case message.RoleAssistant:
			r.read(v.At(i), protect)
			slices.Reverse(found)
			return found
		case message.RoleSystem, message.RoleUser:
		}
	}
	return nil
}

// shorten returns the parts of a message with its large results shortened, and
// how many that are.
func (b *birth) shorten(v *middleware.View, i, limit int, r *round) (parts []message.Part, n int) {
	parts = slices.Clone(v.At(i).Parts)
	for k, p := range parts {
		piece, ok := p.(message.ToolResult)
		if !ok || indexOf(parts, piece.CallID) < k || r.protects(v.At(i).Parts, piece.CallID, b.protect) {
			continue
		}
		if shortenPieces(v, parts, piece.CallID, limit) {
			n++
		}
	}
	return parts, n
}

// shortenPieces shortens the longest pieces of a result, in place, until all its
// texts together have no more tokens than the limit. Media stay.
func shortenPieces(v *middleware.View, parts []message.Part, callID string, limit int) (shorter bool) {
	var sizes []int
	sum := 0
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok && r.CallID == callID {
			sizes = append(sizes, v.Counter().Count(r.Text))
			sum += sizes[len(sizes)-1]
		}
	}
	charged := v.Charged(sum)
	if charged <= limit {
		return false
	}
	most := level(sizes, int(float64(limit)*float64(sum)/float64(charged)))
	for k, p := range parts {
		if r, ok := p.(message.ToolResult); ok && r.CallID == callID {
			text := ends(v.Counter(), r.Text, most)
			shorter = shorter || text != r.Text
			r.Text = text
			parts[k] = r
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
