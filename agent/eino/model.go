package eino

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/middleware"
)

// Model makes any chat model of eino a [middleware.Model], for the loop of
// package react, for a summary, or for a chain of one's own. The options are
// given with each call, and behind them those of [middleware.Request.Params],
// if that is a []model.Option. The request's tools go by model.WithTools, its
// model name goes nowhere.
//
// If pieces are wanted, the model is asked for a stream; else for a whole
// answer. Errors have a kind, as far as the HTTP status or the text of the
// provider tells it, and stay in the tree of what is returned: errors.As finds
// the client's own. Nothing is asked twice.
//
// What the model says beside our words, as a signature in Extra, is sent back
// to it with the same answer, as long as it is among the newest answers that
// this Model gave: a history that outlives the program comes without.
//
// Asked by a middleware of [Wrap], as for a summary, it is a call of its own: the
// callbacks of the run do not hear of it, only those that are global, a request
// without tools declares none, whatever is bound to inner, and the messages of the
// conversation go out as the very values that the caller of the wrapped model
// passed. It panics with "eino: Model: want a model" if inner is nil.
func Model(inner model.BaseChatModel, opts ...model.Option) middleware.Model {
	if inner == nil {
		panic("eino: Model: want a model")
	}
	p := &provider{inner: inner, opts: slices.Clip(slices.Clone(opts))}
	return p.ask
}

// provider is a chat model as we use it.
type provider struct {
	inner  model.BaseChatModel
	opts   []model.Option
	tools  toolMemo
	recall recall
}

func (p *provider) ask(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	k, _ := ctx.Value(callKey{}).(*call)
	if k != nil {
		ctx = callbacks.InitCallbacks(ctx, &callbacks.RunInfo{Type: typeOf(p.inner), Component: components.ComponentOfChatModel})
	}
	msgs, err := p.messages(req, k)
	if err != nil {
		return nil, err
	}
	opts, err := p.options(req, k)
	if err != nil {
		return nil, err
	}
	var answer *schema.Message
	if emit == nil {
		answer, err = generate(ctx, p.inner, msgs, opts)
	} else {
		answer, err = stream(ctx, p.inner, msgs, opts, emit, nil)
	}
	if of, ok := err.(modelError); ok { //nolint:errorlint // nobody has wrapped it yet
		return nil, fault(ctx, of.error)
	}
	if err != nil {
		return nil, err
	}
	resp, err := response(answer)
	if err != nil {
		return nil, err
	}
	if answer.Role == "" {
		c := *answer
		c.Role = schema.Assistant
		answer = &c
	}
	p.recall.keep(resp.Message, answer)
	return resp, nil
}

// messages returns those of a request. The call is that of the wrapped model from
// inside of which it comes, or nil.
func (p *provider) messages(req *middleware.Request, k *call) ([]*schema.Message, error) {
	if k != nil {
		return k.talk.Export(req)
	}
	out := make([]*schema.Message, len(req.Messages))
	for i := range req.Messages {
		if out[i] = p.recall.find(&req.Messages[i]); out[i] != nil {
			continue
		}
		f, err := made(req.Messages[i])
		if err != nil {
			return nil, invalid(fmt.Errorf("message %d: %w", i, err))
		}
		out[i] = f
	}
	return out, nil
}

func (p *provider) options(req *middleware.Request, k *call) ([]model.Option, error) {
	opts := p.opts
	if req.Params != nil {
		more, ok := req.Params.([]model.Option)
		if !ok {
			return nil, invalid(fmt.Errorf("Request.Params is %T, want []model.Option or nil", req.Params))
		}
		opts = append(opts, more...)
	}
	declared := new(tools)
	if k != nil {
		declared = k.tools
	} else if len(req.Tools) == 0 {
		return opts, nil
	}
	t, err := p.tools.fromDefs(req.Tools, declared)
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(opts), model.WithTools(t.infos)), nil
}
