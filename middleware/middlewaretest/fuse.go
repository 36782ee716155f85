package middlewaretest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/laconic-go/laconic/middleware"
)

// fuse is a context that is done once it has been looked at so many times.
type fuse struct {
	context.Context //nolint:containedctx // it is one

	cancel func()
	left   atomic.Int64
	asked  atomic.Bool // the model has been
}

func newFuse(ctx context.Context, looks int) *fuse {
	f := &fuse{}
	f.Context, f.cancel = context.WithCancel(ctx)
	f.left.Store(int64(looks))
	return f
}

func (f *fuse) burn() {
	if f.left.Add(-1) == 0 {
		f.cancel()
	}
}

// Err implements [context.Context].
func (f *fuse) Err() error {
	f.burn()
	return f.Context.Err()
}

// Done implements [context.Context].
func (f *fuse) Done() <-chan struct{} {
	f.burn()
	return f.Context.Done()
}

// fuseKey finds the fuse in the contexts that are derived from it.
type fuseKey struct{}

// Value implements [context.Context].
func (f *fuse) Value(key any) any {
	if key == (fuseKey{}) {
		return f
	}
	return f.Context.Value(key)
}

// interrupted returns the middleware with each call canceled at the given look at
// its context, if it comes to that before the model is asked, and then made once
// more. It counts the calls that were canceled.
func interrupted(mw middleware.Middleware, looks int, canceled *atomic.Int64) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		model := mw(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if f, ok := ctx.Value(fuseKey{}).(*fuse); ok {
				f.left.Store(0) // it burns no more
				f.asked.Store(true)
			}
			return next(context.WithoutCancel(ctx), req, emit) // if it is too late now, another rule says so
		})
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			f := newFuse(ctx, looks)
			defer f.cancel()
			resp, err := model(f, req, emit) //nolint:contextcheck // the fuse is made of the context
			if f.Context.Err() == nil || err == nil || f.asked.Load() {
				return resp, err
			}
			canceled.Add(1)
			return model(ctx, req, emit)
		}
	}
}

// checkCanceledAnywhere cancels each call of a replay at the first look at the
// context, at the second, and so on, until nobody looks any more.
func checkCanceledAnywhere(s *subject) error {
	want, err := s.replays()
	if err != nil || s.deterministic() != nil { // else the views differ anyway, and another rule says so
		return err
	}
	for i, sc := range s.scenes() {
		if err := s.canceledAnywhere(sc, want[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *subject) canceledAnywhere(sc scene, want *replay) error {
	const most = 30
	for looks := 1; looks <= most; looks++ {
		var canceled atomic.Int64
		got, err := s.replay(sc, func(mw middleware.Middleware) middleware.Middleware { return interrupted(mw, looks, &canceled) })
		if err == nil {
			err = sameViews(want, got)
		}
		if err != nil {
			return fmt.Errorf("each call canceled at look %d at its context, and made again: %w", looks, err)
		}
		if canceled.Load() == 0 {
			return nil
		}
	}
	return nil
}
