package summarize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/store"
)

// covered is a message of the history that a summary covers. The words leave it out if the strategy does so, or if another
// middleware has removed it.
type covered struct {
	at      int            // its position
	kept    bool           // the words are about it, or update those about it
	known   bool           // an earlier summary covers it
	summary *text.Sections // what it says, if it is an earlier summary itself, since the caller passes a view as the history

	corrections []string // what a person wrote into an edit of messages up to this one
}

// task is a summary of a block that is to be made: of what, and how long it may become.
type task struct {
	*editor

	fold     Fold // what a writer is given; [task.limit] adds Tokens
	language text.Language
	block    block
	ids      []message.ID // of the history
	covers   []covered    // in the order of the history
	counts   text.Tally   // of what the summary covers
	before   int          // tokens of what is replaced
	earlier  int          // tokens of the user's words and the facts in earlier summaries
	key      key
	archive  []store.Named // what is put into the archive, under the handle of the key

	byCode   text.Sections // the user's words and the facts
	estimate int           // tokens of the summary
	ready    *product      // the summary, if it was prepared; otherwise nil
}

// gather returns the task of a block, without limits.
func (e *editor) gather(o *origins, b block) *task {
	v, h := o.view, o.view.History()
	t := &task{editor: e, block: b, ids: o.ids, fold: Fold{View: v}, language: text.Language(e.Language)}
	f := &t.fold
	if i := slices.IndexFunc(h, func(m message.Message) bool { return m.Role == message.RoleUser }); i >= 0 {
		f.First, f.Question = h[i].Text(), h[shorten.NewestTurn(h)].Text()
	}
	all := make([]covered, len(h)) // what no piece has is dropped
	for i, p := range b.pieces {
		at, c, earlier := o.of(p.Run), covered{kept: true}, e.read(p, v)
		switch {
		case p.isSummary():
			c.known = true
		case i < b.dropped:
			c.kept = false
		}
		if earlier != nil {
			f.Dropped += earlier.Tally[3]
			t.earlier += t.count(earlier.Quotes + earlier.Facts)
			if len(at) == 1 && h[at[0]].Equal(v.At(p.First)) {
				c = covered{kept: true, known: true, summary: earlier}
			}
		}
		switch {
		case !c.kept:
		case earlier == nil:
			f.Messages = append(f.Messages, v.Messages()[p.First:p.Last+1]...)
		case earlier.Words != "":
			f.Earlier = append(f.Earlier, earlier.Words)
		}
		for _, k := range at {
			all[k] = c
		}
		if lines := corrections(v, p, earlier); lines != nil && len(at) > 0 {
			all[at[len(at)-1]].corrections = lines
			f.Corrections = append(f.Corrections, lines...)
		}
		t.before += p.tokens
	}
	at := o.covered(b.pieces)
	places := make([]int, len(at))
	t.covers, f.Originals = make([]covered, len(at)), make([]message.Message, len(at))
	for i, k := range at {
		c := all[k]
		c.at, places[i] = k, k-o.lead
		t.covers[i], f.Originals[i] = c, h[k]
		switch {
		case c.summary != nil:
			t.counts = t.counts.Plus(c.summary.Tally)
			continue
		case !c.kept:
			f.Dropped++
		}
		t.counts = t.counts.With(h[k].Role)
	}
	t.counts[3] = f.Dropped
	t.language = cmp.Or(t.language, text.LanguageOf(h))
	f.Language = string(t.language)
	t.key = key{scope: v.Env().Scope, last: o.ids[at[len(at)-1]], covers: fmt.Sprint(places)}
	t.key.handle, t.archive = v.ArchiveRuns(neighbours(b.pieces))
	return t
}

