package middleware

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// Internals is what the middlewares and triggers of this module ask the core in addition to
// what any other may ask. Packages outside of it have no [inside.Key].
func Internals(inside.Key) internals { return internals{} } //nolint:revive // a type without a name outside of this package

type internals struct{}

// Suggest is [With] of an Env that only fills what the Env of a chain around it leaves out: no event tells what is ignored.
func (internals) Suggest(env Env, mws ...Middleware) Middleware { return with(env, true, mws) }

// Unread returns the request for editors that are to leave no handles, since nothing reads them: for them the chain has no archive.
func (internals) Unread(r *Request) *Request {
	own := *r
	own.unread = true
	return &own
}

// Without returns the view with the same messages, but with a size that is smaller by a
// number of tokens by the meter, to ask a [Trigger] how it would decide after an edit.
func (internals) Without(v *View, counted int) *View {
	w := *v
	w.result.Sum -= counted
	w.measure()
	return &w
}

// WithoutClientLines returns the text of a system block without the lines that a client writes for its provider.
func (internals) WithoutClientLines(text string) string {
	return clientLines.ReplaceAllLiteralString(text, "")
}

// HistorySize returns the size that the request would have without any edit, counted like that of the view.
func (internals) HistorySize(v *View) Size { return v.historySize() }

// SureBudget is [View.Budget] without windows that are guessed, since the provider has given no number: a guess is a reason to
// send less, but not to send nothing.
func (internals) SureBudget(v *View) (Budget, bool) {
	return v.within(v.session.chain.windows.Of(v.req.Model))
}

// Model returns the row of the request's model in the table of models, or the zero Model.
func (internals) Model(v *View) models.Model { return v.model.Model }

// Asking is [Env.Asking].
func (internals) Asking(v *View) []string { return v.session.chain.env.Asking }

// Thinking returns what the model of the request demands of the thinking in its earlier answers.
func (internals) Thinking(v *View) string { return v.session.thinking.rule }

// OldPlan reports whether a call in message i of a view has a whole plan of the model that a newer one has replaced.
func (internals) OldPlan(v *View, i int, c message.ToolCall) bool {
	return edit.Plans(c.Name) && !v.holdsPlan(i)
}

// KeepsThinking returns whether the thinking of a message must stay, since the model demands that of answers with calls, or
// accepts thinking only as an unbroken run, and some that is kept is before it.
func (internals) KeepsThinking(v *View) func(i int) bool { return v.keepsThinking() }

// VoidPrice returns the price of the thinking from one message to another that an edit before them makes void, as that of
// the same output, in input tokens; 0 if the model does not bind its thinking.
func (internals) VoidPrice(v *View, from, to int) float64 { return v.voidPrice(from, to) }

// Preview returns the view that a plan of the named middleware would make. Folds whose
// messages are not made yet count as estimated. The error is the rule that the plan breaks.
func (internals) Preview(v *View, name string, p *Plan) (*View, error) {
	if len(p.Edits) == 0 {
		return v, nil
	}
	own := *p
	_, w, err := preview(v, name, &own, 0)
	return w, err
}

// WithRepairs returns the view with repairs, to see their cost; see [Repairing]. Messages that
// differ have a [Span.Edit] of kind [journal.Repair]. It panics on wrong positions.
func (internals) WithRepairs(v *View, r *message.Repaired) *View {
	w, err := withRepairs(v, "", r)
	if err != nil {
		panic("middleware: WithRepairs: " + err.Error())
	}
	return w
}

// Forced reports whether the request of the view forces the edits of the named middleware.
func (internals) Forced(v *View, name string) bool { return v.req.forced(name) }

// Repeated reports whether the call of a view is made again, does not force the edits of the named middleware, and needs
// none: edits that were remembered before it, of any middleware, were made for this very history, and the view fits. An
// editor makes no further edit then, of what later editors have left, so that the same bytes are sent.
func (internals) Repeated(v *View, name string) bool {
	s := v.session
	if b, known := v.Budget(); v.req.forced(name) || known && v.size.Tokens > b.Room() {
		return false
	}
	here := s.track.State.At == len(s.Body)-1 || s.track.State.pending != nil // else they were made for another history of this length
	return here && slices.ContainsFunc(s.track.State.list, func(it edit.Item) bool { return it.HistoryLen == len(s.Body) })
}

// Shared returns how many first messages a view and an earlier one of the same chain
// have in common, including whether they are protected as a whole. A nil view shares none.
func (internals) Shared(v, earlier *View) int { return v.shared(earlier) }

// Once reports whether this is the first time in the conversation that observers of the request are to receive an event, named by
// a text.
func (internals) Once(v *View, event string) bool {
	return v.session.track.State.conversation.once(v.req, event)
}

// CallsSince returns how many model calls have been answered since the newest edit of the
// named middleware, or -1 if it has made none that holds.
func (internals) CallsSince(v *View, name string) int { return v.callsSince(name) }

