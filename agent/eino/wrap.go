// Package eino puts the middlewares of laconic around the chat models of
// github.com/cloudwego/eino, and gives those chat models to laconic.
//
// One line puts a chain in front of a model. The model can then be called by an ADK
// agent, a flow/agent/react agent, a compose graph, or your own code:
//
//	chat = eino.Wrap(chat, contextedit.New(contextedit.Options{}))
//
// [Model] is the opposite direction: with it the loop of package react runs on any
// chat model of eino. [Tool] makes a tool of ours one of eino. [Import] and [Export]
// convert messages, for middlewares of eino's ADK.
//
// A message that no middleware touched reaches the model as the very value
// that the caller passed, and the pieces of a stream reach the caller as the
// very values that the model sent. Of an edited message a copy is sent in which
// only the edited parts differ: Extra, response meta, signatures and indexes are
// those of the original. Values of the caller or the model are never written to.
//
// Text, thinking with its signature, media, tool calls and results of eino have equivalents here.
// Other parts become opaque parts that hold the part's JSON. Content that eino
// cannot hold is an error that names message and part; a failed result is marked by
// [ErrorKey] in Extra. The time and the hints of a message of ours are not carried.
//
// Everything here is safe for concurrent use if the models are.
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

// Wrap puts middlewares around a chat model of eino. The result sends inner what the
// middlewares make of each request; the messages that callers pass do not change. Create
// it once and keep it, because it remembers the edits of the conversations that it gets.
//
// The middlewares form one chain, as in [middleware.Chain]. Several models can share a
// chain, and all models that WithTools derives from this one do.
//
// Callbacks of eino fire once for each call of inner, with the messages that inner gets.
// [middleware.Request.Params] has the call options, a []model.Option, and inner gets the
// options of the request at the end of the chain. If a middleware changes
// [middleware.Request.Tools], inner gets the option model.WithTools, and the caller must
// be able to run an added tool.
//
// An error of inner has a [middleware.ErrorKind], the same text, and wraps that of inner. A
// message that cannot be converted is an error of kind [middleware.Invalid], and a stream
// without a finish reason and a usage at its end one of kind [middleware.Unavailable] if the
// model has sent one before. The first of the others is reported by an event of kind
// [middleware.Notice].
func Wrap(inner model.ToolCallingChatModel, mws ...middleware.Middleware) model.ToolCallingChatModel {
	return Options{}.Wrap(inner, mws...)
}

// Options describe the model, as far as eino does not. The zero value is what [Wrap] uses.
type Options struct {
	Model  string             // its name, for requests without the option model.WithModel; "": unknown
	Budget *middleware.Budget // its window, in tokens; nil: unknown

	// Conversation returns the name of the conversation of a call, such as the ID of the session that the program keeps in
	// its context; see middleware.Request. nil: conversations have no names.
	Conversation func(ctx context.Context) string
}

// Wrap is the function [Wrap] with options. It panics with "eino: Wrap: …" if
// inner is nil or the budget is not valid.
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
		chain = mws[0] // so that several models share its memory if it is a chain
	}
	return newChat(inner, &shared{Options: o, chain: chain, memo: foreign.NewMemo(op, codec{})}, nil)
}

// Force returns an option of a call by which the named middlewares edit now, although their trigger is not met; "*": all. An
// agent of eino's ADK takes it by adk.WithChatModelOptions. See [middleware.Request.Force].
func Force(names ...string) model.Option {
	return model.WrapImplSpecificOptFn(func(f *forced) { f.names = names })
}

type forced struct{ names []string }

