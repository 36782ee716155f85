package middleware

import (
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Request is what a model is asked. Whoever receives one reads it only; to
// change something, copy the struct and pass the copy on:
//
//	r := *req
//	r.Tools = append(slices.Clip(r.Tools), recall)
//	return next(ctx, &r, emit)
type Request struct {
	Messages []message.Message // the caller's whole history; behind an editing middleware, the view
	Tools    []message.ToolDef // the tools that the model may call
	Model    string            // its name, to be found in Env.Models; "": unknown
	Budget   *Budget           // its window; nil: that of the table of models, if the name is in it
	Params   any               // call options of the provider, passed through untouched
	Force    []string          // middlewares whose trigger counts as met in this call, even if they rest; "*": all

	owner     *chain       // the chain whose Env is in force; nil: none yet
	view      *View        // what the editing middlewares made of the history; nil: none has run
	left      bool         // the owner's layers are behind us
	observers *observation // who hears what happens
	probe     *probe       // what a dry run leaves on the way; nil: the call is real
	menders   []*mending   // who has the last word on the view
}

// View returns the view whose messages this request carries, or nil if no
// editing middleware has seen the request. It tells where each message comes
// from.
func (r *Request) View() *View {
	if r.view == nil || !sameSlice(r.view.msgs, r.Messages) {
		return nil
	}
	return r.view
}

// see makes the request carry a view.
func (r *Request) see(v *View) { r.view, r.Messages = v, slices.Clip(v.msgs) }

// Budget is how many tokens fit.
type Budget struct {
	Window  int // context size of the model, in tokens
	Reserve int // of it: kept free for the answer; 0: none
}

// Room returns the tokens that a request may have: the window less the reserve.
func (b Budget) Room() int { return b.Window - b.Reserve }

// Validate reports a budget that makes no sense.
func (b Budget) Validate() error {
	if b.Window <= 0 {
		return fmt.Errorf("Budget.Window is %d tokens, want more than 0", b.Window)
	}
	if b.Reserve < 0 || b.Reserve >= b.Window {
		return fmt.Errorf("Budget.Reserve is %d tokens, want 0 to less than the window of %d", b.Reserve, b.Window)
	}
	return nil
}

// Response is what a model answered.
type Response struct {
	Message message.Message // of the assistant
	Usage   message.Usage   // zero: not reported
	Stop    StopReason
}

// StopReason says why a model stopped.
type StopReason string

// The reasons that all providers know. Others are passed on as they are.
const (
	StopEnd    StopReason = "end"    // it has said all
	StopTools  StopReason = "tools"  // it waits for tool results
	StopLength StopReason = "length" // the answer reached its limit
	StopFilter StopReason = "filter" // the provider cut the answer off
)

// sameSlice reports whether two slices are the same memory.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
