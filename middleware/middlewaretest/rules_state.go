package middlewaretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// stateRules are about several calls, and about the state between them.
var stateRules = []rule{
	{"concurrent", checkConcurrent, "a middleware is safe for concurrent use, and concurrent calls do not mix: " +
		"one chain serves all conversations of a server"},
	{"several-models", both(checkSeveralModels), "a middleware may wrap several models, and each result calls " +
		"its own model: programs share one middleware between a large model and a small one"},
	{"nothing-left", both(checkNothingLeft), "no goroutine of a call runs after the call has returned, with or " +
		"without an error, since nothing would wait for it or see its error"},
	{"deterministic", func(s *subject) error { return s.deterministic() }, "the same calls have the same views, " +
		"byte for byte, also with a new middleware: a view contains no time, no random value, no order of a " +
		"map, since each difference empties a prompt cache and makes failures irreproducible"},
	{"repeated", checkRepeated, "the same history again, as after a failed call, has the same view, or a " +
		"reported edit, and soon no further edit: a retry must not be paid twice or change the prefix"},
	{"canceled", checkCanceled, "a call that is canceled before the model is called has no effect on later " +
		"calls, since users stop their agents at any time, and continue"},
	{"drafts", checkDrafts, "a draft contains the view of the call, and a draft that is dropped has no effect: " +
		"later calls are the same as without it, and observers receive no event of it, since a preview of an " +
		"edit is not the edit"},
}

// gate returns a function that waits until it has that many callers, at most 100 ms: a
// middleware may limit concurrency.
func gate(callers int64) (pass func()) {
	var arrived atomic.Int64
	opened := make(chan struct{})
	open := sync.OnceFunc(func() { close(opened) })
	return func() {
		if arrived.Add(1) >= callers {
			open()
		}
		timer := time.AfterFunc(100*time.Millisecond, open)
		defer timer.Stop()
		<-opened
	}
}

func checkConcurrent(s *subject) error {
	const callers = 8
	pass := gate(callers)
	// The model answers with the callers whose names are in the request.
	model := s.New()(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		pass()
		var found []string
		for i := range callers {
			if strings.Contains(allText(req.Messages), caller(i)) {
				found = append(found, caller(i))
			}
		}
		return Say(strings.Join(found, ", "))(ctx, req, emit)
	})
	shared := ReAct{Rounds: 9, PerTurn: 3, Answered: true}.Messages()
	changed := testkit.Freeze(request(shared))
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { errs[i] = s.talk(model, shared, i) })
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), changed())
}

func caller(i int) string { return fmt.Sprintf("[caller %d]", i) }

// talk makes three calls for one of several callers.
func (s *subject) talk(model middleware.Model, shared []message.Message, i int) error {
	for n := range 3 {
		history := slices.Concat(shared, []message.Message{message.User(caller(i))})
		history = ReAct{Parallel: 2}.appendRound(history, 100+n)
		var force []string
		if n == 1 {
			force = []string{"*"}
		}
		var (
			resp *middleware.Response
			err  error
			r    = &reader{}
		)
		if err := attempt(context.Background(), s.patience, func() {
			resp, err = model(context.Background(), request(history, force...), r.emit)
		}); err != nil {
			return err
		}
		want := caller(i)
		switch {
		case err != nil:
			return fmt.Errorf("%s: the call failed: %w", want, err)
		case resp == nil:
			return fmt.Errorf("%s: no response", want)
		case resp.Message.Text() != want:
			return fmt.Errorf("%s got the answer to %q", want, resp.Message.Text())
		case r.text != want:
			return fmt.Errorf("%s got the pieces %q", want, r.text)
		}
	}
	return nil
}

func checkSeveralModels(s *subject, req *middleware.Request) error {
	mw := s.New()
	named := func(name string) middleware.Model {
		return testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: name})})
	}
	models := []*instance{s.wrap(mw, named("large")), s.wrap(mw, named("small"))}
	for i, want := range []string{"large", "small"} {
		out, err := models[i].answered(context.Background(), req, nil)
		if err != nil {
			return fmt.Errorf("around the %s model: %w", want, err)
		}
		if got := out.resp.Message.Text(); got != want {
			return fmt.Errorf("around the %s model, the %s one answered", want, got)
		}
	}
	return nil
}

// labels numbers the calls whose goroutines are searched for.
var labels atomic.Int64

