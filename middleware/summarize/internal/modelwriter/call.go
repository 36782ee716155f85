package modelwriter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// try sends a prompt, and returns the text of an accepted answer.
func (s *session) try(ctx context.Context, p *prompt) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("summarize: %w", err)
	}
	sent := s.sent.Add(1)
	if sent > int64(s.Requests) {
		return "", fmt.Errorf("summarize: all %d requests %w", s.Requests, errUsedUp)
	}
	a := Attempt{Mode: p.mode, Model: s.Writer.Name, Part: p.task.part, Parts: p.task.parts}
	resp, err := Call(ctx, s.Timeout, func(ctx context.Context) (*middleware.Response, error) {
		resp, call, err := s.Ask(ctx, int(sent), s.Writer, p.Request)
		a.Call = call
		return resp, err
	})
	if err == nil && resp == nil {
		err = errors.New("summarize: the model returned neither an answer nor an error")
	}
	answer := ""
	if err == nil {
		r := stopped(resp)
		if r == nil {
			answer, a.Items, r = p.limits.accept(resp.Message.Text())
		}
		if r != nil {
			a.Reason, a.Err = r.Reason, r
		}
		a.Usage = resp.Usage
		if a.Usage == (message.Usage{}) {
			a.Usage = message.Usage{Input: s.Meter.Request(p.Messages, p.Tools), Output: s.Meter.Message(resp.Message)}
		}
		a.Cost, _ = s.Writer.Known.Price.Cost(a.Usage)
	} else {
		a.Reason, a.Err = Failed, err
		if ctx.Err() != nil {
			a.Err = fmt.Errorf("summarize: %w", ctx.Err())
		}
		s.shrink(p, a.Err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Report(a)
	return answer, a.Err
}

// errUsedUp is wrapped by the error if no more requests may be sent.
var errUsedUp = errors.New("are used up")

// Call calls a function of the caller with a time limit, if that is above 0. A panic is a [*PanicError]. An expired limit, and a
// context error that is not that of ctx, have the kind Unavailable, so that the call does not look cancelled.
func Call[T any](ctx context.Context, timeout time.Duration, fn func(ctx context.Context) (T, error)) (out T, err error) {
	limited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v}
		}
	}()
	out, err = fn(limited)
	switch {
	case err == nil || ctx.Err() != nil:
		return out, err
	case limited.Err() != nil:
		err = fmt.Errorf("%w within %v", errSlow, timeout)
	case middleware.KindOf(err) == middleware.Canceled:
		err = fmt.Errorf("it gave up: %v", err) //nolint:errorlint // it must not be found in it
	default:
		return out, err
	}
	return out, &middleware.Error{Kind: middleware.Unavailable, Op: "summarize", Err: err}
}

// errSlow is the error of a function whose time limit has expired.
var errSlow = errors.New("no answer")

// PanicError is the error of a function that has panicked. Its state is unknown, so it is not called again.
type PanicError struct{ Value any }

// Error implements error.
func (p *PanicError) Error() string { return fmt.Sprintf("summariser panicked: %v", p.Value) }

func isPanic(err error) bool {
	_, bug := errors.AsType[*PanicError](err)
	return bug
}

// shrink reduces the room for a record after a prompt that was refused as too long: to nine tenths of what
// the refusal reports as fitting, or to half of what was shown.
func (s *session) shrink(p *prompt, err error) {
	x, long := middleware.ParseOverflow(err, nil)
	if !long || p.mode == Suffix || errors.Is(err, errSlow) || isPanic(err) {
		return
	}
	room := p.shown / 2
	if x.Limit > 0 && x.Sent > 0 {
		fits := p.shown*max(0, x.Limit-x.Answer)/x.Sent - s.frame(p.limits.most) // in tokens of Meter
		room = min(max(room/4, fits*9/10), p.shown-1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.Store(int64(min(s.roomNow(), max(leastRoom, room))))
}

// passing reports whether the same model may succeed if it is asked again.
func passing(err error) bool {
	if errors.Is(err, errUsedUp) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || isPanic(err) {
		return false
	}
	if r, rejected := errors.AsType[*RejectedError](err); rejected {
		return r.Reason != Nothing
	}
	_, long := middleware.ParseOverflow(err, nil)
	kinds := []middleware.ErrorKind{middleware.Unknown, middleware.Unavailable, middleware.RateLimited, middleware.Overflow}
	return long || slices.Contains(kinds, middleware.KindOf(err))
}
