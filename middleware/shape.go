package middleware

import "github.com/laconic-go/laconic/message"

// shape is a history with edits applied.
type shape struct {
	msgs      []message.Message
	spans     []span // of each message, but for the leading ones; nil: nothing is edited
	toks      []int  // of each message; nil: nothing is edited
	msgTokens int    // of all messages
	upto      int    // how much of the body it covers
}

// span is the origin of one message, in positions of the body. Those of leading
// messages are negative.
type span struct {
	rec         *Record // nil: untouched
	first, last int
	nth         int // which message of rec's product
}

// apply makes the view in one pass over the history.
func (l list) apply(c *call) shape {
	if len(l) == 0 {
		return shape{msgs: c.history, msgTokens: c.tokens}
	}
	lead := shape{msgs: c.track.lead, spans: make([]span, c.lead), toks: c.track.leadToks}
	for i := range lead.spans {
		lead.spans[i] = span{first: i - c.lead, last: i - c.lead}
	}
	return l.behind(lead, c, 0)
}

// applyTo makes the view, from one of which the edits are the same before a
// position of the body.
func (l list) applyTo(v *View, from int) shape {
	if v.spans == nil || v.mended || len(l) == 0 {
		return l.apply(v.call)
	}
	n := v.behind(from - 1)
	return l.behind(shape{msgs: v.msgs[:n], spans: v.spans[:n], toks: v.toks[:n]}, v.call, from)
}

// behind makes the view behind its beginning, up to a position of the body.
func (l list) behind(begin shape, c *call, at int) shape {
	const room = 64 // for the calls to come
	n := len(c.history) + room
	s := shape{
		msgs:  append(make([]message.Message, 0, n), begin.msgs...),
		spans: append(make([]span, 0, n), begin.spans...),
		toks:  append(make([]int, 0, n), begin.toks...),
	}
	for _, n := range s.toks {
		s.msgTokens += n
	}
	newer := l[l.at(at):]
	for _, cut := range newer.cuts(at) {
		s.keep(c, at, cut.First)
		if cut.last {
			s.put(c, cut.it)
		}
		at = cut.Last + 1
	}
	s.keep(c, at, len(c.body))
	s.rewrite(newer, len(begin.msgs))
	return s
}

// keep appends the messages from first to before last as they are.
func (s *shape) keep(c *call, first, last int) {
	s.msgs = append(s.msgs, c.body[first:last]...)
	s.toks = append(s.toks, c.toks[first:last]...)
	for i := first; i < last; i++ {
		s.spans = append(s.spans, span{first: i, last: i})
		s.msgTokens += c.toks[i]
	}
	s.upto = last
}

// rewrite puts what rewrites put in the place of messages, of which the first is
// message i or behind it.
func (s *shape) rewrite(l list, i int) {
	for k := range l {
		it := &l[k]
		if it.Kind != Rewrite {
			continue
		}
		for s.spans[i].last < it.last() {
			i++
		}
		s.msgTokens += it.tokens - s.toks[i]
		s.msgs[i].Parts, s.spans[i].rec, s.toks[i] = it.Parts, it.Record, it.tokens
	}
}

// put appends what a fold puts in place.
func (s *shape) put(c *call, it *item) {
	where := span{rec: it.Record, first: it.first(), last: it.last()}
	s.msgTokens += it.tokens
	for k, m := range it.Messages {
		where.nth = k
		n := it.tokens
		if len(it.Messages) > 1 {
			n = c.chain.meter.Message(m)
		}
		s.msgs, s.spans, s.toks = append(s.msgs, m), append(s.spans, where), append(s.toks, n)
	}
}
