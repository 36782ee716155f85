package middleware

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// Editor looks at a view and returns the plan of its edits, or nil if there is nothing to
// do. It does not make them. It must be deterministic and safe for concurrent use, and
// must not modify what it sees. If it returns an error, the call continues without it; an
// error of kind [Invalid] means that its options do not fit the request, and is reported
// once per conversation.
type Editor func(ctx context.Context, v *View) (*Plan, error)

// Plan is what one middleware wants to edit now. Either all its edits are applied or
// none.
type Plan struct {
	Edits  []Edit // in any order; no position twice. If empty, nothing is edited and Why is reported
	Why    string // in words: what is done, or why nothing is done
	Detail any    // for the event that reports the plan; nil: nothing

	// Set by the core before a trigger sees the plan.
	Saved int // tokens by which the view becomes shorter
	First int // view position of the first changed message
}

// pending reports whether the messages of some folds are not made yet.
func (p *Plan) pending() bool {
	for i := range p.Edits {
		if p.Edits[i].Make != nil {
			return true
		}
	}
	return false
}

// Edit is one edit of a plan. Positions are those of the view. [RewriteOf] and [FoldOf]
// make the usual ones.
type Edit struct {
	Kind     journal.Kind
	At       int               // of a rewrite: the message
	Parts    []message.Part    // of a rewrite: its new parts
	Runs     []message.Run     // of a fold: the messages that it replaces, in order
	Messages []message.Message // of a fold: the new messages, at the position of the last run

	// Archive is the content that the edit removes, as [View.Archive] returns it. It
	// is put into the archive of the chain when the trigger is met and the plan is
	// verified, right before the edit is made. If the archive fails, no edit of the
	// plan is made; see [Options.EditWithoutArchive].
	Archive []*store.Named

	// Make, if not nil, makes the messages of a fold that is expensive to make, such as
	// a summary. It is called only when the trigger is met and everything else in the
	// plan is verified. Estimate is the number of tokens to expect.
	Make     func(ctx context.Context) ([]message.Message, error)
	Estimate int
}

// RewriteOf returns the edit that replaces the parts of message i of the view. Calls,
// results and opaque parts must stay, in their order: only arguments, the content of
// results, text and media may change. A thinking part may be removed, except in the
// newest turn.
func RewriteOf(i int, parts ...message.Part) Edit {
	return Edit{Kind: journal.Rewrite, At: i, Parts: parts}
}

// FoldOf returns the edit that replaces the messages from first to last, both included,
// by msgs.
func FoldOf(first, last int, msgs ...message.Message) Edit {
	return Edit{Kind: journal.Fold, Runs: []message.Run{{First: first, Last: last}}, Messages: msgs}
}

// first returns the first position that the edit covers.
func (e *Edit) first() int {
	if e.Kind == journal.Rewrite {
		return e.At
	}
	return e.Runs[0].First
}

// appendRuns appends the runs that the edit covers, of a view of n messages.
func (e *Edit) appendRuns(runs []message.Run, n int) ([]message.Run, error) {
	switch {
	case e.Kind == journal.Rewrite && (e.At < 0 || e.At >= n):
		return nil, fmt.Errorf("rewrites message %d of %d", e.At, n)
	case e.Kind == journal.Rewrite:
		return append(runs, message.Run{First: e.At, Last: e.At}), nil
	case e.Kind != journal.Fold:
		return nil, fmt.Errorf("has kind %q, want %q or %q", e.Kind, journal.Rewrite, journal.Fold)
	case len(e.Runs) == 0:
		return nil, errors.New("folds no message")
	}
	end := -1
	for _, r := range e.Runs {
		if r.First <= end || r.Last < r.First || r.Last >= n {
			return nil, fmt.Errorf("folds messages %d to %d of %d", r.First, r.Last, n)
		}
		end = r.Last
	}
	return append(runs, e.Runs...), nil
}

// Trigger decides when an editor may edit. It must be safe for concurrent use and decide
// by the view and the plan alone.
//
// plan makes the plan when it is called for the first time, so a trigger that needs only
// the view should not call it. It returns nil if there is nothing to do. why is what was
// compared, in numbers. An error means that the trigger cannot work for this request, and
// says how to correct that.
//
// After an edit, Met is also asked about the view that is left, and, if it is still met
// then or later, about one that has only what no edit can remove, with and without its
// tokens. There is no plan then. So the core finds out that no edit can satisfy a trigger.
type Trigger interface {
	Met(v *View, plan func() *Plan) (met bool, why string, err error)
}
