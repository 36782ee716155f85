package contextedit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/middleware"
)

// choice is what goes now.
type choice struct {
	thinking []candidate // in the order of the view
	results  []candidate // likewise
	more     bool        // StopAfter has left some
	lines    int         // tokens of the lines that they leave
}

// choose returns what goes now, if each result leaves a line of so many tokens
// beside its placeholder.
func (o *editor) choose(v *middleware.View, line int) choice {
	s := o.survey(v)
	c := choice{thinking: s.thinking, results: o.beyondKeep(s)}
	if o.StopAfter > 0 && v.Size().Charged(c.freed()) > o.StopAfter {
		c.stop(v, o.StopAfter, line)
	}
	return c
}

// beyondKeep returns the results that none of the keeps holds.
func (o *editor) beyondKeep(s survey) []candidate {
	kept, keptTokens := 0, 0
	for i := range slices.Backward(s.found) {
		c := &s.found[i]
		keptTokens += c.tokens
		c.stays = c.fresh || kept < o.Keep || c.round > s.rounds-o.KeepRounds ||
			o.KeepTokens > 0 && s.view.Size().Charged(keptTokens) <= o.KeepTokens
		if c.stays {
			kept++
		}
	}
	return slices.DeleteFunc(s.found, func(c candidate) bool { return c.stays })
}

// stop leaves so much that this many tokens are freed: what is worth least goes
// first.
func (c *choice) stop(v *middleware.View, limit, line int) {
	all := len(c.results)
	c.thinking, limit = until(v, c.thinking, limit, 0)
	markSuperseded(v, c.results)
	slices.SortStableFunc(c.results, func(a, b candidate) int { return cmp.Compare(a.worth(), b.worth()) })
	c.results, _ = until(v, c.results, limit, line)
	c.more = len(c.results) < all
	slices.SortStableFunc(c.results, func(a, b candidate) int { return cmp.Compare(a.at, b.at) })
}

// worth ranks results: what has been read again is worth least, errors are worth
// most.
func (c candidate) worth() int {
	worth := 0
	if c.failed {
		worth += 2
	}
	if !c.superseded {
		worth++
	}
	return worth
}

// until returns the first of the candidates, as many as it takes to free so
// many tokens if each leaves a line, and how many are to be freed still.
func until(v *middleware.View, cs []candidate, limit, line int) (first []candidate, still int) {
	for i, c := range cs {
		if limit <= 0 {
			return cs[:i], limit
		}
		limit -= v.Size().Charged(c.freed - min(line, c.freed-1))
	}
	return cs, limit
}

// freed returns the tokens that this frees, by the meter.
func (c *choice) freed() int {
	n := 0
	for i := range c.thinking {
		n += c.thinking[i].freed
	}
	for i := range c.results {
		n += c.results[i].freed
	}
	return n
}

// String says what goes, in numbers.
func (c *choice) String() string {
	results := fmt.Sprintf("%d results", len(c.results))
	if len(c.results) == 1 {
		results = "1 result"
	}
	thinking := fmt.Sprintf("the thinking of %d messages", len(c.thinking))
	if len(c.thinking) == 1 {
		thinking = "the thinking of 1 message"
	}
	switch {
	case len(c.thinking) == 0:
		return results
	case len(c.results) == 0:
		return thinking
	}
	return results + " and " + thinking
}
