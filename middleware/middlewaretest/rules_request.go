package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// requestRules are about what becomes of the request.
func requestRules() []rule {
	return []rule{
		{
			name: "untouched",
			text: "a middleware changes neither the request nor anything that it refers to, nor the unused memory behind its slices, " +
				"since callers, other layers and concurrent calls read it; it copies what it wants to change",
			check: checkUntouched,
		},
		{
			name: "reuse",
			text: "a middleware keeps nothing of the caller's memory after it has returned: " +
				"the caller may write into its history between calls, and the next call goes by what is there then",
			check: checkReuse,
		},
		{
			name: "fields",
			text: "Model, Params, Budget, Force and the caller's Tools reach the model as they were, " +
				"since a middleware inside or the provider goes by them; tools may be added behind them",
			check: checkFields,
		},
		{
			name: "copied",
			text: "a middleware passes on a copy of the request that it was given (r := *req), never a Request made anew: " +
				"the copy carries what the layers of a chain share; a new one cuts off the observers outside and the remembered edits",
			check: checkCopied,
		},
		{
			name:  "reopened",
			views: true,
			text: "a middleware between two editing ones passes on the messages that it was given: " +
				"if it changes them, the second editor must begin anew, and edits, such as summaries, are paid for again",
			check: checkReopened,
		},
	}
}

func checkUntouched(s *subject) error {
	return both(func(req *middleware.Request) error {
		for i := range req.Messages {
			m := &req.Messages[i]
			m.Hints.Priority, m.Time = message.PriorityNormal, time.Unix(int64(i), 0)
			m.Parts = withRoom(m.Parts, message.Part(message.Text{Text: "not yours"}))
			if m.Role == message.RoleAssistant {
				m.Usage = &message.Usage{Input: 100 + i, Output: 10}
			}
		}
		req.Messages = withRoom(req.Messages, message.User("not yours"))
		req.Tools = withRoom(req.Tools, message.ToolDef{Name: "not yours"})
		req.Force = withRoom(req.Force, "not yours")
		changed := Freeze(req)
		options, _ := req.Params.(*providerOptions)
		var inside error
		// No observer stands outside, which would pass on a copy.
		model := s.newMiddleware()(func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			inside = changed()
			return done()(ctx, r, emit)
		})
		if err := attempt(context.Background(), s.patience, func() { _, _ = model(context.Background(), req, nil) }); err != nil {
			return err
		}
		if *options != (providerOptions{Temperature: 0.5}) {
			return fmt.Errorf("what Request.Params points to is %+v, want a temperature of 0.5", *options)
		}
		if err := changed(); err != nil {
			return err
		}
		if inside != nil {
			return fmt.Errorf("while the model was running: %w", inside)
		}
		return nil
	})
}

// withRoom returns a copy with unused memory behind it, in which a value lies.
func withRoom[T any](s []T, behind T) []T {
	out := append(make([]T, 0, len(s)+2), s...)
	_ = append(out, behind, behind)
	return out
}

func checkReuse(s *subject) error {
	const before, after = "Question 3: why does build 300 fail?", "Question 3: why does build 301 pass?"
	return both(func(req *middleware.Request) error {
		in := s.instance(done())
		if _, err := in.answered(context.Background(), req, nil); err != nil {
			return err
		}
		at := slices.IndexFunc(req.Messages, message.User(before).Equal)
		req.Messages[at].Parts[0] = message.Text{Text: after} // the newest question, which every view shows
		out, err := in.answered(context.Background(), req, nil)
		if err != nil {
			return err
		}
		if got := allText(out.view()); strings.Contains(got, before) || !strings.Contains(got, after) {
			return fmt.Errorf("after the caller wrote %q over %q, the model was still sent what stood there before", after, before)
		}
		return nil
	})
}

func allText(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(m.Text())
	}
	return b.String()
}

func checkFields(s *subject) error {
	return both(func(req *middleware.Request) error {
		want := *CloneRequest(req)
		out, err := s.instance(done()).answered(context.Background(), req, nil)
		if err != nil {
			return err
		}
		got := *out.sent[0].Request
		for _, tool := range want.Tools {
			k := slices.Index(got.Tools, tool)
			if k < 0 {
				return fmt.Errorf("the model was given the tools %v, want all of %v, in this order", got.Tools, want.Tools)
			}
			got.Tools = got.Tools[k+1:]
		}
		got.Tools, want.Tools = nil, nil
		got.Messages, want.Messages = nil, nil
		return sameRequest(&want, &got, 0)
	})
}

// remark returns an editing middleware that edits nothing and says so in an
// event on each call.
func remark(name string) middleware.Middleware {
	return middleware.Editing(name, func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Why: "heard"}, nil
	}, middleware.Options{})
}

// between makes a call with the middleware between two editors.
func (s *subject) between(req *middleware.Request) (*outcome, error) {
	mw := middleware.Chain(remark("outside"), s.newMiddleware(), remark("inside"))
	return s.wrap(mw, done()).answered(context.Background(), req, nil)
}

func checkCopied(s *subject) error {
	return both(func(req *middleware.Request) error {
		out, err := s.between(req)
		if err != nil {
			return err
		}
		for _, by := range []string{"outside", "inside"} {
			heard := slices.ContainsFunc(out.events, func(e middleware.Event) bool { return e.By == by })
			if !heard {
				return fmt.Errorf("an observer outside did not hear the event of the editor %s it; is the request copied?", by)
			}
		}
		return nil
	})
}

func checkReopened(s *subject) error {
	return both(func(req *middleware.Request) error {
		out, err := s.between(req)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(out.events, func(e middleware.Event) bool { return e.Kind == middleware.Reopened }) {
			return errors.New("between two editing middlewares, an event \"reopened\"")
		}
		return nil
	})
}
