package summarize

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/rulewriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/store"
)

// job is one summary that is to be made.
type job struct {
	*editor

	block    block
	fold     *Fold
	language text.Language
	ids      []message.ID            // of the history
	covers   []int                   // positions of the history that the summary covers
	fresh    []int                   // of these: those that no earlier summary covers
	adopted  map[int]*journal.Record // of these: earlier summaries that the caller has made part of the history
	counts   tally                   // messages that the summary covers
	sources  []message.Message       // what rules read: the originals without those that are dropped now
	key      key                     // in the cache
	handle   store.Handle            // of what is folded, in the archive; zero without an archive
	archive  []*store.Named          // what is put there

	before     int // tokens of what is folded
	factsSoFar int // tokens of the facts of earlier summaries
	factTokens int // that the facts may have
	estimate   int // tokens of the summary

	log        *eventLog
	hold       bool               // events are held until all summaries of the plan are made
	held       []middleware.Event // in order
	background bool               // the summary is prepared: its events are only logged, and a failure has no fallback
}

// job returns the summary of a block.
func (e *editor) job(o *origins, b block) *job {
	v := o.view
	j := &job{editor: e, block: b, log: &eventLog{}, ids: o.ids, covers: o.covered(b.pieces)}
	j.fold = &Fold{View: v, Question: question(v), Originals: make([]message.Message, len(j.covers))}
	for i, k := range j.covers {
		j.fold.Originals[i] = v.History()[k]
	}
	known, dropped := j.readPieces(o)
	for _, k := range j.covers {
		if !known[k] {
			j.fresh = append(j.fresh, k)
		}
		switch r := j.adopted[k]; {
		case r != nil:
			t, _ := tallyOf(r)
			j.counts = j.counts.plus(t)
			j.sources = append(j.sources, j.sourceOf(r)...)
			continue
		case !dropped[k]:
			j.sources = append(j.sources, v.History()[k])
		}
		j.counts = j.counts.plus(tallyOfMessage(v.History()[k]))
	}
	if j.language = text.Language(e.Language); j.language == "" {
		j.language = text.LanguageOf(v.History())
	}
	j.fold.Language = string(j.language)
	j.handle, j.archive = v.ArchiveRuns(neighbours(b.pieces))
	j.key = keyOf(v, j.ids, j.covers, j.handle)
	j.limit()
	return j
}

// readPieces takes the summariser's input from the pieces of the block. It returns the
// positions of the history that earlier summaries cover, and those that are dropped
// now.
func (j *job) readPieces(o *origins) (known, dropped []bool) {
	f := j.fold
	known, dropped = make([]bool, len(j.ids)), make([]bool, len(j.ids))
	inPieces := make([]bool, len(j.ids))
	for i, p := range j.block.pieces {
		j.before += p.tokens
		o.mark(p, inPieces)
		if p.isSummary() {
			o.mark(p, known)
		}
		switch {
		case p.isSummary() && j.Strategy.kind != custom && isComposed(p.earlier):
			j.adopt(o, p)
			_, n := tallyOf(p.earlier)
			f.Dropped += n
			j.factsSoFar += j.count(factsOf(p.earlier))
			if words := j.wordsOf(p.earlier); words != "" {
				f.Earlier = append(f.Earlier, words)
			}
		case i < j.block.dropped && !p.isSummary():
			f.Dropped += o.mark(p, dropped)
		default:
			for k := p.First; k <= p.Last; k++ {
				f.Messages = append(f.Messages, f.View.At(k))
			}
		}
	}
	for _, k := range j.covers { // other middlewares removed these without a trace
		if !inPieces[k] {
			dropped[k] = true
			f.Dropped++
		}
	}
	return known, dropped
}

// adopt stores an earlier summary that is a message of the history, because the caller
// passes views back; see [middleware.Env.HistoryIsView]. What it was made of is not
// available.
func (j *job) adopt(o *origins, p piece) {
	at := o.positions(p)
	if len(at) != 1 || len(p.earlier.Messages) != 1 || !o.view.History()[at[0]].Equal(p.earlier.Messages[0]) {
		return
	}
	if j.adopted == nil {
		j.adopted = map[int]*journal.Record{}
	}
	j.adopted[at[0]] = p.earlier
}

