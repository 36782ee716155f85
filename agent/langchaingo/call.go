package langchaingo

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

// key is under which a context holds the call that it belongs to, for the end
// of the chain of one model.
type key struct{ w *wrapped }

// call is one call of a wrapped model.
type call struct {
	talk    *foreign.Conversation[llms.MessageContent]
	options llms.CallOptions // as the caller gave them
	tools   toolset          // of them
	model   string           // the request's name for it at the beginning
	tape    tape

	mu      sync.Mutex
	answers []*answer // of inner, oldest first
}

// ask is the end of the chain: it asks the inner model.
func (w *wrapped) ask(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	c, ok := ctx.Value(key{w}).(*call)
	if !ok {
		return nil, &middleware.Error{Op: op, Err: errors.New("a middleware called the model with a context that is not made from its own")}
	}
	msgs, err := c.talk.Export(req)
	if err != nil {
		return nil, err
	}
	options, err := params(req)
	if err != nil {
		return nil, err
	}
	changed, err := c.tools.changed(req.Tools)
	if err != nil {
		return nil, err
	}
	options = append(options, changed...)
	if req.Model != c.model {
		options = append(options, llms.WithModel(req.Model))
	}
	raw, err := generate(ctx, w.inner, msgs, options, &source{
		user: c.options, tape: &c.tape, emit: emit, calls: callReader{tools: len(req.Tools) > 0},
	})
	if err != nil {
		return nil, err
	}
	a, err := answerOf(raw, CallOptions(req))
	if err != nil {
		return nil, err
	}
	w.made.remember(raw)
	c.mu.Lock()
	c.answers = append(c.answers, a)
	c.mu.Unlock()
	resp := a.Response
	return &resp, nil
}

// result returns what the caller of the wrapped model gets: the response of
// inner itself where the middlewares left the message alone.
func (c *call) result(resp *middleware.Response) (*llms.ContentResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range slices.Backward(c.answers) {
		if a.Message.Equal(resp.Message) && a.Stop == resp.Stop {
			return a.raw, nil
		}
	}
	if len(c.answers) == 0 {
		return newResponse(resp)
	}
	return c.answers[len(c.answers)-1].changed(resp)
}
