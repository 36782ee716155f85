package middleware

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// run is what is measured of one request of a chain, over all its model calls.
type run struct {
	began time.Time
	calls atomic.Int32 // of the model
	model atomic.Int64 // nanoseconds in the model
}

// measurement is one model call, whose numbers observers wait for.
type measurement struct {
	call  report.Call
	clock func() time.Time
	began time.Time
	run   *run // gets the time in the model; nil: the call is that of a summary
	ends  []func(report.Call, error)
}

// settled is what a chain has measured of the last model call.
type settled struct {
	by   *chain
	call report.Call // zero without observers
}

// measure begins the measurement of a model call, and returns the context for it.
func (o *outgoing) measure(ctx context.Context, stream bool) (context.Context, *measurement) {
	r := o.req
	m := &measurement{clock: r.chain.env.Clock, run: r.run}
	m.call = report.Call{
		Purpose: "main", Attempt: int(r.run.calls.Add(1)), Model: r.Model, Conversation: r.Conversation,
		Scope: r.chain.env.Scope, Stream: stream,
	}
	if known, _ := r.chain.modelOf(r); r.Model != "" {
		m.call.Provider = known.Provider
	}
	if v := o.view; v != nil {
		m.call.Conversation = cmp.Or(r.Conversation, firstID(v.session.IDs))
	}
	m.began = m.clock()
	m.call.Chain = max(0, m.began.Sub(r.run.began)-time.Duration(r.run.model.Load()))
	ctx = m.begin(ctx, r.observers, r.begun)
	r.begun = r.observers
	return ctx, m
}

// begin calls the functions of Around, the outermost first, except those that an outer chain has called.
func (m *measurement) begin(ctx context.Context, o, begun *observers) context.Context {
	var around []beginCall
	for ; o != nil && o != begun; o = o.outer {
		if o.around != nil {
			around = append(around, o.around)
		}
	}
	for _, fn := range slices.Backward(around) {
		ctx = m.beginOne(ctx, fn) //nolint:fatcontext // each of a few functions may add to it
	}
	return ctx
}

// beginOne returns ctx itself if fn panics: an observer must not break a call.
func (m *measurement) beginOne(ctx context.Context, fn beginCall) (inner context.Context) {
	defer func() {
		if r := recover(); r != nil || inner == nil {
			inner = ctx
		}
	}()
	inner, end := fn(ctx, m.call)
	if end != nil {
		m.ends = append(m.ends, end)
	}
	return inner
}

// piece notes the first piece of the answer.
func (m *measurement) piece() { m.call.First = m.clock().Sub(m.began) }

// stop notes that the model has returned.
func (m *measurement) stop() {
	m.call.Duration = m.clock().Sub(m.began)
	if m.run != nil {
		m.run.model.Add(int64(m.call.Duration))
	}
}

// end calls the functions that wait for the end of the call, the innermost first, with what the innermost chain has measured.
func (m *measurement) end(by *settled, resp *Response, err error) {
	m.answered(resp)
	if by != nil {
		m.call = by.call
	}
	for _, end := range slices.Backward(m.ends) {
		func() {
			defer func() { _ = recover() }() // an observer must not break a call
			end(m.call, err)
		}()
	}
}

// answered notes what the response says.
func (m *measurement) answered(resp *Response) {
	if resp != nil {
		m.call.Answered = resp.Model
		m.call.ID = resp.ID
		m.call.Stop = resp.Stop
		m.call.Usage = resp.Usage
	}
}

// Ask calls a model for another purpose than the answer to the request of the view, such as a summary, and returns its numbers,
// too. c has its purpose and attempt, and whether the request may have ended. The functions of [Around] are called, but no
// event is reported.
func (v *View) Ask(
	ctx context.Context, c report.Call, m Model, known models.Model, req *Request,
) (*Response, *report.Call, error) {
	env := &v.session.chain.env
	c.Model = req.Model
	c.Provider = known.Provider
	c.Scope = env.Scope
	c.Conversation = cmp.Or(v.req.Conversation, firstID(v.session.IDs))
	now := &measurement{call: c, clock: env.Clock, began: env.Clock()}
	resp, err := (*Response)(nil), errPanicked
	defer func() { now.end(nil, resp, err) }()
	resp, err = m(now.begin(ctx, v.req.observers, nil), req, nil) // nil: no streaming
	now.stop()
	now.answered(resp)
	if resp != nil && resp.Usage.Input > 0 {
		now.call.Bill.Spent, now.call.Bill.Known = known.Price.Cost(resp.Usage)
	}
	return resp, &now.call, err
}

