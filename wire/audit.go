package wire

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/laconic-go/laconic/middleware"
)

// audits are the requests of a transport whose answers have ended, in this order, so that each finds what the one before it in
// the same conversation has taught the chain. They run one after the other.
type audits struct {
	mu      sync.Mutex
	waiting []*call
	running bool
	all     sync.WaitGroup // until none waits
}

// mostAudits is how many may wait: each keeps its body.
const mostAudits = 256

// audit sends the request as it came. When the answer has ended, the chain runs beside the client.
func (c *call) audit(came string) (*http.Response, error) {
	c.text, c.removed = came, false
	d := c.decision
	d.BytesOut, d.Edited = d.BytesIn, false
	resp, err := c.pass(c.readable(c.text), c.next, d, "audit")
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		return resp, err
	}
	close(c.settled) // no answer waits for the chain
	c.delivered = newWatcher(resp, c)
	return resp, nil
}

// add takes a call whose answer has ended.
func (a *audits) add(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == mostAudits {
		a.all.Go(func() { c.audited("more requests than an audit can follow") })
		return
	}
	a.waiting = append(a.waiting, c)
	if !a.running {
		a.running = true
		a.all.Go(a.run)
	}
}

// run ends when none waits.
func (a *audits) run() {
	for {
		a.mu.Lock()
		if len(a.waiting) == 0 {
			a.running = false
			a.mu.Unlock()
			return
		}
		c := a.waiting[0]
		a.waiting = a.waiting[1:]
		a.mu.Unlock()
		start := time.Now()
		err := c.runPast(context.WithValue(context.WithoutCancel(c.req.Context()), callKey{}, c))
		c.decision.Added = time.Since(start)
		if err != nil {
			c.audited("the chain failed: " + err.Error())
			continue
		}
		c.audited(c.decision.Reason)
	}
}

// audited reports what would have been done.
func (c *call) audited(why string) {
	c.mu.Lock()
	d := c.decision
	c.mu.Unlock()
	d.Audit, d.Reason = true, why
	c.observe(context.WithoutCancel(c.req.Context()), d)
}

// answered notes what the chain would have sent, and returns the answer to what was sent. Its usage is that of the request as it
// came, so it is reduced as the body is.
func (c *call) answered(text string) (*middleware.Response, error) {
	c.mu.Lock()
	c.trips++
	again := c.trips > 1
	c.decision.BytesOut, c.decision.Edited = int64(len(text)), text != c.text
	w := c.delivered
	c.mu.Unlock()
	if again {
		return nil, &middleware.Error{Kind: middleware.Invalid, Op: op, Err: errors.New("an audit has one answer")}
	}
	share := float64(len(text)) / float64(len(c.text))
	resp := w.response()
	u := &resp.Usage
	for _, n := range []*int{&u.Input, &u.CacheRead, &u.CacheWrite, &u.CacheWriteLong} {
		*n = int(float64(*n) * share)
	}
	return resp, nil
}
