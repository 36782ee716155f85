package message

import "slices"

// Repaired is the result of [Rules.Repair].
type Repaired struct {
	// Messages is the list that these providers would accept. It shares the
	// messages and parts that did not change with the list before, and is the
	// caller's to append to, not to write into.
	Messages []Message

	// From tells for each of Messages its origin, an index in the list before;
	// nil: each is the message at its own index, for nothing was wrong.
	//
	// The origin of a message that was changed, or moved, or both, is that
	// message. Where several became one, it is the first of them in the list
	// before. Where one became several, as a tool message with results of two
	// rounds, it is the origin of each. A message that was put in has as its
	// origin the one that is the reason for it: the call that had no result, the
	// message that could not come first, next to its neighbour, or last, the
	// message whose media it holds.
	//
	// So an origin may come twice, or not at all if its message was left out or
	// became one with another, and origins need not ascend. A message says the
	// same as its origin (see [Message.Equal]) only if it is that very message, as
	// it was: what was put in never does.
	From []int

	Fixes []Fix // what was done, in the order of the list before
}

// Repair returns the list as these providers would accept it, where its messages
// come from, and what was done: [Rules.Check] of the result is nil. A list that
// is valid comes back as it is, with no fix. The input is not written to.
//
// A repair depends on the list alone: the same messages give the same bytes, ids
// included. It changes what breaks a rule and nothing else. Nothing is left out
// without a fix that names it; texts of the user, of the system and of pinned
// messages keep every word. What each rule leads to is in docs/validity.md.
//
// A repair hides a bug of the caller unless the fixes are reported.
func (r Rules) Repair(msgs []Message) *Repaired {
	wrong := r.Violations(msgs)
	if len(wrong) == 0 {
		return &Repaired{Messages: msgs}
	}
	d := mender{rules: r, want: r.wants(), list: make([]item, len(msgs))}
	for i := range msgs {
		d.list[i] = item{Message: msgs[i], at: i}
	}
	for _, v := range wrong {
		d.list[v.At].wrong = true
	}
	// No step breaks what an earlier one has mended.
	d.mendContent()
	d.mendSystem()
	d.mendRounds()
	d.mendMedia()
	d.mendTurns()
	return d.mended()
}

func (d *mender) mended() *Repaired {
	m := &Repaired{Messages: make([]Message, len(d.list)), From: make([]int, len(d.list)), Fixes: d.fixes}
	for i, it := range d.list {
		m.Messages[i], m.From[i] = it.Message, it.at
	}
	slices.SortStableFunc(m.Fixes, func(a, b Fix) int { return a.At - b.At })
	return m
}
