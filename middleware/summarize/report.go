package summarize

import (
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
)

// The kinds of events of this package. Their Detail is a [Report], and so is that of
// the [middleware.Edited] event of a fold.
const (
	Advised     middleware.EventKind = "advised"      // Options.Soft is met: a fold is near
	Summarizing middleware.EventKind = "summarizing"  // a summary is started
	Attempted   middleware.EventKind = "attempted"    // a writer was asked once, with or without success
	Rejected    middleware.EventKind = "rejected"     // a request failed, or its text was not accepted; Err is the reason
	Summarized  middleware.EventKind = "summarized"   // a summary is made and used
	Flushed     middleware.EventKind = "flushed"      // Options.Flush kept memories before a fold
	FlushFailed middleware.EventKind = "flush failed" // Options.Flush failed with Err; the fold continues
)

// Report is the Detail of the events of this package. Numbers that do not belong to
// the kind of the event are 0.
type Report struct {
	Messages int           // Summarizing, Summarized: messages of the history that the summary stands for; Edited: those that are new in it
	Memories int           // Flushed: what Options.Flush returned
	Usage    message.Usage // Attempted: tokens of the request as its provider reports them; Summarized: of all requests for the summary
	Cost     models.Cost   // of Usage; 0 if the price is unknown

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

// all returns all events, reported or not.
func (l *eventLog) all() []middleware.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events
}

// take returns the events that are not reported yet, and counts them as reported.
// Without final it leaves out the one of kind [Summarized].
func (l *eventLog) take(final bool) []middleware.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.events)
	if n > 0 && l.events[n-1].Kind == Summarized && !final {
		n--
	}
	if n <= l.reported {
		return nil
	}
	out := l.events[l.reported:n]
	l.reported = n
	return out
}
