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
// the model with that answer of that conversation, also if the answer was corrected or edited, as long as it is one of
// the newest answers of this Model. So it is missing after a restart of the program. A conversation is known by
// [middleware.Request.Conversation], or else by its first message that is not from the system.
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
	p.answers.add(req, resp.Message, answer)
	return resp, nil
}

func (p *provider) messages(req *middleware.Request, k *call) ([]*schema.Message, error) {
	if k != nil {
		return k.messages(req, codec{})
	}
	out := make([]*schema.Message, len(req.Messages))
	for i, from := range p.answers.find(req) {
		m := req.Messages[i]
		if from == nil || !m.Equal(*from.Message) {
			m = within.JoinTexts(m)
			from = renamed(from, &m)
		}
		f, err := codec{}.Export(&m, from)
		if err != nil {
			return nil, invalid(fmt.Errorf("message %d: %w", i, err))
		}
		out[i] = marked(f, &m)
	}
	return out, nil
}

// renamed returns an origin of m whose calls have the IDs of m, by which an export finds them.
func renamed(from *foreign.Origin[*schema.Message], m *message.Message) *foreign.Origin[*schema.Message] {
	calls := slices.Collect(m.Calls())
	if from == nil || len(calls) != len(from.Foreign.ToolCalls) {
		return from
	}
	f := *from.Foreign
	f.ToolCalls = slices.Clone(f.ToolCalls)
	for i := range calls {
		f.ToolCalls[i].ID = calls[i].ID
	}
	was, err := codec{}.Import(&f, nil)
	if err != nil {
		return from
	}
	return &foreign.Origin[*schema.Message]{Foreign: &f, Message: &was, Edited: true}
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

// maxKeys is the number of keys of answers that are remembered, in two generations. An answer has four.
const maxKeys = 4 * 4096

// answers remembers answers that a message of ours cannot hold completely. The zero
// value is empty. It is safe for concurrent use.
type answers struct {
	mu       sync.Mutex
	new, old map[answerKey]*foreign.Origin[*schema.Message] // nil: different answers, of which it may be any
}

// answerKey is by what an answer is found in a conversation.
type answerKey struct {
	talk, content hash
	loose         bool // content is not all of it
	at            int  // position in the history; -1: anywhere
}

type hash [sha256.Size]byte

func hashOf(m *message.Message) hash { return sha256.Sum256(within.AppendContent(nil, m)) }

// talkOf returns what a conversation is known by, and the messages of its history.
func talkOf(req *middleware.Request) (talk hash, history []message.Message) {
	history = req.Messages
	if v := req.View(); v != nil {
		history = v.History()
	}
	first := slices.IndexFunc(history, func(m message.Message) bool { return m.Role != message.RoleSystem })
	switch {
	case req.Conversation != "":
		talk = sha256.Sum256([]byte(req.Conversation))
	case first >= 0:
		talk = hashOf(&history[first])
	}
	return talk, history
}

// keysOf returns the keys of an answer, the surest one first: by all of it, and by its texts and the names of its calls,
// which are the same after a correction.
func keysOf(talk hash, m *message.Message, at int) [4]answerKey {
	loose := message.Message{Role: m.Role}
	for _, p := range m.Parts {
		switch p := within.WithText(p).(type) {
		case message.Text:
			loose.Parts = append(loose.Parts, p)
		case message.ToolCall:
			loose.Parts = append(loose.Parts, message.ToolCall{Name: p.Name})
		case message.Thinking, message.Media, message.ToolResult, message.Opaque:
		}
	}
	exact, outline := hashOf(m), hashOf(&loose)
	return [4]answerKey{{talk, exact, false, at}, {talk, exact, false, -1}, {talk, outline, true, at}, {talk, outline, true, -1}}
}

// add remembers the answer to a request.
func (a *answers) add(req *middleware.Request, m message.Message, answer *schema.Message) {
	if !holdsMore(answer) {
		return
	}
	talk, history := talkOf(req)
	from := &foreign.Origin[*schema.Message]{Foreign: withRole(answer), Message: &m, Edited: true}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.new == nil || len(a.new) >= maxKeys/2 {
		a.old, a.new = a.new, map[answerKey]*foreign.Origin[*schema.Message]{}
	}
	for _, key := range keysOf(talk, &m, len(history)) {
		_, found := a.get(key)
		unsure := key.loose && (key.at < 0 || req.Conversation == "") // it may be another answer, even of another conversation
		a.new[key] = from
		if found && unsure {
			a.new[key] = nil
		}
	}
}

func (a *answers) get(key answerKey) (from *foreign.Origin[*schema.Message], found bool) {
	from, found = a.new[key]
	if !found {
		from, found = a.old[key]
	}
	return from, found
}

// find returns, for each message of a request, the answer that it was made from, or nil.
func (a *answers) find(req *middleware.Request) []*foreign.Origin[*schema.Message] {
	all := make([]*foreign.Origin[*schema.Message], len(req.Messages))
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.new)+len(a.old) == 0 {
		return all
	}
	talk, _ := talkOf(req)
	view := req.View()
	for i, m := range req.Messages {
		if m.Role != message.RoleAssistant {
			continue
		}
		at := i
		if view != nil {
			at, m = view.Span(i).First, view.Original(i)
		}
		for _, key := range keysOf(talk, &m, at) {
			var found bool
			all[i], found = a.get(key)
			if found {
				break
			}
		}
	}
	return all
}

// holdsMore reports whether a message holds something that ours cannot.
func holdsMore(f *schema.Message) bool {
	return len(f.Extra)+len(f.MultiContent)+len(f.UserInputMultiContent)+len(f.AssistantGenMultiContent) > 0 ||
		slices.ContainsFunc(f.ToolCalls, func(c schema.ToolCall) bool {
			return len(c.Extra) > 0 || c.Type != "" && c.Type != "function"
		})
}
