package modelwriter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
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

// Attempt is one request to a model, and what came of it.
type Attempt struct {
	Mode  Mode   // Suffix or Fresh
	Model string // name of the author
	Shown int    // tokens that were sent, by the meter of the brief
	Part  int    // which part of the record it showed, from 1; 0: all that there was
	Parts int

	Reason Reason // why it came to nothing; "": it was taken
	Err    error  // a [*RejectedError], or what the model returned; nil: it was taken

	Usage     message.Usage // as reported, or else as counted
	Estimated bool          // Usage was counted
	Cost      models.Cost   // by the price of the author
	Priced    bool          // that price is known
}

// Bill is what was tried, and what it cost.
type Bill struct {
	Attempts []Attempt     // in the order in which they ended
	Usage    message.Usage // of all of them
	Cost     models.Cost   // of all whose price is known
	Priced   bool          // the price of all is known
}

func billOf(attempts []Attempt) Bill {
	b := Bill{Attempts: attempts, Priced: len(attempts) > 0}
	for _, a := range attempts {
		b.Usage = b.Usage.Add(a.Usage)
		b.Cost += a.Cost
		b.Priced = b.Priced && a.Priced
	}
	return b
}

// FailedError is the error when no answer was taken. It wraps the error of the last
// attempt, or that of the context.
type FailedError struct {
	Bill

	Err error
}

// Error tells the last error, and why the attempts came to nothing.
func (f *FailedError) Error() string {
	var reasons []string
	for _, a := range f.Attempts {
		if a.Reason != "" {
			reasons = append(reasons, string(a.Reason))
		}
	}
	if len(reasons) == 0 {
		return f.Err.Error()
	}
	return fmt.Sprintf("%v (%d requests; %s)", f.Err, len(f.Attempts), strings.Join(reasons, ", "))
}

// Unwrap returns the error inside.
func (f *FailedError) Unwrap() error { return f.Err }

// ReasonOf returns why the last attempt came to nothing, or "" if err tells of
// none.
func ReasonOf(err error) Reason {
	if r, ok := errors.AsType[*RejectedError](err); ok {
		return r.Reason
	}
	f, ok := errors.AsType[*FailedError](err)
	if !ok || len(f.Attempts) == 0 {
		return ""
	}
	return f.Attempts[len(f.Attempts)-1].Reason
}

// cheaper reports whether the suffix request costs less than fresh ones. With r,
// w and o the prices of tokens that are read from the cache, written to it and
// answered, T the live conversation, i the order, R the record and s the summary,
//
//	suffix: rT + wi + os, or w(T+i) + os where no cache holds T
//	fresh:  wR + os, at the prices of the writer
//
// With a price unknown nothing can be compared, and the brief says what to do.
func (s *session) cheaper(d *draft) bool {
	suffix, ok := s.suffixCost(d)
	fresh, known := s.freshCost()
	if !ok || !known {
		return s.Prefer == Suffix && !s.Cold
	}
	return suffix < fresh
}

func (s *session) suffixCost(d *draft) (models.Cost, bool) {
	all := s.Meter.Request(d.Messages, d.Tools)
	cached := s.Meter.Request(s.Live.Messages, s.Live.Tools)
	if s.Cold || cached < s.Main.Known.Cache.Min {
		cached = 0
	}
	cached = min(cached, all)
	return s.Main.Known.Price.Cost(message.Usage{
		Input: all, CacheRead: cached, CacheWrite: all - cached, Output: s.target(d.terms),
	})
}

// freshCost is that of one request, or of all that it takes to read the record in
// pieces and to write from the notes. No provider caches what is asked once, but
// most charge as if they did.
func (s *session) freshCost() (models.Cost, bool) {
	shown := 0
	for _, u := range record(s.Folded) {
		shown += s.cutter.size(u)
	}
	shown += s.cutter.count(s.Earlier)
	pieces := 1
	if s.room > 0 && shown > s.room {
		pieces = (shown+s.room-1)/s.room + 1
	}
	answer := s.desk.limit * 3 / 4
	input := shown/pieces + s.frame(s.Writer, s.desk.limit)
	cost, ok := s.Writer.Known.Price.Cost(message.Usage{Input: input, CacheWrite: input, Output: answer})
	return cost * models.Cost(pieces), ok
}
