package middleware

import (
	"context"
	"slices"
)

// Model is one call of a language model. It answers the request, or fails:
// exactly one of response and error is non-nil.
//
// A Model must be safe for concurrent use. It must not change the request or
// anything that the request refers to, nor keep it after returning. When ctx
// is done it returns soon, with an error for which errors.Is(err, ctx.Err())
// holds. Pieces of the answer go to emit, in order, from the goroutine that
// called the Model, and all of them before it returns; emit may be nil, and
// then the response is all that is wanted. An error of emit means that nobody reads on: the Model
// stops and returns that error.
type Model func(ctx context.Context, req *Request, emit Emit) (*Response, error)

// Middleware puts something around a [Model]. What it returns must keep the
// contract of Model, and also:
//
//   - it passes on a copy of the request that it was given, with some fields
//     changed, never a Request made anew: the copy carries what the
//     middlewares of a chain share;
//   - it calls the next Model never again once a piece has been emitted;
//   - nothing that it started is still running when it returns.
//
// A Middleware may be put around several models; what it remembers is then
// shared between them. Package middlewaretest checks all this.
type Middleware func(next Model) Model

// Chain joins middlewares into one. The first is the outermost:
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
// Chain() changes nothing, and Chain(a, Chain(b, c)) and Chain(Chain(a, b), c)
// do what Chain(a, b, c) does, byte for byte. The editing middlewares of a
// chain share one memory of what they edited; [With] says which.
func Chain(mws ...Middleware) Middleware { return With(Env{}, mws...) }

func compose(next Model, mws []Middleware) Model {
	for _, mw := range slices.Backward(mws) {
		next = mw(next)
	}
	return next
}
