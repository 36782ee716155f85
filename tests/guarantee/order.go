package guarantee

import (
	"slices"

	"github.com/laconic-go/laconic/message"
)

// place is where a part stands in a history.
type place struct{ message, part int }

func (p place) before(q place) bool {
	return p.message < q.message || p.message == q.message && p.part < q.part
}

// order checks that what survived as it was stands in the order of the history.
// A repair may move system messages, results and media, so that of a history
// that had to be mended only the texts of the two sides are looked at.
func (l *ledger) order() {
	once := occurOnce(l.call.History)
	still := occurOnce(l.call.Sent)
	last := place{-1, 0}
	for i, m := range l.call.Sent {
		for _, p := range m.Parts {
			at, ok := once[p]
			if _, alone := still[p]; !ok || !alone || !l.hasOrder(m, p) || !l.hasOrder(l.call.History[at.message], p) {
				continue
			}
			if at.before(last) {
				l.notef(Ordered, "message %d has %s, which stood before what now stands before it", i, showPart(p))
			}
			last = at
		}
	}
}

// occurOnce returns where the parts stand that there is one of.
func occurOnce(msgs []message.Message) map[message.Part]place {
	where, twice := map[message.Part]place{}, map[message.Part]bool{}
	for i, m := range msgs {
		for k, p := range m.Parts {
			if _, ok := where[p]; ok {
				twice[p] = true
			}
			where[p] = place{i, k}
		}
	}
	for p := range twice {
		delete(where, p)
	}
	return where
}

// fillers are what a repair puts, here and there, as often as it must.
var fillers = []message.Part{
	message.Text{Text: "(continue)"},
	message.Text{Text: "(no answer)"},
	message.Text{Text: "(conversation continues)"},
	message.Text{Text: "(empty)"},
}

// hasOrder reports whether a part of a message may not change its place.
func (l *ledger) hasOrder(m message.Message, p message.Part) bool {
	if slices.Contains(fillers, p) {
		return false
	}
	if l.sound {
		return message.KnownPart(p)
	}
	_, text := p.(message.Text)
	return text && (m.Role == message.RoleUser || m.Role == message.RoleAssistant)
}
