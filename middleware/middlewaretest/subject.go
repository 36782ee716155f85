package middlewaretest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// subject is the middleware under test.
type subject struct {
	Suite

	replays       func() ([]*replay, error) // made at the first call
	deterministic func() error              // compares the replays with a second set; made at the first call
}

func (s Suite) subject() *subject {
	s.patience = cmp.Or(s.patience, 10*time.Second)
	sub := &subject{Suite: s}
	sub.replays = sync.OnceValues(func() ([]*replay, error) { return sub.replayAll(asIs) })
	sub.deterministic = sync.OnceValue(func() error {
		first, err := sub.replays()
		if err != nil {
			return err
		}
		second, err := sub.replayAll(asIs)
		if err != nil {
			return err
		}
		return sameReplays(first, second, true)
	})
	return sub
}

func asIs(mw middleware.Middleware) middleware.Middleware { return mw }

// instance is a middleware around a model, with a record of requests and events.
type instance struct {
	model    middleware.Model
	patience time.Duration
	events   Recorder

	mu     sync.Mutex
	sent   []*middleware.Request // deep copies
	viewed bool                  // a request came from an editing middleware
}

// outcome is the result of one call.
type outcome struct {
	resp   *middleware.Response
	err    error
	sent   []*middleware.Request // to the model
	events []middleware.Event
}

// instance puts a new middleware around a model.
func (s *subject) instance(answer middleware.Model) *instance { return s.wrap(s.New(), answer) }

func (s *subject) wrap(mw middleware.Middleware, answer middleware.Model) *instance {
	in := &instance{patience: s.patience}
	model := mw(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		in.mu.Lock()
		in.sent = append(in.sent, testkit.CloneRequest(req))
		in.viewed = in.viewed || req.View() != nil
		in.mu.Unlock()
		return answer(ctx, req, emit)
	})
	in.model = in.events.Middleware()(model)
	return in
}

// call makes one call. It returns an error if the call panics or does not return.
func (in *instance) call(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*outcome, error) {
	in.events.take()
	in.mu.Lock()
	in.sent = nil
	in.mu.Unlock()
	out := &outcome{}
	err := attempt(ctx, in.patience, func() { out.resp, out.err = in.model(ctx, req, emit) })
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	out.sent, out.events = slices.Clone(in.sent), in.events.take()
	return out, nil
}

// attempt runs fn in a goroutine with the profiler labels of the context. It returns an
// error if fn panics or does not return in time.
func attempt(ctx context.Context, patience time.Duration, fn func()) error {
	ended := make(chan error, 1)
	go func() {
		err := errors.New("the call ended its goroutine")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the call panicked: %v\n%s", p, debug.Stack())
			}
			ended <- err
		}()
		pprof.SetGoroutineLabels(ctx)
		fn()
		err = nil
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return fmt.Errorf("the call has not returned after %v", patience)
	}
}

// answered makes a call that must return a response after exactly one call of the model.
func (in *instance) answered(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*outcome, error) {
	out, err := in.call(ctx, req, emit)
	switch {
	case err != nil:
		return nil, err
	case out.err != nil:
		return nil, fmt.Errorf("the call failed: %w", out.err)
	case out.resp == nil:
		return nil, errors.New("the call returned no response")
	}
	return out, out.calledOnce() //nolint:gocritic // it does not change out
}

// calledOnce returns an error unless the model was called once.
func (o *outcome) calledOnce() error {
	if n := len(o.sent); n != 1 {
		return fmt.Errorf("the model was called %d times, want once", n)
	}
	return nil
}

// reported reports whether an event of that kind was reported.
func (o *outcome) reported(kind middleware.EventKind) bool {
	return slices.ContainsFunc(o.events, func(e middleware.Event) bool { return e.Kind == kind })
}

// edited reports whether an edit was reported.
func (o *outcome) edited() bool { return o.reported(middleware.Edited) }

// view returns the messages that were sent to the model.
func (o *outcome) view() []message.Message { return o.sent[0].Messages }

// providerOptions are the Params of the requests of the suite.
type providerOptions struct{ Temperature float64 }

// request returns a request with all fields set.
func request(history []message.Message, force ...string) *middleware.Request {
	return &middleware.Request{
		Messages: history,
		Tools: []message.ToolDef{
			{Name: "read_file", Description: "Reads a file.", Parameters: `{"type":"object"}`},
			{Name: "search", Description: "Searches all files.", Parameters: `{"type":"object"}`},
		},
		Model:  "some-model",
		Budget: &middleware.Budget{Window: 1_000_000, Reserve: 1_000},
		Params: &providerOptions{Temperature: 0.5},
		Force:  force,
	}
}

