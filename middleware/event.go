package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/laconic-go/laconic/middleware/journal"
)

// EventKind is what happened. A middleware may declare kinds of its own.
type EventKind string

// The kinds of events of this package.
const (
	Edited        EventKind = "edited"         // a plan was applied
	Refused       EventKind = "refused"        // a plan was not applied; Why names the rule that it breaks
	Failed        EventKind = "failed"         // an editor or the archive failed; the view is unchanged unless Why says otherwise
	Misconfigured EventKind = "misconfigured"  // an option does not fit the request; once per conversation
	JournalFailed EventKind = "journal failed" // edits could not be read, trusted or stored; the call continued
	Reopened      EventKind = "reopened"       // the messages were changed between two editors, so the second starts without edits
	UsageIgnored  EventKind = "usage ignored"  // the reported size of a prompt cannot be right; once per conversation
	Sliding       EventKind = "sliding"        // the caller drops old messages itself, so that no edit can be kept
	Repaired      EventKind = "repaired"       // the request broke rules of the provider and was repaired; Detail is []message.Fix
	TooLong       EventKind = "too long"       // the provider refused a prompt for its length; Why says what was learned
	Paused        EventKind = "paused"         // an editor without success is not asked again in this turn
	Overhead      EventKind = "overhead"       // what no edit can remove meets the trigger by itself; once per conversation
	Frequent      EventKind = "frequent"       // an editor edits in most calls; once per conversation
)

// Event is what a middleware did, or why it did not. What it refers to must not be
// modified.
type Event struct {
	Kind   EventKind
	By     string            // name of the middleware
	Time   time.Time         // by the clock of the chain
	Why    string            // the reason in words, with numbers
	Edits  []*journal.Record // Edited: what was applied now
	Before int               // Edited, Refused, Repaired: tokens of all that is sent, before and after
	After  int
	First  int   // Edited: history position of the first changed message
	Calls  int   // Edited: model calls since the last edit of this middleware; -1: this is its first edit
	Err    error // what failed
	Detail any   // further numbers, of a type that the package of the middleware documents; nil: none
}

// Freed returns the tokens by which the view became shorter.
func (e Event) Freed() int { return e.Before - e.After }

// Warning reports whether the event is about something that a person should look at:
// each kind of this package except [Edited], and each event of other kinds with an error.
func (e Event) Warning() bool {
	switch e.Kind {
	case Refused, Failed, Misconfigured, JournalFailed, Reopened, UsageIgnored, Sliding, Repaired, TooLong, Paused, Overhead, Frequent:
		return true
	case Edited:
	}
	return e.Err != nil
}

// String returns the event in one line.
func (e Event) String() string {
	switch {
	case e.Kind == Edited:
		return fmt.Sprintf("%s: %d → %d tokens: %s", e.By, e.Before, e.After, e.Why)
	case e.Err != nil && e.Why == "":
		return fmt.Sprintf("%s: %s: %v", e.By, e.Kind, e.Err)
	}
	return fmt.Sprintf("%s: %s: %s", e.By, e.Kind, e.Why)
}

// Observer receives events. It is called synchronously, by the goroutine that makes the
// call, so it must be safe for concurrent use and fast. A panic of an observer is caught
// and has no effect.
type Observer func(ctx context.Context, e Event)

// Observe reports to fn the events of all layers inside it, down to the model. If
// several are nested, the innermost receives an event first. It receives nothing of a
// [Draft].
func Observe(fn Observer) Middleware {
	return func(next Model) Model {
		return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
			if req.dry != nil {
				return next(ctx, req, emit)
			}
			r := *req
			r.observers = &observers{fn: fn, outer: req.observers}
			return next(ctx, &r, emit)
		}
	}
}

// observers are the observers of a request, the innermost first.
type observers struct {
	fn    Observer
	outer *observers
}

func (o *observers) report(ctx context.Context, e Event) {
	for ; o != nil; o = o.outer {
		func() {
			defer func() { _ = recover() }() // an observer must not break a call
			o.fn(ctx, e)
		}()
	}
}

// Slog returns an observer that logs each event: at level Warn if it is a
// [Event.Warning], else at level Info.
func Slog(l *slog.Logger) Observer {
	return func(ctx context.Context, e Event) {
		attrs := []slog.Attr{slog.String("by", e.By), slog.String("why", e.Why)}
		if e.Kind == Edited {
			attrs = append(attrs, slog.Int("edits", len(e.Edits)),
				slog.Int("before", e.Before), slog.Int("after", e.After), slog.Int("calls", e.Calls))
		}
		if e.Err != nil {
			attrs = append(attrs, slog.Any("err", e.Err))
		}
		if e.Detail != nil {
			attrs = append(attrs, slog.Any("detail", e.Detail))
		}
		level := slog.LevelInfo
		if e.Warning() {
			level = slog.LevelWarn
		}
		l.LogAttrs(ctx, level, string(e.Kind), attrs...)
	}
}
