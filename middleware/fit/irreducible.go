package fit

import (
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Unit is what a request can have too much of.
type Unit string

// The units.
const (
	Tokens Unit = "tokens"
	Bytes  Unit = "bytes"
	Images Unit = "images"
)

// units are those that messages are made smaller for.
var units = [...]Unit{Tokens, Bytes}

// Irreducible says why a request cannot be made to fit: what may not be left out
// of it is more than there is room for. Its numbers are those of the request as it
// would be if all else were gone, and they add up to Total.
//
//	if e, ok := errors.AsType[*fit.Irreducible](err); ok { … e.System … }
type Irreducible struct {
	Unit  Unit // what there is too much of; all numbers but Window and Reserve are in it
	Room  int  // how much a request may have
	Total int  // how much is left that may not go

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
	fmt.Fprintf(&b, "%d %s cannot be left out, and there is room for %d", e.Total, e.Unit, e.Room)
	if e.Unit == Tokens {
		fmt.Fprintf(&b, " (window %d, %d of it for the answer)", e.Window, e.Reserve)
	}
	sep := ": "
	for _, p := range e.parts() {
		if p.size > 0 {
			fmt.Fprintf(&b, "%s%s %d", sep, p.name, p.size)
			sep = ", "
		}
	}
	b.WriteString("; ")
	b.WriteString(e.cure())
	return b.String()
}

type share struct {
	name, cure string
	size       int
}

func (e *Irreducible) parts() []share {
	return []share{
		{"system messages", "shorten the system prompt", e.System},
		{"tools", "declare fewer tools", e.Tools},
		{"pinned messages", "pin less", e.Pinned},
		{"questions", "put long material into a tool or a file", e.Questions},
		{"the newest round", "make fewer calls at once", e.Newest},
		{"the rest", "", e.Rest},
	}
}

// cure tells what helps most: against the largest part.
func (e *Irreducible) cure() string {
	largest := share{}
	for _, p := range e.parts() {
		if p.cure != "" && p.size > largest.size {
			largest = p
		}
	}
	var cures []string
	if largest.cure != "" {
		cures = append(cures, largest.cure)
	}
	switch e.Unit {
	case Tokens:
		cures = append(cures, "take a model with a larger window, or correct Request.Budget")
	case Bytes, Images:
		cures = append(cures, "or raise Options.Limits if the provider takes more")
	}
	return strings.Join(cures, "; ")
}

// irreducible returns why a view cannot be made to fit, or nil if it can.
func (f *fitter) irreducible(j *judgement) *Irreducible {
	s := f.words.sketch(j.view)
	s.leaveLeast()
	k := j
	if least, err := j.view.Preview(Name, &middleware.Plan{Edits: s.edits()}); err == nil {
		k = f.judge(least)
	}
	unit := k.exceeds()
	if unit == "" {
		return nil
	}
	e := &Irreducible{
		Unit: unit, Room: k.room.in(unit), Total: k.sent().in(unit),
		Window: k.budget.Window, Reserve: k.budget.Reserve,
	}
	e.share(k)
	return e
}

// share tells whose the total is.
func (e *Irreducible) share(j *judgement) {
	v, sent := j.view, j.view
	if j.mended != nil {
		sent = v.Mended(j.mended)
	}
	left := make([]int, v.Len()) // of each message in the view; what is sent beyond that was added by repairs
	for i, m := range v.All() {
		left[i] = load{v.TokensOf(i), sizeOf(&m)}.in(e.Unit)
	}
	for i, m := range sent.All() {
		at := i
		if j.mended != nil && j.mended.From != nil {
			at = j.mended.From[i]
		}
		size := min(left[at], load{sent.TokensOf(i), sizeOf(&m)}.in(e.Unit))
		left[at] -= size
		switch p := v.Protected(at); {
		case v.At(at).Role == message.RoleSystem:
			e.System += size
		case p&middleware.Whole != 0:
			e.Pinned += size
		case p&middleware.Words != 0:
			e.Questions += size
		case p&middleware.Fresh != 0:
			e.Newest += size
		}
	}
	whole := e.Total
	if e.Unit == Tokens {
		declared := v.Meter().Tools(j.declared)
		e.Tools = v.Meter().Tools(v.Request().Tools) + declared
		whole = sent.Counted() + declared
	}
	e.Rest = e.Total
	for _, part := range []*int{&e.System, &e.Tools, &e.Pinned, &e.Questions, &e.Newest} {
		*part = int(int64(*part) * int64(e.Total) / int64(whole)) // as it is charged
		e.Rest -= *part
	}
}
