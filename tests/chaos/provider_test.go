package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/tests/lineup"
	"github.com/laconic-go/laconic/tokens"
)

// provider is a model behind a window of its own. It counts by four bytes a
// token, calls a tool as long as there are steps left to go, and then answers.
// What it does wrong is up to a fault. It is safe for concurrent use.
type provider struct {
	window int   // that it serves, in tokens; 0: any
	steps  int   // tool calls of a turn before the answer
	fault  fault // nil: it works

	mu    sync.Mutex
	calls int // so far
	sent  [][]message.Message
}

// fault answers call n, counted from 1, in place of a provider; or it says that
// the provider shall answer.
type fault func(ctx context.Context, n int, req *middleware.Request, emit middleware.Emit) (resp *middleware.Response, answered bool, err error)

// model is the provider as a [middleware.Model].
func (p *provider) model(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	p.mu.Lock()
	p.calls++
	n := p.calls
	p.sent = append(p.sent, req.Messages)
	p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.fault != nil {
		if resp, answered, err := p.fault(ctx, n, req, emit); answered {
			return resp, err
		}
	}
	size := measure(req)
	if p.window > 0 && size > p.window {
		return nil, tooLong(size, p.window)
	}
	return p.answer(req, emit, size)
}

// measure counts a request as providers do.
func measure(req *middleware.Request) int {
	return tokens.Meter{Counter: tokens.Chars4}.Request(req.Messages, req.Tools)
}

// tooLong is how the provider refuses what is too long.
func tooLong(size, window int) error {
	return &middleware.Error{Kind: middleware.Overflow, Op: "provider", Err: fmt.Errorf(
		"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", window, size)} //nolint:revive // the provider's own words
}

// answer calls the tool, or says that it is done.
func (p *provider) answer(req *middleware.Request, emit middleware.Emit, size int) (*middleware.Response, error) {
	resp := &middleware.Response{
		Message: message.Assistant(message.Text{Text: "done"}),
		Usage:   message.Usage{Input: size, Output: 1}, Stop: middleware.StopEnd,
	}
	if n := p.taken(req); n < p.steps && len(req.Tools) > 0 {
		resp.Message = message.Assistant(message.ToolCall{ID: fmt.Sprintf("step_%d", n+1), Name: toolName, Arguments: fmt.Sprintf(`{"page":%d}`, n+1)})
		resp.Stop = middleware.StopTools
		return resp, nil
	}
	if emit != nil {
		for _, piece := range []string{"do", "ne"} {
			if err := emit(middleware.Delta{Text: piece}); err != nil {
				return nil, err
			}
		}
	}
	return resp, nil
}

// taken returns how many steps of the errand have been taken, by the number of
// the newest call.
func (p *provider) taken(req *middleware.Request) int {
	newest := 0
	for _, m := range req.Messages {
		for c := range m.Calls() {
			var n int
			if _, err := fmt.Sscanf(c.ID, "step_%d", &n); err == nil {
				newest = max(newest, n)
			}
		}
	}
	return newest
}

const toolName = "read_page"

// errTrouble is an error without a kind.
var errTrouble = errors.New("trouble")

// trouble is something that goes wrong with a model, and how it may end.
type trouble struct {
	name   string
	fault  fault
	most   int                    // times that the model may be asked for one request
	heard  int                    // and if somebody hears the pieces; 0: as often
	ends   []middleware.ErrorKind // kinds of the error; none: with an answer
	answer bool                   // it may end with an answer all the same
	panics bool                   // the panic goes through to the caller
	wraps  error                  // what the error is in any case; nil: anything
}

