package trim

import "github.com/laconic-go/laconic/message"

// Strategy says what is removed.
type Strategy string

// The strategies.
const (
	Hybrid Strategy = "hybrid" // Middle or Oldest, whichever suits the view
	Middle Strategy = "middle" // from between beginning and end
	Oldest Strategy = "oldest" // the oldest, wherever they stand
)

// Middle removes from between the first PreserveStart and the last PreserveEnd
// messages, until the target is reached. Only if that is not enough, low ones of
// the start go, and low ones of the end last of all.
func (c Case) Middle() Outcome {
	start, middle, end := c.groups()
	r := c.remove()
	r.take(c.free(middle, message.PriorityHigh))
	r.take(c.free(start, message.PriorityLow))
	r.take(c.free(end, message.PriorityLow))
	return r.outcome()
}

// Oldest removes from all but the last PreserveEnd messages, until the target is
// reached.
func (c Case) Oldest() Outcome {
	c.PreserveStart = 0
	_, old, _ := c.groups()
	r := c.remove()
	r.take(c.free(old, message.PriorityHigh))
	return r.outcome()
}

// groups cuts the units that are not critical into those of the start, of the
// middle and of the end. A unit that reaches into the start or the end belongs to
// it as a whole, and what both could have is of the end.
func (c Case) groups() (start, middle, end []int) {
	some := make([]int, 0, len(c.Units))
	for i := range c.Units {
		if c.Units[i].Priority < message.PriorityCritical {
			some = append(some, i)
		}
	}
	last := len(some)
	for n := 0; last > 0 && n < c.PreserveEnd; {
		last--
		n += len(c.Units[some[last]].Tokens)
	}
	first := 0
	for n := 0; first < last && n < c.PreserveStart; first++ {
		n += len(c.Units[some[first]].Tokens)
	}
	return some[:first], some[first:last], some[last:]
}

// free returns those of a group that may go and are worth no more than this.
func (c Case) free(group []int, most message.Priority) []int {
	out := make([]int, 0, len(group))
	for _, i := range group {
		if u := &c.Units[i]; u.mayGo() && u.Priority <= most {
			out = append(out, i)
		}
	}
	return out
}
