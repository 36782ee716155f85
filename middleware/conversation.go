package middleware

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// conversation is what a chain remembers of a conversation in addition to its edits:
// values of middlewares, events that it has once, and how its editors succeed. The
// histories of a conversation share it. It is not in the journal: each process has its
// own.
type conversation struct {
	mu      sync.Mutex
	values  map[any]any
	reports int              // number of values under keys of type reported
	guess   calibrate.Window // the window after refusals without a number
}

// Keys of this package in conversation.values.
type (
	reported struct{ text string } // true: an event with this text has been reported
	failures struct{ name string } // [progress] of an editor
	hopeless struct{ name string } // *verdict: whether an editor's trigger can be satisfied
)

func (c *conversation) load(key any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key]
}

// store replaces a value, or removes it if the new one is nil, and returns the value
// before.
func (c *conversation) store(key, value any) (before any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.values[key]
	switch {
	case value == nil:
		delete(c.values, key)
		return before
	case c.values == nil:
		c.values = map[any]any{}
	}
	c.values[key] = value
	return before
}

// once reports whether this is the first time in the conversation that observers of a
// request are about to receive a text. It returns false if there is no observer.
func (c *conversation) once(req *Request, text string) bool {
	const most = 64
	if req.observers == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := reported{text}
	if c.values[key] != nil || c.reports == most {
		return false
	}
	if c.values == nil {
		c.values = map[any]any{}
	}
	c.values[key] = true
	c.reports++
	return true
}

// window changes the guessed window and returns it.
func (c *conversation) window(by func(*calibrate.Window)) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by != nil {
		by(&c.guess)
	}
	return c.guess.Limit
}

// fork returns a conversation that starts with the values of this one and changes none of
// them. It has all events again.
func (c *conversation) fork() *conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &conversation{values: map[any]any{}, guess: c.guess}
	for k, v := range c.values {
		if _, ok := k.(reported); !ok {
			f.values[k] = v
		}
	}
	return f
}

// defaultPauseAfter is the default of [Options.PauseAfter].
const defaultPauseAfter = 3

// progress is the number of failures in a row of an editor in one turn.
type progress struct {
	turn     turn
	failures int
}

// turn identifies a turn of the user: the position of the newest question, and the
// messages before it. The question itself does not count, since hosts insert text into
// it that differs from call to call.
type turn struct {
	question int // -1 if there is no user message
	before   message.ID
}

// attempt is how an editor succeeded in the call that is running. It takes effect when
// the edits of the call are remembered.
type attempt struct {
	layer    *layer
	view     *View  // as the editor saw it
	failure  string // why there was no progress; "": there was
	progress progress
	verdict  *verdict // what was found out about its trigger; nil: nothing
}

// progress returns the failures in a row of an editor in this turn.
func (v *View) progress(name string) progress {
	for _, a := range slices.Backward(v.attempts) {
		if a.layer.name == name {
			return a.progress
		}
	}
	s := v.session
	now := turn{question: s.LastUser}
	if now.question > 0 {
		now.before = s.IDs[now.question-1]
	}
	if p, ok := s.State.conversation.load(failures{name}).(progress); ok && p.turn == now {
		return p
	}
	return progress{turn: now}
}

// tried returns the view with an attempt of an editor that has led to it.
func (v *View) tried(l *layer, failure string) *View {
	p := v.progress(l.name)
	switch {
	case failure != "":
		p.failures++
	case p.failures == 0:
		return v
	default:
		p.failures = 0
	}
	return v.withAttempt(attempt{layer: l, view: v, failure: failure, progress: p})
}

func (v *View) withAttempt(a attempt) *View {
	w := *v
	w.attempts = append(slices.Clip(v.attempts), a)
	return &w
}

// noteProgress remembers how the editors of this call succeeded, and returns the view
// without that; in a dry run with it, for [DraftResult.Commit].
func (v *View) noteProgress(ctx context.Context) *View {
	for _, a := range v.attempts {
		before := a.note(v.session.State.conversation)
		if a.verdict != nil {
			a.layer.isHopeless(ctx, a.view)
		}
		if a.layer.paused(a.progress) && (before.turn != a.progress.turn || !a.layer.paused(before)) {
			a.layer.report(ctx, a.view, Event{Kind: Paused, Why: fmt.Sprintf(
				"%d attempts in a row brought no progress, the last because %s; "+
					"it is not asked again before the next message of the user, unless Request.Force names it", a.progress.failures, a.failure)})
		}
	}
	if len(v.attempts) == 0 || v.req.dry != nil {
		return v
	}
	w := *v
	w.attempts = nil
	return &w
}

func (a *attempt) note(c *conversation) (before progress) {
	var value any
	if a.progress.failures > 0 {
		value = a.progress
	}
	if a.verdict != nil {
		c.store(hopeless{a.layer.name}, a.verdict)
	}
	before, _ = c.store(failures{a.layer.name}, value).(progress)
	return before
}

// paused reports whether an editor has failed so often that it is not asked any more in
// this turn.
func (l *layer) paused(p progress) bool {
	most := cmp.Or(l.opts.PauseAfter, defaultPauseAfter)
	return most > 0 && p.failures >= most
}

// An editor that edits in so many of the last model calls is reported as [Frequent].
const (
	frequentOf = 8
	frequent   = 6
)

