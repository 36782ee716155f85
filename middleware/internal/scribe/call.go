package scribe

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// try sends a request, and returns the text of an answer that meets its terms.
func (s *session) try(ctx context.Context, d *draft) (string, error) {
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	a := Attempt{Mode: d.mode, Model: d.author.Name, Shown: s.Meter.Request(d.Messages, d.Tools), Part: d.order.part, Parts: d.order.parts}
	resp, err := s.call(ctx, d)
	text := ""
	if err == nil {
		a.Usage = resp.Usage
		var r *RejectedError
		if text, r = d.terms.accept(resp); r != nil {
			a.Reason, a.Err = r.Reason, r
		}
	} else {
		a.Reason, a.Err = s.failed(ctx, d, err)
	}
	s.end(a, resp, d)
	return text, a.Err
}

// begin counts a request, if one more may be sent.
func (s *session) begin(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("scribe: %w", err)
	}
	if s.sent >= s.Requests {
		return &spent{fmt.Errorf("scribe: all %d requests are used up", s.Requests)}
	}
	s.sent++
	return nil
}

// spent is the error of a bound that is reached.
type spent struct{ error }

// end fills in what an attempt cost, keeps it and tells of it.
func (s *session) end(a Attempt, resp *middleware.Response, d *draft) {
	if a.Usage == (message.Usage{}) && resp != nil {
		a.Usage = message.Usage{Input: a.Shown, Output: s.Meter.Message(resp.Message)}
		a.Estimated = true
	}
	a.Cost, a.Priced = d.author.Known.Price.Cost(a.Usage)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, a)
	if s.Report != nil {
		s.Report(a)
	}
}

// errSlow is the cause of a context that a request outlived.
var errSlow = errors.New("scribe: no answer in time")

// panicError is the error of a model that has panicked. In what state that has left
// it nobody knows, so it is not asked again.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("the model panicked: %v", p.value) }

func panicked(err error) bool {
	_, ok := errors.AsType[*panicError](err)
	return ok
}

// call asks the model. Nothing is emitted. A panic is an error as any other.
func (s *session) call(ctx context.Context, d *draft) (*middleware.Response, error) {
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Timeout, errSlow)
		defer cancel()
	}
	resp, err := ask(ctx, d)
	if err != nil && !panicked(err) && errors.Is(context.Cause(ctx), errSlow) {
		return nil, errSlow
	}
	if err == nil && resp == nil {
		return nil, errors.New("scribe: the model returned neither an answer nor an error")
	}
	return resp, err
}

// ask asks the model of a draft.
func ask(ctx context.Context, d *draft) (resp *middleware.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, &panicError{p}
		}
	}()
	return d.author.Model(ctx, d.Request, nil)
}

// failed sorts the error of a model. An error of a context that is not ours says
// that the model gave up, and must not look as if the caller had.
func (s *session) failed(ctx context.Context, d *draft, err error) (Reason, error) {
	if ctx.Err() != nil {
		return Stopped, fmt.Errorf("scribe: %w", ctx.Err())
	}
	if errors.Is(err, errSlow) {
		return TimedOut, unavailable(fmt.Errorf("no answer within %v", s.Timeout))
	}
	if panicked(err) {
		return Failed, err
	}
	if x, ok := middleware.ReadExcess(err); ok {
		s.learn(d, x)
		return Overflow, err
	}
	if middleware.KindOf(err) == middleware.Canceled {
		return Failed, unavailable(fmt.Errorf("the model gave up: %v", err)) //nolint:errorlint // it must not be found in it
	}
	return Failed, err
}

func unavailable(err error) error {
	return &middleware.Error{Kind: middleware.Unavailable, Op: "scribe", Err: err}
}

// learn shrinks the room to what a refused request tells, or to half of what it
// showed.
func (s *session) learn(d *draft, x middleware.Excess) {
	if d.mode == Suffix {
		return
	}
	room := d.shown.tokens / 2
	if x.Limit > 0 && x.Sent > 0 {
		// Their tokens in ours, and a tenth less.
		fits := d.shown.tokens*max(0, x.Limit-x.Answer)/x.Sent - s.frame(d.author, d.desk.limit)
		room = min(max(room/4, fits*9/10), d.shown.tokens-1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room = min(s.room, max(leastRoom, room))
}

// goesOn reports whether there is another attempt by the same model.
func (s *session) goesOn(err error, o order) bool {
	if _, ok := errors.AsType[*spent](err); ok {
		return false
	}
	return o.failures <= s.Writer.Retries && curable(err)
}

// goesOnFresh reports whether the model of the live conversation is asked again
// with a record, in which nothing of that can be wrong which it did not take.
func (s *session) goesOnFresh(err error, o order) bool {
	return s.goesOn(err, o) || o.failures <= s.Writer.Retries && middleware.KindOf(err) == middleware.Invalid
}

// curable reports whether the same model may do better if it is asked again.
func curable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if panicked(err) {
		return false
	}
	if _, ok := errors.AsType[*RejectedError](err); ok {
		return true
	}
	if _, ok := middleware.ReadExcess(err); ok {
		return true
	}
	switch middleware.KindOf(err) {
	case middleware.Unknown, middleware.Unavailable, middleware.RateLimited, middleware.Overflow:
		return true
	case middleware.Canceled, middleware.Invalid, middleware.Denied, middleware.Irreducible, middleware.Outdated:
	}
	return false
}

func (s *session) tooSmall() error {
	return &middleware.Error{Kind: middleware.Invalid, Op: "scribe", Err: fmt.Errorf(
		"a window of %d tokens leaves room for %d tokens of the record, want %d at least: another Writer, or fewer MaxTokens",
		s.Writer.window(), max(0, s.room), leastRoom)}
}
