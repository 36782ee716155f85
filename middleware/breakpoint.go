package middleware

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
)

// mark sets the hint [message.Hints.Breakpoint] in a request that is about to be sent, in place of those that it has, on
// copies of the messages. Of a request without a view, only the leading system messages are known to be stable.
func (o *outgoing) mark() {
	r := o.req
	n := len(r.Messages)
	if n == 0 {
		return
	}
	marked := slices.Clone(r.Messages)
	for i := range marked {
		marked[i].Hints.Breakpoint = false
	}
	stable := message.Leading(marked)
	at := []int{n - 1}
	if o.sent != nil {
		stable = o.stable()
		at = append(at, o.edited()-1)
	}
	for _, i := range append(at, stable-1) {
		if i >= 0 {
			marked[i].Hints.Breakpoint = true
		}
	}
	if o.sent != nil && sameSlice(r.view.result.Messages, r.Messages) {
		v := *r.view
		v.result.Messages = marked
		r.carry(&v)
		return
	}
	r.Messages = marked
}

// stable returns the number of first messages that no editor may change: system messages and others that are protected as
// a whole, and the first user message if it is text alone.
func (o *outgoing) stable() int {
	other := func(p message.Part) bool {
		_, isText := p.(message.Text)
		return !isText
	}
	for i := range o.own {
		s := o.view.span(i)
		task := s.Record == nil && s.First == o.view.session.FirstUser && !slices.ContainsFunc(o.view.At(i).Parts, other)
		if !task && o.view.Protected(i)&ProtectWhole == 0 {
			return i
		}
	}
	return o.own
}

// edited returns the number of first messages up to the last one that an edit has changed.
func (o *outgoing) edited() int {
	if len(o.list) == 0 {
		return 0
	}
	n := o.view.result.After(len(o.lead), edit.Last(o.list[len(o.list)-1].Record))
	return min(n, o.own)
}
