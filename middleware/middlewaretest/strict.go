package middlewaretest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/internal/testkit/bonds"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// The demands of [Strict].
const (
	bound    = "bound"
	manual   = "manual"
	gemini   = "gemini"
	deepSeek = "deepseek"
	kimi     = "kimi"
)

// Strict returns a model with the answers of another one, such as [Say], that refuses a request whose thinking does not meet
// a demand of a provider:
//
//   - "bound" is the demand of the Claude models from Fable 5.1 and Opus, Sonnet and Haiku 5.5 on, in its strictest reading.
//     A block is accepted only if the system messages at the beginning, the set of tools and all messages before it, without
//     their thinking, are as in the request that it answered. Messages are compared in the form in which they are sent; those
//     with thinking alone are left out. Blocks may be left out from the start, from the end, or all, but not from the middle:
//     each block but the first must follow the one that it followed when it was made. A block may not have more blocks before
//     it than then, so one that was left out may not be sent again. And in the newest message of the assistant, blocks that
//     follow one another must all be there, or none.
//   - "manual" is the demand of the Claude models up to 4.5 with a budget of thinking: in the newest turn, which begins after
//     the last user message, each message with calls begins with thinking. In the newest message of the assistant, blocks that
//     follow one another must all be there, or none.
//   - "gemini" is the demand of Gemini from 3 on: in the newest turn, each message with calls has its signature.
//   - "deepseek" is the demand of DeepSeek V4: each message with calls has its reasoning, in all turns.
//   - "kimi" is the demand of Kimi K2: as that of DeepSeek, with another error text.
//
// Thinking in an answer gets a new signature; an answer without thinking gets a block at its beginning, which is not among the
// pieces of a stream. With "deepseek" and "kimi", thinking is not signed. Thinking of other models, or that was changed, is
// refused as well.
//
// A refused request gets an error with the text of the provider, which is of kind [middleware.Unknown], and no answer.
// Strict panics if the demand is none of these.
//
// refused returns the errors of all refused requests so far, in a slice of its own. Both may be called concurrently.
func Strict(demand string, answers middleware.Model) (model middleware.Model, refused func() []error) {
	if !slices.Contains([]string{bound, manual, gemini, deepSeek, kimi}, demand) {
		panic(fmt.Sprintf("middlewaretest: Strict: unknown demand %q", demand))
	}
	s := &strict{demand: demand, answers: answers, bonds: bonds.Bonds{}, runs: map[string][]string{}}
	return s.answer, func() []error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Clone(s.refused)
	}
}

type strict struct {
	demand  string
	answers middleware.Model

	mu      sync.Mutex
	made    int // answers
	bonds   bonds.Bonds
	runs    map[string][]string // of each block that was made: those of its answer that follow one another, with itself
	refused []error
}

// wire is a request as the provider compares it.
type wire struct {
	bonds.Request

	lead int               // system messages at the beginning
	msgs []message.Message // behind them
}

// read returns a request as the provider compares it. The code reads messages by itself, and shares nothing with the packages
// whose requests it judges.
func read(req *middleware.Request) *wire {
	w := &wire{}
	for w.lead < len(req.Messages) && req.Messages[w.lead].Role == message.RoleSystem {
		w.System = w.System.With(form(req.Messages[w.lead]))
		w.lead++
	}
	w.msgs = req.Messages[w.lead:]
	tools := make([]string, len(req.Tools))
	for i, t := range req.Tools {
		tools[i] = fmt.Sprintf("%q", t)
	}
	w.SetTools(tools)
	for i, m := range w.msgs {
		for k, p := range m.Parts {
			if t, ok := p.(message.Thinking); ok {
				w.Add(bonds.Block{Content: content(t), Path: fmt.Sprintf("messages.%d.content.%d", i, k)})
			}
		}
		if slices.ContainsFunc(m.Parts, func(p message.Part) bool { return !isThinking(p) }) {
			w.Before = w.Before.With(form(m))
		}
	}
	return w
}

func isThinking(p message.Part) bool { _, ok := p.(message.Thinking); return ok }

// content returns a block of thinking as a text that is that of no other one.
func content(t message.Thinking) string { return fmt.Sprintf("%q", t) }

// form returns what is compared of a message: different ones have different forms.
func form(m message.Message) []byte {
	b := fmt.Appendf(nil, "%q %q", m.Role, m.Name)
	for _, p := range m.Parts {
		if !isThinking(p) {
			b = fmt.Appendf(b, " %T%+q", p, p)
		}
	}
	return b
}

func (s *strict) answer(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	w := read(req)
	if err := s.judge(w); err != nil {
		return nil, err
	}
	resp, err := s.answers(ctx, req, emit)
	if err != nil || resp == nil {
		return resp, err
	}
	r := *resp
	r.Message = s.think(w, resp.Message)
	return &r, nil
}

