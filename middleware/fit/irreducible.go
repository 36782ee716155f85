package fit

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Irreducible is why a request cannot be made to fit: what cannot be left out of it
// is larger than the room. Its numbers are those of the request without all the rest,
// and add up to Total.
//
//	if e, ok := errors.AsType[*fit.Irreducible](err); ok { … e.System … }
type Irreducible struct { //nolint:errname // it is what errors of kind middleware.Irreducible hold
	Limit message.Limit // that is exceeded: [Tokens], or a limit of the provider
	Room  int           // how much a request may have; all numbers but the next two are in the unit of the limit
	Total int           // how much of it cannot be left out

	Window  int // of the model, in tokens; 0: not known
	Reserve int // part of the window, kept free for the answer

	System    int // system messages
	Tools     int // tool definitions
	Pinned    int // other messages that the host has pinned
	Questions int // the first and the last message of the user, without attachments
	Newest    int // the newest round, which no model has answered, with results cut to nothing
	Rest      int // frames of messages, and repairs
}

// share is one part of the total.
type share struct {
	name, cure string
	size       *int
}

func (e *Irreducible) shares() []share {
	return []share{
		{"system messages", "shorten the system prompt, or ", &e.System},
		{"tools", "declare fewer tools, or ", &e.Tools},
		{"pinned messages", "pin less, or ", &e.Pinned},
		{"questions", "put long material into a file that a tool reads, or ", &e.Questions},
		{"the newest round", "have fewer calls made at once, or ", &e.Newest},
		{"the rest", "", &e.Rest},
	}
}

// Error returns each number, and a cure for the largest share.
func (e *Irreducible) Error() string {
	text := fmt.Sprintf("%d %s cannot be left out, and there is room for %d", e.Total, e.Limit, e.Room)
	more := "raise Limits if the provider accepts more"
	if e.Limit == Tokens {
		text += fmt.Sprintf(" (window %d, %d of it for the answer)", e.Window, e.Reserve)
		more = "take a model with a larger window, or correct Request.Budget"
	}
	var numbers []string
	largest, cure := 0, ""
	for _, s := range e.shares() {
		if *s.size > 0 {
			numbers = append(numbers, fmt.Sprintf("%s %d", s.name, *s.size))
		}
		if s.cure != "" && *s.size > largest {
			largest, cure = *s.size, s.cure
		}
	}
	return text + ": " + strings.Join(numbers, ", ") + "; " + cure + more
}

// irreducible returns why a view cannot be made to fit, or nil if it can.
func (f *fitter) irreducible(ctx context.Context, j *judgement) *Irreducible {
	_, least, err := f.shortest(ctx, j)
	if err != nil {
		least = j
	}
	excess := least.excess()
	if excess == nil {
		return nil
	}
	e := &Irreducible{
		Limit: excess[0].Limit, Room: excess[0].Most, Total: excess[0].Is,
		Window: least.budget.Window, Reserve: least.budget.Reserve,
	}
	e.divide(least, excess[0])
	return e
}

// divide computes the shares of the total.
func (e *Irreducible) divide(j *judgement, excess message.Excess) {
	v, sent := j.view, j.view
	if j.repaired != nil {
		sent = v.Repaired(j.repaired)
	}
	left := make([]int, v.Len()) // of each message of the view; what is sent in addition comes from repairs
	for i := range left {
		if left[i] = excess.Is; excess.At < 0 {
			left[i] = amount(excess, v, i)
		}
	}
	all := 0 // of what is sent, by the meter
	for i := range sent.Len() {
		at := i
		if j.repaired != nil && j.repaired.From != nil {
			at = j.repaired.From[i]
		}
		size := amount(excess, sent, i)
		all += size
		size = min(size, left[at])
		left[at] -= size
		if share := e.shareOf(v, at); share != nil {
			*share += size
		}
	}
	switch e.Limit {
	case Tokens:
		e.Tools = v.Meter().Tools(j.tools) + v.Meter().Tools(j.declared)
		all += e.Tools + v.Meter().Once()
	case message.RequestBytes:
		e.Tools = j.toolLoad.Bytes
	default:
	}
	e.Rest = e.Total
	for _, s := range e.shares() {
		if s.size == &e.Rest {
			continue
		}
		if e.Limit == Tokens {
			*s.size = int(int64(*s.size) * int64(e.Total) / int64(all)) // as it is charged
		}
		e.Rest -= *s.size
	}
}

// shareOf returns the share that a message counts for; nil: the rest.
func (e *Irreducible) shareOf(v *middleware.View, i int) *int {
	switch p := v.Protected(i); {
	case v.At(i).Role == message.RoleSystem:
		return &e.System
	case p&middleware.Whole != 0:
		return &e.Pinned
	case p&middleware.Words != 0:
		return &e.Questions
	case p&middleware.Fresh != 0:
		return &e.Newest
	}
	return nil
}

// amount returns how much a message has of what a limit counts.
func amount(e message.Excess, v *middleware.View, i int) int {
	m := v.At(i)
	switch e.Limit {
	case Tokens:
		return v.TokensOf(i)
	case message.RequestBytes:
		return m.Load().Bytes
	case message.RequestImages:
		return m.LoadBound().Images
	case message.RequestDocuments:
		return m.LoadBound().Documents
	case message.RequestMedia:
		l := m.LoadBound()
		return l.Images + l.Documents
	case message.AllDocumentBytes:
		return m.LoadBound().AllDocumentBytes
	case message.ImageBytes, message.ImageSide, message.ManyImageSide, message.DocumentBytes: // of one part
	}
	if e.At == i {
		return e.Is
	}
	return 0
}
