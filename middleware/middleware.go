package middleware

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// Model is one call of a language model. It answers the request or fails: exactly one
// of response and error is non-nil.
//
// A Model must be safe for concurrent use. It must not modify the request or anything that the request refers to, nor
// keep it after returning. When ctx is done, it returns soon with an error for which errors.Is(err, ctx.Err()) holds.
// It passes the pieces of the answer to emit, in order, from the calling goroutine, and all of them before it
// returns. If emit is nil, only the response is wanted. If emit returns an error, the Model stops and returns that
// error.
type Model func(ctx context.Context, req *Request, emit Emit) (*Response, error)

// Middleware wraps a [Model]. The Model that it returns must keep the contract of Model, and also:
//
//   - it passes on a copy of the request that it received, with some fields changed, and
//     never a new Request: the copy carries what the middlewares of a chain share;
//   - it does not call the next Model again once a piece has been emitted;
//   - nothing that it started still runs when it returns.
//
// A Middleware may wrap several models, which then share what it remembers. Package middlewaretest checks all this.
type Middleware func(next Model) Model

// Chain joins middlewares into one. The first one is the outermost:
//
//	Chain(a, b, c)(model)   is   a(b(c(model)))
//
//	           ┌ a ───────────────────────┐
//	request ──▶│  ┌ b ─────────────────┐  │
//	           │  │  ┌ c ───────────┐  │  │
//	           │  │  │    model     │  │  │
//	           │  │  └──────────────┘  │  │
//	           │  └────────────────────┘  │
//	           └──────────────────────────┘ ──▶ response
//
// Nesting changes nothing: Chain(a, Chain(b, c)) and Chain(a, b, c) send the same bytes. The editing middlewares of a
// chain share one memory of their edits; see [With]. Chain panics with "middleware: Chain: …" if one of them, or
// the model, is nil.
func Chain(mws ...Middleware) Middleware { return With(Env{}, mws...) }

// Env is what the middlewares of one chain share. The zero value suits most programs.
// Several chains may use the same Env.
type Env struct {
	Scope         string           // tenant and purpose, in a journal that several chains share; chains with equal scopes share their edits
	Journal       journal.Journal  // remembers edits; nil: memory of this chain, as by journal.NewMemory(0)
	Counter       tokens.Counter   // nil: tokens.Estimate{}. The chain counts each text once, as with tokens.Memo
	Framing       tokens.Framing   // what is counted in addition to texts; zero: tokens.DefaultFraming
	Models        *models.Table    // windows, encodings, prices by model name; nil: models.Default()
	Archive       store.Store      // keeps what editors remove, for recall; of one tenant. nil: removed content is not kept
	Protect       []string         // tools whose calls and results no editor changes or removes, except that package fit may shorten them
	Instructions  []string         // tools whose results are instructions, protected, compared without case; nil: known ones of skills
	Asking        []string         // tools that ask the user, besides those with known names: what they return is the user's answer
	Clock         func() time.Time // time of events and for options that are durations; nil: time.Now
	HistoryIsView bool             // the caller passes views back as its history, so edits are remembered for their IDs as well
	Breakpoints   bool             // set message.Hints.Breakpoint for the model, in place of those of the caller; see the package
	Suggested     bool             // no event reports that an outer chain has other values: this Env only fills what it leaves out
	Explain       bool             // each call reports, by an event of kind NotMet, why an editor edits nothing: its trigger, with numbers
}

// Delta is a piece of an answer: more of its text, of its thinking, or of a tool call.
// The last Delta of [Stream] carries the whole response instead.
type Delta struct {
	Text     string
	Thinking string
	Call     *CallDelta // nil if the piece is not of a call
	Response *Response  // only in the last Delta of Stream
}

// CallDelta is more of a tool call.
type CallDelta struct {
	Index     int    // which call of the answer, from 0
	ID        string // only in the first piece
	Name      string // only in the first piece
	Arguments string // more of the JSON
}

// Emit takes the pieces of an answer as they arrive. An error means that no one reads
// any more: stop and return that error.
type Emit func(Delta) error

// errStopped is what emit returns after the reader of a stream has left the loop.
var errStopped = errors.New("middleware: the reader of the stream has left")

// Call calls the model and returns its whole answer.
func Call(ctx context.Context, m Model, req *Request) (*Response, error) { return m(ctx, req, nil) }

// Stream calls the model and yields the pieces of the answer as they arrive, then one
// Delta with the whole response. A failed call ends with a zero Delta and the error.
// Leaving the loop early stops the call. Everything runs in the caller's goroutine.
func Stream(ctx context.Context, m Model, req *Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		stopped := false
		resp, err := m(ctx, req, func(d Delta) error {
			stopped = stopped || !yield(d, nil)
			if stopped {
				return errStopped
			}
			return nil
		})
		switch {
		case stopped:
		case err != nil:
			yield(Delta{}, err)
		default:
			yield(Delta{Response: resp}, nil)
		}
	}
}
