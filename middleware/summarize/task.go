package summarize

import (
	"context"
	"fmt"
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
	at      int            // its position
	fate    fate           // what becomes of it
	summary *text.Sections // what it says, if it is an earlier summary itself, since the caller passes a view as the history

	corrections []string // what a person wrote into an edit of messages up to this one
}

// fate is what becomes of a message that a summary covers.
type fate uint8

const (
	dropped fate = iota // the words leave it out: so does the strategy, or another middleware has removed it
	fresh               // the words are about it
	known               // the words update those of an earlier summary, which covers it
)

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
			f.Dropped += earlier.Tally[3]
			t.earlier += t.count(earlier.Quotes + earlier.Facts)
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
		case c.fate == dropped:
			f.Dropped++
		}
		t.counts = t.counts.With(h[k].Role)
	}
	t.counts[3] = f.Dropped
	if t.language == "" {
		t.language = text.LanguageOf(h)
	}
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

// requests returns the texts of the first and of the newest message of the user.
func requests(h []message.Message) (first, newest string) {
	if i := slices.IndexFunc(h, func(m message.Message) bool { return m.Role == message.RoleUser }); i >= 0 {
		return h[i].Text(), h[shorten.NewestTurn(h)].Text()
	}
	return "", ""
}

// newlyCovered returns the messages that no earlier summary covers: fresh and dropped ones.
func (t *task) newlyCovered() []covered {
	out := make([]covered, 0, len(t.covers))
	for _, c := range t.covers {
		if c.fate != known {
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
		case c.fate != dropped:
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

// worthwhile reports whether there is room for words, if some are to be written, and the summary is shorter than what it replaces.
func (t *task) worthwhile() bool {
	const eighth, least = 8, 8
	room := len(t.fold.Messages) == 0 || t.fold.Tokens >= min(least, t.SummaryTokens)
	return room && t.before-t.estimate >= max(1, t.fold.Tokens/eighth)
}
