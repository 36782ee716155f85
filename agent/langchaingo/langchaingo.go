package langchaingo

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

const op = "langchaingo" // what our errors begin with

// Wrap returns a model that answers like inner and lets the middlewares see
// each call, the first of them outermost. It is short for
// Options{}.Wrap(inner, mws...).
func Wrap(inner llms.Model, mws ...middleware.Middleware) llms.Model {
	return Options{}.Wrap(inner, mws...)
}

// Options say what a model of langchaingo does not tell about itself. The zero
// value says nothing.
type Options struct {
	Model  string             // name of the model that inner calls when a call names none; "": unknown
	Budget *middleware.Budget // its window; nil: unknown
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	if o.Budget == nil {
		return nil
	}
	return o.Budget.Validate()
}

// Wrap returns a model that answers like inner and lets the middlewares see
// each call of GenerateContent and of Call, the first of them outermost. It is
// as safe for concurrent use as inner is. It is a [llms.ReasoningModel] if inner
// is one. It panics if inner is nil or the options are not valid.
//
// The middlewares see the messages in our words, the tools of both
// [llms.WithTools] and [llms.WithFunctions], and the call options as
// Request.Params, of type []llms.CallOption; [CallOptions] resolves them.
// Two things are mended on the way, as the agents of langchaingo lose them, and
// the model gets them mended:
//
//   - The arguments of a call that come back as the bare value of "__arg1"
//     become the JSON object that the model wrote. If this process has not seen
//     it write them, as after a restart, a value that is no JSON object becomes
//     {"__arg1": value}, and an empty one {}.
//   - A result without a tool's name gets that of the call in front of it that
//     has its id. If there is none, the name stays empty, and message.Check
//     tells.
//
// All else that the middlewares leave alone reaches inner as it came: messages
// with the same slice of parts, and the same options. To these are added the
// tools if a middleware changed them, the name if it named another model, and
// streaming functions.
//
// If the caller has a streaming function, the middlewares see the answer in
// pieces, and what they pass on untouched reaches the function chunk by chunk as
// inner gave it, in the goroutine of the caller. The function's error stops the
// call and is returned. Without one, inner streams only if a middleware wants
// pieces.
//
// The response of inner is returned itself, all its choices with it, unless a
// middleware changed the message: then a copy of which only that is changed. An
// error keeps what it wraps and its text, and has a middleware.Kind.
func (o Options) Wrap(inner llms.Model, mws ...middleware.Middleware) llms.Model {
	if inner == nil {
		panic("langchaingo: Wrap: inner model is nil")
	}
	if err := o.Validate(); err != nil {
		panic("langchaingo: Wrap: " + err.Error())
	}
	w := &wrapped{inner: inner, options: o, made: newMade(maxMade)}
	w.memo = foreign.NewMemo[llms.MessageContent](op, codec{made: w.made})
	w.chain = middleware.Chain(mws...)(w.ask)
	if r, ok := inner.(llms.ReasoningModel); ok {
		return &reasoning{wrapped: w, model: r}
	}
	return w
}

// wrapped is a model of langchaingo behind a chain.
type wrapped struct {
	inner   llms.Model
	options Options
	chain   middleware.Model
	memo    *foreign.Memo[llms.MessageContent]
	made    *made
}

// GenerateContent implements [llms.Model].
func (w *wrapped) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	c := &call{options: resolve(options)}
	var err error
	if c.talk, err = w.memo.Import(messages); err != nil {
		return nil, err
	}
	if c.tools, err = toolsOf(&c.options); err != nil {
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
	c.model = req.Model
	resp, err := w.chain(context.WithValue(ctx, key{w}, c), req, c.listen(ctx))
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

// reasoning is a wrapped model that says whether it can reason.
type reasoning struct {
	*wrapped

	model llms.ReasoningModel
}

// SupportsReasoning implements [llms.ReasoningModel].
func (r *reasoning) SupportsReasoning() bool { return r.model.SupportsReasoning() }

// Import returns a conversation of langchaingo in our words, with arguments and
// names mended as [Options.Wrap] does. The slice is the caller's. An error is
// of kind Invalid and says which part of which message is meant.
func Import(msgs []llms.MessageContent) ([]message.Message, error) {
	talk, err := foreign.NewMemo[llms.MessageContent](op, codec{made: newMade(0)}).Import(msgs)
	if err != nil {
		return nil, err
	}
	return talk.Messages, nil
}
