package middleware

import (
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Settle notes for an editor that it has nothing to do with the messages before
// message i, and will not have as long as they are as they are now. The key is one
// of the editor's own, as for [View.Store]. With this, an editor that looks at each
// message once, call after call, costs as much as what is new.
func (v *View) Settle(key any, i int) {
	if s, ok := v.settled(i); ok {
		v.Store(key, s)
	}
}

// Settled returns up to which message the editor has settled, and 0 if anything
// before that is not as it was then: another history, an edit that was made or
// taken back, a message that was pinned or is no more.
func (v *View) Settled(key any) int {
	s, ok := v.Load(key).(settled)
	if !ok || s.end >= len(v.call.ids) || v.call.ids[s.end] != s.id {
		return 0
	}
	i := v.behind(s.end)
	now, ok := v.settled(i)
	if !ok || !now.same(s) {
		return 0
	}
	return i
}

// settled is the beginning of a view.
type settled struct {
	end   int        // the last position of the body in it
	id    message.ID // and what is there: it proves all before
	edits list       // that lie in it
	whole []int      // positions of what stays whole
}

// settled returns the beginning of the view up to message i. There is none if a
// fold takes from it what it puts behind it, or puts messages on both sides.
func (v *View) settled(i int) (s settled, ok bool) {
	c := v.call
	if i <= c.lead {
		return settled{}, false
	}
	s.end = v.span(i - 1).last
	if i < len(v.msgs) && v.span(i).last <= s.end {
		return settled{}, false
	}
	s.id = c.ids[s.end]
	n := v.list.at(s.end + 1)
	for _, it := range v.list[n:] {
		if it.first() <= s.end {
			return settled{}, false
		}
	}
	s.edits = v.list[:n]
	n, _ = slices.BinarySearch(c.guard.whole, s.end+1)
	s.whole = c.guard.whole[:n]
	return s, true
}

// same reports whether two beginnings are made of the same.
func (s settled) same(o settled) bool {
	return s.end == o.end && s.id == o.id && slices.Equal(s.whole, o.whole) &&
		(sameSlice(s.edits, o.edits) || slices.EqualFunc(s.edits, o.edits, sameItem))
}

// behind returns the first message of the view that comes from behind a position
// of the body.
func (v *View) behind(end int) int {
	if v.spans == nil {
		return v.call.lead + end + 1
	}
	spans := v.spans[v.call.lead:]
	k, _ := slices.BinarySearchFunc(spans, end+1, func(s span, at int) int { return s.last - at })
	return v.call.lead + k
}

// sameItem reports whether two items are the same edit. One that was made anew is
// another.
func sameItem(a, b item) bool { return a.Record == b.Record }
