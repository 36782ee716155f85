package summarize

import (
	"context"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/store"
)

// covered is a message of the history that a summary covers.
type covered struct {
	at      int      // its position
	fate    fate     // what becomes of it
	summary *written // what it says, if it is an earlier summary itself, since the caller passes a view as the history

	corrections []string // what a person wrote into an edit of messages up to this one
}

// fate is what becomes of a message that a summary covers.
type fate uint8

const (
	dropped fate = iota // the words leave it out: so does the strategy, or another middleware has removed it
	fresh               // the words are about it
	known               // the words update those of an earlier summary, which covers it
)

// material is what the summary of a block is made of.
type material struct {
	*editor

	fold     Fold // what a writer is given, without Tokens
	language text.Language
	block    block
	ids      []message.ID // of the history
	covers   []covered    // in the order of the history
	counts   text.Tally   // of what the summary covers
	before   int          // tokens of what is replaced
	earlier  int          // tokens of the user's words and the facts in earlier summaries
	key      key
	archive  []store.Named // what is put into the archive, under the handle of the key
}

// gather returns the material of a block.
func (e *editor) gather(o *origins, b block) *material {
	v, h := o.view, o.view.History()
	m := &material{editor: e, block: b, ids: o.ids, fold: Fold{View: v}, language: text.Language(e.Language)}
	f := &m.fold
	f.First, f.Question = requests(h)
	all := make([]covered, len(h)) // what no piece has is dropped
	for i, p := range b.pieces {
		at, c, earlier := o.of(p.Run), covered{fate: fresh}, e.read(p, v)
		switch {
		case p.isSummary():
			c.fate = known
		case i < b.dropped:
			c.fate = dropped
		}
		if earlier != nil {
			f.Dropped += earlier.tally[3]
			m.earlier += m.count(earlier.Quotes + earlier.Facts)
			if len(at) == 1 && h[at[0]].Equal(v.At(p.First)) {
				c.fate, c.summary = known, earlier
			}
		}
		switch {
		case c.fate == dropped:
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
		m.before += p.tokens
	}
	at := o.covered(b.pieces)
	m.covers, f.Originals = make([]covered, len(at)), make([]message.Message, len(at))
	for i, k := range at {
		c := all[k]
		c.at = k
		m.covers[i], f.Originals[i] = c, h[k]
		switch {
		case c.summary != nil:
			m.counts = m.counts.Plus(c.summary.tally)
			continue
		case c.fate == dropped:
			f.Dropped++
		}
		m.counts = m.counts.With(h[k].Role)
	}
	m.counts[3] = f.Dropped
	if m.language == "" {
		m.language = text.LanguageOf(h)
	}
	f.Language = string(m.language)
	handle, archive := v.ArchiveRuns(neighbours(b.pieces))
	m.key, m.archive = keyOf(v, o.ids, m.covers, handle), archive
	return m
}

// corrections returns what a person wrote into the edits that made the messages of a piece, and into summaries before.
func corrections(v *middleware.View, p piece, earlier *written) (lines []string) {
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

// requests returns the texts of the first and of the newest message of the user.
func requests(h []message.Message) (first, newest string) {
	if i := slices.IndexFunc(h, func(m message.Message) bool { return m.Role == message.RoleUser }); i >= 0 {
		return h[i].Text(), h[shorten.NewestTurn(h)].Text()
	}
	return "", ""
}

// newlyCovered returns the messages that no earlier summary covers: fresh and dropped ones.
func (m *material) newlyCovered() []covered {
	out := make([]covered, 0, len(m.covers))
	for _, c := range m.covers {
		if c.fate != known {
			out = append(out, c)
		}
	}
	return out
}

// originals returns what rules read: all messages but those that are dropped.
func (m *material) originals() (out []message.Message) {
	for i, c := range m.covers {
		switch {
		case c.summary != nil:
			out = append(out, message.Assistant(message.Text{Text: c.summary.Words}))
		case c.fate != dropped:
			out = append(out, m.fold.Originals[i])
		}
	}
	return out
}

func (m *material) count(s string) int { return m.fold.View.Meter().Part(message.Text{Text: s}) }

// task is a summary that is to be made: its material, and how long it may become.
type task struct {
	material

	room     int           // tokens of the user's words and the facts, at most
	byCode   text.Sections // the user's words and the facts
	estimate int           // tokens of the summary
	ready    *product      // the summary, if it was prepared; otherwise nil
}

// task returns the task of a material. The words get at most SummaryTokens, at most half of the messages that they are about, and no more
// than what makes the summary a quarter shorter than what it replaces; but the words of earlier summaries keep their length. If little is
// replaced, the user's words and the facts get their room first. If the context is done, the task is not complete.
func (m *material) task(ctx context.Context) *task {
	const half, quarter = 2, 4
	t := &task{material: *m}
	f := &t.fold
	earlier, newTokens := 0, 0
	for _, w := range f.Earlier {
		earlier += m.count(w)
	}
	watch := shorten.NewWatch(ctx)
	for _, msg := range f.Messages {
		if watch.Done() {
			return t
		}
		newTokens += f.View.Meter().Message(msg)
	}
	for _, line := range f.Corrections {
		m.earlier += m.count(quotes.Correction + line)
	}
	t.room = m.quoteRoom() + m.FactTokens
	if m.before/quarter < t.room {
		t.room = min(t.room, max(m.before/half, m.earlier+newTokens/half))
	}
	if m.Strategy.Custom == nil {
		t.byCode = m.sectionsOf(ctx, t.room)
	}
	shortest := t.byCode
	shortest.Words = "…"
	frame := f.View.Meter().Message(m.compose(m.language.Headings().Model, shortest, m.counts))
	words := min(newTokens/half, m.before-m.before/quarter-frame)
	f.Tokens = min(m.SummaryTokens, max(earlier, words))
	t.estimate = frame + f.Tokens
	return t
}

// worthwhile reports whether there is room for words, if some are to be written, and the summary is shorter than what it replaces.
func (t *task) worthwhile() bool {
	const eighth, least = 8, 8
	room := len(t.fold.Messages) == 0 || t.fold.Tokens >= min(least, t.SummaryTokens)
	return room && t.before-t.estimate >= max(1, t.fold.Tokens/eighth)
}
