package guarantee

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// stability checks that what was sent before is sent again, up to the first
// change that an event tells, and that what is new is sent as it was passed if
// none does.
func (l *ledger) stability(before *Call) {
	now := l.call
	keep := len(before.Sent)
	for keep > 0 && before.View != nil && isMend(before.View.Span(keep-1).Edit) {
		keep-- // what a repair put at the end is there as long as it is the end
	}
	first, changed := firstChange(now.Events)
	if changed {
		keep = min(keep, upTo(now, first))
	}
	if changed || mended(now.Events) { // what was repaired may be repaired otherwise when something comes or goes
		keep = min(keep, firstMend(before), firstMend(now))
	}
	if at, moved := repairedAnew(before, now); moved {
		keep, changed = min(keep, upTo(now, at)), true
	}
	for i := range keep {
		if i >= len(now.Sent) || !before.Sent[i].Equal(now.Sent[i]) {
			l.notef(Stable, "message %d was sent as\n%sand is no longer, and no event says so; the first change told is at %d",
				i, Show(before.Sent[i:i+1]), first)
			return
		}
	}
	if changed || mended(now.Events) {
		return
	}
	if fresh := now.History[len(before.History):]; keep == len(before.Sent) && !sameMessages(now.Sent[keep:], fresh) {
		l.notef(Told, "what is new is sent as\n%sand was passed as\n%sand no event says so", Show(now.Sent[keep:]), Show(fresh))
	}
}

// firstChange returns the first position of the history that events say was
// changed.
func firstChange(events []middleware.Event) (at int, changed bool) {
	for _, e := range events {
		if len(e.Edits) == 0 {
			continue
		}
		if !changed || e.First < at {
			at = e.First
		}
		changed = true
	}
	return at, changed
}

// mended reports whether an event tells of a repair.
func mended(events []middleware.Event) bool {
	return slices.ContainsFunc(events, func(e middleware.Event) bool { return len(e.Fixes) > 0 })
}

// upTo returns how many messages at the head of what was sent come from before a
// position of the history.
func upTo(c *Call, position int) int {
	if c.View == nil {
		return 0
	}
	n := 0
	for n < len(c.Sent) && c.View.Span(n).Last < position {
		n++
	}
	return n
}

// firstMend returns how many messages stand before the first that was repaired, or
// moved to the front by a repair, as a system message that stood behind others.
func firstMend(c *Call) int {
	if c.View == nil {
		return len(c.Sent)
	}
	n := 0
	for n < len(c.Sent) && !isMend(c.View.Span(n).Edit) && !isAhead(c, n) {
		n++
	}
	return n
}

// isAhead reports whether a message stands before one that came earlier, perhaps
// with others that do.
func isAhead(c *Call, n int) bool {
	for i := n + 1; i < len(c.Sent); i++ {
		if c.View.Span(n).Last > c.View.Span(i).Last {
			return true
		}
	}
	return false
}

func isMend(r *middleware.Record) bool { return r != nil && r.Kind == middleware.Repair }

// repairedAnew returns the first position of the history where a repair of the
// grown one differs from that of the one before, as by a result that came late.
func repairedAnew(before, now *Call) (at int, differs bool) {
	if now.sound() {
		return 0, false
	}
	was, is := before.mended(), now.mended()
	k := 0
	for k < min(len(was.Messages), len(is.Messages)) && was.Messages[k].Equal(is.Messages[k]) {
		k++
	}
	if k == len(was.Messages) {
		return 0, false
	}
	at = len(now.History)
	for _, m := range []*message.Repaired{was, is} {
		for i := k; i < len(m.Messages); i++ {
			if m.From != nil {
				at = min(at, m.From[i])
			} else {
				at = min(at, i)
			}
		}
	}
	return at, true
}
