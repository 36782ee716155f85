package react

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
)

// run is one run of an Agent, used by the goroutine of its reader alone.
type run struct {
	agent  Agent
	reader reader
	tools  map[string]agent.Tool
	defs   []message.ToolDef

	history   []message.Message
	malformed map[string]error // calls of the newest answer whose arguments are no JSON object, by id

	usage            message.Usage
	summaries        message.Usage
	summaryCost      models.Cost
	steps, toolCalls int
}

func (r *run) loop(ctx context.Context) error {
	if err := r.prepare(); err != nil {
		return &middleware.Error{Kind: middleware.Invalid, Op: "react", Err: err}
	}
	for !r.reader.left {
		if jobs := open(r.history); len(jobs) > 0 {
			r.act(ctx, jobs)
			continue
		}
		if answered(r.history) {
			return nil
		}
		if ctx.Err() != nil {
			return stopped(ctx, context.Cause(ctx))
		}
		if err := r.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) prepare() error {
	if len(r.history) == 0 {
		return errors.New("no messages, want at least one")
	}
	if err := r.agent.validate(); err != nil {
		return err
	}
	r.tools = make(map[string]agent.Tool, len(r.agent.Tools))
	for _, t := range r.agent.Tools {
		def := t.Definition()
		r.tools[def.Name] = t
		r.defs = append(r.defs, def)
	}
	r.defs = slices.Clip(r.defs)
	return nil
}

// step asks the model and puts its answer into the history.
func (r *run) step(ctx context.Context) error {
	n, _ := spent(r.history)
	if n >= limit(r.agent.MaxSteps, defaultMaxSteps) {
		return &middleware.Error{Op: "react", Err: fmt.Errorf(
			"%w: %d answers since the newest user message; raise Agent.MaxSteps, or go on with a new user message", ErrMaxSteps, n)}
	}
	if most := r.agent.MaxRepeats; most > 0 {
		if n, call := repeated(r.history); n >= most {
			return &middleware.Error{Op: "react", Err: fmt.Errorf(
				"%w: the last %d answers made the same calls with the same results: %.200s(%.200s); "+
					"raise Agent.MaxRepeats, or go on with a new user message", ErrRepeated, n, call.Name, call.Arguments)}
		}
	}
	resp, err := r.ask(ctx)
	switch {
	case r.reader.left:
		return nil
	case err != nil && ctx.Err() != nil:
		return stopped(ctx, err)
	case err != nil:
		return err
	case resp == nil:
		return unusable(errors.New("neither an answer nor an error"))
	}
	u := usage(resp)
	r.usage = r.usage.Add(u)
	m, malformed, err := accept(resp.Message, len(r.history))
	if err != nil {
		return unusable(err)
	}
	if m.Usage == nil && u != (message.Usage{}) {
		m.Usage = &u
	}
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	r.steps++
	r.malformed = malformed
	r.history = append(r.history, m)
	r.reader.send(Step{N: n + 1, Message: m, Usage: u, Cache: resp.Cache, Stop: resp.Stop})
	return nil
}

// ask calls the model and passes its deltas and the events to the reader.
func (r *run) ask(ctx context.Context) (resp *middleware.Response, err error) {
	req := &middleware.Request{
		Messages: slices.Clip(r.history),
		Tools:    r.defs,
		Model:    r.agent.ModelName,
		Budget:   r.agent.Budget,
		Params:   r.agent.Params,

		Conversation: r.agent.Conversation,
	}
	var mu sync.Mutex // events can come from several goroutines
	r.reader.follow(ctx, func(ctx context.Context, send send) {
		observe := middleware.Observe(func(_ context.Context, e middleware.Event) {
			if e.Kind != middleware.Called && e.Call != nil { // another model was asked, for a summary
				mu.Lock()
				r.summaries, r.summaryCost = r.summaries.Add(e.Call.Usage), r.summaryCost+e.Call.Bill.Spent
				mu.Unlock()
			}
			if e.Kind != middleware.Called { // the Step is sent instead
				_ = send(Edit{e})
			}
		})
		resp, err = observe(r.agent.Model)(ctx, req, func(d middleware.Delta) error {
			e := Delta{Text: d.Text, Thinking: d.Thinking}
			if d.Call != nil {
				c := *d.Call
				e.Call = &c
			}
			return send(e)
		})
	})
	return resp, err
}

// usage returns what the provider reported, in the response or in its message.
func usage(resp *middleware.Response) message.Usage {
	if resp.Usage == (message.Usage{}) && resp.Message.Usage != nil {
		return *resp.Message.Usage
	}
	return resp.Usage
}

// answered reports whether a history ends in a final answer.
func answered(history []message.Message) bool {
	m := history[len(history)-1]
	return m.Role == message.RoleAssistant && !m.HasCalls()
}

// spent counts the answers and the tool calls since the newest user message.
func spent(history []message.Message) (steps, calls int) {
	for _, m := range slices.Backward(history) {
		if m.Role == message.RoleUser {
			break
		}
		if m.Role == message.RoleAssistant {
			steps++
			for range m.Calls() {
				calls++
			}
		}
	}
	return steps, calls
}

// repeated returns the number of rounds at the end of a history that have the same calls
// and results, and the first of these calls.
func repeated(history []message.Message) (n int, call message.ToolCall) {
	var newest []message.Part
	for end := len(history); ; n++ {
		at := end - 1
		for at >= 0 && history[at].Role == message.RoleTool {
			at--
		}
		if at < 0 || at == end-1 || !history[at].HasCalls() {
			return n, call
		}
		parts := round(history[at:end])
		if n > 0 && !slices.Equal(parts, newest) {
			return n, call
		}
		newest, end = parts, at
		call, _ = parts[0].(message.ToolCall)
	}
}

// round returns the calls and results of a round, without their ids.
func round(msgs []message.Message) (parts []message.Part) {
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.ToolCall:
				p.ID = ""
				parts = append(parts, p)
			case message.ToolResult:
				p.CallID = ""
				parts = append(parts, p)
			case message.Text, message.Thinking, message.Media, message.Opaque:
			}
		}
	}
	return parts
}

// limit returns the value of a limit: 0 is its default, a negative number no limit.
func limit(n, byDefault int) int {
	if n < 0 {
		return math.MaxInt
	}
	return cmp.Or(n, byDefault)
}

// stopped returns the error of a run whose context is done.
func stopped(ctx context.Context, err error) error {
	if !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return &middleware.Error{Kind: middleware.Canceled, Op: "react", Err: err}
}

// unusable returns the error of a run whose model gave an answer that cannot be used.
func unusable(err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: "react", Err: fmt.Errorf("answer of the model: %w", err)}
}
