package gateway

import (
	"sync"

	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// ledger has the balance of each conversation, by scope and conversation. It is safe for concurrent use.
type ledger struct {
	mu sync.Mutex
	of map[[2]string]*balance // at most maxBalances
}

// balance is what the edits of a conversation have cost and saved.
type balance struct {
	broken int         // requests that broke the cached prefix
	saved  models.Cost // an estimate; negative: the edits cost more
	told   bool        // that they cost more
}

const (
	maxBalances = 10_000
	manyBreaks  = 3 // from here on it is told that edits cost more than they save
)

// book adds a call to the balance of its conversation, and returns it.
func (l *ledger) book(c *report.Call) balance {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := [2]string{c.Scope, c.Conversation}
	b := l.of[key]
	if b == nil {
		if l.of == nil || len(l.of) >= maxBalances {
			l.of = map[[2]string]*balance{}
		}
		b = &balance{}
		l.of[key] = b
	}
	if breaks(c) {
		b.broken++
	}
	if c.Bill.Estimated {
		b.saved += c.Bill.NotSpentEstimate
	}
	now := *b
	b.told = b.told || now.overpays()
	return now
}

// breaks reports whether edits have broken the cached prefix in a call.
func breaks(c *report.Call) bool { return c.Cache.Broken == "edit" || c.Cache.Broken == "chain" }

// overpays reports whether it is to be told, once, that the edits cost more than they save.
func (b balance) overpays() bool { return !b.told && b.broken >= manyBreaks && b.saved < 0 }