// sourceOf returns what rules read of an adopted summary: its topics as questions, and
// all of it as an answer.
func (j *job) sourceOf(r *journal.Record) (out []message.Message) {
	words := j.wordsOf(r)
	for _, topic := range rulewriter.Topics(words) {
		out = append(out, message.User(topic))
	}
	return append(out, message.Assistant(message.Text{Text: words}))
}

// limit sets how long the summary may become: shorter than what it replaces, and long
// enough that an earlier one does not have to shrink. In a small fold, the facts come
// first.
func (j *job) limit() {
	const half, quarter = 2, 4
	f := j.fold
	earlier, fresh := 0, 0
	for _, w := range f.Earlier {
		earlier += j.count(w)
	}
	for _, m := range f.Messages {
		fresh += f.View.Meter().Message(m)
	}
	facts := min(j.LedgerTokens, j.before/quarter)
	if j.factTokens = facts; facts < j.LedgerTokens {
		j.factTokens = min(j.LedgerTokens, max(j.before/half, j.factsSoFar+fresh/quarter))
		facts = j.count(j.facts())
	}
	words := min(fresh/half, j.before-j.before/quarter-facts)
	f.Tokens = min(j.SummaryTokens, max(earlier, words))
	j.estimate = f.View.Meter().Message(j.compose(j.header(), "", "")) + f.Tokens + facts
}

// count returns the tokens of a text.
func (j *job) count(s string) int { return j.fold.View.Meter().Part(message.Text{Text: s}) }

// worthwhile reports whether the fold frees enough tokens.
func (j *job) worthwhile() bool {
	const eighth = 8
	return j.before-j.estimate >= max(1, j.fold.Tokens/eighth)
}

// question returns the newest message of the user.
func question(v *middleware.View) string {
	for _, m := range slices.Backward(v.History()) {
		if m.Role == message.RoleUser {
			return m.Text()
		}
	}
	return ""
}

// product is a summary that has been made. It does not change.
type product struct {
	messages []message.Message
	words    string
	log      *eventLog
}

// size returns the tokens of a product.
func (j *job) size(p *product) int {
	n := 0
	for _, m := range p.messages {
		n += j.fold.View.Meter().Message(m)
	}
	return n
}

// fits reports whether a product is shorter than what it replaces.
func (j *job) fits(p *product) bool { return j.size(p) < j.before }

// make returns the product, which is made once for equal concurrent jobs.
func (j *job) make(ctx context.Context) (*product, error) {
	p, own, err := j.cache.do(ctx, j.key, j.background, j.produce)
	if err == nil && !own && !j.fits(p) { // what is folded has become shorter since
		j.cache.forget(j.key, p)
		p, own, err = j.cache.do(ctx, j.key, j.background, j.produce)
	}
	if err == nil && !own {
		j.reportUse(ctx, p)
	}
	return p, err
}

// reportUse reports how a product was made that this job did not make. A dry run gets
// all of its events, a call those that are not reported yet.
func (j *job) reportUse(ctx context.Context, p *product) {
	if j.background {
		return
	}
	for _, e := range p.log.take(true, j.fold.View.Dry()) {
		j.emit(ctx, e)
	}
}

// report logs an event, and reports it unless the summary is only prepared.
func (j *job) report(ctx context.Context, e middleware.Event) {
	e.By = Name
	j.log.add(e, !j.background && !j.fold.View.Dry())
	if !j.background {
		j.emit(ctx, e)
	}
}

// emit reports an event now, or after all summaries of the plan are made.
func (j *job) emit(ctx context.Context, e middleware.Event) {
	if j.hold {
		j.held = append(j.held, e)
		return
	}
	j.fold.View.Report(ctx, e)
}

