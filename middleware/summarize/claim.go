package summarize

import (
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
)

// How much is remembered of what was flushed.
const (
	maxClaims = 1 << 14
	maxDebts  = 64
)

// claims are the messages whose memories are kept, or are being kept, so that this
// is done once for each. It is safe for concurrent use.
type claims struct {
	mu     sync.Mutex
	taken  map[place]bool
	places []place // those that are taken, oldest first
	debts  []*debt // of dry runs, oldest first
}

// place is a message, by all that was said up to there.
type place struct {
	scope string
	id    message.ID
}

// debt is a fold whose memories are to be kept: at once, or, of a dry run, when that
// is committed.
type debt struct {
	key      key
	places   []place
	messages []message.Message
}

func newClaims() *claims { return &claims{taken: map[place]bool{}} }

// take claims places, and tells which of them nobody has claimed before.
func (c *claims) take(all []place) (mine []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mine = make([]bool, len(all))
	for i, p := range all {
		if c.taken[p] {
			continue
		}
		if len(c.places) == maxClaims { // many at once, since to move the others takes time
			const some = maxClaims / 8
			for _, old := range c.places[:some] {
				delete(c.taken, old)
			}
			c.places = slices.Delete(c.places, 0, some)
		}
		c.taken[p] = true
		c.places = append(c.places, p)
		mine[i] = true
	}
	return mine
}

// release takes a claim back.
func (c *claims) release(all []place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range all {
		delete(c.taken, p)
	}
	c.places = slices.DeleteFunc(c.places, func(p place) bool { return !c.taken[p] })
}

// owe remembers a fold of a dry run, in place of an equal one.
func (c *claims) owe(d *debt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.debts = slices.DeleteFunc(c.debts, func(o *debt) bool { return o.key == d.key })
	if len(c.debts) == maxDebts {
		c.debts = slices.Delete(c.debts, 0, 1)
	}
	c.debts = append(c.debts, d)
}

func (c *claims) owes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.debts) > 0
}

// due takes out the fold that ends at a message, if there is one from a dry run.
func (c *claims) due(scope string, last message.ID) *debt {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.debts, func(d *debt) bool { return d.key.scope == scope && d.key.last == last })
	if i < 0 {
		return nil
	}
	d := c.debts[i]
	c.debts = slices.Delete(c.debts, i, i+1)
	return d
}
