package history

import (
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Frameworks that run tools in parallel return the results in the order in which the tools
// finish, and some rebuild the history in another order later. So that IDs, edits and
// what is sent do not depend on it, the results of a round are put into the order of its
// calls. Nothing else is moved, and nothing at all in what a client sends by a known API.

// arranged returns a body with its rounds in order, how many of its first messages the track has
// then, and whether their notes are equal. equal and notes are that for the body as it was passed.
// It returns nil if the body and that of the track are in order.
func (t *Track[S]) arranged(body []message.Message, equal int, notes bool) (ordered []message.Message, shared int, alike bool) {
	from := equal
	if !notes { // those of the first messages are not the ones that the track has
		from = 0
	}
	if t.passed != nil { // the equal messages may be the first of a round that was moved
		from = max(0, from-1)
	}
	for from > 0 && from < len(body) && body[from].Role == message.RoleTool {
		from--
	}
	tail := body[from:]
	order := within.Order(tail)
	if t.passed == nil && order == nil {
		return nil, equal, notes
	}
	if order != nil {
		tail = slices.Clone(tail)
		for k, i := range order {
			tail[k] = body[from+i]
		}
	}
	ordered = append(t.AppendMessages(make([]message.Message, 0, len(body)), message.Run{Last: from - 1}), tail...)
	shared, alike = common(t.Body[from:], tail)
	return ordered, from + shared, alike
}

// orLonger returns the track that has the most of a body once its rounds are in order: results in another order than before
// are equal only up to there. equal and notes are those of the body as it was passed. sorted reports whether both are in order.
func (t *Track[S]) orLonger(
	others []*Track[S], body []message.Message, equal int, notes bool,
) (longest *Track[S], shared int, alike, sorted bool) {
	ordered, most, _ := t.arranged(body, equal, notes)
	if ordered == nil {
		return t, equal, notes, true
	}
	for _, o := range others {
		if reach(o.Body, ordered) <= most {
			continue
		}
		if n, _ := common(o.Body, ordered); n > most {
			t, most = o, n
			equal, notes = common(o.Body, body)
			if o.passed != nil {
				if n, same := common(o.passed, body); n > equal {
					equal, notes = n, same
				}
			}
		}
	}
	return t, equal, notes, false
}

// Ordered returns all messages of a caller with the rounds of the body in order.
func (t *Track[S]) Ordered(all []message.Message) []message.Message {
	lead := all[:len(all)-len(t.Body)]
	return t.AppendMessages(slices.Clone(lead), message.Run{Last: len(t.Body) - 1})
}

// passedAs returns a body to compare with that of the next call.
func passedAs(given Given) []*message.Message {
	if given.Steady {
		return pointers(given.Body)
	}
	return pointers(Own(given.Body))
}

func pointers(msgs []message.Message) []*message.Message {
	p := make([]*message.Message, len(msgs))
	for i := range msgs {
		p[i] = &msgs[i]
	}
	return p
}

// asPassed returns the body as the caller passed it.
func (t *Track[S]) asPassed() []*message.Message {
	if t.passed != nil {
		return t.passed
	}
	return t.Body
}
