package edit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Result is a history with edits applied.
type Result struct {
	Messages []message.Message
	Spans    []Span // of each message; nil: nothing is edited
	Tokens   []int  // of each message; nil: nothing is edited
	Sum      int    // tokens of all messages
	Upto     int    // the first Upto positions of the history are in it

	LeftOut Positions // whose thinking is left out
}

// Span is the origin of one message of a [Result]. Positions of leading messages are
// negative.
type Span struct {
	Record      *journal.Record // nil: the message is not edited
	First, Last int
	Nth         int // index in the messages of a fold
}

// Apply returns the history with the edits applied, in one pass, without the thinking of some positions. If before is the
// result of a list that has the same edits before position from, that part is reused; before that position, the same
// thinking must be left out. all is the whole history with its leading messages.
func (h *History) Apply(all []message.Message, l List, leftOut Positions, before *Result, from int) Result {
	if len(l) == 0 && !h.Thinks(leftOut...) {
		return Result{Messages: all, Sum: h.LeadSum + h.Sum, Upto: len(h.Body), LeftOut: leftOut}
	}
	const room = 64 // for messages of later calls
	n := len(all) + room
	r := Result{Messages: make([]message.Message, 0, n), Spans: make([]Span, 0, n), Tokens: make([]int, 0, n), LeftOut: leftOut}
	if before != nil && before.Spans != nil {
		k := before.After(len(h.Lead), from-1)
		r.Messages, r.Spans = append(r.Messages, before.Messages[:k]...), append(r.Spans, before.Spans[:k]...)
		r.Tokens = append(r.Tokens, before.Tokens[:k]...)
	} else {
		from = 0
		r.Messages, r.Tokens = append(r.Messages, h.Lead...), append(r.Tokens, h.LeadTokens...)
		for i := range h.Lead {
			r.Spans = append(r.Spans, Span{First: i - len(h.Lead), Last: i - len(h.Lead)})
		}
	}
	for _, n := range r.Tokens {
		r.Sum += n
	}
	newer := l
	if from > 0 {
		newer = l[l.From(from):]
	}
	begin := len(r.Messages)
	for _, c := range newer.cuts(from) {
		r.append(h, from, c.First)
		if c.last {
			r.fold(h, c.item)
		}
		from = c.Last + 1
	}
	r.append(h, from, len(h.Body))
	r.rewrite(newer, begin)
	r.leaveOut(h, begin)
	return r
}

// Append appends the messages that have been added to the history, not edited.
func (r *Result) Append(h *History) {
	begin := len(r.Messages)
	r.append(h, r.Upto, len(h.Body))
	r.leaveOut(h, begin)
}

// append appends the messages from position first to before position end, not edited.
func (r *Result) append(h *History, first, end int) {
	r.Tokens = append(r.Tokens, h.Tokens[first:end]...)
	r.Messages, r.Spans = slices.Grow(r.Messages, end-first), slices.Grow(r.Spans, end-first)
	for i := first; i < end; i++ {
		r.Messages = append(r.Messages, *h.Body[i])
		r.Spans = append(r.Spans, Span{First: i, Last: i})
		r.Sum += h.Tokens[i]
	}
	r.Upto = end
}

// fold appends the messages of a fold.
func (r *Result) fold(h *History, it *Item) {
	s := Span{Record: it.Record, First: it.Runs[0].First, Last: it.last}
	r.Sum += it.Tokens
	for k, m := range it.Messages {
		s.Nth = k
		n := it.Tokens
		if len(it.Messages) > 1 {
			n = h.Meter.Message(m)
		}
		r.Messages = append(r.Messages, m)
		r.Spans = append(r.Spans, s)
		r.Tokens = append(r.Tokens, n)
	}
}

// rewrite replaces the parts of rewritten messages, the first of which is message i or
// a later one.
func (r *Result) rewrite(l List, i int) {
	for k := range l {
		it := &l[k]
		if it.Kind != journal.Rewrite {
			continue
		}
		for r.Spans[i].Last < it.last {
			i++
		}
		r.Sum += it.Tokens - r.Tokens[i]
		r.Messages[i].Parts = it.Parts
		r.Spans[i].Record = it.Record
		r.Tokens[i] = it.Tokens
	}
}

// leaveOut removes the thinking that is left out from message i on.
func (r *Result) leaveOut(h *History, i int) {
	lead := len(h.Lead)
	for _, run := range r.LeftOut {
		if run.Last < 0 || len(r.Spans) == 0 || r.Spans[len(r.Spans)-1].Last < run.First {
			continue
		}
		for k := max(i, r.After(lead, run.First-1)); k < len(r.Spans) && r.Spans[k].First <= run.Last; k++ {
			m := &r.Messages[k]
			if !slices.ContainsFunc(m.Parts, IsThinking) {
				continue
			}
			m.Parts = Remainder(m.Parts)
			r.Sum -= r.Tokens[k]
			r.Tokens[k] = h.Meter.Message(*m)
			r.Sum += r.Tokens[k]
		}
	}
}

// After returns the index of the first message that comes from after a position of an edited
// history; lead is the number of leading messages.
func (r *Result) After(lead, position int) int {
	k, _ := slices.BinarySearchFunc(r.Spans[lead:], position+1, func(s Span, at int) int { return s.Last - at })
	return lead + k
}

// Span returns the origin of message i; lead is the number of leading messages.
func (r *Result) Span(lead, i int) Span {
	if r.Spans == nil {
		return Span{First: i - lead, Last: i - lead}
	}
	return r.Spans[i]
}

// cut is one run of a fold. The messages of the fold replace its last run.
type cut struct {
	message.Run

	item *Item
	last bool
}

// cuts returns the runs of all folds from a position on, in order.
func (l List) cuts(from int) []cut {
	var out []cut
	for i := range l {
		if l[i].Kind != journal.Fold {
			continue
		}
		if out == nil {
			out = make([]cut, 0, len(l)-i)
		}
		for k, r := range l[i].Runs {
			if r.First >= from {
				out = append(out, cut{Run: r, item: &l[i], last: k == len(l[i].Runs)-1})
			}
		}
	}
	if len(out) > 1 {
		sortBy(out, func(c cut) int { return c.First })
	}
	return out
}