// troubles are what models do. Each request for which nothing is wrong by the
// second time is answered.
func troubles() []trouble {
	const (
		overflow    = middleware.Overflow
		irreducible = middleware.Irreducible
	)
	return []trouble{
		{name: "refuses once, with numbers", fault: refuses(1, tooLong(9000, 3000)), most: 2, answer: true},
		{name: "refuses once, without numbers", fault: refuses(1, says(overflow, "context_length_exceeded")), most: 2, answer: true},
		{name: "refuses for ever, with numbers", fault: refuses(always, tooLong(9000, 3000)), most: 2, ends: []middleware.ErrorKind{overflow}},
		{name: "refuses for ever, without numbers", fault: refuses(always, says(overflow, "too long")), most: 2, ends: []middleware.ErrorKind{overflow, irreducible}},
		{name: "refuses for ever, with absurd numbers", fault: refuses(always, tooLong(1, -5)), most: 2, ends: []middleware.ErrorKind{overflow, irreducible}},
		{name: "refuses, and knows a window of one token", fault: refuses(always, tooLong(9000, 1)), most: 2, ends: []middleware.ErrorKind{overflow, irreducible}},
		{name: "refuses, then is down", fault: first(refuses(1, tooLong(9000, 3000)), refuses(always, says(middleware.Unavailable, "503"))), most: 2, ends: []middleware.ErrorKind{middleware.Unavailable}},
		{name: "refuses, then panics", fault: first(refuses(1, tooLong(9000, 3000)), panicsWith("second")), most: 2, panics: true},
		{name: "is down", fault: refuses(always, says(middleware.Unavailable, "503")), most: 1, ends: []middleware.ErrorKind{middleware.Unavailable}},
		{name: "wants patience", fault: refuses(always, says(middleware.RateLimited, "429: too many tokens per minute")), most: 1, ends: []middleware.ErrorKind{middleware.RateLimited}},
		{name: "denies", fault: refuses(always, says(middleware.Denied, "401")), most: 1, ends: []middleware.ErrorKind{middleware.Denied}},
		{name: "fails without a kind", fault: refuses(always, errTrouble), most: 1, ends: []middleware.ErrorKind{middleware.Unknown}, wraps: errTrouble},
		{name: "reports no usage", fault: reports(func(int) int { return 0 }), most: 1, answer: true},
		{name: "reports ten times too much", fault: reports(func(n int) int { return 10 * n }), most: 1, answer: true},
		{name: "reports a tenth", fault: reports(func(n int) int { return n / 10 }), most: 1, answer: true},
		{name: "reports less than nothing", fault: reports(func(n int) int { return -n }), most: 1, answer: true},
		{name: "cuts silently, and reports what is left", fault: reports(func(n int) int { return min(n, 500) }), most: 1, answer: true},
		{name: "answers nothing", fault: gives(&middleware.Response{Message: message.Assistant()}, nil), most: 1, answer: true},
		{name: "breaks off before the first piece", fault: breaksOff(0, says(middleware.Unavailable, "connection reset")), most: 1, ends: []middleware.ErrorKind{middleware.Unavailable}},
		{name: "breaks off after three pieces", fault: breaksOff(3, says(middleware.Unavailable, "connection reset")), most: 1, ends: []middleware.ErrorKind{middleware.Unavailable}},
		{name: "says something and then that it is too long", fault: breaksOff(1, tooLong(9000, 3000)), most: 2, heard: 1, ends: []middleware.ErrorKind{overflow}},
		{name: "panics", fault: panicsWith("trouble"), most: 1, panics: true},
		{name: "panics after a piece", fault: first(breaksOff(1, nil), panicsWith("trouble")), most: 1, panics: true},
		{name: "gives an answer and an error", fault: gives(&middleware.Response{Message: message.Assistant(message.Text{Text: "both"})}, errTrouble), most: 1, ends: []middleware.ErrorKind{middleware.Unknown}, wraps: errTrouble},
		{name: "gives neither answer nor error", fault: gives(nil, nil), most: 1, ends: []middleware.ErrorKind{middleware.Invalid}},
	}
}

const always = 1 << 30

// says is an error of a kind, in the words of a provider.
func says(kind middleware.ErrorKind, words string) error {
	return &middleware.Error{Kind: kind, Op: "provider", Err: errors.New(words)}
}

// refuses fails the first calls.
func refuses(times int, err error) fault {
	return func(_ context.Context, n int, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, bool, error) {
		return nil, n <= times, err
	}
}

// first lets one fault go before another.
func first(a, b fault) fault {
	return func(ctx context.Context, n int, req *middleware.Request, emit middleware.Emit) (*middleware.Response, bool, error) {
		if resp, answered, err := a(ctx, n, req, emit); answered {
			return resp, true, err
		}
		return b(ctx, n, req, emit)
	}
}

// gives answers like this, whatever is asked.
func gives(resp *middleware.Response, err error) fault {
	return func(context.Context, int, *middleware.Request, middleware.Emit) (*middleware.Response, bool, error) {
		return resp, true, err
	}
}

