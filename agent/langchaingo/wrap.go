// Package langchaingo puts middlewares around the models of
// github.com/tmc/langchaingo, and gives these models to laconic.
//
// A program that uses langchaingo adds one line, where it makes its model:
//
//	llm, err := openai.New()
//	model := langchaingo.Wrap(llm, contextedit.New(contextedit.Options{}))
//	agent := agents.NewOpenAIFunctionsAgent(model, tools)
//
// Every agent, chain and memory of langchaingo calls the one method that [Wrap] wraps,
// so none of them needs a change. What the middlewares do not touch reaches the model
// unchanged, with the very slices of parts.
//
// In the opposite direction, [Model] makes a middleware.Model of any model of
// langchaingo, for package react and for your own chains. [Import] and [Export] convert
// conversations, [Tool] and [Definitions] tools of ours.
package langchaingo

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Wrap returns a model that answers like inner and passes each call through the
// middlewares, the first of them outermost. It is short for
// Options{}.Wrap(inner, mws...).
func Wrap(inner llms.Model, mws ...middleware.Middleware) llms.Model {
	return Options{}.Wrap(inner, mws...)
}

// Options describe a model of langchaingo, as far as it does not itself. The zero
// value is what [Wrap] uses.
type Options struct {
	Model  string             // name of the model that inner calls when a call names none; "": unknown
	Budget *middleware.Budget // its window; nil: unknown

	// Conversation returns the name of the conversation of a call, such as the ID of the session that the program keeps in
	// its context; see middleware.Request. nil: conversations have no names.
	Conversation func(ctx context.Context) string

	// Hints returns what middlewares should know of a message: that it is pinned, so that none changes or removes it, that it
	// is a memory, its priority. It is called for all messages in each call, so it must be fast. nil: nothing. A person pins a
	// message in a running conversation with package steps.
	Hints func(m llms.MessageContent) message.Hints
}

// Wrap returns a model that answers like inner and passes each call of
// GenerateContent and of Call through the middlewares, the first of them outermost.
// It is as safe for concurrent use as inner is. It is a [llms.ReasoningModel] if inner
// is one. It panics if inner is nil or the options are not valid.
//
// The middlewares get the tools of both [llms.WithTools] and [llms.WithFunctions], and
// the call options as Request.Params, of type []llms.CallOption; [CallOptions] resolves
// them. Two things that the agents of langchaingo lose are restored:
//
//   - The arguments of a call, if the agent replaced them by the bare value of
//     "__arg1": a value that is not a JSON object becomes {"__arg1": value}, and an empty
//     one {}.
//   - A result without a tool's name gets that of the call before it with the same
//     id. If there is none, the name remains empty, and message.Check reports it.
//
// Everything else that the middlewares do not change reaches inner as it came:
// messages with the same slice of parts, and the same options. Added to these are
// the tools if a middleware changed them, the name if it named another model, and
// streaming functions.
//
// If the caller has a streaming function, it and the middlewares get the answer in
// pieces, one at a time, in the goroutine in which inner sends them. The error of the
// function stops the call and is returned.
//
// The response of inner itself is returned, with all its choices, unless a
// middleware changed the message: then a copy whose first choice has the whole message.
// An error has a middleware.ErrorKind, the same text, and wraps that of inner. A stream whose
// answer has neither a stop reason nor a usage is one of kind [middleware.Unavailable] if the
// model has sent one before. The first of the others is reported by an event of kind
// [middleware.Notice].
func (o Options) Wrap(inner llms.Model, mws ...middleware.Middleware) llms.Model {
	if inner == nil {
		panic("langchaingo: Wrap: inner model is nil")
	}
	if o.Budget != nil {
		if err := o.Budget.Validate(); err != nil {
			panic("langchaingo: Wrap: " + err.Error())
		}
		budget := *o.Budget
		o.Budget = &budget
	}
	w := &wrapped{inner: inner, options: o, memo: foreign.NewMemo[llms.MessageContent](op, codec{o.Hints})}
	w.chain = middleware.Chain(mws...)(w.ask)
	if r, ok := inner.(llms.ReasoningModel); ok {
		return &reasoning{wrapped: w, model: r}
	}
	return w
}

