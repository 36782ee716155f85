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

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// callRules are about several calls, and about what is left of them.
func callRules() []rule {
	return []rule{
		{
			name: "concurrent",
			text: "a middleware is safe for concurrent use, and calls at the same time do not mix: " +
				"one chain serves all conversations of a server",
			check: checkConcurrent,
		},
		{
			name: "several-models",
			text: "a middleware may be put around several models, and each of the results calls its own: " +
				"programs share one middleware between a large model and a small one",
			check: checkSeveralModels,
		},
		{
			name: "nothing-left",
			text: "nothing that a call has started is still running when it returns, whether it went well or not, " +
				"since nobody would wait for it or see it fail",
			check: checkNothingLeft,
		},
		{
			name: "canceled-anywhere",
			text: "a call that is canceled before the model is asked, at whatever moment, is as good as never made, or as made: " +
				"the same call again, and those behind it, send what they would have sent, " +
				"since people stop their agents at any time, and go on",
			check: checkCanceledAnywhere,
		},
	}
}

// gate holds callers until so many are there, or until one has waited long
// enough: a middleware may let in fewer at a time.
type gate struct {
	missing atomic.Int64
	once    sync.Once
	opened  chan struct{}
}

func newGate(callers int) *gate {
	g := &gate{opened: make(chan struct{})}
	g.missing.Store(int64(callers))
	return g
}

func (g *gate) pass() {
	if g.missing.Add(-1) <= 0 {
		g.open()
	}
	timer := time.AfterFunc(100*time.Millisecond, g.open)
	defer timer.Stop()
	<-g.opened
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

func checkConcurrent(s *subject) error {
	const callers = 8
	g := newGate(callers)
	// The model says which callers it finds in what it is sent.
	model := s.newMiddleware()(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		g.pass()
		var found []string
		for i := range callers {
			if strings.Contains(allText(req.Messages), caller(i)) {
				found = append(found, caller(i))
			}
		}
		return Say(strings.Join(found, ", "))(ctx, req, emit)
	})
	shared := ReAct{Rounds: 9, PerTurn: 3, Answered: true}.Messages()
	changed := Freeze(request(shared))
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { errs[i] = s.talk(model, shared, i) })
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), changed())
}

func caller(i int) string { return fmt.Sprintf("[caller %d]", i) }

// talk makes some calls for one of several callers.
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
		switch want := caller(i); {
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

func checkSeveralModels(s *subject) error {
	mw := s.newMiddleware()
	named := func(name string) middleware.Model {
		return Give(middleware.Response{Message: message.Assistant(message.Text{Text: name})})
	}
	models := []*instance{s.wrap(mw, named("large")), s.wrap(mw, named("small"))}
	return both(func(req *middleware.Request) error {
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
	})
}

// labels tell the goroutines of one call from all others.
var labels atomic.Int64

func checkNothingLeft(s *subject) error {
	cases := []struct {
		when   string
		answer middleware.Model
		emit   middleware.Emit
		cancel bool
	}{
		{when: "an answer", answer: pieces(), emit: (&reader{}).emit},
		{when: "an error of the model", answer: Fail(denied())},
		{when: "an error of emit", answer: pieces(), emit: (&reader{failAfter: 1}).emit},
		{when: "a canceled call", answer: Wait(), cancel: true},
	}
	return both(func(req *middleware.Request) error {
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
			stack := leftovers(label)
			cancel()
			switch {
			case err != nil:
				return err
			case stack != "":
				return fmt.Errorf("after %s, a goroutine is left:\n%s", c.when, stack)
			}
		}
		return nil
	})
}

// leftovers returns the stacks of the goroutines with this label that do not
// end by themselves within a moment.
func leftovers(label string) string {
	var found string
	for range 50 {
		if found = labeled(label); found == "" {
			return ""
		}
		<-time.After(2 * time.Millisecond)
	}
	return found
}

// labeled returns the stacks of the goroutines with this label.
func labeled(label string) string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return err.Error()
	}
	var found []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("%q:%q", "middlewaretest", label)) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