// shared is the common part of the models that come from one call of Wrap.
type shared struct {
	Options

	chain middleware.Middleware
	memo  *foreign.Memo[*schema.Message]
	tools toolMemo
	ends  foreign.Ends
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
	k, req, err := c.begin(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	resp, err := c.model(context.WithValue(k.talk.Context(ctx), callKey{}, k), req, nil)
	if err != nil {
		return nil, err
	}
	return k.answer(resp)
}

// Stream implements model.BaseChatModel. The chain runs in a goroutine of its
// own, at most one chunk ahead of the reader, and has returned before the reader
// gets the end of the stream. If the reader closes early, the stream of the model
// inside ends with the next chunk. The caller's context ends it at once, if the
// model inside respects it.
func (c *chat) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	k, req, err := c.begin(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	return stream(context.WithValue(k.talk.Context(ctx), callKey{}, k), k, c.model, req)
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

// IsCallbacksEnabled implements components.Checker: the callbacks fire at the end of
// the chain, from the model inside or on its behalf.
func (c *chat) IsCallbacksEnabled() bool { return true }

// begin returns the request of a call.
func (c *chat) begin(ctx context.Context, in []*schema.Message, opts []model.Option) (*call, *middleware.Request, error) {
	talk, err := c.shared.memo.Import(in)
	if err != nil {
		return nil, nil, err
	}
	asked := model.GetCommonOptions(&model.Options{Tools: c.bound, Model: &c.shared.Model}, opts...)
	tools, err := c.shared.tools.of(asked.Tools)
	if err != nil {
		return nil, nil, err
	}
	req := &middleware.Request{Messages: talk.Messages, Tools: tools.defs, Budget: c.shared.Budget, Params: opts}
	req.Force = model.GetImplSpecificOptions(&forced{}, opts...).names
	if asked.Model != nil {
		req.Model = *asked.Model
	}
	if of := c.shared.Conversation; of != nil {
		req.Conversation = of(ctx)
	}
	return &call{talk: talk, tools: tools}, req, nil
}

// ask is the end of the chain: it calls the model inside.
func (c *chat) ask(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	k, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil, invalid(errors.New("the context of the call was lost: a middleware must pass on its own, or one made from it"))
	}
	msgs, err := k.messages(req, codec{room: new([]schema.Message)})
	if err != nil {
		return nil, err
	}
	opts, err := c.options(k, req)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, callKey{}, nil) // calls inside of inner are not part of this one
	answer, err := generate(ctx, req, backend{c.inner, &c.shared.ends}, msgs, opts, emit, k.relay)
	if err != nil {
		return nil, err
	}
	resp, err := response(answer)
	if err != nil {
		return nil, err
	}
	k.answers.Add(answer, *resp)
	return resp, nil
}

// options returns the options for the model inside.
func (c *chat) options(k *call, req *middleware.Request) ([]model.Option, error) {
	opts, err := params(req)
	if err != nil || slices.Equal(req.Tools, k.tools.defs) {
		return opts, err
	}
	infos, err := infosOf(req.Tools, k.tools)
	return append(slices.Clip(opts), model.WithTools(infos)), err
}

// params returns the call options that a request carries.
func params(req *middleware.Request) ([]model.Option, error) {
	opts, ok := req.Params.([]model.Option)
	if !ok && req.Params != nil {
		return nil, invalid(fmt.Errorf("Request.Params is %T, want []model.Option or nil", req.Params))
	}
	return opts, nil
}

type callKey struct{}

// call is one call of a chat model. It is a value of the context, since a middleware
// can replace the request.
type call struct {
	talk    *foreign.Conversation[*schema.Message]
	tools   *tools
	relay   *relay // nil: Generate
	answers foreign.Answers[*schema.Message]
}

// messages returns those of a request as messages of eino.
func (k *call) messages(req *middleware.Request, c codec) ([]*schema.Message, error) {
	msgs, err := k.talk.Export(req, c)
	for i := range msgs {
		msgs[i] = marked(msgs[i], &req.Messages[i])
	}
	return msgs, err
}

// answer returns a response as a message of eino. It is the very answer of the model
// inside if the chain did not change that.
func (k *call) answer(resp *middleware.Response) (*schema.Message, error) {
	var origin *foreign.Origin[*schema.Message]
	if from, ok := k.answers.Origin(resp); ok {
		origin = &foreign.Origin[*schema.Message]{Foreign: from.Foreign, Message: &from.Response.Message, Edited: true}
	}
	f, err := codec{}.Export(&resp.Message, origin)
	if err != nil {
		return nil, invalid(fmt.Errorf("the answer: %w", err))
	}
	meta := k.meta(resp)
	if meta == f.ResponseMeta {
		return f, nil
	}
	c := *f
	c.ResponseMeta = meta
	return &c, nil
}

// meta returns the meta of the answer, with the usage and the stop reason of the
// response.
func (k *call) meta(resp *middleware.Response) *schema.ResponseMeta {
	var was *schema.ResponseMeta
	from, ok := k.answers.Origin(resp)
	if ok {
		was = from.Foreign.ResponseMeta
	}
	if resp.Usage == from.Response.Usage && resp.Stop == from.Response.Stop {
		return was
	}
	var meta schema.ResponseMeta
	if was != nil {
		meta = *was
	}
	if resp.Usage != from.Response.Usage {
		meta.Usage = fromUsage(resp.Usage)
	}
	if resp.Stop != from.Response.Stop {
		meta.FinishReason = resp.Stop
	}
	return &meta
}
