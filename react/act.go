package react

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

// act gets a result for each job and puts the results into the history, in the
// order of the calls.
func (r *run) act(ctx context.Context, jobs []*job) {
	var runnable []*job
	for _, j := range jobs {
		if err := r.refuse(ctx, j); err != nil {
			j.finish(nil, err, 0)
			r.reader.send(j.result)
		} else {
			runnable = append(runnable, j)
		}
		if r.reader.left {
			return
		}
	}
	if len(runnable) > 0 {
		ctx := agent.InConversation(ctx, agent.Conversation{Room: r.room(), History: slices.Clip(r.history)})
		r.reader.follow(ctx, func(ctx context.Context, send send) { r.work(ctx, runnable, send) })
	}
	for _, j := range jobs {
		r.history = append(r.history, j.result.Message)
		r.toolCalls++
	}
}

// room returns the tokens of the window without the reserve, or 0 if it is not known.
func (r *run) room() int {
	if b := r.agent.Budget; b != nil {
		return b.Room()
	}
	return models.Default().Of(r.agent.ModelName).Window
}

// refuse returns the reason why a call is not run, or nil.
func (r *run) refuse(ctx context.Context, j *job) error {
	if ctx.Err() != nil {
		return notRun(ctx)
	}
	_, calls := spent(r.history)
	if most := limit(r.agent.MaxToolCalls, defaultMaxToolCalls); calls-j.of+j.nth >= most {
		return fmt.Errorf("not run: the limit of %d tool calls is reached; answer with what is known", most)
	}
	if r.tools[j.call.Name] == nil {
		return r.unknown(j.call.Name)
	}
	if err := r.malformed[j.call.ID]; err != nil {
		return err
	}
	if r.agent.Approve == nil {
		return nil
	}
	err := r.agent.Approve(ctx, j.call)
	switch {
	case ctx.Err() != nil:
		return notRun(ctx)
	case err != nil:
		return fmt.Errorf("denied: %w", err)
	}
	return nil
}

func (r *run) unknown(name string) error {
	var names []string
	for _, def := range r.defs {
		names = append(names, def.Name)
	}
	return fmt.Errorf("unknown tool %q; the tools are: %s", name, cmp.Or(strings.Join(names, ", "), "none"))
}

// work runs the jobs, up to Agent.Parallel at a time, and returns when all have a result.
func (r *run) work(ctx context.Context, jobs []*job, send send) {
	var wg sync.WaitGroup
	defer wg.Wait()
	places := make(chan struct{}, cmp.Or(r.agent.Parallel, defaultParallel))
	for _, j := range jobs {
		places <- struct{}{} // tools return soon when the context is done
		if ctx.Err() == nil {
			_ = send(Call{j.call})
		}
		if ctx.Err() != nil { // the reader may have cancelled just now
			j.finish(nil, notRun(ctx), 0)
			_ = send(j.result)
			<-places
			continue
		}
		wg.Go(func() {
			defer func() { // the tool may have ended its goroutine
				_ = send(j.result)
				<-places
			}()
			j.run(ctx, r.tools[j.call.Name], r.agent.ToolTimeout)
		})
	}
}

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

// run calls the tool. The job has a result afterwards, even if the tool panics or ends
// its goroutine.
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
			err = cutOff("cancelled while it ran", ctx.Err(), err)
		case toolCtx.Err() != nil:
			err = cutOff(fmt.Sprintf("timed out after %v", timeout), toolCtx.Err(), err)
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
	if len(parts) == 0 {
		parts = []message.Part{message.Text{}}
	}
	pieces := make([]message.Part, len(parts))
	for i, p := range parts {
		r := message.ToolResult{CallID: j.call.ID, Name: j.call.Name}
		switch p := p.(type) { //nolint:gochecksumtype // all others are errors
		case message.Text:
			r.Text = p.Text
		case message.Media, message.Opaque:
			r.Content = p
		default: // also nil, and a pointer to a part
			return nil, fmt.Errorf("the tool returned a part of type %T, want text, media or opaque parts", p)
		}
		pieces[i] = r
	}
	return pieces, nil
}

// text returns the text of an error for the model.
func text(err error) string {
	if panicked, ok := err.(*PanicError); ok { //nolint:errorlint // the panic of this tool, not one that it reports
		return fmt.Sprintf("the tool panicked: %v", panicked.Value)
	}
	if s := fmt.Sprint(err); s != "" { // unlike err.Error(), it survives a method that panics
		return s
	}
	return "the tool failed without a reason"
}

func notRun(ctx context.Context) error {
	return fmt.Errorf("cancelled before it ran: %w", ctx.Err())
}

// cutOff returns the error of a call that was cancelled or timed out: it wraps that of the
// context and that of the tool.
func cutOff(how string, why, err error) error {
	if errors.Is(err, why) {
		return fmt.Errorf("%s: %w", how, err)
	}
	return fmt.Errorf("%s: %w: %w", how, why, err)
}
