package summarize

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
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
	ids      []message.ID      // of the history
	covers   []int             // positions of the history that the summary covers
	fresh    []int             // of these: those that no earlier summary covers
	turns    []int             // of these: messages of the user whose standing orders are not known yet
	orders   []string          // standing orders of the user that are known
	ruled    error             // why rules alone decide what is a standing order, or nil
	adopted  map[int]written   // of these: earlier summaries that the caller has made part of the history
	counts   text.Tally        // messages that the summary covers
	sources  []message.Message // what rules read: the originals without those that are dropped now
	key      key               // in the cache
	handle   store.Handle      // of what is folded, in the archive; zero without an archive
	archive  []store.Named     // what is put there

	before        int           // tokens of what is folded
	sectionsSoFar int           // tokens of the user's words and the facts in earlier summaries
	section       text.Sections // the user's words and the facts
	most          int           // tokens of it, at most
	estimate      int           // tokens of the summary

	log        *eventLog
	hold       bool // events are only logged: they are reported once all summaries of the plan are made
	background bool // the summary is prepared: events are only logged, and a failure has no fallback
}

// job returns the summary of a block. If pre is not nil, it updates that. If the context
// is done, the job is not complete.
func (e *editor) job(ctx context.Context, o *origins, b block, pre *prepared) *job {
	v := o.view
	j := &job{editor: e, block: b, log: &eventLog{}, ids: o.ids, covers: o.covered(b.pieces), adopted: map[int]written{}}
	j.fold = &Fold{View: v, Originals: make([]message.Message, len(j.covers))}
	j.fold.First, j.fold.Question = requests(v)
	for i, k := range j.covers {
		j.fold.Originals[i] = v.History()[k]
	}
	watch := shorten.NewWatch(ctx)
	known, dropped := j.readPieces(o, pre, &watch)
	asked := slices.Clone(known) // about standing orders
	if pre != nil {
		for _, p := range pre.pieces {
			o.mark(p, asked)
		}
	}
	for _, k := range j.covers {
		if watch.Done() {
			return j
		}
		if !known[k] {
			j.fresh = append(j.fresh, k)
		}
		if !asked[k] && v.History()[k].Role == message.RoleUser {
			j.turns = append(j.turns, k)
		}
		if earlier, ok := j.adopted[k]; ok {
			j.counts = j.counts.Plus(earlier.tally)
			for _, topic := range rulewriter.Topics(earlier.Words) {
				j.sources = append(j.sources, message.User(topic))
			}
			j.sources = append(j.sources, message.Assistant(message.Text{Text: earlier.Words}))
			continue
		}
		if !dropped[k] {
			j.sources = append(j.sources, v.History()[k])
		}
		j.counts = j.counts.With(v.History()[k].Role)
	}
	if j.language = text.Language(e.Language); j.language == "" {
		j.language = text.LanguageOf(v.History())
	}
	j.fold.Language = string(j.language)
	j.handle, j.archive = v.ArchiveRuns(neighbours(b.pieces))
	j.key = keyOf(v, j.ids, j.covers, j.handle)
	j.limit(ctx)
	return j
}