// corrections returns what a person wrote into the edits that made the messages of a piece, and into summaries before.
func corrections(v *middleware.View, p piece, earlier *text.Sections) (lines []string) {
	if earlier != nil {
		lines = quotes.Corrections(earlier.Quotes)
	}
	for i := p.First; i <= p.Last; i++ {
		e := v.Span(i).Edit
		if e == nil {
			continue
		}
		if e.Kind == journal.Fold && earlier == nil {
			lines = append(lines, quotes.Corrections(v.At(i).Text())...)
		}
		if i == p.First || e != v.Span(i-1).Edit {
			lines = append(lines, e.Corrected...)
		}
	}
	return lines
}

// newlyCovered returns the messages that no earlier summary covers: fresh and dropped ones.
func (t *task) newlyCovered() []covered {
	out := make([]covered, 0, len(t.covers))
	for _, c := range t.covers {
		if !c.known {
			out = append(out, c)
		}
	}
	return out
}

// originals returns what rules read: all messages but those that are dropped.
func (t *task) originals() (out []message.Message) {
	for i, c := range t.covers {
		switch {
		case c.summary != nil:
			out = append(out, message.Assistant(message.Text{Text: c.summary.Words}))
		case c.kept:
			out = append(out, t.fold.Originals[i])
		}
	}
	return out
}

func (t *task) count(s string) int { return t.fold.View.Meter().Part(message.Text{Text: s}) }

// limit writes what code writes, and limits the words. These get at most SummaryTokens, at most half of the messages that they are about,
// and no more than what makes the summary a quarter shorter than what it replaces; but the words of earlier summaries keep their length.
// If little is replaced, the user's words and the facts get their room first. If the context is done, the task is not complete.
func (t *task) limit(ctx context.Context) {
	const half, quarter = 2, 4
	f := &t.fold
	earlier, newTokens := 0, 0
	for _, w := range f.Earlier {
		earlier += t.count(w)
	}
	for _, msg := range f.Messages {
		if ctx.Err() != nil {
			return
		}
		newTokens += f.View.Meter().Message(msg)
	}
	for _, line := range f.Corrections {
		t.earlier += t.count(quotes.Correction + line)
	}
	room := t.quoteRoom() + t.FactTokens // of the user's words and the facts
	if t.before/quarter < room {
		room = min(room, max(t.before/half, t.earlier+newTokens/half))
	}
	if t.Strategy.Custom == nil {
		t.byCode = t.sectionsOf(ctx, room)
	}
	shortest := t.byCode
	shortest.Words = "…"
	frame := f.View.Meter().Message(t.compose(t.language.Headings().Model, shortest, t.counts))
	words := min(newTokens/half, t.before-t.before/quarter-frame)
	f.Tokens = min(t.SummaryTokens, max(earlier, words))
	t.estimate = frame + f.Tokens
}

// Fold is what one summary is made of. All that it refers to is read-only.
type Fold struct {
	// Messages are what the words are about, as the model has seen it: whole units, oldest first, without what the strategy drops
	// and without earlier summaries. For Custom they are all that is replaced, including messages of earlier folds.
	Messages []message.Message

	Earlier     []string          // the words of the summaries that the new one replaces, oldest first
	Originals   []message.Message // all messages of the history that the summary covers, as the caller has them
	Dropped     int               // number of Originals that the words are not about, now and in earlier folds
	Corrections []string          // what a person wrote into earlier summaries, which the new one keeps word for word next to the words
	Instruction string            // of [Decision], for ByFunc and Custom
	First       string            // the first message of the user, which remains in the view
	Question    string            // the newest message of the user, which remains in the view
	Language    string            // of the words: "en" or "zh"
	Tokens      int               // most tokens of the words, by View.Meter
	Rejected    string            // why the text of the attempt before was not accepted; "": it is the first attempt
	View        *middleware.View  // the view of the messages
}