// wrapped is a model of langchaingo with a chain around it.
type wrapped struct {
	inner   llms.Model
	options Options
	chain   middleware.Model
	memo    *foreign.Memo[llms.MessageContent]
	ends    foreign.Ends
}

// GenerateContent implements [llms.Model].
func (w *wrapped) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	c := &call{options: resolve(options)}
	var err error
	c.talk, err = w.memo.Import(messages)
	if err != nil {
		return nil, err
	}
	c.tools, err = toolsOf(&c.options)
	if err != nil {
		return nil, err
	}
	req := &middleware.Request{
		Messages: c.talk.Messages,
		Tools:    c.tools.defs,
		Model:    c.options.Model,
		Budget:   w.options.Budget,
		Params:   options,
	}
	if req.Model == "" {
		req.Model = w.options.Model
	}
	if of := w.options.Conversation; of != nil {
		req.Conversation = of(ctx)
	}
	c.model = req.Model
	resp, err := w.chain(context.WithValue(c.talk.Context(ctx), key{w}, c), req, emitTo(ctx, &c.options))
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return nil, &middleware.Error{Op: op, Err: errors.New("a middleware returned neither a response nor an error")}
	}
	return c.result(resp)
}

// Call implements [llms.Model].
//
// Deprecated: as in [llms.Model].
func (w *wrapped) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, w, prompt, options...)
}

// reasoning is a wrapped model that reports whether it can reason.
type reasoning struct {
	*wrapped

	model llms.ReasoningModel
}

// SupportsReasoning implements [llms.ReasoningModel].
func (r *reasoning) SupportsReasoning() bool { return r.model.SupportsReasoning() }

// key is the key of the call in a context, for the end of the chain of one model.
type key struct{ w *wrapped }

// call is one call of a wrapped model.
type call struct {
	talk    *foreign.Conversation[llms.MessageContent]
	options llms.CallOptions // of the caller
	tools   toolset          // of the options
	model   string           // the model name of the first request
	answers foreign.Answers[*answer]
}

// ask is the end of the chain: it calls the inner model.
func (w *wrapped) ask(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	c, ok := ctx.Value(key{w}).(*call)
	if !ok {
		return nil, &middleware.Error{Op: op, Err: errors.New("a middleware called the model with a context that is not made from its own")}
	}
	msgs, err := c.talk.Export(req, codec{})
	if err != nil {
		return nil, err
	}
	for i := range msgs {
		if req.Messages[i].Hints.Breakpoint && isAnthropic(w.inner) {
			mark(msgs[:i+1])
		}
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
	raw, err := generate(ctx, w.inner, msgs, options, newStream(&c.options, req, emit, &w.ends))
	if err != nil {
		return nil, err
	}
	a, err := answerOf(raw, CallOptions(req))
	if err != nil {
		return nil, err
	}
	c.answers.Add(a, a.Response)
	resp := a.Response
	return &resp, nil
}

// result returns the response for the caller of the wrapped model: the response of
// inner itself if the middlewares did not change the message.
func (c *call) result(resp *middleware.Response) (*llms.ContentResponse, error) {
	from, ok := c.answers.Origin(resp)
	a := from.Foreign
	switch {
	case !ok:
		return newResponse(resp)
	case a.Message.Equal(resp.Message) && a.Stop == resp.Stop:
		return a.raw, nil
	default:
		return a.changed(resp)
	}
}

// CallOptions returns the call options of a request, for middlewares inside of
// [Wrap] and around [Model]: the result of applying its Params, of type
// []llms.CallOption. Params of another type count as none. The result is the caller's,
// but its slices, maps and functions are read-only.
func CallOptions(req *middleware.Request) llms.CallOptions {
	options, _ := req.Params.([]llms.CallOption)
	return resolve(options)
}

func resolve(options []llms.CallOption) llms.CallOptions {
	var all llms.CallOptions
	for _, set := range options {
		if set != nil {
			set(&all)
		}
	}
	return all
}

// Import converts a conversation of langchaingo, with arguments and names restored
// as [Options.Wrap] does. The slice is the caller's. An error is of kind Invalid and
// names the part and the message.
func Import(msgs []llms.MessageContent) ([]message.Message, error) {
	talk, err := foreign.NewMemo[llms.MessageContent](op, codec{}).Import(msgs)
	if err != nil {
		return nil, err
	}
	return talk.Messages, nil
}
