package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// breaker is a middleware that breaks rules on purpose.
type breaker struct {
	mw    func() middleware.Middleware
	rules []string // exactly those that it breaks, the one that it is made for first
	seen  string   // what is said about that one, in part
	suite Suite
}

type (
	Model    = middleware.Model
	Request  = middleware.Request
	Response = middleware.Response
	Emit     = middleware.Emit
)

// breaks makes a middleware of one call.
func breaks(call func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error)) func() middleware.Middleware {
	return func() middleware.Middleware {
		return func(next Model) Model {
			return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
				return call(next, ctx, req, emit)
			}
		}
	}
}

// before makes a middleware that does something to a copy of the request.
func before(do func(req *Request)) func() middleware.Middleware {
	return breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
		r := *req
		do(&r)
		return next(ctx, &r, emit)
	})
}

// changing makes a middleware that passes on other messages, if change says
// that it has changed some.
func changing(change func(msgs []message.Message) ([]message.Message, bool)) func() middleware.Middleware {
	return before(func(r *Request) {
		if msgs, changed := change(testkit.Clone(r.Messages)); changed {
			r.Messages = msgs
		}
	})
}

// after makes a middleware that does something to what comes back.
func after(do func(ctx context.Context, resp *Response, err error) (*Response, error)) func() middleware.Middleware {
	return breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
		resp, err := next(ctx, req, emit)
		return do(ctx, resp, err)
	})
}

// TestEveryRuleCanBeBroken shows that each rule finds the middleware that breaks
// it, explains itself, and that no rule finds more than it should.
func TestEveryRuleCanBeBroken(t *testing.T) {
	t.Parallel()
	all := map[string]breaker{}
	for _, some := range []map[string]breaker{
		requestBreakers(), answerBreakers(), streamBreakers(), callBreakers(), viewBreakers(), chainBreakers(), idleBreakers(), draftBreakers(), oddBreakers(),
	} {
		maps.Copy(all, some)
	}
	covered := map[string]bool{}
	for name, b := range all {
		covered[b.rules[0]] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := b.suite
			suite.New = b.mw
			verdicts := map[string]error{}
			sub := suite.subject()
			for _, r := range suite.rules() {
				if err := r.verdict(sub); err != nil {
					verdicts[r.name] = err
					require.ErrorContains(t, err, r.text, "an explanation of the rule")
				}
			}
			require.ElementsMatch(t, b.rules, slices.Collect(maps.Keys(verdicts)), "the broken rules: %v", verdicts)
			require.ErrorContains(t, verdicts[b.rules[0]], b.seen)
		})
	}
	for _, r := range (Suite{}).rules() {
		require.True(t, covered[r.name], "no middleware here is made to break %s", r.name)
	}
}

