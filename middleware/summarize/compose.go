package summarize

import (
	"cmp"
	"context"
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

// Fold is what one summary is made of. All that it refers to is read-only.
type Fold struct {
	// Messages are what the words are about, as the model has seen it: whole units,
	// oldest first, without what the strategy drops and without earlier summaries. For
	// Custom they are all that is replaced, including messages of earlier folds.
	Messages []message.Message

	Earlier   []string          // the words of the summaries that the new one replaces, oldest first
	Originals []message.Message // all messages of the history that the summary covers, as the caller has them
	Dropped   int               // number of Originals that the words are not about, now and in earlier folds
	First     string            // the first message of the user, which remains in the view
	Question  string            // the newest message of the user, which remains in the view
	Language  string            // of the words: "en" or "zh"
	Tokens    int               // most tokens of the words, by View.Meter
	Rejected  string            // why the text of the attempt before was not accepted; "": it is the first attempt
	View      *middleware.View  // the view of the messages
}

// compose returns the message of a summary: the header, what the user said, words, facts, and
// the tally line with the handle of the archive, in one text. Header of the options replaces
// the given one. In a system message all but the tally line is in a frame, since models do
// what a system message contains.
func (j *job) compose(header, words string, s text.Sections, t text.Tally) message.Message {
	headings := j.language.Headings()
	s.Words = text.Defused(words)
	lines := []string{cmp.Or(j.Header, header)}
	switch {
	case j.Layout == Seed:
		lines = append(lines, s.Words, s.Quotes, s.Facts)
	case s.Words != "" && s.Quotes != "":
		lines = append(lines, s.Quotes, headings.Words, s.Words, s.Facts)
	default:
		lines = append(lines, s.Quotes, s.Words, s.Facts)
	}
	if j.Role == message.RoleSystem {
		lines[0] = headings.Frame + " " + lines[0]
		lines = append(lines, headings.End)
	}
	lines = append(lines, store.Placeholder(t.Line(j.language), j.handle))
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	return message.Message{Role: j.Role, Parts: []message.Part{message.Text{Text: strings.Join(lines, "\n")}}}
}

// framed returns the messages of a custom strategy. A system message becomes part of the
// system prompt of most providers, so it gets the lines that it is a record.
func (j *job) framed(msgs []message.Message) []message.Message {
	out := slices.Clone(msgs)
	headings := j.language.Headings()
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
		parts = append(parts, message.Text{Text: headings.End})
		out[i].Parts = parts
	}
	return out
}

// sections returns the user's words and the facts.
func (j *job) sections(ctx context.Context) (s text.Sections) {
	if j.most <= 0 {
		return s
	}
	said, found := &quotes.Set{}, &facts.Set{}
	said.Order(j.orders...)
	watch := shorten.NewWatch(ctx)
	for i, k := range j.covers {
		if watch.Done() {
			return s
		}
		if earlier, ok := j.adopted[k]; ok {
			said.Resume(earlier.Quotes)
			found.Resume(earlier.Facts)
			continue
		}
		m := &j.fold.Originals[i]
		for _, p := range m.Parts {
			if t, ok := p.(message.Text); ok && m.Role == message.RoleUser {
				said.Add(t.Text)
			}
		}
		found.Add(j.fold.Originals[i : i+1])
	}
	counter := j.fold.View.Meter().Counter
	room := min(j.quoteTokens(), j.most)
	s.Quotes = said.Text(quotes.Options{Tokens: room, Counter: counter, Language: j.language})
	room = min(j.FactTokens, j.most-counter.Count(s.Quotes))
	s.Facts = found.Text(facts.Options{Tokens: room, Counter: counter, Language: j.language})
	return s
}

// quoteTokens returns the most tokens of what the user said.
func (j *job) quoteTokens() int {
	const least, percent, tenth = 3000, 3, 10
	b, known := j.fold.View.Budget()
	switch {
	case j.QuoteTokens != 0:
		return max(0, j.QuoteTokens)
	case known:
		return min(max(least, b.Window*percent/100), b.Window/tenth)
	}
	return least
}

// markers returns all headings, which only the program writes.
func (e *editor) markers() []string {
	if e.Header == "" {
		return text.Marks
	}
	return slices.Concat([]string{e.Header}, text.Marks)
}

// written is what a summary of this package has.
type written struct {
	text.Sections

	tally text.Tally
}

// read returns what an earlier fold has written. It returns false for the messages of a
// custom strategy, and for a summary that the caller has changed.
func (e *editor) read(r *journal.Record) (w written, ok bool) {
	if len(r.Messages) != 1 || len(r.Messages[0].Parts) != 1 {
		return written{}, false
	}
	sections, last := text.SectionsOf(strings.TrimPrefix(r.Messages[0].Text(), e.Header))
	w = written{sections, text.TallyOf(last)}
	return w, w.tally[0] > 0
}
