package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// EventKind is what happened. A middleware may declare kinds of its own.
type EventKind string

// The kinds of events of this package.
const (
	Edited        EventKind = "edited"        // a plan was applied
	Refused       EventKind = "refused"       // a plan was not applied; Why names the rule that it breaks
	Failed        EventKind = "failed"        // an editor, the archive or the journal failed; Err has the reason, Why the consequence
	Skipped       EventKind = "skipped"       // an editor whose trigger is met has nothing to edit, as Why says; once per conversation
	Misconfigured EventKind = "misconfigured" // an option does not fit the request; once per conversation
	Repaired      EventKind = "repaired"      // the request broke rules of the provider and was repaired; Detail is []message.Fix
	Paused        EventKind = "paused"        // an editor without success is not asked again in this turn
	Notice        EventKind = "notice"        // the call continued, but a person should know; Why says what to change, or what was learned
	Truncated     EventKind = "truncated"     // the provider seems to cut prompts without an error; once per conversation
	// ThinkingLeftOut reports thinking that the model would not accept any more for another reason than an edit of this call.
	ThinkingLeftOut EventKind = "thinking left out"

	Missed EventKind = "missed" // the chain does not send again what it has sent before, and no other event says why
	Called EventKind = "called" // the model was called; Detail is a Report, Err why the call failed
)

// Report is the Detail of the event of kind [Called] by which each model call of a chain with an editing middleware is
// reported. Its tokens, but for Usage, are counted like those of all events of the call: see [Size].
type Report struct {
	History int           // tokens that would have been sent without any edit
	View    int           // tokens that were sent
	Saved   int           // History less View; negative if repairs have added more than edits have removed
	Edits   int           // that are in force
	Usage   message.Usage // as the provider reports it; zero: not reported
	Cache   Cache         // as in the response

	Economics Economics // of all edits of this call
}

// LogValue returns the numbers as a group.
func (r Report) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("history", r.History), slog.Int("view", r.View), slog.Int("saved", r.Saved),
		slog.Int("edits", r.Edits), slog.Any("usage", r.Usage), slog.Any("cache", r.Cache), slog.Any("economics", r.Economics))
}

// Event is what a middleware did, or why it did not. It must not be modified.
type Event struct {
	Kind   EventKind
	By     string            // name of the middleware
	Time   time.Time         // by the clock of the chain
	Why    string            // the reason in words, with numbers
	Edits  []*journal.Record // Edited: what was applied now; Notice: remembered edits that do not hold in this call
	Before int               // Edited, Refused, Skipped, Repaired: tokens of all that is sent, before and after
	After  int
	First  int // history position of the first message that Edits change
	Calls  int // Edited: model calls since the last edit of this middleware; -1: this is its first edit

	// Thinking is, of Edited and ThinkingLeftOut, the thinking that the model reads no more, since it accepts it only behind
	// what it was made with; see models.ThinkingBound.
	Thinking ThinkingLoss

	Err    error // what failed
	Detail any   // further numbers, of a type that the package of the middleware documents, or Edited: of type Economics; nil: none
}

// Warning reports whether the event is about something that a person should look at:
// each kind of this package except [Edited], [Skipped] and [Called], and each event of other kinds with an error.
func (e Event) Warning() bool {
	kinds := []EventKind{Refused, Failed, Misconfigured, Repaired, Paused, Notice, Truncated, Missed}
	return e.Err != nil && e.Kind != Called || slices.Contains(kinds, e.Kind)
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

// Observe reports to fn the events of all layers inside it, down to the model, but not those of a [Draft]. fn is
// called by the goroutine that makes the call, so it must be safe for concurrent use and fast; a panic of it has no
// effect. If several are nested, the innermost receives an event first.
func Observe(fn func(ctx context.Context, e Event)) Middleware {
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
	fn    func(ctx context.Context, e Event)
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

// Slog returns an observer for [Observe] that logs each event: at level Warn if it is a
// [Event.Warning], at level Debug if it is [Called], else at level Info.
func Slog(l *slog.Logger) func(ctx context.Context, e Event) {
	return func(ctx context.Context, e Event) {
		level := slog.LevelInfo
		switch {
		case e.Warning():
			level = slog.LevelWarn
		case e.Kind == Called:
			level = slog.LevelDebug
		}
		if !l.Enabled(ctx, level) {
			return
		}
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
		l.LogAttrs(ctx, level, string(e.Kind), attrs...)
	}
}

// Statistics are the sums of the edits of a middleware in all conversations.
type Statistics struct {
	Count     int       // edits: events of kind [Edited]
	Messages  int       // that were changed or removed; one that is edited twice counts twice
	Tokens    int       // that the edits freed
	MeanRatio float64   // of the tokens after an edit to those before
	Last      time.Time // of the last edit, by the clock of the chain
	History   []Event   // of the last ten edits, the newest last; the records in Edits have only kind, runs and ID
}

// SumEdits returns an observer for [Observe] that adds up the edits of the middlewares of this name, or of all
// middlewares if it is empty. After each edit it calls fn with a new sum, one call at a time:
//
//	var stats atomic.Pointer[middleware.Statistics]
//	chain := middleware.Chain(middleware.Observe(middleware.SumEdits(trim.Name, stats.Store)), trim.New(trim.Options{}))
func SumEdits(name string, fn func(*Statistics)) func(context.Context, Event) {
	const longest = 10
	var mu sync.Mutex
	var sum Statistics
	return func(_ context.Context, e Event) {
		if e.Kind != Edited || name != "" && e.By != name {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		records := e.Edits
		e.Edits = make([]*journal.Record, len(records))
		for i, r := range records {
			e.Edits[i] = &journal.Record{Kind: r.Kind, Runs: r.Runs, ID: r.ID}
			sum.Messages += newlyEdited(r)
		}
		sum.Count++
		sum.Tokens += e.Before - e.After
		sum.Last = e.Time
		sum.MeanRatio += (float64(e.After)/float64(max(1, e.Before)) - sum.MeanRatio) / float64(sum.Count)
		sum.History = append(sum.History[max(0, len(sum.History)+1-longest):], e)
		now := sum
		now.History = slices.Clone(sum.History)
		fn(&now)
	}
}

// newlyEdited returns the number of messages of the history that an edit covers, without
// those of the folds that it replaces.
func newlyEdited(r *journal.Record) (n int) {
	for _, run := range r.Runs {
		n += run.Last - run.First + 1
	}
	for _, c := range r.Covered {
		if c.Kind != journal.Fold {
			continue
		}
		for _, run := range c.Runs {
			n -= run.Last - run.First + 1
		}
	}
	return n
}