func requestBreakers() map[string]breaker {
	return map[string]breaker{
		"writes into a message": {
			rules: []string{"untouched", "odd-histories"}, seen: `message 0 is system[Text{"Be brief."}], want`,
			mw: before(func(r *Request) {
				m := r.Messages
				if len(m) > 0 && m[0].Role == message.RoleSystem && !strings.Contains(allText(m), caller(0)[:7]) {
					m[0].Parts[0] = message.Text{Text: "Be brief."}
				}
			}),
		},
		"appends to the caller's tools": {
			rules: []string{"untouched"}, seen: "field Tools of the request",
			mw: before(func(r *Request) { r.Tools = append(r.Tools, message.ToolDef{Name: "recall"}) }),
		},
		"appends behind the caller's messages": {
			rules: []string{"untouched", "odd-histories"}, seen: "unused memory after the messages",
			mw: before(func(r *Request) { _ = append(r.Messages, message.User("And now?")) }),
		},
		"appends behind the caller's parts": {
			rules: []string{"untouched"}, seen: "unused memory after the parts",
			mw: before(func(r *Request) {
				for _, m := range r.Messages {
					_ = append(m.Parts, message.Text{Text: "And now?"})
				}
			}),
		},
		"writes into the call options": {
			rules: []string{"untouched"}, seen: "Request.Params points to",
			mw: before(func(r *Request) {
				o, _ := r.Params.(*providerOptions)
				o.Temperature = 1
			}),
		},
		"changes the request for a moment": {
			rules: []string{"untouched", "fields"}, seen: "during the call of the model",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				old := req.Model
				defer func() { req.Model = old }()
				req.Model = "another-model"
				return next(ctx, req, emit)
			}),
		},
		"knows a history by its address": {
			rules: []string{"reuse"}, seen: "the old text was still sent",
			mw: func() middleware.Middleware {
				type key struct {
					at  *message.Message
					len int
				}
				var known sync.Map
				return before(func(r *Request) {
					if len(r.Messages) == 0 {
						return
					}
					k := key{&r.Messages[0], len(r.Messages)}
					if msgs, ok := known.Load(k); ok {
						r.Messages, _ = msgs.([]message.Message)
						return
					}
					known.Store(k, testkit.Clone(r.Messages))
				})()
			},
		},
		"drops the call options": {
			rules: []string{"fields"}, seen: "field Params of the request is <nil>",
			mw: before(func(r *Request) { r.Params = nil }),
		},
		"sorts the tools": {
			rules: []string{"fields"}, seen: "the model received the tools",
			mw: before(func(r *Request) {
				r.Tools = slices.Clone(r.Tools)
				slices.Reverse(r.Tools)
			}),
		},
		"makes the request anew": {
			rules: []string{"copied", "drafts"}, seen: "did not receive the event of the editor inside it",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				return next(ctx, &Request{
					Messages: req.Messages, Tools: req.Tools, Model: req.Model, Budget: req.Budget, Params: req.Params, Force: req.Force,
				}, emit)
			}),
		},
	}
}

func answerBreakers() map[string]breaker {
	return map[string]breaker{
		"returns a response with an error": {
			rules: []string{"error"}, seen: "when the model fails",
			mw: after(func(_ context.Context, resp *Response, err error) (*Response, error) {
				if resp == nil {
					resp = &Response{}
				}
				return resp, err
			}),
		},
		"loses the stop reason": {
			rules: []string{"response"}, seen: "want",
			mw: after(func(_ context.Context, resp *Response, err error) (*Response, error) {
				if err != nil {
					return nil, err
				}
				return &Response{Message: resp.Message, Usage: resp.Usage}, nil
			}),
		},
		"tells errors in words": {
			rules: []string{"error", "canceled-before", "canceled-during", "emit-error", "no-retry"}, seen: "want one that is",
			mw: after(func(_ context.Context, resp *Response, err error) (*Response, error) {
				if err != nil {
					return nil, fmt.Errorf("broken: %v", err) //nolint:errorlint // that is what is wrong here
				}
				return resp, nil
			}),
		},
		"calls every error an outage": {
			rules: []string{"error", "canceled-before", "canceled-during"}, seen: "is of kind unavailable, want",
			mw: after(func(_ context.Context, resp *Response, err error) (*Response, error) {
				if err != nil {
					return nil, &middleware.Error{Kind: middleware.Unavailable, Err: err}
				}
				return resp, nil
			}),
		},
		"has its own word for late": {
			rules: []string{"canceled-before"}, seen: "too late",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				if ctx.Err() != nil {
					return nil, errors.New("too late")
				}
				return next(ctx, req, emit)
			}),
		},
		"calls on after the caller is gone": {
			rules: []string{"canceled-during", "nothing-left"}, seen: "that of the model was not",
			suite: Suite{patience: time.Second},
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return next(context.WithoutCancel(ctx), req, emit)
			}),
		},
		"has a context of its own": {
			rules: []string{"context"}, seen: "is <nil> in that of the model",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				own, cancel := context.WithCancel(context.Background())
				defer cancel()
				defer context.AfterFunc(ctx, cancel)()
				return next(own, req, emit) //nolint:contextcheck // that is what is wrong here
			}),
		},
	}
}

