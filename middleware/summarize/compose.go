package summarize

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/store"
)

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

// framed returns the messages of a custom strategy. A system message becomes part of the
// system prompt of most providers, so it gets the lines that it is a record.
func framed(msgs []message.Message, l text.Language) []message.Message {
	out := slices.Clone(msgs)
	headings := l.Headings()
	for i, m := range out {
		if m.Role != message.RoleSystem {
			continue
		}
		parts := []message.Part{message.Text{Text: headings.Frame}}
		for _, p := range m.Parts {
			if t, ok := p.(message.Text); ok {
				p = message.Text{Text: text.Defused(t.Text)}
			}
			parts = append(parts, p)
		}
		out[i].Parts = append(parts, message.Text{Text: headings.End})
	}
	return out
}

// sectionsOf returns the user's words, and the facts, of at most the given number of tokens. If the context is done, they are not complete.
func (t *task) sectionsOf(ctx context.Context, room int) (s text.Sections) {
	if room <= 0 {
		return s
	}
	v := t.fold.View
	said, found := &quotes.Set{}, &facts.Set{Archive: v.Env().Archive, Asking: v.Env().Asking, Planned: keepsPlan(v)}
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

// keepsPlan reports whether the view has the newest plan of the model, which no fold removes.
func keepsPlan(v *middleware.View) bool {
	for i := range v.Len() {
		if v.Protected(i).Plan {
			return true
		}
	}
	return false
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
