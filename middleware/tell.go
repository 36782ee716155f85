package middleware

import (
	"context"
	"time"
)

// Tell reports an event that is neither an edit nor a refusal to those who
// observe the call. Time and Exact are set here. In a dry run, the draft has it.
func (v *View) Tell(ctx context.Context, e Event) {
	e.Exact = v.own()
	v.call.chain.tell(ctx, v.req, e)
}

// Now returns the time by the clock of the chain. A view that depends on it is not
// the same when the call is made again, so it may only put an edit off.
func (v *View) Now() time.Time { return v.call.chain.clock() }
