package middleware

import (
	"slices"
	"sort"
)

// Shared returns how many first messages this view and an earlier one of the
// same chain have in common. If the history has only grown since, and been edited
// no further back, these are all that the earlier view had. What is equal by
// chance behind a difference is not searched for, and remarks of the host, which
// no model sees, do not count. A nil view shares nothing.
func (v *View) Shared(earlier *View) int {
	if earlier == nil {
		return 0
	}
	lead := v.sharedLead(earlier)
	if lead < v.call.lead || lead < earlier.call.lead {
		return lead
	}
	body := v.call.sharedBody(earlier.call)
	if !sameSlice(v.list, earlier.list) {
		body = min(body, v.list.differs(earlier.list))
	}
	if v.spans == nil {
		return lead + body
	}
	return lead + sort.Search(len(v.spans)-lead, func(i int) bool { return v.spans[lead+i].last >= body })
}

// sharedLead returns how many leading system messages are equal.
func (v *View) sharedLead(o *View) int {
	a, b := v.call.track.lead, o.call.track.lead
	n := min(len(a), len(b))
	if n > 0 && &a[0] == &b[0] {
		return n
	}
	for i := range n {
		if !same(&a[i], &b[i]) {
			return i
		}
	}
	return n
}

// sharedBody returns how many first messages of two bodies are equal: an ID
// stands for all before it.
func (c *call) sharedBody(o *call) int {
	n := min(len(c.ids), len(o.ids))
	if n > 0 && c.ids[n-1] == o.ids[n-1] {
		return n
	}
	return sort.Search(n, func(i int) bool { return c.ids[i] != o.ids[i] })
}

// differs returns the first position that an edit touches which only one of the
// lists has; if there is none, one that no history reaches.
func (l list) differs(o list) int {
	k := 0
	for k < min(len(l), len(o)) && l[k].equal(o[k].Record) {
		k++
	}
	first := int(^uint(0) >> 1)
	for _, it := range slices.Concat(l[k:], o[k:]) {
		first = min(first, it.first())
	}
	return first
}
