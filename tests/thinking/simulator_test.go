package thinking

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
)

// boundModel is a model by whose name the chain knows that its thinking is bound.
const boundModel = "claude-opus-5-5"

// variant is the model of the conversations and what its provider demands. The zero value is a model that binds its thinking.
type variant struct {
	plain  bool                           // see withThinking
	model  string                         // "": boundModel
	demand string                         // of the provider; "": BoundThinking
	look   func(sent *middleware.Request) // sees each request that the provider is sent; nil: none
}

// session is one conversation in a chain.
type session struct {
	*conversation
	chain   chain
	variant variant

	history []message.Message
	strict  middleware.Model
	refused func() []error
	layers  middleware.Middleware
	answer  message.Message     // of the model, to the next request
	sent    *middleware.Request // the last one that the provider was sent
	shown   cached
	plain   cached
	result  result
}

// lead leads a conversation through a chain, until it is stuck or ends.
func lead(t *testing.T, ch chain, c *conversation, v variant) *result {
	t.Helper()
	s := &session{conversation: c, chain: ch, variant: v}
	s.layers = middleware.With(middleware.Env{Archive: store.NewMemory(0), Journal: journal.NewMemory(0)}, ch.layers()...)
	s.strict, s.refused = middlewaretest.Strict(cmp.Or(v.demand, "bound"), s.say)
	for i, m := range c.messages {
		if !c.asks(i) {
			s.history = append(s.history, m)
			continue
		}
		if !s.ask(t, i) {
			s.result.stuck = 1
			break
		}
	}
	s.result.refused = len(s.refused())
	return &s.result
}

// asks reports whether message i answers a request.
func (c *conversation) asks(i int) bool {
	if i == 0 || c.messages[i].Role != message.RoleAssistant {
		return false
	}
	before := c.messages[i-1].Role
	return before == message.RoleUser || before == message.RoleTool
}

// say is the model: it gives the recorded answer.
func (s *session) say(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	resp := &middleware.Response{Message: s.answer, Stop: middleware.StopEnd}
	if s.answer.HasCalls() {
		resp.Stop = middleware.StopTools
	}
	resp.Usage.Output = size(s.answer)
	resp.Usage.Input = len(fmt.Sprint(req.Tools)) / 4
	for _, m := range req.Messages {
		resp.Usage.Input += size(m)
	}
	return resp, nil
}

// provider is the model as the chain calls it.
func (s *session) provider(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	s.sent = req
	if s.variant.look != nil {
		s.variant.look(req)
	}
	return s.strict(ctx, req, emit)
}

// ask makes the request that message i answers, and appends the answer. It returns false if the conversation is stuck.
func (s *session) ask(t *testing.T, i int) bool {
	t.Helper()
	req := &middleware.Request{Messages: slices.Clip(s.history), Tools: s.tools, Model: cmp.Or(s.variant.model, boundModel)}
	if s.chain.window > 0 {
		req.Budget = &middleware.Budget{Window: s.chain.window}
	}
	s.answer, s.sent = withThinking(s.messages[i], s.id, i, s.variant.plain), nil
	refused := len(s.refused())
	resp, err := s.layers(s.provider)(t.Context(), req, nil)
	switch {
	case err == nil:
		s.result.requests++
		s.result.thought += thoughts(req.Messages)
		s.result.read += thoughts(s.sent.Messages)
		s.result.cost += s.shown.costs(s.sent.Messages)
		s.result.plain += s.plain.costs(req.Messages)
		s.history = append(slices.Clip(req.Messages), resp.Message)
	case len(s.refused()) > refused:
		s.result.requests++
		s.result.why = append(s.result.why, fmt.Sprintf("%s, message %d: %s", s.id, i, advice.ReplaceAllString(err.Error(), "…")))
		return false
	case middleware.KindOf(err) != middleware.Unknown:
		s.result.failed++
		s.history = append(slices.Clip(req.Messages), s.messages[i]) // another model has answered
	default:
		require.NoError(t, err, "%s, message %d", s.id, i)
	}
	return true
}

// advice is the part of the error text that is always the same.
var advice = regexp.MustCompile(`The block is bound .* header\.`)

// result is what was counted in conversations.
type result struct {
	requests int // that were answered, or refused
	refused  int // by the provider, of which the chain may have saved the conversation
	stuck    int // conversations that ended with a refused request
	failed   int // requests that the chain did not send, since they cannot fit
	thought  int // tokens of thinking in the histories, over all answered requests
	read     int // of these, in what was sent
	cost     int // in fifths of the price of a token that is read
	plain    int // cost without editing
	why      []string
}

func (r *result) add(o *result) {
	r.requests += o.requests
	r.refused += o.refused
	r.stuck += o.stuck
	r.failed += o.failed
	r.thought += o.thought
	r.read += o.read
	r.cost += o.cost
	r.plain += o.plain
	r.why = append(r.why, o.why...)
}

// share returns the part of the thinking that the model still read.
func (r *result) share() float64 { return float64(r.read) / float64(max(r.thought, 1)) }

// cached is the prompt that the provider's cache has.
type cached []message.Message

// costs returns what a prompt costs, by the prices of Claude Opus 5.5: five dollars to write a million tokens to the cache, a fifth
// to read them.
func (c *cached) costs(msgs []message.Message) (fifths int) {
	const write, read = 25, 1
	same := true
	for i, m := range msgs {
		if same = same && i < len(*c) && m.Equal((*c)[i]); same {
			fifths += read * size(m)
		} else {
			fifths += write * size(m)
		}
	}
	*c = msgs
	return fifths
}

// size counts a message by a rule of its own: four, and a token for four bytes of thinking and of all else.
func size(m message.Message) int {
	n := 0
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			n += len(p.Text)
		case message.Thinking:
			n += len(p.Text) + len(p.Signature)
		case message.ToolCall:
			n += len(p.ID) + len(p.Name) + len(p.Arguments)
		case message.ToolResult:
			n += len(p.CallID) + len(p.Text)
		case message.Opaque:
			n += len(p.Data)
		case message.Media:
			n += len(p.Data)
		}
	}
	return 4 + n/4
}

// thoughts counts the tokens of thinking.
func thoughts(msgs []message.Message) (n int) {
	for _, m := range msgs {
		for _, p := range m.Parts {
			if t, ok := p.(message.Thinking); ok {
				n += (len(t.Text) + len(t.Signature)) / 4
			}
		}
	}
	return n
}
