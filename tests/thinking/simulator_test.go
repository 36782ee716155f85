package thinking

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
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

// variant is how the conversations are led. The zero value is a program that lets them grow, with one process.
type variant struct {
	name    string
	form    form
	model   string // "": boundModel
	demand  string // of the provider; "": BoundThinking
	silent  bool   // the provider does not report the tokens of the prompts
	restart bool   // each call has a chain of its own, with the same journal
	forks   bool   // each tenth call has a branch
	caller  bool   // the caller itself changes what was sent, which no editing cannot mend
	remedy  bool   // between chain and provider, void thinking is left out
	nets    bool   // a refused request is no fault if the chain saves the conversation
	journal func(seed uint64) journal.Journal

	look func(sent *middleware.Request) // sees each request that the provider is sent; nil: none

	// before changes what the caller sends in a call, of so many. It may also change the history from then on.
	before func(s *session, call, of int, req *middleware.Request)
}

// session is one conversation in a chain.
type session struct {
	*conversation
	chain   chain
	variant variant

	history []message.Message
	env     middleware.Env
	strict  middleware.Model
	refused func() []error
	layers  middleware.Middleware
	answer  message.Message     // of the model, to the next request
	sent    *middleware.Request // the last one that the provider was sent
	remedy  *remedy             // nil: none
	shown   meter
	plain   meter
	result  result
}

