package summarize

import (
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
)

// The kinds of events of this package. Their Detail is a [Report], and so is that of
// the [middleware.Edited] event of a fold.
const (
	Advised     middleware.EventKind = "advised"     // Options.Soft is met: a fold is near
	Summarizing middleware.EventKind = "summarizing" // a summary is started
	Attempted   middleware.EventKind = "attempted"   // a writer was asked once; Err is why it failed, or why its text was not accepted
	Summarized  middleware.EventKind = "summarized"  // a summary is made and used; Err is why it is not in the words of the writer
	Flushed     middleware.EventKind = "flushed"     // Options.Flush was called before a fold; the fold continues after its Err
)

// Report is the Detail of the events of this package. Numbers that do not belong to
// the kind of the event are 0.
type Report struct {
	Messages int           // Summarizing, Summarized: messages of the history that the summary covers; Edited: those that are new in it
	Memories int           // Flushed: what Options.Flush returned
	Usage    message.Usage // Attempted: tokens of the request as its provider reports them; Summarized: of all requests for the summary
	Cost     models.Cost   // of Usage; 0 if the price is unknown

	// Inventions are what the text of a writer has and the record has not; see
	// [Options.Inventions]. Of kind Attempted; nil: nothing was found.
	Inventions []string

	request bool // the event reports one request
}

// ModelUsage returns the tokens and the cost of one request to a model. They are 0
// for all kinds but [Attempted], so the sum over all events counts each request once.
func (r Report) ModelUsage() (message.Usage, models.Cost) {
	if !r.request {
		return message.Usage{}, 0
	}
	return r.Usage, r.Cost
}

// eventLog holds the events of one summary. Each of them is reported once.
// It is safe for concurrent use.
type eventLog struct {
	mu       sync.Mutex
	events   []middleware.Event
	reported int // the first of them
}

func (l *eventLog) add(e middleware.Event, reported bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	if reported {
		l.reported = len(l.events)
	}
}

// take returns the events that are not reported yet, and counts them as reported; that of
// kind [Summarized] only if the summary is used. A dry run gets all, and counts none.
func (l *eventLog) take(used, dry bool) []middleware.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dry {
		return l.events
	}
	n := len(l.events)
	if n > 0 && l.events[n-1].Kind == Summarized && !used {
		n--
	}
	from := l.reported
	l.reported = max(from, n)
	return l.events[from:l.reported]
}

// paid returns what was paid for all requests; known is false if the price of one is unknown.
func (l *eventLog) paid() journal.Cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := journal.Cost{Known: true}
	for _, e := range l.events {
		if e.Call != nil {
			c.Spent, c.Known = c.Spent+e.Call.Bill.Spent, c.Known && e.Call.Bill.Known
		}
	}
	return c
}

func (l *eventLog) spent() (usage message.Usage, cost models.Cost) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		r, _ := e.Detail.(Report)
		u, c := r.ModelUsage()
		usage, cost = usage.Add(u), cost+c
	}
	return usage, cost
}
