package fit

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Irreducible says why a request cannot be made to fit: what may not be left out
// of it is more than there is room for. Its numbers are those of the request as it
// would be if all else were gone, and they add up to Total.
//
//	if e, ok := errors.AsType[*fit.Irreducible](err); ok { … e.System … }
type Irreducible struct { //nolint:errname // it is what errors of kind middleware.Irreducible hold
	Limit message.Limit // what there is too much of: [Tokens], or a limit of the provider
	Room  int           // how much a request may have; all numbers but the next two are of what the limit counts
	Total int           // how much of it may not go

	Window  int // of the model, in tokens; 0: not known
	Reserve int // of it: kept free for the answer

	System    int // system messages
	Tools     int // tool definitions
	Pinned    int // other messages that the host has pinned
	Questions int // the first and the last message of the user, without what is attached
	Newest    int // the newest round, which no model has answered, its results cut to nothing
	Rest      int // what stands around all this, and what the provider's rules add
}

// Error names each number, and what can be done.
func (e *Irreducible) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s cannot be left out, and there is room for %d", e.Total, e.Limit, e.Room)
	if e.Limit == Tokens {
		fmt.Fprintf(&b, " (window %d, %d of it for the answer)", e.Window, e.Reserve)
	}
	sep := ": "
	for _, p := range e.shares() {
		if p.size > 0 {
			fmt.Fprintf(&b, "%s%s %d", sep, p.name, p.size)
			sep = ", "
		}
	}
	b.WriteString("; ")
	b.WriteString(e.cure())
	return b.String()
}

// share is a part of the total, and what makes it smaller.
type share struct {
	name, cure string
	size       int
}

func (e *Irreducible) shares() []share {
	return []share{
		{"system messages", "shorten the system prompt", e.System},
		{"tools", "declare fewer tools", e.Tools},
		{"pinned messages", "pin less", e.Pinned},
		{"questions", "put long material into a file that a tool reads", e.Questions},
		{"the newest round", "have fewer calls made at once", e.Newest},
		{"the rest", "", e.Rest},
	}
}

// cure tells what helps most: against the largest share.
func (e *Irreducible) cure() string {
	largest := share{}
	for _, s := range e.shares() {
		if s.cure != "" && s.size > largest.size {
			largest = s
		}
	}
	more := "raise Limits if the provider accepts more"
	if e.Limit == Tokens {
		more = "take a model with a larger window, or correct Request.Budget"
	}
	if largest.cure == "" {
		return more
	}
	return largest.cure + ", or " + more
}

// irreducible returns why a view cannot be made to fit, or nil if it can.
func (f *fitter) irreducible(ctx context.Context, j *judgement) *Irreducible {
	s := f.sketch(ctx, j)
	s.leaveLeast()
	least := j
	if v, err := j.view.Preview(Name, &middleware.Plan{Edits: s.edits()}); err == nil {
		least = f.judgeBy(v, j.sure)
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

// divide tells whose the total is.
func (e *Irreducible) divide(j *judgement, excess message.Excess) {
	v, sent := j.view, j.view
	if j.mended != nil {
		sent = v.Repaired(j.mended)
	}
	all := 0 // of the same, in tokens by the meter
	left := make([]int, v.Len())
	for i := range left {
		if left[i] = excess.Is; excess.At < 0 {
			left[i] = amount(excess, v, i) // what is sent beyond that was added by repairs
		}
	}
	for i := range sent.Len() {
		at := i
		if j.mended != nil && j.mended.From != nil {
			at = j.mended.From[i]
		}
		size := amount(excess, sent, i)
		all += size
		size = min(size, left[at])
		left[at] -= size
		if owner := e.owner(v, at); owner != nil {
			*owner += size
		}
	}
	e.Tools = j.besides.Bytes
	if e.Limit == Tokens {
		e.Tools = v.Meter().Tools(j.tools) + v.Meter().Tools(j.declared)
		all += e.Tools + v.Meter().Once()
	} else if e.Limit != message.RequestBytes {
		e.Tools = 0
	}
	e.Rest = e.Total
	for _, part := range []*int{&e.System, &e.Tools, &e.Pinned, &e.Questions, &e.Newest} {
		if e.Limit == Tokens {
			*part = int(int64(*part) * int64(e.Total) / int64(all)) // as it is charged
		}
		e.Rest -= *part
	}
}

// owner returns the field that a message counts for; nil: the rest.
func (e *Irreducible) owner(v *middleware.View, i int) *int {
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