// Cached returns how many first messages of the view the provider has in its cache, and
// whether that is all that the call before has sent. A ttl of 0 is that of the table of models.
func (internals) Cached(v *View, ttl time.Duration) (n int, whole bool) { return v.cached(ttl) }

// CachePrices returns the price of a token that is read from the provider's cache, and of
// one that is written to it, in those of an input token; known is false if they are those
// that are assumed without a price in the table of models.
func (internals) CachePrices(v *View) (read, write float64, known bool) { return v.cachePrices() }

// Declare returns the request with tools in place of none. An event of the caller reports each change of them, from none and
// to none.
func (internals) Declare(r *Request, tools []message.ToolDef) *Request {
	declared := *r
	declared.Tools, declared.declares = tools, true
	return &declared
}

// Again returns the request as it was before editing middlewares saw it, for a layer among
// them that makes a call again. The first editor after it starts with all edits that are remembered, those of the first
// attempt included. Refused returns true for its views if the provider has refused the first attempt as too long.
func (internals) Again(r *Request, refused bool) *Request {
	again := *r
	again.tooLong = again.tooLong || refused
	if v := r.View(); v != nil {
		again.Messages, again.view = v.History(), nil
	}
	return &again
}

// Ask calls a model for another purpose than the answer to the request of a view, such as a summary, and returns its numbers,
// too. c has its purpose and attempt, and whether the request may have ended. The functions of [Around] are called, but no
// event is reported.
func (internals) Ask(
	ctx context.Context, v *View, c report.Call, m Model, known models.Model, req *Request,
) (*Response, *report.Call, error) {
	env := &v.session.chain.env
	c.Model = req.Model
	c.Provider = known.Provider
	c.Scope = env.Scope
	c.Conversation = cmp.Or(v.req.Conversation, firstID(v.session.IDs))
	now := &measurement{call: c, clock: env.Clock, began: env.Clock()}
	resp, err := (*Response)(nil), errPanicked
	defer func() { now.end(nil, resp, err) }()
	resp, err = m(now.begin(ctx, v.req.observers, nil), req, nil) // nil: no streaming
	now.stop()
	now.answered(resp)
	if resp != nil && resp.Usage.Input > 0 {
		now.call.Bill.Spent, now.call.Bill.Known = known.Price.Cost(resp.Usage)
	}
	return resp, &now.call, err
}

// Paid adds what was paid for model calls to the price of the edit that is being made in a context; see [journal.Step].
func (internals) Paid(ctx context.Context, c journal.Cost) {
	if p, ok := ctx.Value(priceKey{}).(*journal.Cost); ok {
		p.Spent, p.Known = p.Spent+c.Spent, p.Known && c.Known
	}
}

// Log returns the journal of a history, as chains with this Env have it.
func (internals) Log(ctx context.Context, env Env, msgs []message.Message) (entries.Log, error) {
	if env.Journal == nil {
		return entries.Log{}, errors.New("Env.Journal is nil, want the journal of the chain")
	}
	s, _, err := newChain(env).follow(ctx, &Request{Messages: msgs})
	switch {
	case err != nil:
		return entries.Log{}, err
	case len(s.IDs) == 0:
		return entries.Log{}, errors.New("the history has only system messages")
	}
	return s.log, nil
}

// Refused reports whether the provider has refused the attempt before as too long.
func (internals) Refused(v *View) bool { return v.req.tooLong }

// Original returns message i of a view as it is in the history, or as it is if a fold has added it.
func (internals) Original(v *View, i int) message.Message { return v.original(i) }

// Protects reports whether a part of message i of a view is a call or a result of a protected tool, or belongs to the newest plan.
func (internals) Protects(v *View, i int, part message.Part) bool {
	tool, plan := v.protects(i, part)
	return tool || plan
}

// Opaque reports whether a part of message i of a view has JSON that only its provider can read, so that it stays; see
// [Protection]. If it is a piece of a result, the other pieces may be shortened, but not be replaced together with it.
func (internals) Opaque(v *View, i int, part message.Part) bool { return v.isOpaque(i, part) }

// Store keeps a value for the conversation of a view, under a key as those of a context. Load returns it in later calls as
// long as the chain remembers the conversation: a value may save work, but nothing may depend on it. Of concurrent calls, the
// last one wins. A dry run starts with the values, and what it stores has no effect outside.
func (internals) Store(v *View, key, value any) { v.store(key, value) }

// Load returns what was stored for the conversation of a view, or nil.
func (internals) Load(v *View, key any) any { return v.load(key) }

// CheckOptions returns an error for options of an editor that make no sense.
func (internals) CheckOptions(o Options) error { return o.validate() }

// CheckBudget returns an error for a window below 1, or a reserve that is negative or fills the window.
func (internals) CheckBudget(b Budget) error { return b.validate() }
