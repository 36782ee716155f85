package middleware

import (
	"context"

	"github.com/laconic-go/laconic/models"
)

// Tell reports an event to those who observe the call, with the time by the clock
// of the chain: for middlewares that have more to say than which edits they made.
// What a conversation shall hear once is best remembered by [View.Note].
func (v *View) Tell(ctx context.Context, e Event) {
	e.Exact = v.own()
	v.call.chain.tell(ctx, v.req, e)
}

// Scope returns whose conversation it is: that of [Env]. What a middleware
// remembers by the content of a conversation must not be found from another one.
func (v *View) Scope() string { return v.call.chain.scope }

// Lookup returns what the table of models of the chain knows of a model by its
// name, as that of one which a middleware asks itself. False: nothing.
func (v *View) Lookup(name string) (models.Model, bool) { return v.call.chain.models.Lookup(name) }

// Dry reports whether the view is that of a dry run, as of [Draft]: what a
// middleware does beside planning, it leaves undone then.
func (v *View) Dry() bool { return v.req.probe != nil }
