package trim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// Level is how full the room is:
//
//	"none"       below Options.Warning, or the window is not known
//	"warning"    from Options.Warning on
//	"soft"       from Options.Threshold on
//	"hard"       from 0.95 on, or from Options.Threshold if that is higher
//	"emergency"  the room is full, or the view is larger
type Level string

const (
	none      Level = "none"
	warning   Level = "warning"
	soft      Level = "soft"
	hard      Level = "hard"
	emergency Level = "emergency"
)

// levelOf returns the level of a number of tokens, which is none in a room of 0.
func levelOf(tokens, room int, warn, threshold float64) Level {
	switch {
	case room <= 0:
		return none
	case tokens >= room:
		return emergency
	case tokens >= trigger.Least(max(0.95, threshold), room):
		return hard
	case tokens >= trigger.Least(threshold, room):
		return soft
	case tokens >= trigger.Least(warn, room):
		return warning
	}
	return none
}

// Change is the detail of an event of kind [LevelChanged].
type Change struct {
	From, To    Level
	Tokens      int     // of the request
	Room        int     // tokens of the window less the reserve; 0 if the window is not known any more
	Utilisation float64 // Tokens as a share of Room; 0 if Room is
}

func (c Change) text() string {
	if c.Room == 0 {
		return fmt.Sprintf("%s → %s: the window is not known", c.From, c.To)
	}
	return fmt.Sprintf("%s → %s: %d of %d tokens, %.3g of the room", c.From, c.To, c.Tokens, c.Room, c.Utilisation)
}

// Report is the detail of the event of an edit. The edits of the event have the
// positions and IDs of the removed messages.
type Report struct {
	Strategy   Strategy // Middle or Oldest
	Confidence float64  // with which Hybrid has decided; 0: it has tried both, or was not used
	Level      Level    // before the edit
	Target     int      // tokens to come down to
	Reached    bool     // the view has no more than Target tokens after the edit
	Messages   int      // removed by this edit
	Units      int      // removed by this edit
	Kept       int      // messages left in the view
}

// why describes an edit for people.
func (t *trimmer) why(r Report) string {
	why := shorten.List(shorten.Amount{N: r.Messages, One: "removed 1 message", Many: "removed %d messages"}) + " by " + string(r.Strategy)
	switch {
	case t.Strategy != Hybrid:
	case r.Confidence == 0:
		why += ", the better of both"
	default:
		why += fmt.Sprintf(", confidence %g", r.Confidence)
	}
	if !r.Reached {
		why += fmt.Sprintf("; the target of %d tokens is not reached", r.Target)
	}
	return why
}

// Statistics adds up what all trims after it in a chain remove, in all conversations.
// The zero value is ready to use. It must not be copied, and is safe for concurrent use.
type Statistics struct {
	mu  sync.Mutex
	sum Summary
}

// Summary is the content of a [Statistics].
type Summary struct {
	Count     int       // edits
	Messages  int       // removed
	Tokens    int       // removed
	MeanRatio float64   // of the tokens after an edit to those before; 0 if Count is
	Last      time.Time // of the last edit, by the clock of the chain; zero if Count is
	History   []Entry   // the last ten edits, the newest last
}

// Entry is one edit, in numbers: it has no text.
type Entry struct {
	Report

	Time          time.Time     // by the clock of the chain
	Before, After int           // tokens of the request
	Runs          []message.Run // removed positions in the history, which begin after its leading system messages
	IDs           []message.ID  // of the last message of each edit
}

// Observe adds an event. It is a [middleware.Observer].
func (s *Statistics) Observe(_ context.Context, e middleware.Event) {
	r, ok := e.Detail.(Report)
	if !ok || e.Kind != middleware.Edited {
		return
	}
	entry := Entry{Report: r, Time: e.Time, Before: e.Before, After: e.After}
	for _, edit := range e.Edits {
		entry.Runs = append(entry.Runs, edit.Runs...)
		entry.IDs = append(entry.IDs, edit.ID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := &s.sum
	sum.Count++
	sum.Messages += r.Messages
	sum.Tokens += e.Freed()
	sum.Last = e.Time
	sum.MeanRatio += (float64(e.After)/float64(max(1, e.Before)) - sum.MeanRatio) / float64(sum.Count)
	sum.History = append(sum.History[max(0, len(sum.History)-9):], entry)
}

// Summary returns the sums so far. The slices of its entries must not be modified.
func (s *Statistics) Summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.sum
	sum.History = slices.Clone(sum.History)
	return sum
}
