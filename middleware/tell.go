package middleware

import (
	"context"
	"time"
)

// Tell reports an event to those who observe the call, with the time by the clock
// of the chain: for middlewares that have more to say than which edits they made.
// What a conversation shall hear once is best asked of [View.Once]. In a dry run, the
// draft has the event.
func (v *View) Tell(ctx context.Context, e Event) {
	e.Exact = v.own()
	v.call.chain.tell(ctx, v.req, e)
}

// Now returns the time by the clock of the chain. A view that depends on it is not
// the same when the call is made again, so it may only put an edit off.
func (v *View) Now() time.Time { return v.call.chain.clock() }

// Once reports whether those who observe the call hear of a text for the first time
// in the conversation of the view: for events that it shall have once. In a dry run
// each text is new.
func (v *View) Once(text string) bool { return v.call.track.conversation.once(v.req, text) }
