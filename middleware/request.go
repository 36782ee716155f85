package middleware

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/report"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Request is what a model is asked. Callees must not modify it. To change something, copy
// the struct and pass the copy on:
//
//	r := *req
//	r.Tools = append(slices.Clip(r.Tools), recall)
//	return next(ctx, &r, emit)
type Request struct {
	Messages []message.Message // the caller's whole history; after an editing middleware, the view
	Tools    []message.ToolDef // the tools that the model may call
	Model    string            // name of the model, as in Env.Models; "" if unknown
	Format   string            // API by which it is sent: "chat" (completions), "responses", "messages", "gemini", "ollama"; "": unknown
	Server   string            // host that it is sent to; "": one, or unknown
	// PlainTexts means that the server accepts content of text alone only as one string, where the format has lists as well.
	PlainTexts bool

	Budget *Budget  // window of the model; nil: that of the table of models, if it has the name
	Params any      // call options of the provider, passed on unchanged
	Force  []string // names of middlewares that edit in this call even if their trigger is not met or they are paused; "*": all

	// Refused means that the provider has refused the attempt before as too long; see [Request.Again].
	Refused bool

	// Unread means that nothing reads handles: what editors remove is not archived, and placeholders have none.
	Unread bool

	// Declared means that a layer has set Tools in place of none. It reports each change of them by an event.
	Declared bool

	// Past means that the model gets the edits in force and no others, past the middlewares of the chain, for when one of them has
	// failed. The history alone would not do: a model that binds its thinking refuses it after an edit.
	Past bool

	// Lenient means that the chain must not fail the request: what cannot be made to fit is sent as small as it can be.
	Lenient bool

	// Asked means that the model itself has asked for the edits that Force names, as by agent.Compact: a paused editor then
	// stays paused.
	Asked bool

	Native Native // what the provider edits by itself in this call; zero: nothing

	// Conversation is the name of the conversation, unique in Env.Scope, such as the ID of a session. Journal and archive
	// keep by it, in the form of journal.NameOf, what can be deleted and expires together. It changes no view: edits are
	// found by the messages. "": journal.ConversationOf, which conversations that begin with the same message share.
	Conversation string

	call // what the layers of a chain share
}

// View returns the view whose messages the request carries, or nil if no editing
// middleware has seen the request. It knows where each message comes from.
func (r *Request) View() *View {
	if r.view == nil || !sameSlice(r.view.result.Messages, r.Messages) {
		return nil
	}
	return r.view
}

// Report gives an event to the observers of the request and returns whether there are any. It is for models, and for
// middlewares that do not edit; others have [View.Report]. A zero Time is set.
func (r *Request) Report(ctx context.Context, e Event) bool {
	if r.observers != nil && e.Time.IsZero() {
		e.Time = time.Now()
		if r.chain != nil {
			e.Time = r.chain.env.Clock()
		}
	}
	r.observers.report(ctx, e)
	return r.observers != nil
}

// Dry reports whether the request is that of a [Draft]: a middleware then only plans, and reports and keeps nothing.
func (r *Request) Dry() bool { return r.dry != nil }

// Forces reports whether the request forces the edits of the named middleware.
func (r *Request) Forces(name string) bool {
	return slices.Contains(r.Force, name) || slices.Contains(r.Force, "*")
}

// Again returns the request as it was before editing middlewares saw it, for a layer among
// them that makes a call again. The first editor after it starts with all edits that are remembered, those of the first
// attempt included. refused means that the provider has refused the first attempt as too long.
func (r *Request) Again(refused bool) *Request {
	again := *r
	again.Refused = again.Refused || refused
	if v := r.View(); v != nil {
		again.Messages = v.History()
		again.view = nil
	}
	return &again
}

// Native is what a provider edits by itself in a call, since the request asks for it. It is comparable.
type Native struct {
	// Results is what clears results, compacts or cuts, or may do so, such as "context_management: compact_20260112". Then only
	// what is forced and what the window demands is edited (Options.ForWindow), earlier edits remain, and the reported usage is
	// learned unless the answer is Cleared. "": nothing.
	Results string

	// Thinking is what clears thinking and nothing else, such as "context_management: clear_thinking_20251015". Then editors do
	// not remove thinking for its own sake; all else goes on, and the usage, which is that of calls like this one, is learned.
	// "": nothing.
	Thinking string
}

// String returns both, joined by a comma; "" for the zero value.
func (n Native) String() string {
	if n.Results != "" && n.Thinking != "" {
		return n.Results + ", " + n.Thinking
	}
	return n.Results + n.Thinking
}

// Budget is how many tokens fit.
type Budget struct {
	Window  int // context size of the model, in tokens
	Reserve int // tokens of the window that are kept free for the answer; 0: none
}

// Room returns the tokens that a request may have: the window less the reserve.
func (b Budget) Room() int { return b.Window - b.Reserve }

// Validate returns an error for a window below 1, or a reserve that is negative or fills the window.
func (b Budget) Validate() error {
	if b.Window <= 0 {
		return fmt.Errorf("Budget.Window is %d tokens, want more than 0", b.Window)
	}
	if b.Reserve < 0 || b.Reserve >= b.Window {
		return fmt.Errorf("Budget.Reserve is %d tokens, want 0 to less than the window of %d", b.Reserve, b.Window)
	}
	return nil
}

// Response is the answer of a model.
type Response struct {
	Message message.Message // of the assistant; chains with an editing middleware set its Usage, from which another process learns
	Usage   message.Usage   // zero if not reported
	Stop    string          // why the model stopped: StopEnd, …, or the provider's own word
	Model   string          // that has answered, as the provider names it; "": not reported
	ID      string          // that the provider has given the response; "": not reported
	Cleared bool            // the provider says that it has cleared or compacted by itself, other than thinking: the usage is of less
	Cache   report.Cache    // set by chains with an editing middleware; a model sets Miss and Missed alone
}

// The reasons to stop that all providers know.
const (
	StopEnd    = "end"    // the answer is complete
	StopTools  = "tools"  // the model waits for tool results
	StopLength = "length" // the answer reached its limit
	StopFilter = "filter" // the provider cut the answer off
)
