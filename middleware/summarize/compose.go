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

// compose returns the message of a summary: header and words, facts, and the tally line
// with the handle of the archive. Each is a part of its own, so that they can be read
// again. Header of the options replaces the given one. In a system message all but the
// tally line is in a frame, since models do what a system message contains.
func (j *job) compose(header, words, section string) message.Message {
	texts := []string{cmp.Or(j.Header, header)}
	if words != "" {
		texts[0] += "\n" + text.Defused(words)
	}
	if section != "" {
		texts = append(texts, section)
	}
	if j.Role == message.RoleSystem {
		texts[0] = j.language.Headings().Frame + " " + texts[0]
		texts = append(texts, j.language.Headings().End)
	}
	m := message.Message{Role: j.Role}
	for _, t := range append(texts, store.Placeholder(j.counts.line(j.language, j.fold.Dropped), j.handle)) {
		m.Parts = append(m.Parts, message.Text{Text: t})
	}
	return m
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

// facts returns the user's words and the facts.
func (j *job) facts(ctx context.Context) string {
	if j.most <= 0 {
		return ""
	}
	s := &facts.Set{}
	s.Order(j.orders...)
	watch := shorten.NewWatch(ctx)
	for i, k := range j.covers {
		if watch.Done() {
			return ""
		}
		if earlier, ok := j.adopted[k]; ok {
			s.Resume(earlier.facts)
			continue
		}
		s.Add(j.fold.Originals[i : i+1])
	}
	return s.Text(facts.Options{
		Tokens: j.FactTokens, Quotes: j.QuoteTokens, Others: j.others, Most: j.most,
		Counter: j.fold.View.Meter().Counter, Language: j.language,
	})
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
	words, facts string
	counts       tally
	dropped      int // messages that it leaves out
}

// read returns what an earlier fold has written. It returns false for the messages of a
// custom strategy, and for a summary that the caller has changed.
func (e *editor) read(r *journal.Record) (w written, ok bool) {
	if len(r.Messages) != 1 || len(r.Messages[0].Parts) < 2 {
		return written{}, false
	}
	var texts []string
	for _, p := range r.Messages[0].Parts {
		t, _ := p.(message.Text)
		texts = append(texts, t.Text)
	}
	texts = text.WithoutFrame(texts)
	last := len(texts) - 1
	if w.counts, w.dropped = parseTally(texts[last]); w.counts.all == 0 {
		return written{}, false
	}
	w.words, w.facts = texts[0], strings.Join(texts[1:last], "")
	for _, header := range e.markers() {
		if rest, ok := strings.CutPrefix(w.words, header); ok {
			w.words = strings.TrimPrefix(rest, "\n")
			break
		}
	}
	return w, true
}

// tally is the number of messages that a summary covers.
type tally struct{ all, user, assistant int }

func (t tally) plus(o tally) tally {
	return tally{t.all + o.all, t.user + o.user, t.assistant + o.assistant}
}

func tallyOfMessage(m message.Message) tally {
	t := tally{all: 1}
	if m.Role == message.RoleUser {
		t.user = 1
	}
	if m.Role == message.RoleAssistant {
		t.assistant = 1
	}
	return t
}

// line returns the last line of a summary. dropped is the number of messages that the
// summary leaves out.
func (t tally) line(l text.Language, dropped int) string {
	if l == text.Chinese {
		line := fmt.Sprintf("(已压缩 %d 条消息,其中用户 %d 条,助手 %d 条", t.all, t.user, t.assistant)
		if dropped > 0 {
			line += fmt.Sprintf(",有 %d 条未写入摘要", dropped)
		}
		return line + ")"
	}
	line := fmt.Sprintf("(%d messages compacted: %d of the user, %d of the assistant", t.all, t.user, t.assistant)
	if dropped > 0 {
		line += fmt.Sprintf("; %d of them left out", dropped)
	}
	return line + ")"
}

// parseTally reads the last line of a summary. The result is zero for any other line.
func parseTally(line string) (t tally, dropped int) {
	n := text.Counts(line)
	return tally{all: n[0], user: n[1], assistant: n[2]}, n[3]
}
