package middleware

import "context"

// Tell reports an event to those who observe the call, with the time by the clock
// of the chain: for middlewares that have more to say than which edits they made.
// What a conversation shall hear once is best remembered by [View.Note].
func (v *View) Tell(ctx context.Context, e Event) {
	e.Exact = v.own()
	v.call.chain.tell(ctx, v.req, e)
}
