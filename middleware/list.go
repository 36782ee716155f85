package middleware

import (
	"cmp"
	"errors"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

// list holds the edits of a conversation, by position and apart from one
// another. It is never changed, only replaced.
type list []item

// item is an edit with the tokens of what it puts in place.
type item struct {
	*Record

	tokens int
}

// weigh counts what an edit puts in place of these messages, those that the
// positions of the edit count from.
func weigh(by tokens.Meter, r *Record, body []message.Message) item {
	if r.Kind == Rewrite {
		m := message.Message{Name: body[r.first()].Name, Parts: r.Parts}
		return item{Record: r, tokens: by.Message(m)}
	}
	n := 0
	for i := range r.Messages {
		n += by.Message(r.Messages[i])
	}
	return item{Record: r, tokens: n}
}

// errCut is what a fold meets that covers an earlier fold in part.
var errCut = errors.New("cuts through an earlier fold")

// over returns the list with newer edits on top, which it takes over: they
// replace those that lie inside them. An edit that lies inside in part only is an error.
func (l list) over(newer list) (list, error) {
	newer.sort()
	if len(l) == 0 {
		return newer, nil
	}
	runs := newer.runs()
	if len(runs) == 0 || runs[0].First > l[len(l)-1].last() {
		return append(slices.Clip(l), newer...), nil
	}
	out := make(list, 0, len(l)+len(newer))
	for _, it := range l {
		switch covered, overlaps := cover(runs, it.Runs); {
		case !overlaps:
			out = append(out, it)
		case !covered:
			return nil, errCut
		}
	}
	out = append(out, newer...)
	out.sort()
	return out, nil
}

// inside returns the edits that lie within the runs.
func (l list) inside(runs []message.Run) []*Record {
	var out []*Record
	for _, it := range l {
		if covered, _ := cover(runs, it.Runs); covered {
			out = append(out, it.Record)
		}
	}
	return out
}

// leave takes from runs what belongs to folds that lie in them in part only:
// of such a fold there is nothing to be seen there.
func (l list) leave(runs []message.Run) []message.Run {
	for _, it := range l {
		if it.Kind != Fold {
			continue
		}
		if covered, overlaps := cover(runs, it.Runs); !overlaps || covered {
			continue
		}
		for _, r := range it.Runs {
			runs = minus(runs, r)
		}
	}
	return runs
}

// minus takes one run out of others.
func minus(runs []message.Run, out message.Run) []message.Run {
	var left []message.Run
	for _, r := range runs {
		if before := (message.Run{First: r.First, Last: min(r.Last, out.First-1)}); before.Len() > 0 {
			left = append(left, before)
		}
		if behind := (message.Run{First: max(r.First, out.Last+1), Last: r.Last}); behind.Len() > 0 {
			left = append(left, behind)
		}
	}
	return left
}

// without returns the edits that are not in the base, and whether that is all
// there is to tell: whether those, put over the base, give the list again.
func (l list) without(base list) (delta list, ok bool) {
	if len(base) == 0 {
		return l, true
	}
	shared, among := 0, lookup{in: base}
	for _, it := range l {
		if among.find(it) >= 0 {
			shared++
			continue
		}
		delta = append(delta, it)
	}
	if shared == len(base) {
		return delta, true
	}
	runs, gone := delta.runs(), 0
	for _, it := range base {
		if covered, _ := cover(runs, it.Runs); covered {
			gone++
		}
	}
	return delta, shared+gone == len(base)
}

// has reports whether the list has an edit that does the same.
func (l list) has(it item) bool { return l.find(it) >= 0 }

// find returns the index of the edit that does the same, or -1.
func (l list) find(it item) int {
	k, ok := slices.BinarySearchFunc(l, it, func(a, b item) int { return cmp.Compare(a.last(), b.last()) })
	if !ok || !l[k].equal(it.Record) {
		return -1
	}
	return k
}

// lookup finds edits in a list, one after the other in their order: mostly they are
// the very same, and follow one another there as well.
type lookup struct {
	in   list
	next int // behind the one that was found last
}

// find does what [list.find] does.
func (u *lookup) find(it item) int {
	k := u.next
	if k == len(u.in) || u.in[k].Record != it.Record {
		k = u.in.find(it)
	}
	if k >= 0 {
		u.next = k + 1
	}
	return k
}

// as returns the list with the records of the base in the place of those that
// do the same, so that an edit made again is the edit that was made first.
func (l list) as(base list) list {
	out, among := l, lookup{in: base}
	for i, it := range l {
		k := among.find(it)
		if k < 0 || base[k].Record == it.Record {
			continue
		}
		if sameSlice(out, l) {
			out = slices.Clone(l)
		}
		out[i] = base[k]
	}
	return out
}

// before returns the edits that lie at or before a position; in the place of one
// that reaches beyond it, those that it covers.
func (c *call) before(at int, l list) list {
	var out list
	for _, it := range l {
		if it.last() <= at {
			out = append(out, it)
			continue
		}
		var under list
		for _, r := range it.Under {
			under = append(under, c.chain.weigh(r, c))
		}
		out = append(out, c.before(at, under)...)
	}
	out.sort()
	return out
}

// sort orders the edits by where their product stands.
func (l list) sort() {
	byPlace := func(a, b item) int { return cmp.Compare(a.last(), b.last()) }
	if !slices.IsSortedFunc(l, byPlace) {
		slices.SortFunc(l, byPlace)
	}
}

// runs returns the runs of all edits in order.
func (l list) runs() []message.Run {
	out := make([]message.Run, 0, len(l))
	for _, it := range l {
		out = append(out, it.Runs...)
	}
	sortRuns(out)
	return out
}

func (l list) records() []*Record {
	out := make([]*Record, len(l))
	for i, it := range l {
		out[i] = it.Record
	}
	return out
}

func sortRuns(runs []message.Run) {
	byFirst := func(a, b message.Run) int { return cmp.Compare(a.First, b.First) }
	if !slices.IsSortedFunc(runs, byFirst) {
		slices.SortFunc(runs, byFirst)
	}
}

// cover reports whether each of some runs lies within one of the covering ones,
// and whether any touches one at all. The covering runs are in order.
func cover(covering, some []message.Run) (covered, overlaps bool) {
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

// at returns the index of the first edit whose product stands at a position or
// behind it.
func (l list) at(position int) int {
	n, _ := slices.BinarySearchFunc(l, position, func(it item, at int) int { return it.last() - at })
	return n
}

// cut is a run of one fold; the product stands behind the last of them.
type cut struct {
	message.Run

	it   *item
	last bool
}

// cuts returns the runs of all folds in order, from a position on.
func (l list) cuts(from int) []cut {
	var out []cut
	for i := range l {
		if l[i].Kind != Fold {
			continue
		}
		if out == nil {
			out = make([]cut, 0, len(l)-i)
		}
		for k, r := range l[i].Runs {
			if r.First < from {
				continue
			}
			out = append(out, cut{Run: r, it: &l[i], last: k == len(l[i].Runs)-1})
		}
	}
	byFirst := func(a, b cut) int { return cmp.Compare(a.First, b.First) }
	if !slices.IsSortedFunc(out, byFirst) {
		slices.SortFunc(out, byFirst)
	}
	return out
}