// reject reports that a text is not accepted.
func (j *job) reject(ctx context.Context, err error) {
	j.report(ctx, middleware.Event{Kind: Rejected, Err: err, Why: err.Error()})
}

// produce makes the summary.
func (j *job) produce(ctx context.Context) (*product, error) {
	n := len(j.covers)
	j.report(ctx, middleware.Event{
		Kind: Summarizing, Detail: Report{Messages: n},
		Why: fmt.Sprintf("%s of %d tokens", count(n, "message"), j.before),
	})
	p, how, err := j.write(ctx)
	if err != nil {
		return nil, err
	}
	usage, cost := j.log.spent()
	j.report(ctx, middleware.Event{
		Kind: Summarized, Detail: Report{Messages: n, Usage: usage, Cost: cost},
		Why: fmt.Sprintf("%s %s: %d tokens instead of %d", count(n, "message"), how, j.size(p), j.before),
	})
	p.log = j.log
	return p, nil
}

// write makes the summary by the first way that succeeds: the custom strategy, the
// writer, rules, an extract, a note. how is what the event reports.
func (j *job) write(ctx context.Context) (p *product, how string, err error) {
	if j.Strategy.kind == custom {
		p, err = j.custom(ctx)
		return p, "by the caller's strategy", err
	}
	facts, header := j.facts(), j.header()
	if j.writer.asks() && (len(j.fold.Messages) > 0 || len(j.fold.Earlier) > 0) {
		words, err := j.ask(ctx)
		if err == nil {
			p, err = j.shorter(header, words, facts)
		}
		switch {
		case err == nil:
			return p, "in the words of the summariser", nil
		case words != "": // it was accepted before, and is not shorter
			j.reject(ctx, err)
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		}
		if j.NoFallback || j.background {
			return nil, "", noSummary(err)
		}
	}
	return j.byRules(header, facts)
}

// byRules makes the summary by rules, as an extract, or as a note without words.
func (j *job) byRules(header, facts string) (p *product, how string, err error) {
	o := rulewriter.Options{Tokens: j.fold.Tokens, Counter: j.fold.View.Meter().Counter, Language: j.language}
	headings := j.language.Headings()
	for _, way := range []struct {
		header string
		write  func([]message.Message, rulewriter.Options) string
		how    string
	}{
		{headings.Rules, rulewriter.Summary, "by rules"},
		{headings.Extract, rulewriter.Extract, "as an extract, since no summary of them is shorter"},
	} {
		if j.Header != "" {
			way.header = j.Header
		}
		if words := way.write(j.sources, o); words != "" || facts != "" {
			if p, err = j.shorter(way.header, words, facts); err == nil {
				return p, way.how, nil
			}
		}
	}
	note, fold := *j, *j.fold
	fold.Dropped, note.fold = j.counts.all, &fold
	p, err = note.shorter(header, "", "")
	return p, "left out, since no summary of them is shorter", err
}

// custom makes the messages of a custom strategy.
func (j *job) custom(ctx context.Context) (*product, error) {
	msgs, err := modelwriter.Call(ctx, 0, func(ctx context.Context) ([]message.Message, error) { return j.Strategy.make(ctx, j.fold) })
	if err != nil {
		return nil, err
	}
	msgs = slices.Clone(msgs)
	if !j.handle.IsZero() {
		line := store.Placeholder(j.counts.line(j.language, 0), j.handle)
		msgs = append(msgs, message.Message{Role: j.Role, Parts: []message.Part{message.Text{Text: line}}})
	}
	return &product{messages: msgs}, nil
}

// shorter composes a summary. It returns an error if that is not shorter than what it
// replaces.
func (j *job) shorter(header, words, facts string) (*product, error) {
	p := &product{messages: []message.Message{j.compose(header, words, facts)}, words: words}
	if n := j.size(p); n >= j.before {
		return nil, fmt.Errorf("the summary has %d tokens, no fewer than the %d of what it replaces", n, j.before)
	}
	return p, nil
}
