package middlewaretest

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/middleware"
)

// draftRules are about dry runs.
func draftRules() []rule {
	return []rule{{
		name: "drafts",
		text: "a draft shows the view of the call, and a draft that is dropped leaves no trace: " +
			"the calls behind it are what they would have been, and no observer hears of it, " +
			"since whoever looks at what would be done has not done it yet",
		check: checkDrafts,
	}}
}

func checkDrafts(s *subject) error {
	want, err := s.replays()
	if err != nil {
		return err
	}
	got, err := s.replayAll(s.drafting)
	if err == nil {
		err = sameReplays(want, got)
	}
	if err != nil && s.deterministic() == nil { // else it differs without drafts, too, and another rule says so
		return fmt.Errorf("each call behind a draft: %w", err)
	}
	return nil
}

// drafting returns the middleware with a draft before each call. A call that
// does not send what was drafted fails.
func (s *subject) drafting(mw middleware.Middleware) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			d, draftErr := middleware.Draft(ctx, mw, req)
			return mw(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				if draftErr != nil {
					return nil, fmt.Errorf("the draft of a call that goes through fails: %w", draftErr)
				}
				err := Same(req.Messages, d.After.Request().Messages)
				if err != nil && !s.changes && !s.mends { // repairs come behind what is drafted
					return nil, fmt.Errorf("the draft is not the view: %w", err)
				}
				return next(ctx, req, emit)
			})(ctx, req, emit)
		}
	}
}