// readPieces takes the summariser's input from the pieces of the block. It returns the
// positions of the history that earlier summaries cover, and those that are dropped now.
func (j *job) readPieces(o *origins, pre *prepared, watch *shorten.Watch) (known, dropped []bool) {
	f := j.fold
	if pre != nil {
		f.Earlier = []string{pre.words}
		sections, _ := text.SectionsOf(pre.messages[0].Text())
		j.orders = append(j.orders, quotes.Orders(sections.Quotes)...)
	}
	known, dropped = make([]bool, len(j.ids)), make([]bool, len(j.ids))
	inPieces := make([]bool, len(j.ids))
	for i, p := range j.block.pieces {
		if watch.Done() {
			break
		}
		j.before += p.tokens
		o.mark(p, inPieces)
		if p.isSummary() {
			o.mark(p, known)
		}
		earlier, update := j.readSummary(o, p)
		switch {
		case pre.has(p) || update && earlier.Words == "":
		case update:
			f.Earlier = append(f.Earlier, earlier.Words)
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

// readSummary reads a piece that is an earlier summary. It returns false for any other.
func (j *job) readSummary(o *origins, p piece) (earlier written, ok bool) {
	if !p.isSummary() || j.Strategy.kind == custom {
		return written{}, false
	}
	if earlier, ok = j.read(p.earlier); !ok {
		return written{}, false
	}
	at := o.positions(p) // one if the caller passes views back: then the summary is a message of the history
	if len(at) == 1 && o.view.History()[at[0]].Equal(p.earlier.Messages[0]) {
		j.adopted[at[0]] = earlier
	}
	j.fold.Dropped += earlier.tally[3]
	j.orders = append(j.orders, quotes.Orders(earlier.Quotes)...)
	j.sectionsSoFar += j.count(earlier.Quotes + earlier.Facts)
	return earlier, true
}

// limit sets how long the summary may become: shorter than what it replaces, and as long
// as an earlier one. In a small fold, the facts come first.
func (j *job) limit(ctx context.Context) {
	const half, quarter = 2, 4
	f := j.fold
	earlier, fresh := 0, 0
	for _, w := range f.Earlier {
		earlier += j.count(w)
	}
	watch := shorten.NewWatch(ctx)
	for _, m := range f.Messages {
		if watch.Done() {
			return
		}
		fresh += f.View.Meter().Message(m)
	}
	most := j.quoteTokens() + j.FactTokens
	if j.before/quarter < most {
		most = min(most, max(j.before/half, j.sectionsSoFar+fresh/half))
	}
	if j.most = most; j.Strategy.kind != custom {
		j.section = j.sections(ctx)
	}
	frame := f.View.Meter().Message(j.compose(j.language.Headings().Model, "…", j.section, j.tally()))
	words := min(fresh/half, j.before-j.before/quarter-frame)
	f.Tokens = min(j.SummaryTokens, max(earlier, words))
	j.estimate = frame + f.Tokens
}

func (j *job) count(s string) int { return j.fold.View.Meter().Part(message.Text{Text: s}) }

// worthwhile reports whether there is room for words, if some are to be written, and the summary is shorter than what it
// replaces.
func (j *job) worthwhile() bool {
	const eighth, least = 8, 8
	room := len(j.fold.Messages) == 0 || j.fold.Tokens >= min(least, j.SummaryTokens)
	return room && j.before-j.estimate >= max(1, j.fold.Tokens/eighth)
}

// requests returns the first and the newest message of the user.
func requests(v *middleware.View) (first, newest string) {
	h := v.History()
	byUser := func(m message.Message) bool { return m.Role == message.RoleUser }
	if i := slices.IndexFunc(h, byUser); i >= 0 {
		first = h[i].Text()
	}
	for _, m := range slices.Backward(h) {
		if byUser(m) {
			return first, m.Text()
		}
	}
	return first, ""
}

// product is a summary that has been made. It does not change.
type product struct {
	messages []message.Message
	words    string
	how      string // in the event
	refused  error  // why the text of the writer is not used, or nil
	log      *eventLog
}

func (j *job) size(p *product) int {
	n := 0
	for _, m := range p.messages {
		n += j.fold.View.Meter().Message(m)
	}
	return n
}

func (j *job) fits(p *product) bool { return j.size(p) < j.before }

// make returns the product, which is made once for equal concurrent jobs.
func (j *job) make(ctx context.Context) (*product, error) {
	p, own, err := j.cache.do(ctx, j.key, j.background, j.produce)
	if err == nil && !own && !j.fits(p) { // what is folded has become shorter since
		j.cache.forget(j.key, p)
		p, own, err = j.cache.do(ctx, j.key, j.background, j.produce)
	}
	if err == nil && !own && !j.hold && !j.background {
		j.reportLogged(ctx, p.log)
	}
	return p, err
}

// reportLogged reports the events of a summary that are not reported yet. A dry run gets
// all of them.
func (j *job) reportLogged(ctx context.Context, log *eventLog) {
	for _, e := range log.take(true, j.fold.View.Dry()) {
		j.fold.View.Report(ctx, e)
	}
}

// report logs an event, and reports it unless that is done later.
func (j *job) report(ctx context.Context, e middleware.Event) {
	e.By = Name
	now := !j.background && !j.hold
	j.log.add(e, now && !j.fold.View.Dry())
	if now {
		j.fold.View.Report(ctx, e)
	}
}

func (j *job) produce(ctx context.Context) (*product, error) {
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
	usage, cost := j.log.spent()
	how := p.how
	if j.ruled != nil {
		how += fmt.Sprintf(", with standing orders by rules alone (%v)", j.ruled)
	}
	j.report(ctx, middleware.Event{
		Kind: Summarized, Err: p.refused, Detail: Report{Messages: n, Usage: usage, Cost: cost},
		Why: fmt.Sprintf("%s %s: %d tokens instead of %d", count(n, "message"), how, size.Charged(j.size(p)), size.Charged(j.before)),
	})
	return p, nil
}

// write makes the summary by the first way that succeeds: the custom strategy, the
// writer, rules, a note.
func (j *job) write(ctx context.Context) (*product, error) {
	if j.Strategy.kind == custom {
		return j.custom(ctx)
	}
	j.findOrders(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !j.writer.asks() || len(j.fold.Messages) == 0 && len(j.fold.Earlier) == 0 {
		return j.byRules(ctx)
	}
	p, refused := modelwriter.Call(ctx, 0, func(ctx context.Context) (*product, error) { // a panic may be that of a counter
		words, err := j.ask(ctx)
		if err != nil {
			return nil, err
		}
		return j.shorter(j.language.Headings().Model, words, j.section, j.tally(), "in the words of the summariser")
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
func (j *job) byRules(ctx context.Context) (*product, error) {
	o := rulewriter.Options{Tokens: j.fold.Tokens, Counter: j.fold.View.Meter().Counter, Language: j.language}
	o.Done = new(shorten.NewWatch(ctx)).Done
	headings, write := j.language.Headings(), rulewriter.State
	if j.Layout == Seed {
		write = rulewriter.Summary
	}
	if words := write(j.sources, o); words != "" || j.section != (text.Sections{}) {
		if p, err := j.shorter(headings.Rules, words, j.section, j.tally(), "by rules"); err == nil {
			return p, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all := j.counts
	all[3] = all[0]
	return j.shorter(headings.Model, "", text.Sections{}, all, "left out, since no summary of them is shorter")
}

// tally returns the numbers in the last line of the summary.
func (j *job) tally() text.Tally {
	t := j.counts
	t[3] = j.fold.Dropped
	return t
}

func (j *job) custom(ctx context.Context) (*product, error) {
	msgs, err := modelwriter.Call(ctx, 0, func(ctx context.Context) ([]message.Message, error) { return j.Strategy.make(ctx, j.fold) })
	if err != nil {
		return nil, err
	}
	msgs = j.framed(msgs)
	if !j.handle.IsZero() {
		line := store.Placeholder(j.counts.Line(j.language), j.handle)
		msgs = append(msgs, message.Message{Role: j.Role, Parts: []message.Part{message.Text{Text: line}}})
	}
	return &product{messages: msgs, how: "by the caller's strategy"}, nil
}

// shorter composes a summary. It returns an error if that is not shorter than what it
// replaces.
func (j *job) shorter(header, words string, section text.Sections, t text.Tally, how string) (*product, error) {
	p := &product{messages: []message.Message{j.compose(header, words, section, t)}, words: words, how: how}
	if n := j.size(p); n >= j.before {
		return nil, fmt.Errorf("the summary has %d tokens, no fewer than the %d of what it replaces", n, j.before)
	}
	return p, nil
}
