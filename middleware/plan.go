package middleware

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// Plan is what one middleware wants to edit now. Either all its edits are applied or
// none.
type Plan struct {
	Edits []Edit // in any order; no position twice. If empty, nothing is edited and Why is reported
	Why   string // in words: what is done, or why nothing is done

	// Detail is that of the event that reports the plan. nil: its [Economics]. If it is a
	// func(Economics) any, it is called with them, and returns the Detail.
	Detail any

	// LastResort allows rewrites of calls and results of protected tools, see [Env.Protect],
	// and of arguments of answered calls of the newest round. It is for an editor that makes
	// the request fit, if nothing else helps.
	LastResort bool

	// Set by the core before a trigger sees the plan.
	Saved int // tokens by which the view becomes shorter
	First int // view position of the first changed message
	Calls int // model calls since the newest edit of the editor; -1: it has made none
}

// Edit is one edit of a plan. Positions are those of the view. [RewriteOf] and [FoldOf]
// make the usual ones.
type Edit struct {
	Kind     journal.Kind
	At       int               // of a rewrite: the message
	Parts    []message.Part    // of a rewrite: its new parts
	Runs     []message.Run     // of a fold: the messages that it replaces, in order
	Messages []message.Message // of a fold: the new messages, at the position of the last run

	// Archive is the content that the edit removes, as [View.Archive] returns it. It is
	// stored right before the edit is made. If that fails, no edit of the plan is made;
	// see [Options.EditWithoutArchive].
	Archive []store.Named

	// Once makes an edit that holds for this history only. When it has grown, what the edit
	// has replaced is sent again.
	Once bool

	// Since is, of a rewrite, the view position of the message with which the edit became possible, for triggers that
	// add up what it would have saved since; 0: unknown.
	Since int

	// Make, if not nil, makes the messages of a fold that is expensive, such as a summary,
	// when everything else in the plan is verified. Estimate is the tokens to expect.
	Make     func(ctx context.Context) ([]message.Message, error)
	Estimate int
}

// RewriteOf returns the edit that replaces the parts of message i of the view. Calls,
// results and opaque parts must be kept, in their order: only arguments, the content of
// results, text and media may change. Thinking may be removed, except in the newest turn.
func RewriteOf(i int, parts ...message.Part) Edit {
	return Edit{Kind: journal.Rewrite, At: i, Parts: parts}
}

// FoldOf returns the edit that replaces the messages from first to last, both included,
// by msgs.
func FoldOf(first, last int, msgs ...message.Message) Edit {
	return Edit{Kind: journal.Fold, Runs: []message.Run{{First: first, Last: last}}, Messages: msgs}
}

// Trigger decides when an editor may edit. It must be safe for concurrent use. It decides by
// the view and the plan, and by what the view gives: the time of [View.Env], and what was
// kept with [View.Store], which may only save work. Apart from the time, equal calls get
// equal answers, so that a repeated call sends the same bytes.
//
// plan makes the plan when it is called for the first time, so a trigger that needs only
// the view should not call it. It returns nil if there is nothing to do. why is what was
// compared, in numbers. An error says why the trigger cannot work for this request.
//
// After an edit, Met is also asked, without a plan, about the view that is left, and then
// about one that has only what no edit can remove, with and without its tokens.
type Trigger interface {
	Met(v *View, plan func() *Plan) (met bool, why string, err error)
}

// preview returns the records of a plan, as translate does, and the verified view that they
// make. Folds whose messages are not made yet count as estimated.
func preview(v *View, name string, p *Plan, window int) ([]*journal.Record, *View, error) {
	records, err := translate(v, name, p, window)
	if err != nil {
		return nil, nil, err
	}
	if err := sparesCalls(v, p); err != nil {
		return nil, nil, err
	}
	s, w := v.session, *v
	newer, first := make(edit.List, len(records)), len(s.Body)
	for i, r := range records {
		newer[i] = s.Weigh(r)
		first = min(first, r.Runs[0].First)
	}
	if w.list, err = v.list.Over(newer); err != nil {
		return nil, nil, err
	}
	before := &v.result
	if v.repaired {
		before = nil
	}
	w.unsaved, w.result = true, s.Apply(s.all, w.list, before, first)
	pending := false
	for i := range p.Edits {
		if e := &p.Edits[i]; e.Make != nil {
			w.result.Sum += e.Estimate
			pending = true
		}
	}
	w.measure()
	if w.size.Counted >= v.size.Counted {
		return nil, nil, notShorter(v, &w)
	}
	if err := s.Verify(&v.result, &w.result, records, pending); err != nil {
		return nil, nil, err
	}
	return records, &w, nil
}

// sparesCalls returns an error if a plan changes a call of the newest round, or changes or
// removes a call or a result of a protected tool.
func sparesCalls(v *View, p *Plan) error {
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Kind == journal.Rewrite && !p.LastResort {
			m := &v.result.Messages[e.At]
			if m.Role == message.RoleAssistant && v.Protected(e.At)&ProtectNewest != 0 {
				after := message.Message{Parts: e.Parts}
				if !slices.Equal(slices.Collect(after.Calls()), slices.Collect(m.Calls())) {
					return fmt.Errorf("message %d: the calls of the newest round must stay as they are", v.Span(e.At).First)
				}
			}
			kept := func(parts []message.Part) []message.Part {
				return slices.DeleteFunc(slices.Clone(parts), func(part message.Part) bool { return !v.Protects(e.At, part) })
			}
			if len(v.req.protect) > 0 && !slices.Equal(kept(m.Parts), kept(e.Parts)) {
				return fmt.Errorf("message %d: calls and results of a protected tool must stay as they are", v.Span(e.At).First)
			}
		}
		if len(v.req.protect) == 0 {
			continue
		}
		for _, run := range e.Runs {
			for k := run.First; k <= run.Last; k++ {
				if v.Protected(k)&ProtectTool != 0 {
					return fmt.Errorf("message %d: the fold would remove a call or a result of a protected tool", v.Span(k).First)
				}
			}
		}
	}
	return nil
}

func notShorter(before, after *View) error {
	return fmt.Errorf("the view would not become shorter: %+d tokens", after.size.Charged(after.size.Counted-before.size.Counted))
}