func streamBreakers() map[string]breaker {
	return map[string]breaker{
		"wraps an emit that is nil": {
			rules: []string{"response"}, seen: "nil pointer",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				return next(ctx, req, func(d middleware.Delta) error { return emit(d) })
			}),
		},
		"emits backwards": {
			rules: []string{"pieces"}, seen: `text " it.I readThen "`,
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				if emit == nil {
					return next(ctx, req, nil)
				}
				var held []middleware.Delta
				resp, err := next(ctx, req, func(d middleware.Delta) error {
					held = append(held, d)
					return nil
				})
				for _, d := range slices.Backward(held) {
					if err := emit(d); err != nil {
						return nil, err
					}
				}
				return resp, err
			}),
		},
		"goes on when emit fails": {
			rules: []string{"emit-error"}, seen: "more pieces",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				if emit == nil {
					return next(ctx, req, nil)
				}
				return next(ctx, req, func(d middleware.Delta) error {
					_ = emit(d)
					return nil
				})
			}),
		},
		"forgets that emit failed": {
			rules: []string{"emit-error"}, seen: "error <nil>, want",
			mw: after(func(_ context.Context, resp *Response, err error) (*Response, error) {
				if errors.Is(err, errReaderLeft) {
					return &Response{}, nil
				}
				return resp, err
			}),
		},
		"asks again for those who left": {
			rules: []string{"emit-error"}, seen: "the model was called 2 times",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				resp, err := next(ctx, req, emit)
				if errors.Is(err, errReaderLeft) {
					_, _ = next(ctx, req, nil)
				}
				return resp, err
			}),
		},
		"tries again in any case": {
			rules: []string{"no-retry"}, seen: "called 2 times",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				resp, err := next(ctx, req, emit)
				if middleware.KindOf(err) == middleware.Unavailable {
					return next(ctx, req, emit)
				}
				return resp, err
			}),
		},
		"hides an outage behind a piece": {
			rules: []string{"no-retry"}, seen: "error <nil>, want",
			mw: after(func(_ context.Context, resp *Response, err error) (*Response, error) {
				if middleware.KindOf(err) == middleware.Unavailable {
					return &Response{}, nil
				}
				return resp, err
			}),
		},
	}
}

func callBreakers() map[string]breaker {
	never := make(chan struct{})
	return map[string]breaker{
		"lets all calls at one time share one answer": {
			rules: []string{"concurrent"}, seen: "got the answer to",
			mw: func() middleware.Middleware {
				type flight struct {
					done chan struct{}
					resp *Response
					err  error
				}
				var (
					mu  sync.Mutex
					now *flight
				)
				return breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
					mu.Lock()
					if f := now; f != nil {
						mu.Unlock()
						<-f.done
						return f.resp, f.err
					}
					f := &flight{done: make(chan struct{})}
					now = f
					mu.Unlock()
					defer func() {
						mu.Lock()
						defer mu.Unlock()
						now = nil
						close(f.done)
					}()
					f.resp, f.err = next(ctx, req, emit)
					return f.resp, f.err
				})()
			},
		},
		"keeps the first model for all": {
			rules: []string{"several-models", "drafts"}, seen: "around the small model",
			mw: func() middleware.Middleware {
				var first Model
				return func(next Model) Model {
					if first == nil {
						first = next
					}
					return first
				}
			},
		},
		"leaves a goroutine behind": {
			rules: []string{"nothing-left"}, seen: "a goroutine is left",
			mw: before(func(*Request) { go func() { <-never }() }),
		},
		"remembers that it was canceled": {
			rules: []string{"canceled"}, seen: "each call after a canceled one: parallel calls, roomy window, call 1: message 0 of",
			mw: func() middleware.Middleware {
				var canceled atomic.Bool
				return breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
					if ctx.Err() != nil {
						canceled.Store(true)
						return nil, ctx.Err()
					}
					if canceled.Load() {
						r := *req
						r.Messages = append([]message.Message{message.System("The user was in a hurry.")}, req.Messages...)
						req = &r
					}
					return next(ctx, req, emit)
				})()
			},
		},
		"leaves the model behind when canceled": {
			rules: []string{"nothing-left"}, seen: "after a canceled call",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				resp, err := next(ctx, req, emit)
				if ctx.Err() != nil && len(req.Force) == 0 {
					go func() { <-never }()
				}
				return resp, err
			}),
		},
		"never returns": {
			rules: []string{"canceled-during", "nothing-left"}, seen: "has not returned",
			suite: Suite{patience: time.Second},
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				late := ctx.Err() != nil
				resp, err := next(ctx, req, emit)
				if ctx.Err() != nil && !late {
					<-never
				}
				return resp, err
			}),
		},
	}
}

