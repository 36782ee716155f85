package eino

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Model makes any chat model of eino a [middleware.Model], for the loop of
// package react, for summaries, or for your own chain. Each call gets these options,
// then those of [middleware.Request.Params], a []model.Option, and the tools of the
// request by model.WithTools; its model name is not passed.
//
// The model is asked for a stream if the caller wants pieces. Errors have a kind as far as
// the HTTP status or the text of the provider allows, and wrap the error of the client. A
// stream without a finish reason and a usage at its end is one of kind
// [middleware.Unavailable] if the model has sent one before; the first of the others is
// reported by an event of kind [middleware.Notice]. There are no retries.
//
// What an answer holds besides our parts, such as a signature in Extra, is sent back to
// the model with the same answer, as long as that is one of the newest answers of this
// Model. So it is missing after a restart of the program.
//
// If a middleware inside of [Wrap] calls it, as for a summary, only global callbacks
// fire, not those of the run. The messages of the conversation are then the very values
// that the caller of the wrapped model passed. It panics with "eino: Model: want a model"
// if inner is nil.
func Model(inner model.BaseChatModel, opts ...model.Option) middleware.Model {
	if inner == nil {
		panic("eino: Model: want a model")
	}
	p := &provider{inner: backend{inner, new(foreign.Ends)}, opts: slices.Clone(opts)}
	return p.ask
}

const op = "eino" // at the beginning of our errors

func invalid(err error) error { return foreign.Invalid(op, err) }

// provider is a chat model as a [middleware.Model].
type provider struct {
	inner   backend
	opts    []model.Option
	tools   atomic.Pointer[tools] // of the newest request
	answers answers
}

func (p *provider) ask(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	k, _ := ctx.Value(callKey{}).(*call) // of the wrapped model whose middleware asks; nil: none
	if k != nil {
		info := &callbacks.RunInfo{Type: typeOf(p.inner.BaseChatModel), Component: components.ComponentOfChatModel}
		ctx = callbacks.InitCallbacks(ctx, info)
	}
	msgs, err := p.messages(req, k)
	if err != nil {
		return nil, err
	}
	opts, err := p.options(req, k)
	if err != nil {
		return nil, err
	}
	answer, err := generate(ctx, req, p.inner, msgs, opts, emit, nil)
	if err != nil {
		return nil, err
	}
	resp, err := response(answer)
	if err != nil {
		return nil, err
	}
	p.answers.add(&resp.Message, answer)
	return resp, nil
}

