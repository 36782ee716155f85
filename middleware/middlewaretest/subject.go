package middlewaretest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// subject is the middleware under test.
type subject struct {
	newMiddleware func() middleware.Middleware
	changes       bool
	mends         bool
	patience      time.Duration
	replays       func() ([]*replay, error) // made once, when first asked for
	deterministic func() error              // the same: what differs in replays made once more
}

func (s Suite) subject() *subject {
	sub := &subject{newMiddleware: s.New, changes: s.Changes, mends: s.Mends, patience: cmp.Or(s.patience, 10*time.Second)}
	sub.replays = sync.OnceValues(func() ([]*replay, error) {
		return sub.replayAll(func(mw middleware.Middleware) middleware.Middleware { return mw })
	})
	sub.deterministic = sync.OnceValue(sub.differs)
	return sub
}

// instance is one middleware around a model, with what goes in and out.
type instance struct {
	model    middleware.Model
	patience time.Duration
	heard    Recorder

	mu   sync.Mutex
	sent []sent
}

// sent is a request as it reached the model.
type sent struct {
	*middleware.Request // a deep copy

	meter tokens.Meter // of the chain
}

// outcome is what one call did.
type outcome struct {
	resp   *middleware.Response
	err    error
	sent   []sent // what the model was asked meanwhile
	events []middleware.Event
}

// instance puts a new middleware around a model.
func (s *subject) instance(answer middleware.Model) *instance {
	return s.wrap(s.newMiddleware(), answer)
}

func (s *subject) wrap(mw middleware.Middleware, answer middleware.Model) *instance {
	in := &instance{patience: s.patience}
	in.model = in.heard.Middleware()(mw(in.listen(answer)))
	return in
}

// listen returns the model that takes down what it is asked.
func (in *instance) listen(answer middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		got := sent{Request: CloneRequest(req), meter: tokens.Meter{}}
		if v := req.View(); v != nil {
			got.meter = v.Meter()
		}
		in.mu.Lock()
		in.sent = append(in.sent, got)
		in.mu.Unlock()
		return answer(ctx, req, emit)
	}
}

// call makes one call. The error says that it panicked or hung.
func (in *instance) call(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*outcome, error) {
	in.heard.Take()
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
	out.sent, out.events = slices.Clone(in.sent), in.heard.Take()
	return out, nil
}

// attempt runs fn in a goroutine of its own, which carries the profiler labels
// of the context, and reports a panic or that fn does not return.
func attempt(ctx context.Context, patience time.Duration, fn func()) error {
	ended := make(chan error, 1)
	go func() {
		err := errors.New("the call ended its goroutine")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the call panicked: %v", p)
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

// answered is a call that must have an answer, after exactly one call of the
// model.
func (in *instance) answered(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*outcome, error) {
	out, err := in.call(ctx, req, emit)
	switch {
	case err != nil:
		return nil, err
	case out.err != nil:
		return nil, fmt.Errorf("the call failed: %w", out.err)
	case out.resp == nil:
		return nil, errors.New("the call returned no response")
	case len(out.sent) != 1:
		return nil, fmt.Errorf("the model was called %d times, want once", len(out.sent))
	}
	return out, nil
}

// edited reports whether an edit was reported.
func (o *outcome) edited() bool {
	return slices.ContainsFunc(o.events, func(e middleware.Event) bool { return e.Kind == middleware.Edited })
}

// repaired reports whether a repair was reported.
func (o *outcome) repaired() bool {
	return slices.ContainsFunc(o.events, func(e middleware.Event) bool { return e.Kind == middleware.Repaired })
}

// view returns the messages that the model was sent.
func (o *outcome) view() []message.Message { return o.sent[0].Messages }

// providerOptions are the Params of the requests here.
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

// both runs a check on a request of ordinary size, first as it is, then with
// all triggers met.
func both(check func(req *middleware.Request) error) error {
	conversation := ReAct{Rounds: 8, Parallel: 2, PerTurn: 3, Thought: 60}
	if err := check(request(conversation.Messages())); err != nil {
		return err
	}
	if err := check(request(conversation.Messages(), "*")); err != nil {
		return fmt.Errorf("with Force %q: %w", "*", err)
	}
	return nil
}

// done answers without pieces, so that only the rules about emit depend on it.
func done() middleware.Model {
	return Give(middleware.Response{Message: message.Assistant(message.Text{Text: "done"}), Stop: middleware.StopEnd})
}
