package middleware

import (
	"context"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// Editor looks at a view and says which edits it would make. It does not make
// them: it returns a plan, or nil if there is nothing to do. It must be
// deterministic, safe for concurrent use, and change nothing that it sees. An
// error says that it cannot tell; the call then goes on without it. One of kind
// [Invalid] says that its options do not fit the request, and is reported once
// per conversation.
type Editor func(ctx context.Context, v *View) (*Plan, error)

// Plan is what one middleware wants to edit now. All its edits are applied, or
// none.
type Plan struct {
	Edits []Edit // in any order; no position twice. Empty: nothing is edited, and Why is reported
	Why   string // for people: what is done, or why nothing is
	Items int    // what the editor counts in its reports, as results cleared

	Detail any // for the event that reports the plan; nil: nothing

	// Set by the core before a trigger sees the plan.
	Saved int // tokens by which the view becomes shorter
	First int // view position of the first changed message
}

// lazy reports whether some of the plan is still to be made.
func (p *Plan) lazy() bool {
	for i := range p.Edits {
		if p.Edits[i].Make != nil {
			return true
		}
	}
	return false
}

// EditKind says how an edit works.
type EditKind string

// The kinds of edits.
const (
	Rewrite EditKind = "rewrite" // other parts in place of one message's parts
	Fold    EditKind = "fold"    // other messages, or none, in place of one or several runs of units
	Repair  EditKind = "repair"  // a repair of what is sent, by a Mender; no plan has it and no journal keeps it
)

// Edit is one edit of a plan. Positions are those of the view.
type Edit struct {
	Kind     EditKind
	At       int               // of a rewrite: the message
	Parts    []message.Part    // of a rewrite: what it shall have
	Runs     []message.Run     // of a fold: what it covers, in order
	Messages []message.Message // of a fold: they stand where the last of the runs stood

	// Archive is what the edit takes out, as [View.Archive] has it: it is put
	// into the archive of the chain once the trigger is met and the plan is
	// verified, right before the edit is made. If the archive fails, no edit of
	// the plan is made; see [Options.Regardless]. nil: nothing is kept.
	Archive []*store.Named

	// Make, if not nil, makes the messages of a fold that is dear to make, as
	// by asking a model. It is called only when the trigger is met and all
	// else about the plan is right. Estimate is how many tokens it will be.
	Make     func(ctx context.Context) ([]message.Message, error)
	Estimate int
}

// RewriteOf returns the edit that puts parts in place of those of the message
// at position i. Calls, results and opaque parts must stay, in their order:
// only the arguments, the content of results, text and media may change. Thinking
// may go, each part whole, but for that of the newest turn.
func RewriteOf(i int, parts ...message.Part) Edit {
	return Edit{Kind: Rewrite, At: i, Parts: parts}
}

// FoldOf returns the edit that removes the messages from first to last, both
// included, and puts msgs in their place.
func FoldOf(first, last int, msgs ...message.Message) Edit {
	return Edit{Kind: Fold, Runs: []message.Run{{First: first, Last: last}}, Messages: msgs}
}

// first returns the first position that the edit covers.
func (e *Edit) first() int {
	if e.Kind == Rewrite {
		return e.At
	}
	return e.Runs[0].First
}

// Trigger decides when an editor may edit. An implementation must be safe for
// concurrent use and decide by the view and the plan alone. The plan is made
// when it is first asked for, so a trigger that needs only the view leaves it
// alone; plan returns nil if there is nothing to do.
//
// One that is met is asked again, with no plan to be had, about views that are
// not going to be sent: what a dear plan has left, and what no edit can take
// away, with and without its tokens. So it is known when it will be met for
// ever. What it says there changes nothing else.
//
// Why says in numbers what was compared. An error means that the trigger
// cannot work for this request, and how to mend that.
type Trigger interface {
	Met(v *View, plan func() *Plan) (met bool, why string, err error)
}
