package edit

import (
	"errors"
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// What models demand of the thinking in their earlier answers; see models.Model.
const (
	ThinkingFree    = ""
	ThinkingBound   = "bound"
	ThinkingCalls   = "calls"
	ThinkingRefused = "refused"
)

// Terms are what a request demands of edits besides its messages.
type Terms struct {
	Window  int       // of the model, in tokens; 0: not known
	Calls   bool      // thinking must stay with each answer that has calls
	LeftOut Positions // whose thinking the core leaves out
}

// Positions are positions of a history, as runs in order that do not adjoin.
type Positions []message.Run

// Has reports whether a position is one of them.
func (p Positions) Has(i int) bool {
	k, _ := slices.BinarySearchFunc(p, i, func(r message.Run, i int) int { return r.Last - i })
	return k < len(p) && p[k].First <= i
}

// With returns the positions and those of a run. The receiver is not changed.
func (p Positions) With(r message.Run) Positions {
	if r.Last < r.First {
		return p
	}
	out := make(Positions, 0, len(p)+1)
	k := 0
	for ; k < len(p) && p[k].Last < r.First-1; k++ {
		out = append(out, p[k])
	}
	for ; k < len(p) && p[k].First <= r.Last+1; k++ {
		r.First, r.Last = min(r.First, p[k].First), max(r.Last, p[k].Last)
	}
	return append(append(out, r), p[k:]...)
}

// Union returns the positions that are in one of both.
func (p Positions) Union(o Positions) Positions {
	for _, r := range o {
		p = p.With(r)
	}
	return p
}

// Equal reports whether both are the same positions.
func (p Positions) Equal(o Positions) bool { return slices.Equal(p, o) }

// Differs returns the first position that only one of both has, or [math.MaxInt].
func (p Positions) Differs(o Positions) int {
	for k := range max(len(p), len(o)) {
		switch {
		case k >= len(p):
			return o[k].First
		case k >= len(o):
			return p[k].First
		case p[k].First != o[k].First:
			return min(p[k].First, o[k].First)
		case p[k].Last != o[k].Last:
			return min(p[k].Last, o[k].Last) + 1
		}
	}
	return math.MaxInt
}

// Thinks reports whether a message at one of the positions of some runs has thinking.
func (h *History) Thinks(runs ...message.Run) bool {
	for _, r := range runs {
		for i := r.First; i <= r.Last && i < len(h.Body); i++ {
			if slices.ContainsFunc(h.Body[i].Parts, IsThinking) {
				return true
			}
		}
	}
	return false
}

// keepsThinking returns an error if parts, in place of those of message i, lose thinking of the newest turn, or on some
// terms of an answer with calls. What the core leaves out in any case may be missing.
func (h *History) keepsThinking(i int, parts []message.Part, t Terms) error {
	bound := i > h.LastUser || t.Calls && h.Body[i].HasCalls()
	switch {
	case !bound || t.LeftOut.Has(i) || countThinking(h.Body[i].Parts) == countThinking(parts):
		return nil
	case i > h.LastUser:
		return errors.New("thinking of the newest turn must stay: providers expect it back unchanged")
	}
	return errors.New("thinking of an answer with calls must stay: the provider demands it in all later requests")
}

func countThinking(parts []message.Part) (n int) {
	for _, p := range parts {
		if IsThinking(p) {
			n++
		}
	}
	return n
}

// IsThinking reports whether a part is thinking.
func IsThinking(p message.Part) bool {
	_, ok := p.(message.Thinking)
	return ok
}

// WithoutThinking returns the parts that are not thinking: the same slice if all are.
func WithoutThinking(parts []message.Part) []message.Part {
	if !slices.ContainsFunc(parts, IsThinking) {
		return parts
	}
	return slices.DeleteFunc(slices.Clone(parts), IsThinking)
}

// Remainder returns the parts of a message whose thinking is left out. Providers reject a message that is empty then, so it gets
// a text, as [message.Rules.Repair] gives it to others.
func Remainder(parts []message.Part) []message.Part {
	parts = WithoutThinking(parts)
	if len(parts) > 0 {
		return parts
	}
	return []message.Part{message.Text{Text: "(empty)"}}
}