// reports answers, and says something else of the size of the prompt.
func reports(usage func(size int) int) fault {
	return func(_ context.Context, _ int, req *middleware.Request, emit middleware.Emit) (*middleware.Response, bool, error) {
		size := measure(req)
		resp, err := (&provider{steps: steps}).answer(req, emit, size)
		if resp != nil {
			resp.Usage.Input = usage(size)
		}
		return resp, true, err
	}
}

// breaksOff emits so many pieces, if there is somebody to hear them, and fails.
// Without an error it goes on.
func breaksOff(pieces int, err error) fault {
	return func(_ context.Context, _ int, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, bool, error) {
		for i := range pieces {
			if emit == nil {
				break
			}
			if gone := emit(middleware.Delta{Text: fmt.Sprintf("piece %d ", i)}); gone != nil {
				return nil, true, gone
			}
		}
		return nil, err != nil, err
	}
}

func panicsWith(value any) fault {
	return func(context.Context, int, *middleware.Request, middleware.Emit) (*middleware.Response, bool, error) {
		panic(value)
	}
}

// hangs waits until the caller has gone.
func hangs(ctx context.Context, _ int, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, bool, error) {
	<-ctx.Done()
	return nil, true, ctx.Err()
}

// reader is the tool of the errand.
type reader struct{ calls int }

func (*reader) Definition() message.ToolDef { return tools()[0] }

func (r *reader) Call(context.Context, string) ([]message.Part, error) {
	r.calls++
	return []message.Part{message.Text{Text: page(r.calls)}}, nil
}

// ran is what came of a run of an agent.
type ran struct {
	end      react.End
	err      error
	panicked any
}

// run lets an agent go on an errand that is three times as long as its window.
func run(ctx context.Context, model middleware.Model, h ...message.Message) ran {
	return runWith(ctx, model, []agent.Tool{&reader{}}, h...)
}

func runWith(ctx context.Context, model middleware.Model, with []agent.Tool, h ...message.Message) (r ran) {
	defer func() { r.panicked = recover() }()
	a := react.Agent{Model: model, Tools: with, Budget: budget(), Parallel: 1, MaxSteps: 2 * steps}
	for e, err := range a.Run(ctx, h...) {
		if end, ok := e.(react.End); ok {
			r.end, r.err = end, err
		}
	}
	return r
}

// TestAgentTroubles lets each thing go wrong with the model of an agent. Each run
// ends, and if the model can be talked to at all, with the errand done.
func TestAgentTroubles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for _, tr := range troubles() {
			who := fmt.Sprintf("an agent whose model %s, behind %s", tr.name, chain.Name)
			p := &provider{steps: steps, fault: tr.fault}
			r := run(t.Context(), put(chain, middleware.Env{}, p), history()...)
			require.LessOrEqual(t, p.calls, steps+tr.most, "%s: model calls", who)
			switch {
			case tr.panics:
				_, ok := r.panicked.(*react.PanicError)
				require.True(t, ok, "%s: the panic comes through as such, and not %v", who, r.panicked)
			case r.err == nil:
				require.True(t, tr.answer, "%s: there is nothing to be had", who)
				require.Equal(t, "done", r.end.Answer(), who)
				require.Equal(t, steps-begun, r.end.ToolCalls, who)
			default:
				require.Nil(t, r.panicked, who)
				requireKind(t, tr, r.err, who)
			}
			require.NoError(t, message.Rules(0).Check(answered(r.end.History)), "%s: the history can be gone on from", who)
		}
	})
}

// requireKind fails unless the error of a run is one that its trouble may have.
func requireKind(t *testing.T, tr trouble, err error, who string) {
	t.Helper()
	kinds := slices.Concat(tr.ends, []middleware.ErrorKind{middleware.Invalid}) // what is no answer is none
	require.Contains(t, kinds, middleware.KindOf(err), "%s: the kind of the error %v", who, err)
	if tr.wraps != nil {
		require.ErrorIs(t, err, tr.wraps, who)
	}
}

// answered leaves out calls at the end that are still to be run.
func answered(h []message.Message) []message.Message {
	if n := len(h); n > 0 && h[n-1].HasCalls() {
		return h[:n-1]
	}
	return h
}
