// Package report has the numbers of a model call, as the events of package middleware carry them.
//
//	middleware.Observe(func(ctx context.Context, e middleware.Event) {
//		if c := e.Call; c != nil && c.Bill.Known {
//			dollars += c.Bill.Spent
//		}
//	})
//
// It is plain data: nothing here measures or counts.
package report

import (
	"context"
	"time"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

// Call has the numbers of one model call. Its tokens, but for Usage, are counted like those of all events of the call: see
// middleware.Size. What is not known is zero.
type Call struct {
	Purpose      string // "main": for the answer to the request; "summary": for a summary, or what is needed for one
	Attempt      int    // 1: the first model call of a request; 2: the second one, after a refusal or an error; …
	Model        string // that is asked, as in the request
	Provider     string // the company that makes the model, by the table of models; see models.Model
	Conversation string // as in the request; if that has no name, the ID of the first message
	Scope        string // as in the Env of the chain
	Stream       bool   // pieces of the answer were wanted
	Background   bool   // a summary is made ahead; the request for which it is prepared may have ended

	Answered string // the model that has answered, in the word of the provider
	ID       string // of the response, given by the provider
	Stop     string // why the model stopped, as in the response

	Duration time.Duration // of the model
	First    time.Duration // until the first piece of the answer; 0: the answer had no pieces
	Chain    time.Duration // in the chain, from the request to this model call, without earlier attempts

	History int           // tokens that would have been sent without any edit
	View    int           // tokens that were sent
	Saved   int           // History less View; negative if repairs have added more than edits have removed
	Edits   int           // that are in force
	Usage   message.Usage // as the provider reports it; zero: not reported
	Cache   Cache         // as in the response
	Bill    Bill

	Economics Economics // of all edits of this call
}

// Bill is what a call has cost, and an estimate of what it would have cost with the whole history.
type Bill struct {
	Spent models.Cost // by the reported usage and the table of models
	Known bool        // Spent is known; a price of 0 is unknown in the table

	// NotSpentEstimate is the estimated cost of the same call with the whole history, less Spent. That cost is estimated with
	// the provider's cache as it would have been without edits. It is negative if editing costs more in this call. 0 unless
	// Estimated.
	NotSpentEstimate models.Cost
	Estimated        bool // NotSpentEstimate is known

	// NotFitting means that the whole history is longer than the window, so that the call could not have been made without
	// edits. There is no estimate then.
	NotFitting bool
}

// Cache is what is known of the provider's prompt cache in one call. Tokens are on the scale of all sizes and events of the
// call: see middleware.Size.
type Cache struct {
	Prompt int // tokens of the request: as the provider reports them, or as in Call.View if it does not
	// Prefix is how many tokens of the request are the same, from its beginning on, as in the last answered call with the
	// same history, or with the one that it continues. 0: nothing is, the model or the tools differ, or there was no call.
	Prefix int
	Read   int    // tokens of the request that were read from the cache, as the provider reports; 0: none, or not reported
	Miss   string // why the provider could not read more, in its own word, such as messages_changed; "": not reported
	Missed int    // tokens of the request that it could not read for that reason, as it reports

	// Broken names the cause by which the request does not begin with all that the call before has sent. "": it does, or
	// there was no call. "model" and "tools": the caller asks another model, or declares other tools. "history": the caller
	// has changed messages that were sent. "edit": an event of this call reports it, or one of a failed call before it: an
	// edit, its end, a repair. "chain": the chain, without another event than one of kind Missed.
	Broken string
}

// Economics are what edits cost and save, net of the provider's prompt cache. All of it is estimated.
type Economics struct {
	Freed     int         // tokens by which the prompt becomes shorter
	Rewritten int         // tokens after the first change that were in the cache, and are written to it again
	BreakEven float64     // number of calls, this one included, in which reading less has paid for writing again
	Cost      models.Cost // of writing again instead of reading; 0: nothing, or the prices are unknown
	Saves     models.Cost // in each call, as long as the cache is warm; 0: nothing, or the prices are unknown
}

// Origin returns the context of the request for which a call in the background is made, which may have ended, to link spans of
// tracing; nil of other calls.
func Origin(ctx context.Context) context.Context {
	origin, _ := ctx.Value(inside.Origin{}).(context.Context)
	return origin
}
