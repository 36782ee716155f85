package middleware

import (
	"context"
)

// Report reports an event to those who observe the call, with the time by the clock
// of the chain: for middlewares that have more to say than which edits they made.
// What a conversation shall hear once is best asked of [View.Once]. In a dry run, the
// draft has the event.
func (v *View) Report(ctx context.Context, e Event) {
	e.Exact = v.own()
	v.call.chain.tell(ctx, v.req, e)
}

// Env returns what the middlewares of the chain share, with the defaults in place of
// zero values. Archive is nil if what this view's edits take out is not kept.
func (v *View) Env() Env {
	e := v.call.chain.env
	if v.unarchived {
		e.Archive = nil
	}
	return e
}

// Dry reports whether the view is that of a dry run, as of [Draft]: what a
// middleware does beside planning, it leaves undone then.
func (v *View) Dry() bool { return v.req.probe != nil }

// Once reports whether those who observe the call hear of a text for the first time
// in the conversation of the view: for events that it shall have once. In a dry run
// each text is new.
func (v *View) Once(text string) bool { return v.call.track.conversation.once(v.req, text) }
