package edit

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// List holds the edits of a conversation in the order of their last positions. No
// two of them cover the same position. A List is never changed, only replaced.
type List []Item

// Item is an edit with the tokens of its parts or messages.
type Item struct {
	*journal.Record

	Tokens int
	last   int // position, as Last returns it
}

// Last returns the last position that an edit covers. The messages of a fold replace
// the run that ends there.
func Last(r *journal.Record) int { return r.Runs[len(r.Runs)-1].Last }

// ErrPartial is the error for a fold that covers only a part of an earlier fold.
var ErrPartial = errors.New("covers only a part of an earlier fold")

// Weigh counts the tokens of a record that may hold for the history.
func (h *History) Weigh(r *journal.Record) Item {
	it := Item{Record: r, last: r.Runs[len(r.Runs)-1].Last}
	switch {
	case it.last >= len(h.Body):
	case r.Kind == journal.Rewrite:
		it.Tokens = h.Meter.Message(message.Message{Name: h.Body[it.last].Name, Parts: r.Parts})
	default:
		for i := range r.Messages {
			it.Tokens += h.Meter.Message(r.Messages[i])
		}
	}
	return it
}

// WeighAll is [History.Weigh] for several records; the list is sorted.
func (h *History) WeighAll(records []*journal.Record) List {
	l := make(List, len(records))
	for i, r := range records {
		l[i] = h.Weigh(r)
	}
	l.Sort()
	return l
}

// Sort orders the edits by their last positions.
func (l List) Sort() { sortBy(l, func(it Item) int { return it.last }) }

// sortBy sorts by a position. Most lists are sorted already.
func sortBy[T any](all []T, position func(T) int) {
	byPosition := func(a, b T) int { return cmp.Compare(position(a), position(b)) }
	if !slices.IsSortedFunc(all, byPosition) {
		slices.SortFunc(all, byPosition)
	}
}

// Over returns the list with newer edits, which replace those inside them, or
// [ErrPartial]. newer must not be used afterwards.
func (l List) Over(newer List) (List, error) {
	newer.Sort()
	if len(l) == 0 {
		return newer, nil
	}
	runs := newer.runs()
	if len(runs) == 0 || runs[0].First > l[len(l)-1].last {
		return append(slices.Clip(l), newer...), nil
	}
	out := make(List, 0, len(l)+len(newer))
	for _, it := range l {
		covered, overlaps := Cover(runs, it.Runs)
		switch {
		case !overlaps:
			out = append(out, it)
		case !covered:
			return nil, ErrPartial
		}
	}
	out = append(out, newer...)
	out.Sort()
	return out, nil
}

// Inside returns the records of the edits within the runs.
func (l List) Inside(runs []message.Run) []*journal.Record {
	var out []*journal.Record
	for _, it := range l {
		if covered, _ := Cover(runs, it.Runs); covered {
			out = append(out, it.Record)
		}
	}
	return out
}

// ExcludePartialFolds removes from runs the positions of folds that lie only partly inside them:
// the messages of such a fold are elsewhere.
func (l List) ExcludePartialFolds(runs []message.Run) []message.Run {
	for _, it := range l {
		if it.Kind != journal.Fold {
			continue
		}
		if covered, overlaps := Cover(runs, it.Runs); !overlaps || covered {
			continue
		}
		for _, out := range it.Runs {
			var left []message.Run
			for _, r := range runs {
				if before := (message.Run{First: r.First, Last: min(r.Last, out.First-1)}); before.Len() > 0 {
					left = append(left, before)
				}
				if after := (message.Run{First: max(r.First, out.Last+1), Last: r.Last}); after.Len() > 0 {
					left = append(left, after)
				}
			}
			runs = left
		}
	}
	return runs
}

// Without returns the edits that are not in the base. ok reports whether base.Over(delta)
// is the list.
func (l List) Without(base List) (delta List, ok bool) {
	if len(base) == 0 {
		return l, true
	}
	shared, next := 0, 0
	for _, it := range l {
		k := base.find(it, next)
		if k < 0 {
			delta = append(delta, it)
			continue
		}
		shared++
		next = k + 1
	}
	if shared == len(base) {
		return delta, true
	}
	return delta, shared+len(base.Inside(delta.runs())) == len(base)
}

// Reuse returns the list with the records of the base in place of equal ones, so that
// an edit planned again is the edit planned first.
func (l List) Reuse(base List) List {
	if len(base) == 0 {
		return l
	}
	out, next := l, 0
	for i, it := range l {
		k := base.find(it, next)
		if k < 0 {
			continue
		}
		next = k + 1
		if base[k].Record != it.Record {
			if &out[0] == &l[0] {
				out = slices.Clone(l)
			}
			out[i] = base[k]
		}
	}
	return out
}

