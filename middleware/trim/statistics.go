package trim

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Statistics sums up what this middleware has removed, by listening to events:
// put [Statistics.Observe] before it in the chain. One hears all conversations of
// its chain, and all trims. The zero value is ready; a Statistics must not be
// copied and is safe for concurrent use.
type Statistics struct {
	mu     sync.Mutex
	sum    Summary
	ratios float64
}

// Summary is what a [Statistics] knows.
type Summary struct {
	Count     int       // how often something was removed
	Messages  int       // that were removed in all
	Tokens    int       // likewise
	MeanRatio float64   // of the tokens after to those before; 0: nothing was removed
	Last      time.Time // by the clock of the chain; zero: never
	History   []Entry   // the last ten, the newest last
}

// Entry is one removal, in numbers: it holds no text.
type Entry struct {
	Report

	Time   time.Time     // by the clock of the chain
	Before int           // tokens of all that is sent
	After  int           // likewise
	Runs   []message.Run // what is gone, by position in the history behind its leading system messages
	IDs    []message.ID  // of the last message of each edit
}

// longestHistory is how many entries are kept.
const longestHistory = 10

// Observe takes an event in. It is a [middleware.Observer].
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
	s.sum.Count++
	s.sum.Messages += r.Messages
	s.sum.Tokens += e.Freed()
	s.sum.Last = e.Time
	if e.Before > 0 {
		s.ratios += float64(e.After) / float64(e.Before)
	}
	if n := len(s.sum.History); n == longestHistory {
		s.sum.History = slices.Delete(s.sum.History, 0, 1)
	}
	s.sum.History = append(s.sum.History, entry)
}

// Summary returns what is known by now. The slices of the entries are shared, and
// never written to.
func (s *Statistics) Summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.sum
	sum.History = slices.Clone(sum.History)
	if sum.Count > 0 {
		sum.MeanRatio = s.ratios / float64(sum.Count)
	}
	return sum
}