func checkNothingLeft(s *subject, req *middleware.Request) error {
	wait := func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	cases := []struct {
		when   string
		answer middleware.Model
		emit   middleware.Emit
		cancel bool
	}{
		{when: "an answer", answer: pieces(), emit: (&reader{}).emit},
		{when: "an error of the model", answer: Fail(denied())},
		{when: "an error of emit", answer: pieces(), emit: (&reader{failAfter: 1}).emit},
		{when: "a canceled call", answer: wait, cancel: true},
	}
	for _, c := range cases {
		label := fmt.Sprintf("call-%d", labels.Add(1))
		ctx, cancel := context.WithCancel(pprof.WithLabels(context.Background(), pprof.Labels("middlewaretest", label)))
		in := s.instance(func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if c.cancel {
				cancel()
			}
			return c.answer(ctx, r, emit)
		})
		_, err := in.call(ctx, req, c.emit)
		stacks := leftovers(label)
		cancel()
		switch {
		case err != nil:
			return err
		case stacks != "":
			return fmt.Errorf("after %s, a goroutine is left:\n%s", c.when, stacks)
		}
	}
	return nil
}

// leftovers returns the stacks of the goroutines with a label that do not end within
// 100 ms.
func leftovers(label string) string {
	var found []string
	for range 50 {
		var profile bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
			return err.Error()
		}
		found = slices.DeleteFunc(strings.Split(profile.String(), "\n\n"), func(stack string) bool {
			return !strings.Contains(stack, fmt.Sprintf("%q:%q", "middlewaretest", label))
		})
		if len(found) == 0 {
			return ""
		}
		<-time.After(2 * time.Millisecond)
	}
	return strings.Join(found, "\n\n")
}

func checkRepeated(s *subject) error {
	replays, err := s.replayAll(asIs)
	if err != nil {
		return err
	}
	for _, r := range replays {
		last := r.last()
		err := last.settle(func(*outcome) (*outcome, error) {
			return r.in.answered(context.Background(), last.req, nil)
		})
		if err != nil {
			return fmt.Errorf("%s again: %w", r.at(last), err)
		}
	}
	return nil
}

// settle makes calls until one has no edit, at most as many as there are messages. Each
// call gets the request that next makes of the previous outcome.
func (st step) settle(next func(*outcome) (*outcome, error)) error {
	before := st.outcome
	for range len(st.req.Messages) + 2 {
		out, err := next(before)
		if err != nil {
			return err
		}
		if !out.edited() {
			return testkit.Same(before.view(), out.view())
		}
		before = out
	}
	return errors.New("each further call has another edit")
}

func checkCanceled(s *subject) error {
	return s.sameWith("each call after a canceled one", canceling, false) // its events are in the record, too
}

// canceling returns the middleware with a canceled call before each call.
func canceling(mw middleware.Middleware) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		model := mw(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return next(ctx, req, emit)
		})
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			canceled, cancel := context.WithCancel(ctx)
			cancel()
			_, _ = model(canceled, req, emit) // rule "canceled-before" checks the error
			return model(ctx, req, emit)
		}
	}
}

func checkDrafts(s *subject) error {
	return s.sameWith("each call after a draft", s.drafting, true)
}

// sameWith compares the replays with those of a changed middleware.
func (s *subject) sameWith(when string, change func(middleware.Middleware) middleware.Middleware, withEvents bool) error {
	want, err := s.replays()
	if err != nil {
		return err
	}
	got, err := s.replayAll(change)
	if err == nil {
		err = sameReplays(want, got, withEvents)
	}
	if err != nil && s.deterministic() == nil { // otherwise rule "deterministic" reports the difference
		return fmt.Errorf("%s: %w", when, err)
	}
	return nil
}

// drafting returns the middleware with a draft before each call. The call fails if it does
// not send the view of the draft.
func (s *subject) drafting(mw middleware.Middleware) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			d, draftErr := middleware.Draft(ctx, mw, req)
			return mw(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				if draftErr != nil {
					return nil, fmt.Errorf("the call succeeds, its draft fails: %w", draftErr)
				}
				err := testkit.Same(req.Messages, d.After.Request().Messages)
				if err != nil && !s.Changes && !s.Repairs { // repairs come after the draft
					return nil, fmt.Errorf("the draft differs from the view: %w", err)
				}
				return next(ctx, req, emit)
			})(ctx, req, emit)
		}
	}
}