func (p *provider) messages(req *middleware.Request, k *call) ([]*schema.Message, error) {
	if k != nil {
		return k.messages(req, codec{})
	}
	out := make([]*schema.Message, len(req.Messages))
	for i := range req.Messages {
		out[i] = p.answers.find(&req.Messages[i])
		if out[i] != nil {
			out[i] = marked(out[i], &req.Messages[i])
			continue
		}
		var err error
		out[i], err = encodeJoined(req.Messages, i)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *provider) options(req *middleware.Request, k *call) ([]model.Option, error) {
	more, err := params(req)
	if err != nil {
		return nil, err
	}
	opts := slices.Concat(p.opts, more)
	declared := p.tools.Load()
	switch {
	case k != nil:
		declared = k.tools
	case len(req.Tools) == 0:
		return opts, nil
	case declared == nil:
		declared = new(tools)
	}
	infos, err := infosOf(req.Tools, declared)
	if err == nil {
		p.tools.Store(&tools{infos: infos, defs: slices.Clone(req.Tools)})
	}
	return append(slices.Clip(opts), model.WithTools(infos)), err
}

// backend is a chat model of eino that is called.
type backend struct {
	model.BaseChatModel

	ends *foreign.Ends // of its streams
}

// generate asks a model for a stream if there is an emit, else for a whole answer. A
// model that does not fire the callbacks of eino has them fired here.
func generate(
	ctx context.Context, req *middleware.Request, m backend, msgs []*schema.Message, opts []model.Option,
	emit middleware.Emit, r *relay,
) (*schema.Message, error) {
	fire := !components.IsCallbacksEnabled(m.BaseChatModel)
	if fire {
		ctx = callbacks.EnsureRunInfo(ctx, typeOf(m.BaseChatModel), components.ComponentOfChatModel)
		ctx = callbacks.OnStart(ctx, msgs)
	}
	var (
		answer *schema.Message
		reader *schema.StreamReader[*schema.Message]
		err    error
	)
	if emit == nil {
		answer, err = m.Generate(ctx, msgs, opts...)
	} else {
		reader, err = m.Stream(ctx, msgs, opts...)
	}
	if err == nil && answer == nil && reader == nil {
		err = errors.New("eino: the model returned neither an answer nor an error")
	}
	switch {
	case err != nil && fire:
		callbacks.OnError(ctx, err)
	case fire && emit == nil:
		callbacks.OnEnd(ctx, answer)
	case fire:
		_, reader = callbacks.OnEndWithStreamOutput(ctx, reader)
	}
	switch {
	case err != nil:
		return nil, foreign.Classify(ctx, req, err, foreign.KindOf)
	case emit == nil:
		return answer, nil
	}
	answer, finished, err := receive(ctx, req, reader, emit, r)
	if err == nil {
		err = m.ends.Check(ctx, req, op, finished)
	}
	return answer, err
}

// typeOf returns the name of a model in callbacks.
func typeOf(m any) string {
	if name, ok := components.GetType(m); ok {
		return name
	}
	name, _, _ := strings.Cut(fmt.Sprintf("%T", m), "[")
	return name[strings.LastIndex(name, ".")+1:]
}

// response converts an answer of a model.
func response(answer *schema.Message) (*middleware.Response, error) {
	m, err := codec{}.Import(withRole(answer), nil)
	if err != nil {
		return nil, fmt.Errorf("eino: the model's answer: %w", err)
	}
	reason := ""
	if answer.ResponseMeta != nil {
		reason = answer.ResponseMeta.FinishReason
	}
	resp := &middleware.Response{Message: m, Stop: foreign.StopReason(reason, &m), Cache: foreign.CacheMiss(answer.Extra)}
	if m.Usage != nil {
		resp.Usage = *m.Usage
	}
	return resp, nil
}

// withRole returns an answer with its role, which some models leave out.
func withRole(answer *schema.Message) *schema.Message {
	if answer.Role != "" {
		return answer
	}
	c := *answer
	c.Role = schema.Assistant
	return &c
}

// maxAnswers is the number of answers that are remembered, in two generations.
const maxAnswers = 4096

// answers remembers answers that a message of ours cannot hold completely. The zero
// value is empty. It is safe for concurrent use.
type answers struct {
	mu       sync.Mutex
	new, old map[[sha256.Size]byte]*schema.Message // by the content of our message
}

func keyOf(m *message.Message) [sha256.Size]byte { return sha256.Sum256(within.AppendContent(nil, m)) }

func (a *answers) add(m *message.Message, answer *schema.Message) {
	if !holdsMore(answer) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.new == nil || len(a.new) >= maxAnswers/2 {
		a.old, a.new = a.new, map[[sha256.Size]byte]*schema.Message{}
	}
	a.new[keyOf(m)] = withRole(answer)
}

// find returns the answer that m was made from, or nil.
func (a *answers) find(m *message.Message) *schema.Message {
	if m.Role != message.RoleAssistant {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.new)+len(a.old) == 0 {
		return nil
	}
	key := keyOf(m)
	if f := a.new[key]; f != nil {
		return f
	}
	return a.old[key]
}

// holdsMore reports whether a message holds something that ours cannot.
func holdsMore(f *schema.Message) bool {
	return len(f.Extra)+len(f.MultiContent)+len(f.UserInputMultiContent)+len(f.AssistantGenMultiContent) > 0 ||
		slices.ContainsFunc(f.ToolCalls, func(c schema.ToolCall) bool {
			return len(c.Extra) > 0 || c.Type != "" && c.Type != "function"
		})
}
