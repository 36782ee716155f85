package summarize

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/rulewriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
)

// job makes the summary of a task.
type job struct {
	*task

	log        *eventLog
	background bool // the summary is prepared: a failure has no fallback
}

// product is a summary. It does not change once [job.make] has returned it.
type product struct {
	messages []message.Message
	how      string // in the event
	refused  error  // why the text of the writer is not used, or nil
	log      *eventLog
}

func (t *task) size(p *product) (n int) {
	for _, msg := range p.messages {
		n += t.fold.View.Meter().Message(msg)
	}
	return n
}

// make returns the product, which is made once for equal concurrent jobs.
func (j job) make(ctx context.Context) (*product, error) {
	p := j.ready
	if p == nil {
		made, own, err := j.cache.do(ctx, j.key, j.background, j.produce)
		switch {
		case own || err != nil:
			return made, err
		case j.size(made) >= j.before: // what is folded has become shorter since
			return j.produce(ctx)
		}
		p = made
	}
	if !j.log.later {
		p.log.tell(ctx, j.fold.View, true)
	}
	return p, nil
}

func (j job) report(ctx context.Context, e middleware.Event) { j.log.add(ctx, j.fold.View, e) }

func (j job) produce(ctx context.Context) (*product, error) {
	n := len(j.covers)
	size := j.fold.View.Size()
	j.report(ctx, middleware.Event{
		Kind: Summarizing, Detail: Report{Messages: n},
		Why: fmt.Sprintf("%s of %d tokens", count(n, "message"), size.Charged(j.before)),
	})
	p, err := j.write(ctx)
	if err != nil {
		return nil, err
	}
	p.log = j.log
	usage, cost, _ := j.log.sum()
	j.report(ctx, middleware.Event{
		Kind: Summarized, Err: p.refused, Detail: Report{Messages: n, Usage: usage, Cost: cost},
		Why: fmt.Sprintf("%s %s: %d tokens instead of %d", count(n, "message"), p.how, size.Charged(j.size(p)), size.Charged(j.before)),
	})
	return p, nil
}

// write makes the summary by the custom strategy alone or, without one, by the first way that succeeds: the writer, rules
// unless these are switched off, a note. What is prepared in the background is made by the writer or not at all.
func (j job) write(ctx context.Context) (*product, error) {
	if j.Strategy.Custom != nil {
		return j.custom(ctx)
	}
	s := j.byCode
	if words := j.key.asked.Words; words != "" {
		s.Words = words
		return j.shorter(j.language.Headings().Model, s, j.counts, "in the words of Options.Before")
	}
	if !j.writer.asks() || len(j.fold.Messages) == 0 && len(j.fold.Earlier) == 0 {
		return j.byRules(ctx)
	}
	p, refused := modelwriter.Call(ctx, 0, func(ctx context.Context) (*product, error) { // a panic may be that of a counter
		words, err := j.ask(ctx)
		if err != nil {
			return nil, err
		}
		s.Words = words
		return j.shorter(j.language.Headings().Model, s, j.counts, "in the words of the summariser")
	})
	switch {
	case refused == nil:
		return p, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case j.NoFallback || j.background:
		return nil, noSummary(refused)
	}
	p, err := j.byRules(ctx)
	if err == nil {
		p.refused = refused
	}
	return p, err
}