// Has reports whether the list has an equal edit.
func (l List) Has(it Item) bool { return l.find(it, len(l)) >= 0 }

// Minus returns the edits that another list does not have.
func (l List) Minus(o List) List { return slices.DeleteFunc(slices.Clone(l), o.Has) }

// find returns the index of the equal edit, or -1. It is fast if guess is that index.
func (l List) find(it Item, guess int) int {
	if guess < len(l) && l[guess].Record == it.Record {
		return guess
	}
	k := l.From(it.last)
	if k == len(l) || l[k].last != it.last || !Equal(l[k].Record, it.Record) {
		return -1
	}
	return k
}

// From returns the index of the first edit whose last position is at least the given one.
func (l List) From(position int) int {
	n, _ := slices.BinarySearchFunc(l, position, func(it Item, at int) int { return it.last - at })
	return n
}

// Equal reports whether both lists have the same edits.
func (l List) Equal(o List) bool {
	return len(l) == len(o) && (len(l) == 0 || &l[0] == &o[0] ||
		slices.EqualFunc(l, o, func(a, b Item) bool { return Equal(a.Record, b.Record) }))
}

// Covers reports whether each edit of the other list is in this one, or inside a
// larger fold of this one.
func (l List) Covers(other List) bool {
	return !slices.ContainsFunc(other, func(o Item) bool {
		return !l.Has(o) && !slices.ContainsFunc(l, func(f Item) bool {
			covered, _ := Cover(f.Runs, o.Runs)
			return covered && f.Kind == journal.Fold && !slices.Equal(f.Runs, o.Runs)
		})
	})
}

// Differs returns the first position covered by an edit that only one of the lists
// has, or [math.MaxInt] if there is no such edit.
func (l List) Differs(o List) int {
	k := 0
	for k < min(len(l), len(o)) && Equal(l[k].Record, o[k].Record) {
		k++
	}
	first := math.MaxInt
	for _, lists := range [...][2]List{{l[k:], o}, {o[k:], l}} {
		for _, it := range lists[0] {
			if it.Runs[0].First < first && !lists[1].Has(it) {
				first = it.Runs[0].First
			}
		}
	}
	return first
}

// Equal reports whether two records are the same edit, which holds for the same histories. It ignores Covered, and
// HistoryLen if the edit does not depend on it.
func Equal(r, o *journal.Record) bool {
	return r == o || r.Middleware == o.Middleware && r.Kind == o.Kind && r.ID == o.ID && slices.Equal(r.Runs, o.Runs) &&
		r.Window == o.Window && r.Once == o.Once && (r.HistoryLen == o.HistoryLen || !dated(r)) &&
		slices.Equal(r.Parts, o.Parts) && slices.EqualFunc(r.Messages, o.Messages, message.Message.Equal)
}

// dated reports whether it depends on the length of the history for which an edit was made where it holds: for that one
// only, or with the arguments of calls, in the newest round of that one; see [History.spares].
func dated(r *journal.Record) bool {
	return r.Once || r.Kind == journal.Rewrite && slices.ContainsFunc(r.Parts, func(p message.Part) bool {
		_, call := p.(message.ToolCall)
		return call
	})
}

// Records returns the records of the edits.
func (l List) Records() []*journal.Record {
	out := make([]*journal.Record, len(l))
	for i, it := range l {
		out[i] = it.Record
	}
	return out
}

// runs returns the runs of all edits in order.
func (l List) runs() []message.Run {
	out := make([]message.Run, 0, len(l))
	for i := range l {
		out = append(out, l[i].Runs...)
	}
	SortRuns(out)
	return out
}

// SortRuns orders runs by their first positions.
func SortRuns(runs []message.Run) { sortBy(runs, func(r message.Run) int { return r.First }) }

// Cover reports whether each of some runs lies within one of the covering runs, which
// are in order, and whether any of them overlaps one.
func Cover(covering, some []message.Run) (covered, overlaps bool) {
	covered = true
	for _, r := range some {
		k, _ := slices.BinarySearchFunc(covering, r, func(c, r message.Run) int { return cmp.Compare(c.Last, r.First) })
		if k == len(covering) || covering[k].First > r.Last {
			covered = false
			continue
		}
		overlaps = true
		if covering[k].First > r.First || covering[k].Last < r.Last {
			covered = false
		}
	}
	return covered, overlaps
}

// MadeBy returns the length that the history had when the named middleware made the
// record or one that it covers; -1 if it made none of them.
func MadeBy(r *journal.Record, name string) int {
	made := -1
	if r.Middleware == name {
		made = r.HistoryLen
	}
	for _, c := range r.Covered {
		made = max(made, MadeBy(c, name))
	}
	return made
}
