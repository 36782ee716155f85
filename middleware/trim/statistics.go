package trim

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Statistics are the sums of the edits of a middleware in all conversations.
type Statistics struct {
	Count     int                // edits: events of kind [middleware.Edited]
	Messages  int                // that were changed or removed; one that is edited twice counts twice
	Tokens    int                // that the edits freed
	MeanRatio float64            // of the tokens after an edit to those before
	Last      time.Time          // of the last edit, by the clock of the chain
	History   []middleware.Event // of the last ten edits, the newest last; the records in Edits have only kind, runs and ID
}

// SumEdits returns an observer for [middleware.Observe] that adds up the edits of the middlewares of this name, or of all
// middlewares if it is empty. After each edit it calls fn with a new sum, one call at a time:
//
//	var stats atomic.Pointer[trim.Statistics]
//	chain := middleware.Chain(middleware.Observe(trim.SumEdits("trim", stats.Store)), trim.New(trim.Options{}))
func SumEdits(name string, fn func(*Statistics)) func(context.Context, middleware.Event) {
	const longest = 10
	var mu sync.Mutex
	var sum Statistics
	return func(_ context.Context, e middleware.Event) {
		if e.Kind != middleware.Edited || name != "" && e.By != name {
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
