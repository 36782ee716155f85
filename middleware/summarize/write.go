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

func (t *task) fits(p *product) bool { return t.size(p) < t.before }

// make returns the product, which is made once for equal concurrent jobs.
func (j job) make(ctx context.Context) (*product, error) {
	p := j.ready
	if p == nil {
		made, own, err := j.cache.do(ctx, j.key, j.background, j.produce)
		switch {
		case own || err != nil:
			return made, err
		case !j.fits(made): // what is folded has become shorter since
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
	section := j.byCode
	if words := j.key.asked.Words; words != "" {
		section.Words = words
		return j.shorter(j.language.Headings().Model, section, j.counts, "in the words of Options.Before")
	}
	if !j.writer.asks() || len(j.fold.Messages) == 0 && len(j.fold.Earlier) == 0 {
		return j.byRules(ctx, section)
	}
	p, refused := modelwriter.Call(ctx, 0, func(ctx context.Context) (*product, error) { // a panic may be that of a counter
		words, err := j.ask(ctx)
		if err != nil {
			return nil, err
		}
		s := section
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
	p, err := j.byRules(ctx, section)
	if err == nil {
		p.refused = refused
	}
	return p, err
}

// byRules makes the summary by rules, or a note without words.
func (t *task) byRules(ctx context.Context, s text.Sections) (*product, error) {
	o := text.Options{Tokens: t.fold.Tokens, Counter: t.fold.View.Meter().Counter, Language: t.language}
	headings := t.language.Headings()
	heading, write := headings.Model, rulewriter.State
	if t.Layout == inTopics {
		heading, write = headings.Rules, rulewriter.Summary // the seed's, which in Chinese does not state who wrote it
	}
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
	msgs = framed(msgs, t.language)
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
