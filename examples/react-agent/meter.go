package main

import (
	"context"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// meter measures what the model is really sent. It is a middleware, to be put
// behind all others, and changes nothing.
type meter struct {
	mu   sync.Mutex
	sent measure
}

// measure is what has been sent so far.
type measure struct {
	calls      int // to the model
	peak       int // tokens of the largest request
	last       int // and of the last
	violations int // broken rules of message.Check
}

func (m *meter) around(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		m.count(req)
		return next(ctx, req, emit)
	}
}

func (m *meter) count(req *middleware.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent.calls++
	m.sent.last = tokens.Meter{}.Request(req.Messages, req.Tools)
	m.sent.peak = max(m.sent.peak, m.sent.last)
	m.sent.violations += len(message.Rules(0).Violations(req.Messages))
}

// read returns what has been sent so far.
func (m *meter) read() measure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sent
}