// warnFrequent reports, once per conversation, that an editor edits in most calls. One
// without a trigger is meant to.
func (l *layer) warnFrequent(ctx context.Context, v *View) {
	if l.opts.Trigger == nil || v.req.Forced(l.name) {
		return
	}
	n := v.callsEdited(l.name)
	if n < frequent || !v.session.State.conversation.once(v.req, string(Frequent)+" "+l.name) {
		return
	}
	l.report(ctx, v, Event{Kind: Frequent, Why: fmt.Sprintf(
		"it has edited in %d of the last %d model calls, and after each edit the provider reads the prompt again from there on; "+
			"set MinCalls, or a floor (ClearAtLeast of contextedit), or let it remove more at once", n, frequentOf)})
}

// callsEdited returns in how many of the last model calls, the running one included, the
// named middleware has edited; 0 if there were fewer calls.
func (v *View) callsEdited(name string) int {
	body := v.session.Body
	var answers []int // to the last calls, the newest first
	for i := len(body) - 1; i >= 0 && len(answers) < frequentOf; i-- {
		if body[i].Role == message.RoleAssistant {
			answers = append(answers, i)
		}
	}
	if len(answers) < frequentOf-1 {
		return 0
	}
	var edited uint // bit k: edited k calls ago
	var look func(r *journal.Record)
	look = func(r *journal.Record) {
		ago := slices.IndexFunc(answers, func(at int) bool { return at < r.HistoryLen })
		if ago < 0 {
			ago = len(answers)
		}
		if r.Middleware == name && ago < frequentOf {
			edited |= 1 << ago
		}
		for _, c := range r.Covered {
			look(c)
		}
	}
	for _, it := range v.list {
		look(it.Record)
	}
	return bits.OnesCount(edited)
}

// overhead is what no edit can remove, in tokens by the meter.
type overhead struct{ system, tools, pinned, question int }

// verdict is that the trigger of an editor cannot be satisfied while system prompt and
// tools have so many tokens. It is zero if the trigger can be satisfied.
type verdict struct {
	tokens int
	event  Event
}

// judged returns the view, which meets the trigger after an edit, with a verdict on
// whether the trigger can be satisfied at all: it cannot if what no edit can remove meets
// it by its tokens alone. Then the editor is not asked again in this conversation unless
// system prompt and tools become smaller. That is found out once per conversation.
func (l *layer) judged(v *View) *View {
	if v.session.State.conversation.load(hopeless{l.name}) != nil {
		return v
	}
	a := attempt{layer: l, view: v, progress: v.progress(l.name), verdict: new(verdict)}
	left, o := v.irremovable()
	if met, numbers := l.stillMet(left); met {
		left.tools, left.result.Sum = 0, 0
		left.setSize(0)
		if met, _ = l.stillMet(left); !met { // else it looks at something other than tokens
			charged := v.size.Charged
			*a.verdict = verdict{v.session.LeadSum + v.tools, Event{Kind: Overhead, Why: fmt.Sprintf(
				"what no edit can remove meets the trigger by itself%s, so the editor is not asked any more: "+
					"%d tokens of system prompt, %d of tools, %d of pinned messages, %d of the first question; "+
					"raise the trigger, declare fewer tools, shorten the system prompt, or pin less",
				inParentheses(numbers), charged(o.system), charged(o.tools), charged(o.pinned), charged(o.question))}}
		}
	}
	return v.withAttempt(a)
}

// isHopeless reports whether what no edit can remove meets the trigger, and reports the
// event for that once per conversation.
func (l *layer) isHopeless(ctx context.Context, v *View) bool {
	c := v.session.State.conversation
	found, _ := c.load(hopeless{l.name}).(*verdict)
	if found == nil || found.tokens == 0 || v.session.LeadSum+v.tools < found.tokens {
		return false
	}
	if c.once(v.req, string(Overhead)+" "+l.name) {
		l.report(ctx, v, found.event)
	}
	return true
}

// irremovable returns the view with only what no edit can remove: system messages, tools,
// pinned messages and the text of the first question.
func (v *View) irremovable() (*View, overhead) {
	s, w := v.session, *v
	o := overhead{system: s.LeadSum, tools: v.tools}
	r := edit.Result{
		Messages: slices.Clone(s.Lead), Tokens: slices.Clone(s.LeadTokens), Spans: make([]edit.Span, len(s.Lead)), Sum: s.LeadSum,
	}
	for i := range r.Spans {
		r.Spans[i] = edit.Span{First: i - len(s.Lead), Last: i - len(s.Lead)}
	}
	for i := range s.Body {
		m := s.Body[i]
		switch {
		case !s.Whole[i] && i != s.FirstUser:
			continue
		case m.Role == message.RoleSystem:
			o.system += s.Tokens[i]
		case s.Whole[i]:
			o.pinned += s.Tokens[i]
		default:
			m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p message.Part) bool {
				_, text := p.(message.Text)
				return !text
			})
			o.question = s.Meter.Message(m)
		}
		n := s.Tokens[i]
		if i == s.FirstUser && !s.Whole[i] {
			n = o.question
		}
		r.Messages, r.Tokens, r.Sum = append(r.Messages, m), append(r.Tokens, n), r.Sum+n
		r.Spans = append(r.Spans, edit.Span{First: i, Last: i})
	}
	w.result, w.list = r, nil
	w.setSize(0)
	return &w, o
}
