package summarize

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
)

// job is one summary that is to be made.
type job struct {
	*editor

	block    block
	fold     *Fold
	ids      []message.ID               // of the history
	covers   []int                      // positions of the history that the summary will stand for
	fresh    []int                      // of these: what no earlier summary stands for
	adopted  map[int]*middleware.Record // of these: earlier summaries that the caller has made part of the history
	counts   tally                      // how many messages the summary will stand for
	told     []message.Message          // what rules write about: the originals, without those that are dropped now
	key      key                        // by which the summary is found again
	handle   store.Handle               // of what is folded, in the archive; zero: there is no archive
	archive  []*store.Named             // what is put there
	before   int                        // tokens of what is folded
	recorded int                        // tokens of the facts of earlier summaries
	ledger   int                        // tokens that the facts may have
	estimate int                        // tokens of the summary
	log      *eventLog                  // all events of the summary
	hold     bool                       // events wait until all summaries of the plan are made, to be told in their order
	held     []middleware.Event         // the events that wait
	quiet    bool                       // made in advance: what fails is no loss
}

// job returns what is to be done for a block.
func (e *editor) job(src *source, b block) *job {
	v := src.view
	j := &job{editor: e, block: b, log: &eventLog{}, ids: src.ids(), covers: src.behind(b.pieces), fold: &Fold{View: v, Question: question(v)}}
	j.fold.Originals = src.messages(j.covers)
	known, gone := j.read(src)
	for _, k := range j.covers {
		if !known[k] {
			j.fresh = append(j.fresh, k)
		}
		switch r := j.adopted[k]; {
		case r != nil:
			j.told = append(j.told, j.retold(r)...)
		case !gone[k]:
			j.told = append(j.told, v.History()[k])
		}
	}
	j.counts = j.count()
	if j.fold.Language = e.Language; j.fold.Language == "" {
		j.fold.Language = languageOf(v.History())
	}
	j.handle, j.archive = v.ArchiveRuns(neighbours(b.pieces))
	j.key = keyOf(v, j.ids, j.covers)
	j.key.handle = j.handle
	j.limit()
	return j
}

// read takes what the summariser is given from the pieces of the block. It returns
// the positions of the history that earlier summaries stand for, and those that
// are dropped now.
func (j *job) read(src *source) (known, gone []bool) {
	f := j.fold
	known, gone = make([]bool, len(j.ids)), make([]bool, len(j.ids))
	for i, p := range j.block.pieces {
		j.before += p.tokens
		if p.summary() {
			src.mark(p, known)
		}
		switch {
		case p.summary() && j.Strategy.kind != custom && isComposed(p.earlier):
			j.adopt(src, p)
			_, dropped := tallied(p.earlier)
			f.Dropped += dropped
			j.recorded += f.Count(factsOf(p.earlier))
			if words := j.wordsOf(p.earlier); words != "" {
				f.Earlier = append(f.Earlier, words)
			}
		case i < j.block.dropped && !p.summary():
			f.Dropped += src.mark(p, gone)
		default:
			for k := p.First; k <= p.Last; k++ {
				f.Messages = append(f.Messages, f.View.At(k))
			}
		}
	}
	j.miss(src, gone)
	return known, gone
}

// miss counts as dropped what others have removed without a trace between the
// pieces: the fold covers it, and no words are about it.
func (j *job) miss(src *source, gone []bool) {
	there := make([]bool, len(gone))
	for _, p := range j.block.pieces {
		src.mark(p, there)
	}
	for _, k := range j.covers {
		if !there[k] {
			gone[k] = true
			j.fold.Dropped++
		}
	}
}

// limit says how long the summary may become: so long as it is sure to be shorter
// than what it stands for, and an earlier one does not have to shrink. Of a small
// fold, the facts come first.
func (j *job) limit() {
	const half, quarter = 2, 4
	f := j.fold
	earlier, fresh := 0, 0
	for _, w := range f.Earlier {
		earlier += f.Count(w)
	}
	for _, m := range f.Messages {
		fresh += f.View.Meter().Message(m)
	}
	facts := min(j.LedgerTokens, j.before/quarter)
	if j.ledger = facts; facts < j.LedgerTokens {
		j.ledger = min(j.LedgerTokens, max(j.before/half, j.recorded+fresh/quarter))
		facts = f.Count(j.facts())
	}
	words := min(fresh/half, j.before-j.before/quarter-facts)
	f.Tokens = min(j.SummaryTokens, max(earlier, words))
	j.estimate = f.View.Meter().Message(j.compose(f, wording{header: j.header(f.Language)}, "")) + f.Tokens + facts
}

// worth reports whether the fold frees enough to be made at all.
func (j *job) worth() bool {
	const least = 8
	return j.before-j.estimate >= max(1, j.fold.Tokens/least)
}

// question returns what the user has asked last.
func question(v *middleware.View) string {
	h := v.History()
	for _, m := range slices.Backward(h) {
		if m.Role == message.RoleUser {
			return m.Text()
		}
	}
	return ""
}

// make returns the messages of the fold, which are made once, however many ask.
func (j *job) make(ctx context.Context) (*product, error) {
	p, own, err := j.memory.do(ctx, j.key, j.quiet, j.produce)
	if err == nil && !own && !j.fits(p) { // what is folded has become shorter since
		j.memory.forget(j.key, p)
		p, own, err = j.memory.do(ctx, j.key, j.quiet, j.produce)
	}
	if err == nil && !own {
		j.use(ctx, p)
	}
	return p, err
}