// judge returns the error of a request that does not meet the demand.
func (s *strict) judge(w *wire) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := ""
	switch s.demand {
	case bound:
		why = cmp.Or(s.bonds.Broken(&w.Request), s.torn(w))
	case manual:
		why = cmp.Or(s.bonds.Forged(&w.Request), s.torn(w), w.missing(w.turn(), expected))
	case gemini:
		why = cmp.Or(s.bonds.Forged(&w.Request), w.missing(w.turn(), unsigned))
	case deepSeek:
		why = w.missing(0, notPassedBack)
	case kimi:
		why = w.missing(0, notThere)
	}
	if why == "" {
		return nil
	}
	err := errors.New("400 invalid_request_error: " + why)
	s.refused = append(s.refused, err)
	return err
}

// think returns an answer to a request, with thinking.
func (s *strict) think(w *wire, answer message.Message) message.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer.Parts = slices.Clone(answer.Parts)
	s.made++
	if !slices.ContainsFunc(answer.Parts, isThinking) {
		thought := message.Thinking{Text: filler(fmt.Sprintf("Thought %d:", s.made), 240)}
		answer.Parts = slices.Insert(answer.Parts, 0, message.Part(thought))
	}
	if s.demand != deepSeek && s.demand != kimi {
		s.sign(w, answer.Parts)
	}
	return answer
}

// sign signs the thinking of an answer to a request, and binds it.
func (s *strict) sign(w *wire, parts []message.Part) {
	var all, run []string
	for k, p := range parts {
		t, ok := p.(message.Thinking)
		if !ok {
			run = nil
			continue
		}
		t.Signature = fmt.Sprintf("%s%d.%d", t.Signature, s.made, k)
		parts[k] = t
		all, run = append(all, content(t)), append(run, content(t))
		for _, c := range run {
			s.runs[c] = run
		}
	}
	s.bonds.Bind(w.Request, all...)
}

// torn returns the error text for a block of the newest message of the assistant that has lost a neighbour, or "".
func (s *strict) torn(w *wire) string {
	newest := len(w.msgs) - 1
	for newest >= 0 && w.msgs[newest].Role != message.RoleAssistant {
		newest--
	}
	if newest < 0 {
		return ""
	}
	var left []string // of the blocks that followed one another: those that must still come
	for k, p := range append(slices.Clip(w.msgs[newest].Parts), message.Text{}) {
		t, ok := p.(message.Thinking)
		if ok && len(left) == 0 {
			left = s.runs[content(t)]
		}
		switch {
		case ok && len(left) > 0 && left[0] == content(t):
			left = left[1:]
		case len(left) > 0:
			return fmt.Sprintf("messages.%d.content.%d: `thinking` or `redacted_thinking` blocks in the latest assistant "+
				"message cannot be modified. These blocks must remain as they were in the original response.", newest, k)
		}
	}
	return ""
}

// turn returns the position of the first message of the newest turn.
func (w *wire) turn() int {
	for i, m := range slices.Backward(w.msgs) {
		if m.Role == message.RoleUser {
			return i + 1
		}
	}
	return 0
}

// missing returns the error text for the first message with calls from a position on that lacks its thinking.
func (w *wire) missing(from int, text func(w *wire, i int) string) string {
	for i := from; i < len(w.msgs); i++ {
		if m := w.msgs[i]; m.Role == message.RoleAssistant && m.HasCalls() {
			if why := text(w, i); why != "" {
				return why
			}
		}
	}
	return ""
}

// expected is Anthropic's text: a message must begin with thinking.
func expected(w *wire, i int) string {
	first := w.msgs[i].Parts[0]
	if _, ok := first.(message.Thinking); ok {
		return ""
	}
	found := "text"
	if _, ok := first.(message.ToolCall); ok {
		found = "tool_use"
	}
	return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. "+
		"When `thinking` is enabled, a final `assistant` message must start with a thinking block "+
		"(preceeding the lastmost set of `tool_use` and `tool_result` blocks).", i, found) //nolint:misspell // as the provider spells it
}

// unsigned is Gemini's text: the first call of a message needs its signature, which is that of the thinking here.
func unsigned(w *wire, i int) string {
	if w.thinks(i, func(t message.Thinking) bool { return t.Signature != "" }) {
		return ""
	}
	name := ""
	for c := range w.msgs[i].Calls() {
		name = c.Name
		break
	}
	return fmt.Sprintf("Function call %#q in the %d. content block is missing a `thought_signature`.", name, i+1)
}

// notPassedBack is DeepSeek's text.
func notPassedBack(w *wire, i int) string {
	if w.thinks(i, reasons) {
		return ""
	}
	return "The `reasoning_content` in the thinking mode must be passed back to the API."
}

// notThere is Kimi's text. Its index counts the system messages as well.
func notThere(w *wire, i int) string {
	if w.thinks(i, reasons) {
		return ""
	}
	return fmt.Sprintf("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", w.lead+i)
}

// reasons reports whether there is a text of the thinking, which is all that the formats without signatures have.
func reasons(t message.Thinking) bool { return t.Text != "" }

// thinks reports whether message i has thinking of that kind.
func (w *wire) thinks(i int, kind func(message.Thinking) bool) bool {
	return slices.ContainsFunc(w.msgs[i].Parts, func(p message.Part) bool {
		t, ok := p.(message.Thinking)
		return ok && kind(t)
	})
}
