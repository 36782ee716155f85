// Package calls describes the calls of a model through a chain: the tokens of each, the events, and what became of each
// message of the history. It compares what was sent with the history, so it depends on no middleware.
//
//	r := calls.Recorder{Meter: meter}
//	call := r.Take(history, sent, events)
package calls

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// Call is one call of a model through a chain. All tokens are counted by one meter.
type Call struct {
	History int // tokens of the request without any edit
	Sent    int // tokens of the prompt
	Read    int // of Sent: read from the provider's cache
	Written int // of Sent: written to the cache; the rest was sent without a cache

	// Unmade reports that the model was not called, since nothing more could be removed. Sent is 0.
	Unmade bool

	Events  []Event
	Changes []Change // what is different from the call before
}

// Event is what a middleware did or warns of.
type Event struct {
	Kind     middleware.EventKind
	By       string // the middleware
	Why      string // without tokens, which the chain counts by another meter
	Messages int    // of the history, which it changed
	Freed    int    // tokens by which it made the prompt of this call shorter
}

// Fate is what became of a message of the history.
type Fate int

// The fates of a message.
const (
	Sent    Fate = iota // as it is
	Cleared             // with other parts: cleared, shortened or repaired
	Folded              // not at all: folded into others, or removed
	Joined              // as it is, in one message with others
)

// Change is the fate of a message from a call on.
type Change struct {
	At       int // position in the history; -1: what is sent before its first message
	Fate     Fate
	Event    int               // index of the event in Call.Events that explains it; -1: none does
	Messages []message.Message // what is sent in its place, also of others that are joined to it; of Sent, and of -1: in addition
}

// Recorder compares the calls of one conversation, in their order. It is not safe for concurrent use.
type Recorder struct {
	Meter tokens.Meter

	history []message.Message // of the last call
	before  place             // what is sent before the first message
	places  []place           // by position in the history
}

// place is what is sent for a message of the history.
type place struct {
	fate     Fate
	messages []message.Message
}

// Take returns the events of a call and the changes since the call before. It sets no tokens but those of the events. Both
// lists of messages are kept and must not be modified. A history that does not continue the one before is compared from
// the first message that is different.
func (r *Recorder) Take(history, sent []message.Message, events []middleware.Event) (c Call) {
	same := 0
	for same < min(len(history), len(r.history)) && history[same].Equal(r.history[same]) {
		same++
	}
	r.history, r.places = history, r.places[:min(same, len(r.places))]
	by, rest := c.note(events, leading(history))
	before, places := align(history, sent)
	compare := func(at int, was, is place) {
		if was.fate == is.fate && slices.EqualFunc(was.messages, is.messages, message.Message.Equal) {
			return
		}
		event, known := by[at]
		if !known {
			event = rest
		}
		c.Changes = append(c.Changes, Change{At: at, Fate: is.fate, Event: event, Messages: is.messages})
		if event >= 0 {
			c.Events[event].Messages++
			c.Events[event].Freed += r.size(at, was) - r.size(at, is)
		}
	}
	compare(-1, r.before, before)
	for i, is := range places {
		was := place{}
		if i < len(r.places) {
			was = r.places[i]
		}
		compare(i, was, is)
	}
	r.before, r.places = before, places
	return c
}

// note keeps the events that a person should see. It returns for the positions that edits cover the event, and the event
// that explains all other changes, of repairs and of thinking that is left out; -1: there is none.
func (c *Call) note(events []middleware.Event, lead int) (by map[int]int, rest int) {
	by, rest = map[int]int{}, -1
	for _, e := range events {
		if e.Kind != middleware.Edited && !e.Warning() {
			continue
		}
		last := len(c.Events)
		c.Events = append(c.Events, Event{Kind: e.Kind, By: e.By, Why: reason(e)})
		if e.Kind == middleware.Repaired || e.Kind == middleware.ThinkingLeftOut {
			rest = last
		}
		if e.Kind == middleware.Edited {
			for _, i := range positions(e.Edits) {
				by[lead+i] = last
			}
		}
	}
	return by, rest
}

