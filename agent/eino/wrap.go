package eino

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

// Wrap puts middlewares around a chat model of eino. What it returns is used
// in place of inner, and shows it what the middlewares make of each request;
// the messages that callers pass stay as they are. Give it once and keep it:
// it remembers the edits of the conversations that it saw.
//
// The middlewares form one chain, as in [middleware.Chain]; a
// [middleware.With] is a middleware, too. A chain that is made once and given
// to several models is shared by them, as one is by all that WithTools derives
// from this model.
//
// Callbacks of eino fire once for each call of inner, with the messages that
// inner is asked; none fires for a request that a middleware answers itself.
// [middleware.Request.Params] carries the call options, a []model.Option, and
// inner gets what arrives there. [middleware.Request.Tools] has the tools of
// WithTools or of the option; a middleware that adds one has inner called with
// the option model.WithTools, and somebody must be able to run the tool.
//
// An error of inner is returned as it is unless a middleware wraps it. A
// message that has no meaning for us, of an unknown role say, is an error of
// kind [middleware.Invalid].
func Wrap(inner model.ToolCallingChatModel, mws ...middleware.Middleware) model.ToolCallingChatModel {
	return Options{}.Wrap(inner, mws...)
}

// Options tell the middlewares about the model what eino does not know. The
// zero value is what [Wrap] uses.
type Options struct {
	Model  string             // its name, for requests without the option model.WithModel; "": unknown
	Budget *middleware.Budget // its window, in tokens; nil: unknown
}

// Wrap is the function [Wrap] with options. It panics with "eino: Wrap: …" if
// inner is nil or the budget makes no sense.
func (o Options) Wrap(inner model.ToolCallingChatModel, mws ...middleware.Middleware) model.ToolCallingChatModel {
	if inner == nil {
		panic("eino: Wrap: want a model")
	}
	if o.Budget != nil {
		if err := o.Budget.Validate(); err != nil {
			panic("eino: Wrap: " + err.Error())
		}
		budget := *o.Budget
		o.Budget = &budget
	}
	chain := middleware.Chain(mws...)
	if len(mws) == 1 {
		chain = mws[0] // if it is a chain, its memory is the one that counts
	}
	s := &shared{Options: o, chain: chain, memo: foreign.NewMemo("eino", codec{})}
	return newChat(inner, s, nil)
}

// shared is what all models have in common that come from one call of Wrap.
type shared struct {
	Options

	chain middleware.Middleware
	memo  *foreign.Memo[*schema.Message]
	tools toolMemo
}

// chat is a chat model with a chain around it.
type chat struct {
	inner  model.ToolCallingChatModel
	shared *shared
	bound  []*schema.ToolInfo // by WithTools
	model  middleware.Model
}

func newChat(inner model.ToolCallingChatModel, s *shared, bound []*schema.ToolInfo) *chat {
	c := &chat{inner: inner, shared: s, bound: bound}
	c.model = s.chain(c.ask)
	return c
}

// Generate implements model.BaseChatModel.
func (c *chat) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	k, req, err := c.begin(in, opts)
	if err != nil {
		return nil, err
	}
	resp, err := c.model(context.WithValue(ctx, callKey{}, k), req, nil)
	if err != nil {
		return nil, k.raw(err)
	}
	return k.answer(resp)
}

// WithTools implements model.ToolCallingChatModel.
func (c *chat) WithTools(infos []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	inner, err := c.inner.WithTools(infos)
	if err != nil {
		return nil, err
	}
	return newChat(inner, c.shared, slices.Clone(infos)), nil
}

// GetType implements components.Typer with the name of the model inside.
func (c *chat) GetType() string { return typeOf(c.inner) }

// IsCallbacksEnabled implements components.Checker: the callbacks are fired
// behind the chain, by the model inside or in its place.
func (c *chat) IsCallbacksEnabled() bool { return true }

// begin makes a request of what the caller asks.
func (c *chat) begin(in []*schema.Message, opts []model.Option) (*call, *middleware.Request, error) {
	talk, err := c.shared.memo.Import(in)
	if err != nil {
		return nil, nil, err
	}
	asked := model.GetCommonOptions(&model.Options{Tools: c.bound, Model: &c.shared.Model}, opts...)
	tools, err := c.shared.tools.fromInfos(asked.Tools)
	if err != nil {
		return nil, nil, err
	}
	req := &middleware.Request{Messages: talk.Messages, Tools: tools.defs, Budget: c.shared.Budget, Params: opts}
	if asked.Model != nil {
		req.Model = *asked.Model
	}
	return &call{talk: talk, tools: tools}, req, nil
}

// ask stands behind the chain and asks the model inside.
func (c *chat) ask(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	k, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil, invalid(errors.New("the context of the call was lost: a middleware must pass on its own, or one made from it"))
	}
	msgs, err := k.talk.Export(req)
	if err != nil {
		return nil, err
	}
	opts, err := c.options(k, req)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, callKey{}, nil) // what inner does is no business of this call
	var answer *schema.Message
	if emit == nil {
		answer, err = generate(ctx, c.inner, msgs, opts)
	} else {
		var t *track
		if k.relay != nil {
			t = &track{relay: k.relay}
		}
		answer, err = stream(ctx, c.inner, msgs, opts, emit, t)
	}
	if err != nil {
		return nil, k.fail(ctx, err)
	}
	resp, err := response(answer)
	if err != nil {
		return nil, err
	}
	k.answered(answer, *resp)
	return resp, nil
}

// options returns what the model inside is called with.
func (c *chat) options(k *call, req *middleware.Request) ([]model.Option, error) {
	var opts []model.Option
	if req.Params != nil {
		var ok bool
		if opts, ok = req.Params.([]model.Option); !ok {
			return nil, invalid(fmt.Errorf("Request.Params is %T, want the []model.Option of the call", req.Params))
		}
	}
	if slices.Equal(req.Tools, k.tools.defs) {
		return opts, nil
	}
	t, err := c.shared.tools.fromDefs(req.Tools, k.tools)
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(opts), model.WithTools(t.infos)), nil
}
