package summarize

import (
	"context"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
)

// The kinds of events of this package. Their Detail is a [Report], and so is that of the [middleware.Edited] event of a fold.
const (
	Advised     middleware.EventKind = "advised"     // Options.Soft is met: a fold is near
	Summarizing middleware.EventKind = "summarizing" // a summary is started
	Attempted   middleware.EventKind = "attempted"   // a writer was asked once; Err is why it failed, or why its text was not accepted
	Summarized  middleware.EventKind = "summarized"  // a summary is made and used; Err is why it is not in the words of the writer
	Flushed     middleware.EventKind = "flushed"     // Options.Flush was called before a fold; the fold continues after its Err
)

// Report is the Detail of the events of this package. Numbers that do not belong to the kind of the event are 0.
type Report struct {
	Messages int           // Summarizing, Summarized: messages of the history that the summary covers; Edited: those that are new in it
	Memories int           // Flushed: what Options.Flush returned
	Usage    message.Usage // Attempted: tokens of the request as its provider reports them; Summarized: of all requests for the summary
	Cost     models.Cost   // of Usage; 0 if the price is unknown

	// Inventions are what the text of a writer has and the record has not; see
	// [Options.Inventions]. Of kind Attempted; nil: nothing was found.
	Inventions []string
}

// eventLog holds the events of one summary. Each of them is reported once. It is safe for concurrent use.
type eventLog struct {
	later bool // events are only logged: they are reported once the summary is used, or all of its plan are made

	mu       sync.Mutex
	events   []middleware.Event
	reported int // the first of them
}

// add logs an event, and reports it unless that is done later. A dry run reports all of them again.
func (l *eventLog) add(ctx context.Context, v *middleware.View, e middleware.Event) {
	e.By = layerName
	l.mu.Lock()
	l.events = append(l.events, e)
	if !l.later && !v.Request().Dry() {
		l.reported = len(l.events)
	}
	l.mu.Unlock()
	if !l.later {
		v.Report(ctx, e)
	}
}

// tell reports the events that are not reported yet, that of kind [Summarized] only if the summary is used. A dry run gets
// all of them, and counts none as reported.
func (l *eventLog) tell(ctx context.Context, v *middleware.View, used bool) {
	l.mu.Lock()
	from, to := l.reported, len(l.events)
	if to > 0 && l.events[to-1].Kind == Summarized && !used {
		to--
	}
	if v.Request().Dry() {
		from = 0
	} else {
		l.reported = max(from, to)
	}
	untold := l.events[from:max(from, to)]
	l.mu.Unlock()
	for _, e := range untold {
		v.Report(ctx, e)
	}
}

// sum returns what all requests took: their tokens and cost by the table of models, and what was paid as the core counts it.
func (l *eventLog) sum() (usage message.Usage, cost models.Cost, paid journal.Cost) {
	l.mu.Lock()
	defer l.mu.Unlock()
	paid.Known = true
	for _, e := range l.events {
		if r, ok := e.Detail.(Report); ok && e.Kind == Attempted {
			usage, cost = usage.Add(r.Usage), cost+r.Cost
		}
		if e.Call != nil {
			paid.Spent, paid.Known = paid.Spent+e.Call.Bill.Spent, paid.Known && e.Call.Bill.Known
		}
	}
	return usage, cost, paid
}
