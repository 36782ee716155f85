package middleware

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/report"
)

// EventKind is what happened. A middleware may declare kinds of its own.
type EventKind string

// The kinds of events of this package.
const (
	Edited        EventKind = "edited"        // a plan was applied
	Refused       EventKind = "refused"       // a plan was not applied; Why names the rule that it breaks
	Failed        EventKind = "failed"        // an editor, the archive, the journal or fit failed; Err has the reason, Why the consequence
	Skipped       EventKind = "skipped"       // the trigger is met, but there is nothing to edit, as Why explains; once per conversation
	NotMet        EventKind = "not met"       // an editor edits nothing in this call, as Why explains; only if Env.Explain asks for it
	Misconfigured EventKind = "misconfigured" // an option does not fit the request; once per conversation
	Repaired      EventKind = "repaired"      // the request broke rules of the provider and was repaired; Detail is []message.Fix
	Paused        EventKind = "paused"        // an editor without success is not asked again in this turn
	Notice        EventKind = "notice"        // the call continued, but a person should know; Why has what to change, or what was learned
	Truncated     EventKind = "truncated"     // the provider seems to cut prompts without an error; once per conversation
	Missed        EventKind = "missed"        // the chain does not send again what it has sent before, and no other event explains it
	Called        EventKind = "called"        // the model was called; Call has the numbers, Err why the call failed

	// ThinkingLeftOut: the model would not accept thinking any more, for another reason than an edit of this call.
	ThinkingLeftOut EventKind = "thinking left out"
)

// Event is what a middleware did, or why it did not. It must not be modified.
type Event struct {
	Kind EventKind
	By   string    // name of the middleware: of those of this module that of its package, such as "trim"
	Time time.Time // by the clock of the chain
	Why  string    // the reason in words, with numbers

	// Reason is a short name of the reason, one of a few, for labels. Refused: the rule that the plan breaks: "empty view",
	// "pairs", "positions", "protected", "protected tool", "shorter", "structure", "thinking" or "valid message". Failed: what
	// has failed: "archive", "counter", "editor", "fold" (making its messages), "journal" or "room" (of fit: what cannot be made
	// to fit is sent). "" of other kinds.
	Reason string

	Edits  []*journal.Record // Edited: what was applied now; Notice: remembered edits that do not hold in this call
	Before int               // Edited, Refused, Skipped, Repaired: tokens of all that is sent, before and after
	After  int
	First  int // history position of the first message that Edits change
	Calls  int // Edited: model calls since the last edit of this middleware; -1: this is its first edit

	// Thinking is, of Edited and ThinkingLeftOut, the thinking that is left out, since the model accepts it only after
	// what it was made with; see models.Model.
	Thinking struct {
		Answers int // whose thinking is left out now and was not before
		Tokens  int // of it
	}

	Call      *report.Call      // Called, and events of a model call for a summary: the numbers of the call; else nil
	Economics *report.Economics // Edited: what the edits cost and save; else nil

	Err    error // what failed
	Detail any   // more, of a type that the package of the middleware documents; nil: nothing
}

// Warning reports whether the event is about something that a person should look at:
// each kind of this package except [Edited], [Skipped], [NotMet] and [Called], and each event of other kinds with an error.
func (e Event) Warning() bool {
	kinds := []EventKind{Refused, Failed, Misconfigured, Repaired, Paused, Notice, Truncated, ThinkingLeftOut, Missed}
	return e.Err != nil && e.Kind != Called || slices.Contains(kinds, e.Kind)
}

// String returns the event in one line: what happened, why, and the error unless Why has it already.
func (e Event) String() string {
	why := e.Why
	if e.Err != nil {
		text, _, _ := strings.Cut(e.Err.Error(), "\ngoroutine ") // without the stack of a panic
		text = strings.TrimPrefix(text, e.By+": ")
		if !strings.Contains(why, text) {
			why = strings.TrimPrefix(why+": "+text, ": ")
		}
	}
	why = strings.ReplaceAll(why, "\n", "; ")
	if e.Kind == Edited {
		return fmt.Sprintf("%s: %d → %d tokens: %s", e.By, e.Before, e.After, why)
	}
	return fmt.Sprintf("%s: %s: %s", e.By, e.Kind, why)
}

// Observe reports to fn the events of all layers inside it, down to the model, but not those of a [Draft]. fn is
// called by the goroutine that makes the call, so it must be safe for concurrent use and fast; a panic of it has no
// effect. If several are nested, the innermost receives an event first.
func Observe(fn func(ctx context.Context, e Event)) Middleware {
	return func(next Model) Model {
		return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
			return next(ctx, req.observed(observers{fn: fn}), emit)
		}
	}
}

// Around calls fn right before a request leaves the chain for the model, when edits are made and remembered, and for each
// model call of middlewares inside it, such as those for summaries. fn gets what is known of the call, and returns the
// context of the model call and a function that is called after it with all numbers of the call, like those of the event
// [Called]; nil: none. A call that is made again is another one. It is for spans of tracing. The rules of [Observe] hold: a
// [Draft] calls nothing. If several are nested, the outermost is first, and the last one after the call.
func Around(fn func(ctx context.Context, c report.Call) (context.Context, func(report.Call, error))) Middleware {
	return func(next Model) Model {
		return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
			return next(ctx, req.observed(observers{around: fn}), emit)
		}
	}
}

type beginCall = func(ctx context.Context, c report.Call) (context.Context, func(report.Call, error))

// observed returns the request with one more observer, or in a dry run as it is.
func (r *Request) observed(o observers) *Request {
	if r.dry != nil {
		return r
	}
	own := *r
	o.outer = r.observers
	own.observers = &o
	return &own
}

// observers are the observers of a request, the innermost first.
type observers struct {
	fn     func(ctx context.Context, e Event) // of Observe; nil: it is that of Around
	around beginCall                          // of Around; nil: it is that of Observe
	outer  *observers
}

func (o *observers) report(ctx context.Context, e Event) {
	for ; o != nil; o = o.outer {
		if o.fn == nil {
			continue
		}
		func() {
			defer func() { _ = recover() }() // an observer must not break a call
			o.fn(ctx, e)
		}()
	}
}
