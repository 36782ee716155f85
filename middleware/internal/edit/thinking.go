package edit

import (
	"errors"
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
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

// Before returns the positions before one.
func (p Positions) Before(end int) Positions {
	var out Positions
	for _, r := range p {
		if r.Last = min(r.Last, end-1); r.First <= r.Last {
			out = append(out, r)
		}
	}
	return out
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

// Stale returns the first position whose thinking a provider does not accept if the edits of the list are sent in place of
// those that were sent before: of a model that binds thinking to all that is before it. [math.MaxInt] if all remains
// valid. Thinking that only an editor removes is no change, if no thinking is left before it: thinking may go from the beginning
// on, and not from the middle. leftOut is what was left out before. A compaction by the provider is no change.
func (h *History) Stale(now, before List, leftOut Positions) int {
	first := math.MaxInt
	if len(now) == len(before) && (len(now) == 0 || &now[0] == &before[0]) {
		return first
	}
	for _, lists := range [...][2]List{{now, before}, {before, now}} {
		next := 0
		for _, it := range lists[0] {
			if k := lists[1].find(it, next); k >= 0 {
				next = k + 1
				continue
			}
			if it.Runs[0].First < first && !now.compacted(it) {
				first = min(first, h.staleFrom(it, lists[1]))
			}
		}
	}
	for _, it := range now {
		if it.last >= first {
			break
		}
		if it.Kind == journal.Rewrite && !leftOut.Has(it.last) && h.dropsThinking(it.Record) && h.thinksBefore(it.last, now, leftOut) {
			return it.last
		}
	}
	return first
}

// compacted reports whether a compaction by the provider stands for what an edit changes, or is that edit. The provider has
// read what it was sent, and accepts its compaction in the place of that.
func (l List) compacted(it Item) bool {
	return slices.ContainsFunc(l, func(c Item) bool {
		return c.Kind == journal.Fold && c.Runs[0].First <= it.Runs[0].First && it.last <= c.last &&
			slices.ContainsFunc(c.Messages, within.IsCompaction)
	})
}

// staleFrom is Stale for one edit that the other list does not have.
func (h *History) staleFrom(it Item, others List) int {
	if it.Kind == journal.Fold {
		return it.Runs[0].First
	}
	if it.last >= len(h.Body) { // of a longer history
		return math.MaxInt
	}
	was := h.Body[it.last].Parts
	if k := others.From(it.last); k < len(others) && others[k].last == it.last && others[k].Kind == journal.Rewrite {
		was = others[k].Parts
	}
	if slices.Equal(WithoutThinking(was), WithoutThinking(it.Parts)) {
		return math.MaxInt
	}
	if MovesThinking(was, it.Parts) {
		return it.last
	}
	return it.last + 1
}

// MovesThinking reports whether other parts stand before the last thinking of one of both lists than in the other one.
func MovesThinking(a, b []message.Part) bool {
	before := func(parts []message.Part) []message.Part {
		k := len(parts)
		for k > 0 && !isThinking(parts[k-1]) {
			k--
		}
		return WithoutThinking(parts[:k])
	}
	return !slices.Equal(before(a), before(b))
}

// dropsThinking reports whether a rewrite removes thinking.
func (h *History) dropsThinking(r *journal.Record) bool {
	i := Last(r)
	return i < len(h.Body) && countThinking(h.Body[i].Parts) > countThinking(r.Parts)
}

// thinksBefore reports whether thinking before a position is sent.
func (h *History) thinksBefore(i int, l List, leftOut Positions) bool {
	for k := range i {
		if h.Body[k].Role != message.RoleAssistant || leftOut.Has(k) || !slices.ContainsFunc(h.Body[k].Parts, isThinking) {
			continue
		}
		at := l.From(k)
		if at == len(l) || !contains(l[at].Runs, k) || l[at].Kind == journal.Rewrite && slices.ContainsFunc(l[at].Parts, isThinking) {
			return true
		}
	}
	return false
}

// Unsent returns the positions of the history whose thinking is not sent if the edits of a list are, and leftOut is left out.
// Positions between two of these that have no thinking are among them.
func (h *History) Unsent(l List, leftOut Positions) Positions {
	out := leftOut
	for _, it := range l {
		if it.Kind == journal.Rewrite && !out.Has(it.last) && h.dropsThinking(it.Record) {
			out = out.With(message.Run{First: it.last, Last: it.last})
		}
	}
	joined := out[:0:0]
	for _, r := range out {
		if n := len(joined); n > 0 && !h.Thinks(message.Run{First: joined[n-1].Last + 1, Last: r.First - 1}) {
			joined[n-1].Last = r.Last
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// Thinks reports whether a message at one of the positions of some runs has thinking.
func (h *History) Thinks(runs ...message.Run) bool {
	for _, r := range runs {
		for i := r.First; i <= r.Last && i < len(h.Body); i++ {
			if slices.ContainsFunc(h.Body[i].Parts, isThinking) {
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
		if isThinking(p) {
			n++
		}
	}
	return n
}

func isThinking(p message.Part) bool {
	_, ok := p.(message.Thinking)
	return ok
}

// WithoutThinking returns the parts that are not thinking: the same slice if all are.
func WithoutThinking(parts []message.Part) []message.Part {
	if !slices.ContainsFunc(parts, isThinking) {
		return parts
	}
	return slices.DeleteFunc(slices.Clone(parts), isThinking)
}

// Remainder returns the parts of a message whose thinking is left out. Providers reject a message that is empty then, so it gets
// a text, as [message.Rules.Repair] gives it to others.
func Remainder(parts []message.Part) []message.Part {
	if parts = WithoutThinking(parts); len(parts) > 0 {
		return parts
	}
	return []message.Part{message.Text{Text: "(empty)"}}
}