// answeredResults returns the positions of the results that a model has seen.
func answeredResults(msgs []message.Message) []int {
	var found []int
	for i, m := range slices.Backward(msgs) {
		if m.Role != message.RoleAssistant {
			continue
		}
		for k := range i {
			if msgs[k].Role == message.RoleTool && !msgs[k].Hints.Pinned {
				found = append(found, k)
			}
		}
		break
	}
	return found
}

// edits makes an editing middleware of a function that gives the new text of a
// result, "" if it stays.
func edits(shorten func(v *middleware.View, i int, r message.ToolResult) string) func() middleware.Middleware {
	return func() middleware.Middleware {
		return middleware.Editing("shorten", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			var plan middleware.Plan
			for i, m := range v.Messages() {
				if m.Role != message.RoleTool || v.Protected(i) != (middleware.Protection{}) || len(m.Parts) != 1 {
					continue
				}
				r, _ := m.Parts[0].(message.ToolResult)
				if text := shorten(v, i, r); text != "" {
					r.Text = text
					plan.Edits = append(plan.Edits, middleware.RewriteOf(i, r))
				}
			}
			return &plan, nil
		}, middleware.Options{})
	}
}

func halve(_ *middleware.View, _ int, r message.ToolResult) string {
	if len(r.Text) < 200 {
		return ""
	}
	return r.Text[:len(r.Text)/2]
}

func viewBreakers() map[string]breaker {
	return map[string]breaker{
		"changes a name in secret": {
			rules: []string{"reported"}, seen: `parallel calls, roomy window, call 1: message 1 of 2`,
			mw: changing(func(msgs []message.Message) ([]message.Message, bool) {
				if len(msgs) < 2 || msgs[1].Name == "" {
					return nil, false
				}
				msgs[1].Name = ""
				return msgs, true
			}),
		},
		"edits in secret after an edit that it reports": {
			// The results are halved as soon as they are answered, so that each
			// view differs from the one before in its middle.
			rules: []string{"growing", "settles", "odd-histories", "drafts"}, seen: "parallel calls, roomy window, call 5: message 9",
			mw: func() middleware.Middleware {
				once := middleware.Editing("once", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
					for i, m := range v.Messages() {
						if _, ok := m.Parts[0].(message.Text); ok && m.HasCalls() && v.Protected(i) == (middleware.Protection{}) {
							return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(i, m.Parts[1:]...)}}, nil
						}
					}
					return nil, nil
				}, middleware.Options{MinCalls: 1000})
				return middleware.Chain(once, changing(func(msgs []message.Message) ([]message.Message, bool) {
					found := answeredResults(msgs)
					for _, i := range found {
						r, _ := msgs[i].Parts[0].(message.ToolResult)
						r.Text = r.Text[:len(r.Text)/2]
						msgs[i].Parts[0] = r
					}
					return msgs, len(found) > 0
				})())
			},
		},
		"loses the last of parallel results": {
			rules: []string{"valid", "odd-histories"}, seen: "unanswered call",
			suite: Suite{Changes: true},
			mw: changing(func(msgs []message.Message) ([]message.Message, bool) {
				for i := 1; i < len(msgs); i++ {
					if msgs[i].Role == message.RoleTool && msgs[i-1].Role == message.RoleTool {
						return slices.Delete(msgs, i, i+1), true
					}
				}
				return nil, false
			}),
		},
	}
}

