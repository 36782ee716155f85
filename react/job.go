package react

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
)

// errNoReturn is what a tool that ended its goroutine has in place of a result.
var errNoReturn = errors.New("the tool ended its goroutine and returned nothing")

// job is a call that has no result yet.
type job struct {
	call   message.ToolCall
	nth    int // which call of its answer, from 0
	of     int // calls of its answer
	result Result
}

// open returns the calls at the end of a history that have no result.
func open(history []message.Message) []*job {
	at := len(history) - 1
	for at >= 0 && history[at].Role == message.RoleTool {
		at--
	}
	if at < 0 || history[at].Role != message.RoleAssistant {
		return nil
	}
	answered := map[string]bool{}
	for _, m := range history[at+1:] {
		for res := range m.Results() {
			answered[res.CallID] = true
		}
	}
	calls := slices.Collect(history[at].Calls())
	var jobs []*job
	for i, c := range calls {
		if !answered[c.ID] {
			answered[c.ID] = true // a broken history may have the id twice
			jobs = append(jobs, &job{call: c, nth: i, of: len(calls)})
		}
	}
	return jobs
}

// run calls the tool. Whatever that does, the job has a result afterwards.
func (j *job) run(ctx context.Context, t agent.Tool, timeout time.Duration) {
	toolCtx, cancel := ctx, func() {}
	if timeout > 0 {
		toolCtx, cancel = context.WithTimeout(ctx, timeout)
	}
	var (
		start = time.Now()
		parts []message.Part
		err   = errNoReturn
	)
	defer func() {
		panicked := caught(recover())
		switch {
		case panicked != nil:
			err = panicked
		case err == nil:
		case ctx.Err() != nil:
			err = &cutOffError{how: "cancelled while it ran", why: ctx.Err(), err: err}
		case toolCtx.Err() != nil:
			err = &cutOffError{how: fmt.Sprintf("timed out after %v", timeout), why: toolCtx.Err(), err: err}
		}
		cancel()
		j.finish(parts, err, time.Since(start))
	}()
	parts, err = t.Call(toolCtx, j.call.Arguments)
}

// finish makes the result of the job from what its tool returned.
func (j *job) finish(parts []message.Part, err error, took time.Duration) {
	var pieces []message.Part
	if err == nil {
		pieces, err = j.pieces(parts)
	}
	if err != nil {
		pieces = []message.Part{message.ToolResult{CallID: j.call.ID, Name: j.call.Name, Text: text(err), Error: true}}
	}
	j.result = Result{
		Call:    j.call,
		Message: message.Message{Role: message.RoleTool, Parts: pieces, Time: time.Now()},
		Err:     err,
		Took:    took,
	}
}

// pieces returns the parts of a tool's result as pieces of the call's result.
func (j *job) pieces(parts []message.Part) ([]message.Part, error) {
	blank := message.ToolResult{CallID: j.call.ID, Name: j.call.Name}
	if len(parts) == 0 {
		return []message.Part{blank}, nil
	}
	pieces := make([]message.Part, len(parts))
	for i, p := range parts {
		piece, ok := fill(blank, p)
		if !ok {
			return nil, fmt.Errorf("the tool returned a part of type %T, want text, media or opaque parts", p)
		}
		pieces[i] = piece
	}
	return pieces, nil
}

// fill puts a part into a result, if a result can hold it.
func fill(r message.ToolResult, p message.Part) (message.ToolResult, bool) {
	switch p := p.(type) {
	case message.Text:
		r.Text = p.Text
		return r, true
	case message.Media, message.Opaque:
		r.Content = p
		return r, true
	case nil, message.Thinking, message.ToolCall, message.ToolResult:
	}
	return r, false // nor can it hold a pointer to a part
}

// text returns what the model is told about an error.
func text(err error) string {
	if panicked, ok := err.(*PanicError); ok { //nolint:errorlint // the panic of this tool, not one that it reports
		return fmt.Sprintf("the tool panicked: %v", panicked.Value)
	}
	if s := fmt.Sprint(err); s != "" { // unlike err.Error(), it survives a method that panics
		return s
	}
	return "the tool failed and does not say why"
}

// cutOffError is the error of a call that was not let finish.
type cutOffError struct {
	how string
	why error // of the context
	err error // of the tool; nil: it did not run
}

func notRun(ctx context.Context) error {
	return &cutOffError{how: "cancelled before it ran", why: ctx.Err()}
}

// Error leaves out what a context says about itself.
func (e *cutOffError) Error() string {
	if e.err == nil || errors.Is(e.err, e.why) {
		return e.how
	}
	return e.how + ": " + e.err.Error()
}

func (e *cutOffError) Unwrap() []error {
	if e.err == nil {
		return []error{e.why}
	}
	return []error{e.why, e.err}
}
