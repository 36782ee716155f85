package summarize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
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

	// Earlier are the words of the summaries that are replaced by the new one, oldest
	// first. What is still true of them belongs into the new one. nil: no summaries.
	Earlier []string

	// Originals are all messages of the history that the summary covers, as the
	// caller has them, including those of earlier summaries and those that are dropped.
	Originals []message.Message

	Dropped  int              // number of Originals that the words are not about, now and in earlier folds
	Question string           // the newest message of the user, which remains in the view
	Language string           // of the words: "en" or "zh"
	Tokens   int              // most tokens of the words, by View.Meter
	Rejected string           // why the text of the attempt before was not accepted; "": it is the first attempt
	View     *middleware.View // the view of the messages
}

// compose returns the message of a summary: header and words, facts, and the tally line
// with the handle of the archive. Each is a part of its own, so that the words can be
// read again.
func (j *job) compose(header, words, section string) message.Message {
	if words != "" {
		header += "\n" + words
	}
	parts := []message.Part{message.Text{Text: header}}
	if section != "" {
		parts = append(parts, message.Text{Text: section})
	}
	line := store.Placeholder(j.counts.line(j.language, j.fold.Dropped), j.handle)
	return message.Message{Role: j.Role, Parts: append(parts, message.Text{Text: line})}
}

// header returns the first line of a summary in the words of a model.
func (j *job) header() string {
	if j.Header != "" {
		return j.Header
	}
	return j.language.Headings().Model
}

// facts returns the section of facts of all that the summary covers.
func (j *job) facts() string {
	if j.factTokens <= 0 {
		return ""
	}
	s := &facts.Set{}
	for i, k := range j.covers {
		if r := j.adopted[k]; r != nil {
			s.Resume(factsOf(r))
			continue
		}
		s.Add(j.fold.Originals[i : i+1])
	}
	return s.Text(facts.Options{Tokens: j.factTokens, Counter: j.fold.View.Meter().Counter, Language: j.language})
}

// wordsOf returns the words of an earlier summary.
func (e *editor) wordsOf(r *journal.Record) string {
	words := ""
	if len(r.Messages) > 0 && len(r.Messages[0].Parts) > 0 {
		if t, ok := r.Messages[0].Parts[0].(message.Text); ok {
			words = t.Text
		}
	}
	for _, header := range e.markers() {
		if rest, ok := strings.CutPrefix(words, header); ok {
			return strings.TrimPrefix(rest, "\n")
		}
	}
	return words
}

// markers returns all headings, which only the program writes.
func (e *editor) markers() []string {
	if e.Header == "" {
		return text.Marks
	}
	return slices.Concat([]string{e.Header}, text.Marks)
}

// factsOf returns the section of facts of an earlier summary, or "".
func factsOf(r *journal.Record) string {
	const all = 3 // words, facts, tally line
	if len(r.Messages) == 0 || len(r.Messages[0].Parts) != all {
		return ""
	}
	t, _ := r.Messages[0].Parts[1].(message.Text)
	return t.Text
}

// isComposed reports whether an earlier fold is a summary of this package, and not the
// messages of a custom strategy, or changed by the caller.
func isComposed(r *journal.Record) bool {
	t, _ := tallyOf(r)
	return len(r.Messages) == 1 && t.all > 0
}

// tally is the number of messages that a summary covers.
type tally struct{ all, user, assistant int }

func (t tally) plus(o tally) tally {
	return tally{t.all + o.all, t.user + o.user, t.assistant + o.assistant}
}

// tallyOfMessage returns the tally of one message.
func tallyOfMessage(m message.Message) tally {
	t := tally{all: 1}
	switch m.Role {
	case message.RoleUser:
		t.user = 1
	case message.RoleAssistant:
		t.assistant = 1
	case message.RoleSystem, message.RoleTool:
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

// tallyLines match what line returns.
var tallyLines = []*regexp.Regexp{
	regexp.MustCompile(`^\((\d+) messages compacted: (\d+) of the user, (\d+) of the assistant(?:; (\d+) of them left out)?\)`),
	regexp.MustCompile(`^\(已压缩 (\d+) 条消息,其中用户 (\d+) 条,助手 (\d+) 条(?:,有 (\d+) 条未写入摘要)?\)`),
}

// tallyOf reads the last line of an earlier summary. The result is zero if the fold does
// not have one.
func tallyOf(r *journal.Record) (t tally, dropped int) {
	if len(r.Messages) == 0 || len(r.Messages[0].Parts) < 2 {
		return t, 0
	}
	parts := r.Messages[0].Parts
	last, _ := parts[len(parts)-1].(message.Text)
	for _, l := range tallyLines {
		if m := l.FindStringSubmatch(last.Text); m != nil {
			var n [5]int
			for i := range n[1:] {
				n[i+1], _ = strconv.Atoi(m[i+1]) // 0 if nothing is left out
			}
			return tally{all: n[1], user: n[2], assistant: n[3]}, n[4]
		}
	}
	return t, 0
}