// idleBreakers are editors without an edit.
func idleBreakers() map[string]breaker {
	editor := func(plan func(v *middleware.View) *middleware.Plan) func() middleware.Middleware {
		return func() middleware.Middleware {
			return middleware.Editing("idle", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				return plan(v), nil
			}, middleware.Options{})
		}
	}
	return map[string]breaker{
		"never edits": {
			rules: []string{"edits"}, seen: "no edit in 114 calls; it proposes no plan, also if Request.Force has all names",
			mw: editor(func(*middleware.View) *middleware.Plan { return nil }),
		},
		"each plan is refused": {
			rules: []string{"edits"}, seen: "a chat without tools, tight window, call 13: idle: refused: message 0 is a leading system message",
			mw: editor(func(v *middleware.View) *middleware.Plan {
				if v.Len() == 0 || v.Messages()[0].Role != message.RoleSystem {
					return nil
				}
				return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(0, message.Text{Text: "x"})}}
			}),
		},
		"an editor panics": {
			rules: []string{"panics", "odd-histories"}, seen: "idle: editor panicked: no results here",
			mw: editor(func(v *middleware.View) *middleware.Plan {
				if v.Len() > 3 {
					panic("no results here")
				}
				return nil
			}),
		},
	}
}

// TestIdle has the same editors in a suite that knows that they never edit, and with a history in which one does.
func TestIdle(t *testing.T) {
	t.Parallel()
	require.NoError(t, Suite{New: idleBreakers()["never edits"].mw, Idle: true}.Check())

	pays := edits(func(_ *middleware.View, _ int, r message.ToolResult) string {
		if r.Name != "pay" || len(r.Text) < 200 {
			return ""
		}
		return r.Text[:1]
	})
	require.ErrorContains(t, Suite{New: pays}.Check(), "middlewaretest: edits: ")
	history := ReAct{Rounds: 4}.Messages()
	for i, m := range history {
		for k, p := range m.Parts {
			if call, ok := p.(message.ToolCall); ok {
				call.Name = "pay"
				history[i].Parts[k] = call
			}
			if result, ok := p.(message.ToolResult); ok {
				result.Name = "pay"
				history[i].Parts[k] = result
			}
		}
	}
	suite := Suite{New: pays, Histories: [][]message.Message{history}}
	require.NoError(t, suite.Check())
	want := testkit.Clone(history)
	replays, err := suite.subject().replays()
	require.NoError(t, err)
	require.Equal(t, "Histories[0], tight window", replays[len(replays)-1].name)
	require.Equal(t, want, history, "it is not modified")
}

func chainBreakers() map[string]breaker {
	var instances atomic.Int64
	stamp := func(r *Request, text string) {
		r.Messages = append([]message.Message{message.System(text)}, r.Messages...)
	}
	return map[string]breaker{
		"signs with its number": {
			rules: []string{"deterministic"}, seen: "message 0",
			suite: Suite{Changes: true},
			mw: func() middleware.Middleware {
				n := instances.Add(1)
				return before(func(r *Request) { stamp(r, fmt.Sprintf("Copy %d.", n)) })()
			},
		},
		"counts the calls": {
			rules: []string{"repeated", "canceled", "drafts"}, seen: "message 0",
			suite: Suite{Changes: true},
			mw: func() middleware.Middleware {
				var calls atomic.Int64
				return before(func(r *Request) { stamp(r, fmt.Sprintf("Call %d.", calls.Add(1))) })()
			},
		},
		"forgets its edits": { // and so makes them again on each call
			rules: []string{"repeated"}, seen: "each further call has another edit",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				return edits(halve)()(next)(ctx, req, emit)
			}),
		},
		"edits the edits of others without an end": {
			rules: []string{"settles"}, seen: "each further call has another edit",
			mw: edits(func(v *middleware.View, i int, r message.ToolResult) string {
				if len(r.Text) < 100 || v.Span(i).Edit != nil {
					return ""
				}
				return r.Text[:len(r.Text)-8]
			}),
		},
	}
}

