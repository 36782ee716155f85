package replay

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/laconic-go/laconic/internal/calls"
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
	whole    []int    // by call: the tokens of the whole history
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
			t.messages[i] = m
			if m.Role == message.RoleAssistant {
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
	p, err := t.play(ctx, baseline("none"), o.Classes[0], o, false)
	if err != nil {
		return nil, err
	}
	for i := range p {
		t.none = t.none.plus(p[i].main())
		t.whole = append(t.whole, p[i].Sent)
	}
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

// Call is a call of a chain in a replay, at the prices of one class.
type Call struct {
	calls.Call

	Uses int    // of facts, by the answer
	Lost []Fact // of these, those that are not in the prompt

	side    spent    // of summaries
	written int      // tokens of summaries
	edits   int      // events of kind Edited
	broken  []string // providers that reject the prompt, but not the history
	kept    kept
	took    time.Duration // in the chain
}

// Edits returns the number of edits, each an event of kind Edited.
func (c *Call) Edits() int { return c.edits }

// main returns the tokens of the prompt by what they cost.
func (c *Call) main() spent { return spent{c.Read, c.Written, c.Sent - c.Read - c.Written} }

// pass is one replay of a conversation by the prices of one class.
type pass []Call

// cost returns the costs of all calls, and of those the costs of summaries.
func (p pass) cost(c Class, output float64) (all, side float64) {
	for i := range p {
		s := p[i].side.cost(c) + output*float64(p[i].written)
		all, side = all+p[i].main().cost(c)+s, side+s
	}
	return all, side
}

// player replays one conversation once.
type player struct {
	*tape
	*Call // that is running

	full    bool // measure what is kept, too, and what became of each message
	cache   *cache
	archive *store.Memory
	now     time.Time
	sent    []message.Message // by the last call
	sending time.Duration     // in the model, which is no time of the chain

	events   []middleware.Event // of the last call
	recorder calls.Recorder
	checkers []checker

	mu    sync.Mutex // of what a summary costs: several may be written at a time
	draft bool       // nothing counts
}

// play replays the conversation once. Only with full it measures what is kept, and records events and changes.
func (t *tape) play(ctx context.Context, c Chain, class Class, o Options, full bool) (pass, error) {
	p := &player{tape: t, full: full, cache: newCache(o), archive: store.NewMemory(math.MaxInt)}
	p.recorder.Meter = p.cache.meter
	env := middleware.Env{Archive: p.archive}
	call := 0
	env.Clock = func() time.Time {
		if p.now.IsZero() {
			return epoch.Add(time.Duration(call) * time.Second)
		}
		return p.now
	}
	var err error
	env.Models, err = o.table(c.Model, class)
	if err != nil {
		return nil, err
	}
	chain := middleware.Chain(middleware.Observe(p.observe), c.New(env, p.summarize))
	model := chain(p.send)
	all := make(pass, len(t.calls))
	for k, at := range t.calls {
		call = k
		p.now = t.time(at)
		p.Call = &all[k]
		if len(t.whole) > 0 { // it is empty while it is measured
			p.History = t.whole[k]
		}
		req := &middleware.Request{Messages: t.messages[:at:at], Tools: t.Tools, Model: modelName}
		if full && !o.Brief && len(t.facts[at]) > 0 {
			p.force(ctx, chain, req, at)
		}
		p.sent = nil
		p.sending = 0
		p.events = nil
		begin := time.Now()
		_, err := model(context.WithValue(ctx, answer{}, at), req, nil)
		p.took = time.Since(begin) - p.sending
		switch {
		case middleware.KindOf(err) == middleware.Irreducible:
			p.Unmade = true
		case err != nil:
			return nil, fmt.Errorf("call %d: %w", k, err)
		case p.sent == nil:
			return nil, fmt.Errorf("call %d: %w", k, errUnsent)
		case full && o.Brief:
			for _, f := range t.facts[at] {
				p.seen(f)
			}
		case full:
			p.check(k)
			p.look(ctx, at, k == len(t.calls)-1)
			seen := p.recorder.Take(req.Messages, p.sent, p.events)
			p.Events, p.Changes = seen.Events, seen.Changes
		}
	}
	return all, nil
}

// answer is the key of the position of the recorded answer.
type answer struct{}

// send is the model: it returns the recorded answer.
func (p *player) send(ctx context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	begin := time.Now()
	defer func() { p.sending += time.Since(begin) }()
	at, _ := ctx.Value(answer{}).(int)
	u := p.cache.send(req, p.now)
	p.Sent = u.size()
	p.Read = u.read
	p.Written = u.wrote
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

// observe keeps the events of the call.
func (p *player) observe(_ context.Context, e middleware.Event) {
	if e.Kind == middleware.Edited {
		p.edits++
	}
	if p.full {
		p.events = append(p.events, e)
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
