package contextedit

import (
	"context"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
)

// decide returns what goes now, and the edits that do it. What lines take is
// known only when they are made, and they say what the rest of the view does not:
// if they are too much for StopAfter, more goes, by what they took on average,
// and then by what they could take.
func (o *editor) decide(ctx context.Context, v *middleware.View) (choice, []middleware.Edit) {
	c := o.choose(v, 0)
	edits := o.edits(ctx, v, &c)
	if o.Digest == 0 {
		return c, edits
	}
	for _, line := range []int{c.line(), digest.Most(v.Meter().Counter, o.Digest)} {
		if !c.more || v.Size().Charged(c.freed()) >= o.StopAfter {
			break
		}
		c = o.choose(v, line)
		edits = o.edits(ctx, v, &c)
	}
	return c, edits
}

// digest has each result leave a line of its facts.
func (o *editor) digest(v *middleware.View, c *choice, edits []middleware.Edit) {
	gone := make([]digest.Result, len(c.results))
	for i := range c.results {
		r := &c.results[i]
		gone[i] = digest.Result{At: r.at, CallID: r.callID, Frees: r.freed}
		if r.input { // what that frees is no room for facts
			gone[i].Frees -= v.Meter().Counter.Count(callOf(v, r).Arguments) - v.Meter().Counter.Count(leftOfInput(r))
		}
	}
	for i, added := range digest.Leave(v, edits, gone, o.Digest) {
		c.results[i].freed -= added
		c.lines += added
	}
}

// line returns how many tokens a line takes on average, rounded up.
func (c *choice) line() int {
	n := max(len(c.results), 1)
	return (c.lines + n - 1) / n
}