func draftBreakers() map[string]breaker {
	return map[string]breaker{
		"plans once for each history": {
			rules: []string{"drafts"}, seen: "each call after a draft",
			mw: func() middleware.Middleware {
				var planned sync.Map
				return edits(func(v *middleware.View, i int, r message.ToolResult) string {
					at := fmt.Sprintf("%d/%d", len(v.History()), i)
					if _, again := planned.LoadOrStore(at, true); again {
						return ""
					}
					return halve(v, i, r)
				})()
			},
		},
		"does more in a dry run": {
			rules: []string{"drafts"}, seen: "the draft differs from the view",
			mw: edits(func(v *middleware.View, i int, r message.ToolResult) string {
				if v.Span(i).Edit != nil || len(r.Text) < 200 {
					return ""
				}
				if calledBy("middleware.Draft") {
					return r.Text[:50]
				}
				return r.Text[:100]
			}),
		},
		"fails in a dry run": {
			rules: []string{"drafts"}, seen: "the call succeeds, its draft fails",
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				if calledBy("middleware.Draft") {
					return nil, errors.New("not for real")
				}
				return next(ctx, req, emit)
			}),
		},
	}
}

// calledBy reports whether a function is among the callers.
func calledBy(name string) bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, name) {
			return true
		}
		if !more {
			return false
		}
	}
}

func oddBreakers() map[string]breaker {
	return map[string]breaker{
		"takes a first part for granted": {
			rules: []string{"odd-histories"}, seen: `empty messages, Force []: the call panicked: runtime error: index out of range`,
			mw: before(func(r *Request) {
				for _, m := range r.Messages {
					_ = m.Parts[0]
				}
			}),
		},
		"refuses in its own words": {
			rules: []string{"odd-histories"}, seen: `no messages, Force []: rejected with an error of unknown kind: nothing to say`,
			mw: breaks(func(next Model, ctx context.Context, req *Request, emit Emit) (*Response, error) {
				if len(req.Messages) == 0 {
					return nil, errors.New("nothing to say")
				}
				return next(ctx, req, emit)
			}),
		},
		"loses empty messages": {
			rules: []string{"odd-histories"}, seen: `nothing was reported, but`,
			mw: changing(func(msgs []message.Message) ([]message.Message, bool) {
				n := len(msgs)
				msgs = slices.DeleteFunc(msgs, func(m message.Message) bool { return len(m.Parts) == 0 })
				return msgs, len(msgs) < n
			}),
		},
		"breaks what is broken further": {
			rules: []string{"odd-histories"}, seen: `additional violation: message 2: orphaned result "c1.1"`,
			suite: Suite{Changes: true},
			mw: changing(func(msgs []message.Message) ([]message.Message, bool) {
				if message.Check(msgs) == nil {
					return nil, false
				}
				n := len(msgs)
				msgs = slices.DeleteFunc(msgs, func(m message.Message) bool { return m.HasCalls() })
				return msgs, len(msgs) < n
			}),
		},
		"writes into broken histories": {
			rules: []string{"odd-histories"}, seen: `want`,
			mw: before(func(r *Request) {
				for i, m := range r.Messages {
					if len(m.Parts) == 0 {
						r.Messages[i].Parts = []message.Part{message.Text{Text: "?"}}
					}
				}
			}),
		},
	}
}