// lead leads a conversation through a chain, until it is stuck or ends.
func lead(t *testing.T, ch chain, c *conversation, v variant) *result {
	t.Helper()
	s := &session{conversation: c, chain: ch, variant: v}
	s.env = middleware.Env{Archive: store.NewMemory(0), Journal: journal.NewMemory(0)}
	if v.journal != nil {
		s.env.Journal = v.journal(uint64(len(c.id) + len(c.messages)))
	}
	demand := v.demand
	if demand == "" {
		demand = "bound"
	}
	s.strict, s.refused = middlewaretest.Strict(demand, s.say)
	if v.remedy {
		s.remedy = newRemedy()
	}
	s.result.conversations = 1
	of, call := 0, 0
	for i := range c.messages {
		if c.asks(i) {
			of++
		}
	}
	for i, m := range c.messages {
		if !c.asks(i) {
			s.history = append(s.history, m)
			continue
		}
		if v.forks && call%10 == 9 {
			s.fork(t, i, call, of)
		}
		if !s.ask(t, i, call, of, &s.shown) {
			s.result.stuck, s.result.lost = 1, of-call
			break
		}
		call++
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
	if !s.variant.silent {
		resp.Usage.Output = size(s.answer)
		resp.Usage.Input = len(fmt.Sprint(req.Tools)) / 4
		for _, m := range req.Messages {
			resp.Usage.Input += size(m)
		}
	}
	return resp, nil
}

// provider is the model as the chain calls it.
func (s *session) provider(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	var before [sha256.Size]byte
	if s.remedy != nil {
		req, before = s.remedy.apply(req)
	}
	s.sent = req
	if s.variant.look != nil {
		s.variant.look(req)
	}
	resp, err := s.strict(ctx, req, emit)
	if s.remedy != nil && err == nil {
		s.remedy.made(req, resp.Message, before)
	}
	return resp, err
}

// ask makes the request that message i answers, and appends the answer. It returns false if the conversation is stuck.
func (s *session) ask(t *testing.T, i, call, of int, shown *meter) bool {
	t.Helper()
	if s.layers == nil || s.variant.restart {
		s.layers = middleware.With(s.env, s.chain.layers()...)
	}
	req := &middleware.Request{Messages: slices.Clip(s.history), Tools: s.tools, Model: s.variant.model}
	if req.Model == "" {
		req.Model = boundModel
	}
	if s.chain.window > 0 {
		req.Budget = &middleware.Budget{Window: s.chain.window}
	}
	if s.variant.before != nil {
		s.variant.before(s, call, of, req)
	}
	s.answer, s.sent = s.variant.form.with(s.messages[i], s.id, i), nil
	refused := len(s.refused())
	resp, err := s.layers(s.provider)(t.Context(), req, nil)
	switch {
	case err == nil:
		s.measure(req, shown)
		s.history = append(slices.Clip(req.Messages), resp.Message)
	case len(s.refused()) > refused:
		s.result.requests++
		s.result.why = append(s.result.why, fmt.Sprintf("%s, call %d: %s", s.id, call, advice.ReplaceAllString(err.Error(), "…")))
		return false
	case middleware.KindOf(err) != middleware.Unknown:
		s.result.failed++
		s.history = append(slices.Clip(req.Messages), s.messages[i]) // another model has answered
	default:
		require.NoError(t, err, "%s, call %d", s.id, call)
	}
	return true
}

// advice is the part of the error text that is always the same.
var advice = regexp.MustCompile(`The block is bound .* header\.`)

func (s *session) measure(req *middleware.Request, shown *meter) {
	s.result.requests++
	s.result.thought += thoughts(req.Messages)
	s.result.read += thoughts(s.sent.Messages)
	if shown == nil {
		return
	}
	written, read := shown.sent(s.sent.Messages, s.sent.Tools)
	s.result.written += written
	s.result.cost += writes*written + reads*read
	written, read = s.plain.sent(req.Messages, req.Tools)
	s.result.plain += writes*written + reads*read
}

// fork leads a branch for three calls: with another answer to the same request, or with another question.
func (s *session) fork(t *testing.T, i, call, of int) {
	t.Helper()
	whole, conversation, remedy := s.history, s.conversation, s.remedy
	defer func() { s.history, s.conversation, s.remedy = whole, conversation, remedy }()
	s.remedy = remedy.branch()
	branch := *conversation
	branch.id += " fork"
	s.conversation = &branch
	if call%20 == 9 && s.messages[i-1].Role == message.RoleTool {
		s.history = append(slices.Clip(s.history), message.User("Wait: is there another way? Try that first."))
	}
	for calls := 0; i < len(s.messages) && calls < 3; i++ {
		if !s.asks(i) {
			s.history = append(slices.Clip(s.history), s.messages[i])
			continue
		}
		if !s.ask(t, i, call+calls, of, nil) {
			return
		}
		calls++
	}
}

// result is what was counted in conversations.
type result struct {
	conversations int
	requests      int // that were answered, or refused
	refused       int // by the provider, of which the chain may have saved the conversation
	stuck         int // conversations that ended with a refused request
	lost          int // answers that never came for that reason
	failed        int // requests that the chain did not send, since they cannot fit
	thought       int // tokens of thinking in the histories, over all answered requests
	read          int // of these, in what was sent
	written       int // tokens that were written to the cache
	cost          int // in fifths of the price of a token that is read
	plain         int // cost without editing
	why           []string
}

func (r *result) add(o *result) {
	r.conversations += o.conversations
	r.requests += o.requests
	r.refused += o.refused
	r.stuck += o.stuck
	r.lost += o.lost
	r.failed += o.failed
	r.thought += o.thought
	r.read += o.read
	r.written += o.written
	r.cost += o.cost
	r.plain += o.plain
	r.why = append(r.why, o.why...)
}

// share returns the part of the thinking that the model still read.
func (r *result) share() float64 { return float64(r.read) / float64(max(r.thought, 1)) }

// price returns the cost relative to no editing.
func (r *result) price() float64 { return float64(r.cost) / float64(max(r.plain, 1)) }

// meter follows what is sent of one conversation, as the provider's cache does.
type meter struct {
	last []message.Message
	tool string
}

// sent returns the tokens of a request that are written to the cache, and those that are read from it.
func (m *meter) sent(msgs []message.Message, tools []message.ToolDef) (written, read int) {
	declared := fmt.Sprint(tools)
	same := m.tool == declared
	for i, msg := range msgs {
		same = same && i < len(m.last) && msg.Equal(m.last[i])
		if n := size(msg); same {
			read += n
		} else {
			written += n
		}
	}
	if m.tool == declared {
		read += len(declared) / 4
	} else {
		written += len(declared) / 4
	}
	m.last, m.tool = msgs, declared
	return written, read
}

// The prices of Claude Opus 5.5 in fifths of a dollar: five to write a million tokens to the cache, a fifth to read them.
const writes, reads = 25, 1

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

// table has a row for each chain of a variant. It is safe for concurrent use.
type table struct {
	mu   sync.Mutex
	rows map[int]string
}

func (t *table) add(at int, name string, r *result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		t.rows = map[int]string{}
	}
	t.rows[at] = "\n" + fmt.Sprintf("%-28s %8d %7d %5d %6d %6d %6.1f %5.2f %6.2f", name,
		r.requests, r.refused, r.stuck, r.lost, r.failed, 100*r.share(), r.price(), float64(r.written)/1e6)
}

func (t *table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	head := fmt.Sprintf("%-28s %8s %7s %5s %6s %6s %6s %5s %6s", "chain", "requests", "refused", "stuck", "lost", "failed", "read %", "cost", "M writ")
	all := "\n" + head
	for _, at := range slices.Sorted(maps.Keys(t.rows)) {
		all += t.rows[at]
	}
	return all
}
