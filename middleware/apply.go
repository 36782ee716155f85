package middleware

import (
	"context"
	"errors"
	"sync"
)

// Apply runs the middlewares without a model and returns what the model would
// have been sent, with the events on the way: for loops and SDKs that call
// their model themselves. The edits are remembered as in a call. A middleware
// that looks at answers sees an empty one.
func Apply(ctx context.Context, mw Middleware, req *Request) (*Request, []Event, error) {
	var (
		mu     sync.Mutex
		events []Event
		sent   *Request
	)
	observe := Observe(func(_ context.Context, e Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	})
	capture := func(_ context.Context, r *Request, _ Emit) (*Response, error) {
		c := *r
		c.observers = req.observers
		mu.Lock()
		defer mu.Unlock()
		sent = &c
		return &Response{}, nil
	}
	if _, err := observe(mw(capture))(ctx, req, nil); err != nil {
		return nil, events, err
	}
	if sent == nil {
		return nil, events, &Error{Op: "middleware", Err: errors.New("Apply: a middleware answered by itself, so nothing would be sent")}
	}
	return sent, events, nil
}