// fits reports whether a product is shorter than what it stands for.
func (j *job) fits(p *product) bool { return j.size(p) < j.before }

// size returns the tokens of a product.
func (j *job) size(p *product) int {
	n := 0
	for _, m := range p.messages {
		n += j.fold.View.Meter().Message(m)
	}
	return n
}

// use reports how a product was made that was not made by this job. A dry run gets
// all of its events, a call those that are not reported yet.
func (j *job) use(ctx context.Context, p *product) {
	if j.quiet {
		return
	}
	events := p.log.all
	if !j.fold.View.Dry() {
		events = func() []middleware.Event { return p.log.take(true) }
	}
	for _, e := range events() {
		j.say(ctx, e)
	}
}

// say reports an event, now or later.
func (j *job) say(ctx context.Context, e middleware.Event) {
	if j.hold {
		j.held = append(j.held, e)
		return
	}
	j.fold.View.Report(ctx, e)
}

// product is a summary that has been made. It does not change.
type product struct {
	messages []message.Message
	words    string
	log      *eventLog
}

// spent is what the calls of a summariser took.
type spent struct {
	usage message.Usage
	cost  models.Cost
}

// produce makes the summary.
func (j *job) produce(ctx context.Context) (*product, error) {
	j.tell(ctx, middleware.Event{
		Kind: Summarizing, Detail: Report{Messages: len(j.covers)},
		Why: fmt.Sprintf("%s of %d tokens", count(len(j.covers), "message"), j.before),
	})
	var all spent
	p, how, err := j.write(ctx, &all)
	if err != nil {
		return nil, err
	}
	j.tell(ctx, middleware.Event{
		Kind: Summarized, Detail: Report{Messages: len(j.covers), Usage: all.usage, Cost: all.cost},
		Why: fmt.Sprintf("%s %s: %d tokens instead of %d", count(len(j.covers), "message"), how, j.size(p), j.before),
	})
	p.log = j.log
	return p, nil
}

// write goes down the ladder: the strategy's own way, rules, an extract, a note.
func (j *job) write(ctx context.Context, all *spent) (p *product, how string, err error) {
	if j.Strategy.kind == custom {
		return j.custom(ctx)
	}
	ledger := j.facts()
	if j.writer.asks() && !j.empty() {
		p, err := j.words(ctx, ledger, all)
		switch {
		case err == nil:
			return p, "in the words of the summariser", nil
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case j.NoFallback || j.quiet:
			return nil, "", noSummary(err)
		}
	}
	if t := j.byRules(); t.words != "" || ledger != "" {
		if p, err = j.shorter(t, ledger); err == nil {
			return p, "by rules", nil
		}
	}
	if t := j.extract(); t.words != "" || ledger != "" {
		if p, err = j.shorter(t, ledger); err == nil {
			return p, "as an extract, since no summary of them is shorter", nil
		}
	}
	if p, err = j.note(); err == nil {
		return p, "left out, since no summary of them is shorter", nil
	}
	return nil, "", err
}

// words returns the summary in the words of whoever is asked, if they can be
// taken.
func (j *job) words(ctx context.Context, ledger string, all *spent) (*product, error) {
	words, err := j.ask(ctx, all)
	if err != nil {
		return nil, err
	}
	p, err := j.shorter(wording{j.header(j.fold.Language), words}, ledger)
	if err != nil {
		j.reject(ctx, err)
	}
	return p, err
}

// empty reports whether there is nothing that words could be about.
func (j *job) empty() bool { return len(j.fold.Messages) == 0 && len(j.fold.Earlier) == 0 }

// custom makes the fold of a strategy of the caller.
func (j *job) custom(ctx context.Context) (*product, string, error) {
	msgs, err := j.Strategy.make(ctx, j.fold)
	if err != nil {
		return nil, "", notCalledOff(ctx, err)
	}
	msgs = slices.Clone(msgs)
	if !j.handle.IsZero() { // or nothing would lead to what is gone
		line := j.counts.line(j.fold.Language, 0)
		msgs = append(msgs, message.Message{Role: j.Role, Parts: []message.Part{message.Text{Text: store.Placeholder(line, j.handle)}}})
	}
	return &product{messages: msgs}, "by the caller's strategy", nil
}

// note makes a message that says how much is gone, and no more.
func (j *job) note() (*product, error) {
	f, own := *j.fold, *j
	f.Dropped, own.fold = j.counts.all, &f
	return own.shorter(wording{header: j.header(f.Language)}, "")
}

// shorter composes a message, if that is shorter than what it stands for.
func (j *job) shorter(t wording, ledger string) (*product, error) {
	m := j.compose(j.fold, t, ledger)
	if n := j.fold.View.Meter().Message(m); n >= j.before {
		return nil, fmt.Errorf("the summary has %d tokens, no fewer than the %d of what it stands for", n, j.before)
	}
	return &product{messages: []message.Message{m}, words: t.words}, nil
}

// reject tells that what was written is not taken.
func (j *job) reject(ctx context.Context, err error) {
	j.tell(ctx, middleware.Event{Kind: Rejected, Err: err, Why: err.Error()})
}

// tell reports an event; one of a background summary is only logged.
func (j *job) tell(ctx context.Context, e middleware.Event) {
	e.By = Name
	j.log.add(e, !j.quiet && !j.fold.View.Dry())
	if !j.quiet {
		j.say(ctx, e)
	}
}
