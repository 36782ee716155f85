package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
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
