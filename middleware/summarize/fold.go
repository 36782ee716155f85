package summarize

import (
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// Fold is what one summary is to be made of. All that it refers to is read-only.
type Fold struct {
	// Messages are what the words shall be about, as the model has seen it: whole
	// units, oldest first, without what the strategy drops and without earlier
	// summaries. Of Custom all that gives way, products of earlier folds included.
	Messages []message.Message

	// Earlier are the words of the summaries that give way to the new one, oldest
	// first, which shall say what is still true of them. nil: there are none.
	Earlier []string

	// Originals are all messages of the history that the summary will stand for,
	// as the caller has them: those of earlier summaries, and those that are
	// dropped, included.
	Originals []message.Message

	Dropped  int              // how many of Originals no words are about, now and in earlier folds
	Question string           // what the user has asked last. It stays in the view
	Language Language         // in which the words shall be
	Tokens   int              // how many the words may have, by Count
	Rejected string           // why the text of the attempt before was not taken; "": it is the first one
	View     *middleware.View // which the messages are of
}

// Count returns the tokens of a text, as the conversation counts them.
func (f *Fold) Count(text string) int {
	return f.View.Meter().Part(message.Text{Text: text})
}

// compose returns the message of a summary: its header and the words, the facts,
// and how many messages it stands for, with their handle in the archive. Each is a
// part of its own, so that the words are found again as they were written.
func (j *job) compose(f *Fold, t wording, ledger string) message.Message {
	head := t.header
	if t.words != "" {
		head += "\n" + t.words
	}
	parts := []message.Part{message.Text{Text: head}}
	if ledger != "" {
		parts = append(parts, message.Text{Text: ledger})
	}
	line := store.Placeholder(j.counts.line(f.Language, f.Dropped), j.handle)
	return message.Message{Role: j.Role, Parts: append(parts, message.Text{Text: line})}
}

// wordsOf returns the words of an earlier summary.
func (e *editor) wordsOf(r *middleware.Record) string {
	text := ""
	if len(r.Messages) > 0 && len(r.Messages[0].Parts) > 0 {
		if t, ok := r.Messages[0].Parts[0].(message.Text); ok {
			text = t.Text
		}
	}
	for _, header := range append([]string{e.Header}, headers...) {
		if rest, ok := strings.CutPrefix(text, header); ok && header != "" {
			return strings.TrimPrefix(rest, "\n")
		}
	}
	return text
}

// factsOf returns the facts of an earlier summary, which stand between its words and
// its last line.
func factsOf(r *middleware.Record) string {
	const all = 3
	if len(r.Messages) == 0 || len(r.Messages[0].Parts) != all {
		return ""
	}
	t, _ := r.Messages[0].Parts[1].(message.Text)
	return t.Text
}

func (e *editor) header(l Language) string {
	if e.Header != "" {
		return e.Header
	}
	return l.header()
}