// byRules makes the summary by rules, or a note without words.
func (t *task) byRules(ctx context.Context) (*product, error) {
	o := text.Options{Tokens: t.fold.Tokens, Counter: t.fold.View.Meter().Counter, Language: t.language}
	headings := t.language.Headings()
	heading, write := headings.Model, rulewriter.State
	if t.Layout == inTopics {
		heading, write = headings.Rules, rulewriter.Summary // the seed's, which in Chinese does not state who wrote it
	}
	s := t.byCode
	s.Words = write(t.originals(), o)
	if s != (text.Sections{}) {
		if p, err := t.shorter(heading, s, t.counts, "by rules"); err == nil {
			return p, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all := t.counts
	all[3] = all[0]
	return t.shorter(headings.Model, t.correctionsAlone(), all, "left out, since no summary of them is shorter")
}

// correctionsAlone returns what a person wrote into earlier summaries.
func (t *task) correctionsAlone() text.Sections {
	said, room := &quotes.Set{}, t.before
	said.Correct(t.fold.Corrections...)
	return text.Sections{Quotes: said.Text(text.Options{Tokens: room, Counter: t.fold.View.Meter().Counter, Language: t.language})}
}

// custom makes the summary by the caller's strategy.
func (t *task) custom(ctx context.Context) (*product, error) {
	msgs, err := modelwriter.Call(ctx, 0, func(ctx context.Context) ([]message.Message, error) { return t.Strategy.Custom(ctx, &t.fold) })
	if err != nil {
		return nil, err
	}
	headings := t.language.Headings()
	msgs = slices.Clone(msgs)
	for i, m := range msgs {
		if m.Role != message.RoleSystem { // which becomes part of the system prompt of most providers: it says that it is a record
			continue
		}
		parts := []message.Part{message.Text{Text: headings.Frame}}
		for _, p := range m.Parts {
			if said, ok := p.(message.Text); ok {
				p = message.Text{Text: text.Defused(said.Text)}
			}
			parts = append(parts, p)
		}
		parts = append(parts, message.Text{Text: headings.End})
		msgs[i].Parts = parts
	}
	has := func(line string) bool {
		return slices.ContainsFunc(msgs, func(m message.Message) bool { return strings.Contains(m.Text(), line) })
	}
	t.fold.Corrections = slices.DeleteFunc(slices.Clone(t.fold.Corrections), has)
	if kept := t.correctionsAlone().Quotes; kept != "" {
		msgs = append(msgs, message.Message{Role: t.Role, Parts: []message.Part{message.Text{Text: kept}}})
	}
	if !t.key.handle.IsZero() {
		all := t.counts
		all[3] = 0
		line := store.Placeholder(all.Line(t.language), t.key.handle)
		msgs = append(msgs, message.Message{Role: t.Role, Parts: []message.Part{message.Text{Text: line}}})
	}
	return &product{messages: msgs, how: "by the caller's strategy"}, nil
}

// shorter composes a summary. It returns an error if that is not shorter than what it replaces.
func (t *task) shorter(header string, s text.Sections, counts text.Tally, how string) (*product, error) {
	p := &product{messages: []message.Message{t.compose(header, s, counts)}, how: how}
	if n := t.size(p); n >= t.before {
		return nil, fmt.Errorf("the summary has %d tokens, no fewer than the %d of what it replaces", n, t.before)
	}
	return p, nil
}

// noSummary returns the error of a fold without an acceptable summary. An error kind that is about the summariser's own request
// becomes Unavailable: it would misinform the caller about the caller's request and options.
func noSummary(err error) error {
	kind := middleware.KindOf(err)
	if kind == middleware.Invalid || kind == middleware.Overflow || kind == middleware.Irreducible {
		kind = middleware.Unavailable
	}
	return &middleware.Error{Kind: kind, Op: layerName, Err: fmt.Errorf("no summary that can be taken: %w", err)}
}

// The kinds of events of this package. Their Detail is a [Report], and so is that of the [middleware.Edited] event of a fold.
const (
	Advised     middleware.EventKind = "advised"     // Options.Soft is met: a fold is near
	Summarizing middleware.EventKind = "summarizing" // a summary is started
	Attempted   middleware.EventKind = "attempted"   // a writer was asked once; Err is why it failed, or why its text was not accepted
	Summarized  middleware.EventKind = "summarized"  // a summary is made and used; Err is why it is not in the words of the writer
	Flushed     middleware.EventKind = "flushed"     // Options.Flush was called before a fold; the fold continues after its Err
)

// Report is the Detail of the events of this package. Numbers that do not belong to the kind of the event are 0.
type Report struct {
	Messages int           // Summarizing, Summarized: messages of the history that the summary covers; Edited: those that are new in it
	Memories int           // Flushed: what Options.Flush returned
	Usage    message.Usage // Attempted: tokens of the request as its provider reports them; Summarized: of all requests for the summary
	Cost     models.Cost   // of Usage; 0 if the price is unknown

	// Inventions are what the text of a writer has and the record has not; see
	// [Options.Inventions]. Of kind Attempted; nil: nothing was found.
	Inventions []string
}

// eventLog holds the events of one summary. Each of them is reported once. It is safe for concurrent use.
type eventLog struct {
	later bool // events are only logged: they are reported once the summary is used, or all of its plan are made

	mu       sync.Mutex
	events   []middleware.Event
	reported int // the first of them
}

// add logs an event, and reports it unless that is done later. A dry run reports all of them again.
func (l *eventLog) add(ctx context.Context, v *middleware.View, e middleware.Event) {
	e.By = layerName
	l.mu.Lock()
	l.events = append(l.events, e)
	if !l.later && !v.Request().Dry() {
		l.reported = len(l.events)
	}
	l.mu.Unlock()
	if !l.later {
		v.Report(ctx, e)
	}
}

// tell reports the events that are not reported yet, that of kind [Summarized] only if the summary is used. A dry run gets
// all of them, and counts none as reported.
func (l *eventLog) tell(ctx context.Context, v *middleware.View, used bool) {
	l.mu.Lock()
	from, to := l.reported, len(l.events)
	if to > 0 && l.events[to-1].Kind == Summarized && !used {
		to--
	}
	if v.Request().Dry() {
		from = 0
	} else {
		l.reported = max(from, to)
	}
	untold := l.events[from:max(from, to)]
	l.mu.Unlock()
	for _, e := range untold {
		v.Report(ctx, e)
	}
}

// sum returns what all requests took: their tokens and cost by the table of models, and what was paid as the core counts it.
func (l *eventLog) sum() (usage message.Usage, cost models.Cost, paid journal.Cost) {
	l.mu.Lock()
	defer l.mu.Unlock()
	paid.Known = true
	for _, e := range l.events {
		if r, ok := e.Detail.(Report); ok && e.Kind == Attempted {
			usage, cost = usage.Add(r.Usage), cost+r.Cost
		}
		if e.Call != nil {
			paid.Spent, paid.Known = paid.Spent+e.Call.Bill.Spent, paid.Known && e.Call.Bill.Known
		}
	}
	return usage, cost, paid
}

// Limits of what is remembered of flushes.
const (
	maxFlushed = 1 << 13 // messages in one generation, of which there are two
	maxPending = 64      // folds of dry runs
)

// flushes are the messages for which Options.Flush was called, so that it is called once
// for each, and the folds of dry runs for which it is called if they are committed.
type flushes struct {
	sync.Mutex

	new, old  map[place]bool // old are those before the newest maxFlushed
	postponed map[place][]placed
}

// place is a message, by its ID, which depends on all messages before it.
type place struct {
	scope string
	id    message.ID
}

// placed is a message that is to be flushed.
type placed struct {
	place

	message message.Message
}

// claim claims the messages of a fold that are not claimed yet, and returns them.
func (f *flushes) claim(all []placed) (mine []placed) {
	f.Lock()
	defer f.Unlock()
	for _, p := range all {
		if f.new[p.place] || f.old[p.place] {
			continue
		}
		if len(f.new) >= maxFlushed || f.new == nil {
			f.new, f.old = map[place]bool{}, f.new
		}
		f.new[p.place] = true
		mine = append(mine, p)
	}
	return mine
}

func (f *flushes) release(all []placed) {
	f.Lock()
	defer f.Unlock()
	for _, p := range all {
		delete(f.new, p.place)
		delete(f.old, p.place)
	}
}

// flush flushes the messages that are folded now and were not before. A dry run only remembers them, by the newest; with
// maxPending of these folds, it forgets those before.
func (t *task) flush(ctx context.Context) {
	if t.Flush == nil {
		return
	}
	v := t.fold.View
	var all []placed
	for _, c := range t.newlyCovered() {
		all = append(all, placed{place{t.key.scope, t.ids[c.at]}, v.History()[c.at]})
	}
	f := t.flushes
	if !v.Request().Dry() {
		t.flushNow(ctx, v, all)
		return
	}
	f.Lock()
	defer f.Unlock()
	if len(f.postponed) >= maxPending || f.postponed == nil {
		f.postponed = map[place][]placed{}
	}
	f.postponed[place{t.key.scope, t.key.last}] = all
}

// flushNow flushes the messages of a fold that are not flushed yet.
func (e *editor) flushNow(ctx context.Context, v *middleware.View, all []placed) {
	mine := e.flushes.claim(all)
	if len(mine) == 0 {
		return
	}
	messages := make([]message.Message, len(mine))
	for i, p := range mine {
		messages[i] = p.message
	}
	n, err := modelwriter.Call(ctx, e.Timeout, func(ctx context.Context) (int, error) { return e.Flush(ctx, messages) })
	if err != nil {
		e.flushes.release(mine)
	}
	v.Report(ctx, middleware.Event{
		Kind: Flushed, By: layerName, Err: err, Detail: Report{Memories: n},
		Why: fmt.Sprintf("%s of %s", count(n, "memory"), count(len(mine), "message")),
	})
}

// flushCommitted flushes the messages of folds in committed dry runs. It plans nothing.
func (e *editor) flushCommitted(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	for i := range v.Len() {
		r := ownFold(v, i)
		if r == nil || v.Request().Dry() {
			continue
		}
		last := place{v.Env().Scope, r.ID}
		e.flushes.Lock()
		all := e.flushes.postponed[last]
		delete(e.flushes.postponed, last)
		e.flushes.Unlock()
		e.flushNow(ctx, v, all)
	}
	return nil, nil
}