// compose returns the message of a summary: the header, what the user said, words, facts, and the tally line with the handle of the
// archive, in one text. Header of the options replaces the given one. In a system message all but the tally line is in a frame,
// since models do what a system message contains.
func (t *task) compose(header string, s text.Sections, counts text.Tally) message.Message {
	headings := t.language.Headings()
	s.Words = text.Defused(s.Words)
	lines := []string{cmp.Or(t.Header, header), s.Quotes, headings.Words, s.Words, s.Facts}
	switch {
	case t.Layout == inTopics:
		lines = []string{lines[0], s.Words, s.Quotes, s.Facts}
	case s.Words == "" || s.Quotes == "":
		lines[2] = "" // one of them needs no heading
	}
	if t.Role == message.RoleSystem {
		lines[0] = headings.Frame + " " + lines[0]
		lines = append(lines, headings.End)
	}
	lines = append(lines, store.Placeholder(counts.Line(t.language), t.key.handle))
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	return message.Message{Role: t.Role, Parts: []message.Part{message.Text{Text: strings.Join(lines, "\n")}}}
}

// sectionsOf returns the user's words, and the facts, of at most the given number of tokens. If the context is done, they are not complete.
func (t *task) sectionsOf(ctx context.Context, room int) (s text.Sections) {
	if room <= 0 {
		return s
	}
	v := t.fold.View
	said, found := &quotes.Set{}, &facts.Set{Archive: v.Env().Archive, Asking: v.Env().Asking}
	for i := range v.Len() {
		found.Planned = found.Planned || v.Protected(i).Plan // no fold removes the newest plan
	}
	for i, c := range t.covers {
		if ctx.Err() != nil {
			return s
		}
		msg := &t.fold.Originals[i]
		switch {
		case t.QuoteTokens < 0:
		case c.summary != nil:
			said.Resume(c.summary.Quotes)
		case msg.Role == message.RoleUser:
			for _, p := range msg.Parts {
				if words, ok := p.(message.Text); ok {
					said.Add(words.Text)
				}
			}
		}
		said.Correct(c.corrections...)
		if c.summary != nil {
			found.Resume(c.summary.Facts)
		} else {
			found.Add(t.fold.Originals[i : i+1])
		}
	}
	counter, quoted := v.Meter().Counter, room
	if found.Shows() {
		quoted -= min(t.FactTokens, room/4) // words about an image need the line that says which
	}
	s.Quotes = said.Text(text.Options{Tokens: min(t.quoteRoom(), quoted), Counter: counter, Language: t.language})
	room = min(t.FactTokens, room-counter.Count(s.Quotes))
	s.Facts = found.Text(text.Options{Tokens: room, Counter: counter, Language: t.language})
	return s
}

// quoteRoom returns the most tokens of what the user said and of corrections by a person, which stay if nothing else does.
func (t *task) quoteRoom() int {
	const least, percent, tenth = 3000, 3, 10
	usual := least
	if b, known := t.fold.View.Budget(); known {
		usual = min(max(least, b.Window*percent/100), b.Window/tenth)
	}
	if t.QuoteTokens < 0 && len(t.fold.Corrections) > 0 {
		return usual
	}
	return max(0, cmp.Or(t.QuoteTokens, usual))
}

// markers returns all headings, which only the program writes.
func (e *editor) markers() []string {
	if e.Header == "" {
		return text.Marks
	}
	return slices.Concat([]string{e.Header}, text.Marks)
}

// read returns what an earlier fold has written: that of a piece, or that of a message of the history, if the caller passes a view as the
// history. It returns nil for any other piece, for the messages of a custom strategy, and for a summary that the caller has changed.
func (e *editor) read(p piece, v *middleware.View) *text.Sections {
	msgs := v.Messages()[p.First : p.Last+1]
	if p.isSummary() {
		msgs = p.earlier.Messages
	}
	if e.Strategy.Custom != nil || len(msgs) != 1 || len(msgs[0].Parts) != 1 {
		return nil
	}
	said := msgs[0].Text()
	begins := text.IsRecord(said) || e.Header != "" && strings.HasPrefix(said, e.Header)
	if !p.isSummary() && (msgs[0].Role != e.Role || !begins) {
		return nil
	}
	s := text.SectionsOf(strings.TrimPrefix(said, e.Header))
	if s.Tally[0] == 0 {
		return nil
	}
	return &s
}