// watch sizes a request that no editor has seen, for observers. Nothing is read from a journal, and nothing is changed.
func (o *outgoing) watch(ctx context.Context) {
	r := *o.req
	r.call = call{}
	if v, err := o.req.chain.watcher().open(ctx, &r); err == nil {
		o.view = v
		o.watched = true
		o.replaced = !sameSlice(v.result.Messages, r.Messages)
	}
}

// bill returns what a call has cost, and estimates what it would have cost with the whole history: what the call before would
// have sent is read from the cache, and the rest is written to it, or charged as input if the provider reports no writes.
func (o *outgoing) bill(answered string, u message.Usage, c report.Cache) (b report.Bill) {
	v, m := o.view, o.view.model.Model
	if u.CacheRead+u.CacheWrite > u.Input { // of a provider that reports the input without them
		u.Input = reportOf(u).Charged
	}
	if m.Price == (models.Price{}) {
		if named, ok := v.session.chain.env.Models.Lookup(answered); ok {
			m = named
		}
	}
	whole := u
	whole.Input = max(0, cmp.Or(u.Input, v.size.Tokens)+v.HistorySize().Tokens-v.size.Tokens)
	if u.Input > 0 {
		b.Spent, b.Known = m.Price.Cost(u)
	}
	if budget, ok := v.Budget(); ok && whole.Input > budget.Window {
		b.NotFitting = true
		return b
	}
	if !b.Known {
		return b
	}
	if v.size.Tokens == v.HistorySize().Tokens && c.Broken != "edit" && c.Broken != "chain" {
		b.Estimated = true // it is the same call
		return b
	}
	whole.CacheRead = 0
	lost := o.before != nil && u.CacheRead == 0 && c.Prefix > max(m.Cache.Min, 0) // for another reason than an edit
	if o.now.caches && !lost {
		if read := whole.Input - v.size.Charged(o.unsent()); read >= m.Cache.Min {
			whole.CacheRead = max(0, read-read%max(1, m.Cache.Step))
		}
	}
	if u.CacheWrite > 0 {
		whole.CacheWrite = max(0, whole.Input-whole.CacheRead-(u.Input-u.CacheRead-u.CacheWrite))
		whole.CacheWriteLong = int(int64(whole.CacheWrite) * int64(u.CacheWriteLong) / int64(u.CacheWrite))
	}
	if cost, ok := m.Price.Cost(whole); ok {
		b.NotSpentEstimate, b.Estimated = cost-b.Spent, true
	}
	return b
}

// unsent returns the tokens of the whole history, by the meter, that the provider would not have in its cache if it had
// been sent without edits in all calls.
func (o *outgoing) unsent() (n int) {
	v, s, was := o.view, o.view.session, o.before
	all := s.chain.meter.Request(nil, nil) + v.tools + s.LeadSum + s.Sum
	answer := s.newestAnswer()
	same := answer // the newest answer was made without it
	switch {
	case answer < 0, v.expired(s.Body[answer:], 0):
		return all
	case was == nil:
	case o.now.model != was.model, !slices.Equal(o.now.tools, was.tools), !o.lead:
		return all
	default:
		same = history.Shared(o.now.ids, was.ids)
	}
	for _, t := range s.Tokens[same:] {
		n += t
	}
	return n
}

// firstID returns the ID of a conversation without a name, in hexadecimal.
func firstID(ids []message.ID) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0].String()
}

// reportOf returns the prompt of a usage. Some providers report cached tokens that are not part of the input.
func reportOf(u message.Usage) calibrate.Prompt {
	cached := u.CacheRead + u.CacheWrite
	p := calibrate.Prompt{Charged: u.Input, WithCache: u.Input + cached}
	if cached > u.Input {
		p.Charged = p.WithCache
	}
	return p
}