// size returns the tokens of what is sent for a position.
func (r *Recorder) size(at int, p place) (n int) {
	if at >= 0 && p.fate == Sent {
		n = r.Meter.Message(r.history[at])
	}
	for _, m := range p.messages {
		n += r.Meter.Message(m)
	}
	return n
}

// reason returns why an event happened, in one line, up to its first number of tokens: a chain counts by a meter of its own.
func reason(e middleware.Event) string {
	text := strings.TrimPrefix(e.String(), e.By+": ")
	if e.Kind == middleware.Edited {
		text = strings.ReplaceAll(e.Why, "\n", "; ")
	}
	text = strings.TrimPrefix(text, string(e.Kind)+": ")
	if head, _, found := strings.Cut(text, " tokens"); found {
		head = strings.TrimRight(head, "0123456789,. of→")
		if at := strings.LastIndexAny(head, "(:;"); at > 0 {
			return strings.TrimSpace(head[:at])
		}
		return strings.TrimSpace(head + " …")
	}
	return text
}

func leading(history []message.Message) int {
	n := slices.IndexFunc(history, func(m message.Message) bool { return m.Role != message.RoleSystem })
	if n < 0 {
		return len(history)
	}
	return n
}

// positions returns the positions that edits cover.
func positions(edits []*journal.Record) (all []int) {
	for _, e := range edits {
		for _, run := range e.Runs {
			for i := run.First; i <= run.Last; i++ {
				all = append(all, i)
			}
		}
	}
	return all
}

// align finds each message that is sent in the history. Both lists have a common order. Messages are compared from both
// ends, since most chains replace what is in the middle.
func align(history, sent []message.Message) (before place, places []place) {
	places = make([]place, len(history))
	first := 0
	for first < min(len(history), len(sent)) && history[first].Equal(sent[first]) {
		first++
	}
	i, j := len(history)-1, len(sent)-1
	var between []message.Message // what is sent after message i and is not of the history, the last one first
	put := func(i int) {
		slices.Reverse(between)
		if i < 0 {
			before.messages = between
		} else {
			places[i].messages = append(places[i].messages, between...)
		}
		between = nil
	}
	for ; j >= first; j-- {
		k := i
		for k >= first && !pair(&history[k], &sent[j], k == i && between == nil) {
			k--
		}
		if k < first {
			between = append(between, sent[j])
			continue
		}
		for f := k + 1; f <= i; f++ {
			places[f].fate = Folded
		}
		put(i)
		i = k - 1
		if history[k].Equal(sent[j]) {
			continue
		}
		places[k] = place{Cleared, append([]message.Message{sent[j]}, places[k].messages...)}
		for f := k; f >= first && holds(&sent[j], &history[f]); f-- {
			places[f].fate = Joined
			i = f - 1
		}
	}
	for f := first; f <= i; f++ {
		places[f].fate = Folded
	}
	put(i)
	return before, places
}

// holds reports whether a message has all parts of another one, whose texts may be whole lines of its texts: some providers
// get neighbours of one role, and system messages, as one message.
func holds(s, h *message.Message) bool {
	return s.Role == h.Role && len(h.Parts) > 0 && !slices.ContainsFunc(h.Parts, func(p message.Part) bool {
		text, isText := p.(message.Text)
		return !slices.ContainsFunc(s.Parts, func(in message.Part) bool {
			all, _ := in.(message.Text)
			return in == p || isText && text.Text != "" && strings.Contains("\n"+all.Text+"\n", "\n"+text.Text+"\n")
		})
	})
}

// pair reports whether one message is the other one, perhaps changed: it is equal, is one of its parts, or has the same calls
// or results. A changed text has none, so it is the same only next to others that are.
func pair(h, s *message.Message, next bool) bool {
	if h.Equal(*s) || holds(s, h) {
		return true
	}
	ids := callIDs(h)
	return h.Role == s.Role && (len(ids) > 0 || next) && slices.Equal(ids, callIDs(s))
}

func callIDs(m *message.Message) (ids []string) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolCall:
			ids = append(ids, p.ID)
		case message.ToolResult:
			ids = append(ids, p.CallID)
		case message.Text, message.Thinking, message.Media, message.Opaque:
		}
	}
	return ids
}
