package replay

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// tape is a conversation that is ready to be replayed. It is read-only.
type tape struct {
	*Conversation

	messages []message.Message // with times, if a gap is assumed
	calls    []int             // the answers
	facts    map[int][]Fact    // by the answers that use them
	repeats  map[int][]message.ToolResult
	values   map[string]string // arguments of calls → the texts in them
	named    []string          // files, by the calls before the last answer
	changed  []string          // of these, those that were changed

	accepted [][]bool // by provider and call: whether the whole history is valid
	none     spent    // of never editing
}

// epoch is the time of the first call, if the messages have no times.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newTape returns a conversation to be replayed; nil if it has no answer.
func newTape(ctx context.Context, talk *Conversation, o Options) (*tape, error) {
	t := &tape{Conversation: talk, messages: talk.Messages, facts: map[int][]Fact{}}
	timed := false
	for i := range talk.Messages {
		timed = timed || !talk.Messages[i].Time.IsZero()
		if talk.Messages[i].Role == message.RoleAssistant {
			t.calls = append(t.calls, i)
		}
	}
	if len(t.calls) == 0 {
		return nil, nil
	}
	if !timed && o.Gap > 0 {
		t.messages = make([]message.Message, len(talk.Messages))
		at := epoch
		for i, m := range talk.Messages {
			m.Time = at
			if t.messages[i] = m; m.Role == message.RoleAssistant {
				at = at.Add(o.Gap)
			}
		}
	}
	for _, f := range talk.Facts {
		if !isAnswer(talk.Messages, f.At) {
			return nil, fmt.Errorf("replay: conversation %q: a fact is used by message %d, want the index of an answer", talk.ID, f.At)
		}
		t.facts[f.At] = append(t.facts[f.At], f)
	}
	t.index()
	t.accepted = t.judge()
	p, err := t.play(ctx, baseline("none"), Classes()[0], o, false)
	if err != nil {
		return nil, err
	}
	t.none = p.main
	return t, nil
}

// time returns the time of a call: that of the newest message before it that has one.
func (t *tape) time(call int) time.Time {
	for i := call - 1; i >= 0; i-- {
		if at := t.messages[i].Time; !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// pass is one replay of a conversation by the prices of one class.
type pass struct {
	prompts     []int // tokens of each prompt that was sent
	main        spent
	side        spent // of summaries
	written     int   // tokens of summaries
	edits       int
	freed       int // tokens by edits
	irreducible int // calls that could not be made
	broken      map[string]int
	kept        kept
	took        time.Duration
}

// player replays one conversation once.
type player struct {
	*tape
	*pass

	full    bool // measure what is kept, too
	cache   *cache
	archive *store.Memory
	now     time.Time
	sent    []message.Message // by the last call
	sending time.Duration     // in the model, which is no time of the chain

	checkers []checker

	mu    sync.Mutex // of what a summary costs: several may be written at a time
	draft bool       // nothing counts
}

// play replays the conversation once. Only with full it measures what is kept.
func (t *tape) play(ctx context.Context, c Chain, class Class, o Options, full bool) (*pass, error) {
	p := &player{
		tape: t, pass: &pass{broken: map[string]int{}}, full: full, cache: newCache(o), archive: store.NewMemory(1 << 40),
	}
	env := middleware.Env{Archive: p.archive}
	call := 0
	env.Clock = func() time.Time {
		if p.now.IsZero() {
			return epoch.Add(time.Duration(call) * time.Second)
		}
		return p.now
	}
	var err error
	if env.Models, err = o.table(c.Model, class); err != nil {
		return nil, err
	}
	chain := middleware.Chain(middleware.Observe(p.observe), c.New(env, p.summarize))
	model := chain(p.send)
	for k, at := range t.calls {
		call, p.now = k, t.time(at)
		req := &middleware.Request{Messages: t.messages[:at:at], Tools: t.Tools, Model: modelName}
		if full && len(t.facts[at]) > 0 {
			p.force(ctx, chain, req, at)
		}
		p.sent, p.sending = nil, 0
		begin := time.Now()
		_, err := model(context.WithValue(ctx, answer{}, at), req, nil)
		p.took += time.Since(begin) - p.sending
		switch {
		case middleware.KindOf(err) == middleware.Irreducible:
			p.irreducible++
		case err != nil:
			return nil, fmt.Errorf("call %d: %w", k, err)
		case p.sent == nil:
			return nil, fmt.Errorf("call %d: %w", k, errUnsent)
		case full:
			p.check(k)
			p.look(ctx, at, k == len(t.calls)-1)
		}
	}
	return p.pass, nil
}

// answer is the key of the position of the recorded answer.
type answer struct{}

// send is the model: it returns the recorded answer.
func (p *player) send(ctx context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	begin := time.Now()
	defer func() { p.sending += time.Since(begin) }()
	at, _ := ctx.Value(answer{}).(int)
	u := p.cache.send(req, p.now)
	p.main = p.main.plus(u)
	p.prompts = append(p.prompts, u.size())
	p.sent = req.Messages
	if p.sent == nil {
		p.sent = []message.Message{}
	}
	m := p.messages[at]
	stop := middleware.StopEnd
	if m.HasCalls() {
		stop = middleware.StopTools
	}
	return &middleware.Response{Message: m, Stop: stop}, nil
}

// observe sums up the edits.
func (p *player) observe(_ context.Context, e middleware.Event) {
	if e.Kind == middleware.Edited {
		p.edits++
		p.freed += e.Before - e.After
	}
}

// summary is what the stand-in for a model answers. It has the sections that package summarize asks for by default.
const summary = `Goal: those of the conversation that was left out
Current state: not repeated
Decisions and reasons: not repeated
Errors and repairs: as far as the messages below show
Next steps: those of the messages below`

// summaryTokens is the length of an answer that is assumed for the price of a summary.
const summaryTokens = 800

// summarize stands in for the model that writes summaries.
func (p *player) summarize(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.draft {
		p.side = p.side.plus(p.cache.price(req, p.now))
		p.written += summaryTokens
	}
	return &middleware.Response{Message: message.Assistant(message.Text{Text: summary}), Stop: middleware.StopEnd}, nil
}