// both returns a check that makes another one twice, with a request of ordinary size: unchanged, and with all
// triggers met.
func both(check func(s *subject, req *middleware.Request) error) func(*subject) error {
	return func(s *subject) error {
		conversation := ReAct{Rounds: 8, Parallel: 2, PerTurn: 3, Thought: 60}
		if err := check(s, request(conversation.Messages())); err != nil {
			return err
		}
		if err := check(s, request(conversation.Messages(), "*")); err != nil {
			return fmt.Errorf("with Force %q: %w", "*", err)
		}
		return nil
	}
}

// done answers without pieces, so that only the rules about emit depend on emit.
func done() middleware.Model {
	return testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: "done"}), Stop: middleware.StopEnd})
}

// replay is a conversation that was sent through one instance, call by call.
type replay struct {
	name  string
	in    *instance
	steps []step
}

// step is one answered call of a replay.
type step struct {
	*outcome

	call int // from 1
	req  *middleware.Request
}

// at returns the place of a step, for error texts.
func (r *replay) at(st step) string { return fmt.Sprintf("%s, call %d", r.name, st.call) }

// last returns the last step.
func (r *replay) last() step { return r.steps[len(r.steps)-1] }

// eachStep returns a check that makes another one for each step of each replay.
func eachStep(check func(r *replay, i int) error) func(*subject) error {
	return func(s *subject) error {
		replays, err := s.replays()
		if err != nil {
			return err
		}
		for _, r := range replays {
			for i, st := range r.steps {
				if err := check(r, i); err != nil {
					return fmt.Errorf("%s: %w", r.at(st), err)
				}
			}
		}
		return nil
	}
}

// replayAll sends each conversation through new instances: with room for all of it, with
// all triggers met, and with a window that is too small.
func (s *subject) replayAll(around func(middleware.Middleware) middleware.Middleware) ([]*replay, error) {
	var all []*replay
	for _, c := range s.conversations() {
		if s.Repairs {
			c.msgs = message.Portable.Repair(c.msgs).Messages
		}
		full := tokens.Meter{Counter: tokens.Chars4}.Request(c.msgs, nil)
		for _, room := range []string{"roomy window", "all triggers met", "tight window"} {
			r := &replay{name: c.name + ", " + room, in: s.wrap(around(s.New()), done())}
			err := r.run(c.msgs, room == "tight window", func(req *middleware.Request) {
				switch room {
				case "all triggers met":
					req.Force = []string{"*"}
				case "tight window":
					req.Budget = &middleware.Budget{Window: full * 2 / 3, Reserve: full / 20}
				}
			})
			if err != nil {
				return nil, fmt.Errorf("%s, %w", r.name, err)
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// run makes the calls. If the window is tight, a call may return an error of a known kind.
func (r *replay) run(msgs []message.Message, tight bool, set func(*middleware.Request)) error {
	call := 0
	for history := range testkit.Prefixes(msgs) {
		call++
		req := request(history)
		set(req)
		out, err := r.in.answered(context.Background(), req, nil)
		switch {
		case err == nil:
			r.steps = append(r.steps, step{outcome: out, call: call, req: req})
		case tight && middleware.KindOf(err) != middleware.Unknown:
		default:
			return fmt.Errorf("call %d: %w", call, err)
		}
	}
	if len(r.steps) == 0 {
		return errors.New("no call was answered")
	}
	return nil
}

// sameReplays compares what was sent to the model, and the events if wanted.
func sameReplays(want, got []*replay, withEvents bool) error {
	for k, w := range want {
		if len(w.steps) != len(got[k].steps) {
			return fmt.Errorf("%s: %d calls were answered, and then %d", w.name, len(w.steps), len(got[k].steps))
		}
		for i, st := range w.steps {
			if err := testkit.Same(st.view(), got[k].steps[i].view()); err != nil {
				return fmt.Errorf("%s: %w", w.at(st), err)
			}
			want, events := withoutStacks(st.events), withoutStacks(got[k].steps[i].events)
			if withEvents && !slices.Equal(want, events) {
				return fmt.Errorf("%s: events %q, want %q", w.at(st), events, want)
			}
		}
	}
	return nil
}

// withoutStacks returns the texts of events. The stack of a panic is never the same.
func withoutStacks(events []middleware.Event) []string {
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i], _, _ = strings.Cut(e.String(), "\ngoroutine ")
	}
	return texts
}

// panicked returns the error of an event that reports a panic of an editor or a trigger.
func (o *outcome) panicked() error {
	for _, e := range o.events {
		own := e.Kind == middleware.Failed || e.Kind == middleware.Misconfigured
		if own && e.Err != nil && strings.Contains(e.Err.Error(), " panicked: ") {
			return fmt.Errorf("%s: %w", e.By, e.Err)
		}
	}
	return nil
}
