package trim

import (
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Unit is what a strategy knows of a unit.
type Unit struct {
	Tokens   []int            // of each of its messages: there is one at least
	Priority message.Priority // the highest of its messages. Critical ones never go, and take no place at start or end
	Age      int              // where it stands: of two, the one with less is older
	Held     bool             // it never goes either, but takes its place
	Aside    bool             // it is more than talk of user and assistant: a round, a result or a system message
}

// Case is a view as a strategy sees it: numbers alone, all tokens in one scale.
// No method changes it.
type Case struct {
	Units  []Unit // of all of the view, in its order
	Tokens int    // of all that is sent, system prompt and tools included
	Target int    // tokens to come down to

	PreserveStart int // messages at the start, of those that are not critical, that Middle leaves
	PreserveEnd   int // messages at the end, likewise, that both leave
	MinMessages   int // messages that stay in any case, critical ones included

	// Score is how important unit i is, beside its priority; see [Order]. nil: all
	// are the same.
	Score func(i int) float64

	// EfficiencyOnly lets [Case.Best] look at the efficiency alone.
	EfficiencyOnly bool
}

// Outcome is what a strategy would remove.
type Outcome struct {
	Removed []int // indexes of units, ascending
	Tokens  int   // of what is sent afterwards
	Kept    int   // messages
	Gone    int   // messages
}

// Meets reports whether the target is reached.
func (o Outcome) Meets(target int) bool { return o.Tokens <= target }

// messages returns how many messages the view has.
func (c Case) messages() int {
	n := 0
	for i := range c.Units {
		n += len(c.Units[i].Tokens)
	}
	return n
}

// tokens returns what the unit has in all.
func (u *Unit) tokens() int {
	n := 0
	for _, t := range u.Tokens {
		n += t
	}
	return n
}

// mayGo reports whether anything may take the unit.
func (u *Unit) mayGo() bool { return !u.Held && u.Priority < message.PriorityCritical }

// removal is an outcome in the making.
type removal struct {
	c      *Case
	gone   []bool
	tokens int // that are left
	kept   int // messages
}

func (c Case) remove() *removal {
	return &removal{c: &c, gone: make([]bool, len(c.Units)), tokens: c.Tokens, kept: c.messages()}
}

// take removes units in the order in which they go, until the target is reached.
// A unit that would leave too few messages is passed over. Of a class that has to go
// as a whole, nobody needs to know the scores.
func (r *removal) take(some []int) {
	for class := range byPriority(r.c.Units, some) {
		if r.needsAll(class) {
			r.takeFrom(slices.Values(class))
			continue
		}
		r.takeFrom(inOrder(class, r.c.Score))
	}
}

// needsAll reports whether a class is no more than what is to be removed.
func (r *removal) needsAll(class []int) bool {
	tokens, kept := r.tokens, r.kept
	for _, i := range class {
		tokens -= r.c.Units[i].tokens()
		kept -= len(r.c.Units[i].Tokens)
	}
	return tokens >= r.c.Target && kept >= r.c.MinMessages
}

func (r *removal) takeFrom(order iter.Seq[int]) {
	if r.tokens <= r.c.Target {
		return
	}
	for i := range order {
		u := &r.c.Units[i]
		n := u.tokens()
		if n <= 0 || r.kept-len(u.Tokens) < r.c.MinMessages {
			continue
		}
		r.gone[i] = true
		r.kept -= len(u.Tokens)
		if r.tokens -= n; r.tokens <= r.c.Target {
			return
		}
	}
}

func (r *removal) outcome() Outcome {
	o := Outcome{Tokens: r.tokens, Kept: r.kept}
	for i, gone := range r.gone {
		if gone {
			o.Removed = append(o.Removed, i)
			o.Gone += len(r.c.Units[i].Tokens)
		}
	}
	return o
}
