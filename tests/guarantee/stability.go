package guarantee

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// stability checks that messages sent before are sent again, up to the first change in an event, and that new messages
// are sent unchanged if there is no such event.
func (l *ledger) stability(before *Call) {
	now := l.call
	keep := len(before.Sent)
	for keep > 0 && before.View != nil && isRepair(before.View.Span(keep-1).Edit) {
		keep-- // a repair at the end is made only at the end
	}
	first, changed := firstChange(now.Events)
	if changed {
		keep = min(keep, upTo(now, first))
	}
	if changed || repaired(now.Events) { // a repair may differ when messages are added or removed
		keep = min(keep, beforeRepair(before), beforeRepair(now))
	}
	if at, moved := repairedAgain(before, now); moved {
		keep, changed = min(keep, upTo(now, at)), true
	}
	for i := range keep {
		if i >= len(now.Sent) || !before.Sent[i].Equal(now.Sent[i]) {
			l.notef(Stable, "message %d was sent as\n%sand is not any more, without an event; the first change in an event is at %d",
				i, Show(before.Sent[i:i+1]), first)
			return
		}
	}
	if changed || repaired(now.Events) {
		return
	}
	if fresh := now.History[len(before.History):]; keep == len(before.Sent) && !sameMessages(now.Sent[keep:], fresh) {
		l.notef(Reported, "what is new is sent as\n%sand was passed as\n%swithout an event", Show(now.Sent[keep:]), Show(fresh))
	}
}

// firstChange returns the first position of the history that an event reports as changed.
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

// repaired reports whether an event reports a repair.
func repaired(events []middleware.Event) bool {
	return slices.ContainsFunc(events, func(e middleware.Event) bool { return e.Kind == middleware.Repaired })
}

// upTo returns how many of the first sent messages come from before a position of the history.
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

// beforeRepair returns how many messages precede the first one that was repaired, or moved to the front by a repair.
func beforeRepair(c *Call) int {
	if c.View == nil {
		return len(c.Sent)
	}
	n, first := len(c.Sent), len(c.History) // first: of the later messages, the first position in the history
	for i := range slices.Backward(c.Sent) {
		span := c.View.Span(i)
		if isRepair(span.Edit) || span.Last > first {
			n = i
		}
		first = min(first, span.Last)
	}
	return n
}

func isRepair(r *journal.Record) bool { return r != nil && r.Kind == journal.Repair }

// repairedAgain returns the first position of the history where the repair of the grown history differs from the one
// before, as after a late result.
func repairedAgain(before, now *Call) (at int, differs bool) {
	if now.sound() && before.sound() {
		return 0, false
	}
	was, is := before.repair(), now.repair()
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
			from := i
			if m.From != nil {
				from = m.From[i]
			}
			at = min(at, from)
		}
	}
	return at, true
}
