// Package rulewriter writes the words of a summary by rules, without a model: the [State] of the work, or a [Summary] of
// what the user asked, what the model concluded, and the languages of its code, which reads, in English or Chinese:
//
//	Topics: How do I start a server in Rust?; Which settings does it need?
//	Key conclusions:
//	- Use axum, because it is built on tokio
//	Technical context: Code (rust), Code (toml)
//
// Of each message the first and the last 16 KiB are read.
package rulewriter

import (
	"cmp"
	_ "embed" // for words.txt
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Options define how words are written.
type Options struct {
	Tokens   int // at most, by Counter; 0 or less: the result is empty
	Counter  tokens.Counter
	Language text.Language // of the titles; "": English
	Done     func() bool   // ends reading messages: the result has only what was read; nil: all are read
}

func (o Options) fits(words string) bool { return o.Counter.Count(words) <= o.Tokens }

func (o Options) wording() *wording { return text.Pick(o.Language, &english, &chinese) }

type wording struct {
	topics, conclusions, technical, fence string

	state, before, question, asked, call string // of the state of the work
}

var english = wording{
	topics: "Topics: ", conclusions: "Key conclusions:", technical: "Technical context: ", fence: "Code (%s)",
	state: "The assistant said last:", before: "The assistant said before:",
	question: "Open question of the assistant: ", asked: "Question that the user has answered: ", call: "Call without a result: ",
}

var chinese = wording{
	topics: "讨论主题: ", conclusions: "关键结论:", technical: "技术上下文: ", fence: "代码片段 (%s)",
	state: "助手最近所说:", before: "助手此前所说:", question: "助手的未决问题: ", asked: "用户已回答的问题: ", call: "尚无结果的调用: ",
}

// Limits of a summary. Lengths are in code points.
const (
	mostTopics        = 8
	mostConclusions   = 8
	mostFences        = 8
	longestTopic      = 60
	longestConclusion = 120
	longestLine       = 160 // of a call, and of a short text in the state
)

// Summary returns the words of a summary of messages, oldest first. If it is too long,
// the technical context is removed, then the oldest conclusions, then the oldest topics.
func Summary(msgs []message.Message, o Options) string {
	w := o.wording()
	topics, conclusions, fences := read(msgs, o.Done)
	// The newest message first. Conclusions of one message remain in order.
	slices.SortStableFunc(conclusions, func(a, b remark) int { return cmp.Compare(b.from, a.from) })
	lines := conclusions.texts()
	for i, name := range fences {
		fences[i] = fmt.Sprintf(w.fence, name)
	}
	for {
		words := ""
		if len(topics) > 0 {
			words = w.topics + strings.Join(topics.texts(), "; ") + "\n"
		}
		if len(lines) > 0 {
			words += w.conclusions + "\n- " + strings.Join(lines, "\n- ") + "\n"
		}
		if len(fences) > 0 {
			words += w.technical + strings.Join(fences, ", ") + "\n"
		}
		words = strings.TrimSuffix(words, "\n")
		switch {
		case o.fits(words):
			return words
		case len(fences) > 0:
			fences = fences[:len(fences)-1]
		case len(lines) > 0:
			lines = lines[:len(lines)-1]
		case len(topics) > 0:
			topics = topics[1:]
		default:
			return ""
		}
	}
}

// Topics returns the topics in the words of an earlier [Summary].
func Topics(words string) (topics []string) {
	for line := range strings.SplitSeq(words, "\n") {
		for _, w := range []*wording{&english, &chinese} {
			if list, ok := strings.CutPrefix(line, w.topics); ok {
				topics = append(topics, strings.Split(list, "; ")...)
			}
		}
	}
	return topics
}

// read returns the newest topics of the user, the newest conclusions of the model and
// the first languages of code, all oldest first.
func read(msgs []message.Message, done func() bool) (topics, conclusions remarks, fences []string) {
	for i := range msgs {
		if done != nil && done() {
			break
		}
		role := msgs[i].Role
		if role != message.RoleUser && role != message.RoleAssistant {
			continue
		}
		said, tail := text.Ends(msgs[i].Text())
		if tail != "" {
			said += "\n\n" + tail
		}
		sentences, languages := divide(said)
		fences = append(fences, languages...)
		if role == message.RoleUser {
			topics = topics.with(topicOf(sentences, i), mostTopics)
			continue
		}
		for _, s := range sentences {
			if concludes(s) {
				conclusions = conclusions.with(newRemark(bare(s.text, longestConclusion), i), mostConclusions)
			}
		}
	}
	found := map[string]bool{}
	fences = slices.DeleteFunc(fences, func(l string) bool {
		again := found[l]
		found[l] = true
		return again
	})
	return topics, conclusions, fences[:min(len(fences), mostFences)]
}

// sentence is a sentence without the marks of an item or a heading.
type sentence struct {
	text          string
	item, heading bool
}

// language matches the line that opens a fence, with the name of a language such as c++ or objective-c.
var language = regexp.MustCompile("^(?:```+|~~~+)[ {.]*([a-z0-9+#_.-]{1,20})(?:[ }]|$)")

// divide returns the sentences of a text outside of code, quotations, tables and tags, and the languages of its code.
func divide(said string) (all []sentence, languages []string) {
	fenced := false
	for piece := range text.Pieces(said) {
		line := strings.TrimSpace(piece)
		if fence := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"); fence || fenced {
			if m := language.FindStringSubmatch(strings.ToLower(line)); m != nil && !fenced {
				languages = append(languages, m[1])
			}
			fenced = fenced != fence
			continue
		}
		if line == "" || strings.ContainsAny(line[:1], "<>|") || strings.HasPrefix(piece, "    ") || piece[0] == '\t' {
			continue
		}
		s := sentence{text: line[text.MarkOf(line):], heading: line[0] == '#'}
		s.item = len(s.text) < len(line)
		if s.text = strings.TrimSpace(strings.TrimLeft(s.text, "#")); strings.ContainsFunc(s.text, unicode.IsLetter) {
			all = append(all, s)
		}
	}
	return all, languages
}

// topicOf returns the first sentence of a message of the user that is not just a
// courtesy, or its heading if there is nothing else.
func topicOf(said []sentence, from int) (topic remark) {
	for _, s := range said {
		if isCourtesy(s.text) {
			continue
		}
		topic = newRemark(bare(s.text, longestTopic), from)
		if !s.heading {
			break
		}
	}
	return topic
}

// bare returns a sentence as one line, without emphasis and final punctuation, except
// for a question mark.
func bare(sentence string, most int) string {
	sentence = strings.ReplaceAll(sentence, "**", "")
	return text.Line(strings.TrimRight(sentence, " 。.!！,，;；:：｡*"), most)
}

// isCourtesy reports whether a sentence contains only courtesies, such as "好的,继续", or is a note of the user's client.
func isCourtesy(sentence string) bool {
	const longest = 60 // bytes
	if len(sentence) > longest {
		return false
	}
	if strings.HasPrefix(sentence, "[") && strings.HasSuffix(strings.TrimRight(sentence, " .。"), "]") {
		return true
	}
	for piece := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(",，、;；!！", r) }) {
		if !quotes.IsCourtesy(piece) && !begins("thanks", normal(piece)) {
			return false
		}
	}
	return true
}

// concludes reports whether a sentence states a result or a decision.
func concludes(s sentence) bool {
	const shortest = 4 // bytes
	low := strings.ToLower(strings.TrimLeft(s.text, " *_"))
	end := strings.TrimRight(low, " *")
	if s.heading || len(low) < shortest {
		return false
	}
	for _, mark := range [...]string{"?", "？", ":", "："} {
		if strings.HasSuffix(end, mark) {
			return false
		}
	}
	low = normal(low)
	if begins("prospective", low) || has("next", low) {
		return false
	}
	return has("conclusive", low) || s.item && !isField(s.text)
}

// isField reports whether a list item is a field of a record, such as "Price: $121".
func isField(item string) bool {
	const mostOfLabel, mostOfValue = 3, 4 // words
	item = strings.ReplaceAll(item, "**", "")
	label, value, found := strings.Cut(item, ": ")
	short := len(strings.Fields(label)) <= mostOfLabel && len(strings.Fields(value)) <= mostOfValue
	return found && short && !strings.ContainsFunc(item, lex.IsHan) // which has no spaces to count words by
}

func normal(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), "’", "'"))
}

//go:embed words.txt
var words string

var lists = lex.Lists(words, " | ")

// begins reports whether a text begins with a word of a list.
func begins(list, s string) bool {
	return slices.ContainsFunc(lists[list].Words, func(w string) bool { return strings.HasPrefix(s, w) && !lex.SplitsWord(s, len(w)) })
}

// has reports whether a text has a word of a list.
func has(list, s string) bool {
	for i := range s {
		if !lex.SplitsWord(s, i) && begins(list, s[i:]) {
			return true
		}
	}
	return false
}

// remark is a topic or a conclusion.
type remark struct {
	text string
	from int    // index of its message
	key  string // its letters and digits, without a particle such as 呢 at the end
}

func newRemark(s string, from int) remark {
	key := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return remark{s, from, strings.TrimRight(key, "呢吧啊")}
}

// remarks are the newest ones, oldest first, each once.
type remarks []remark

// with returns the remarks with one more, without an equal one, and without the oldest if there are more than the given
// number.
func (rs remarks) with(r remark, most int) remarks {
	if r.key == "" {
		return rs
	}
	rs = append(slices.DeleteFunc(rs, func(o remark) bool { return o.key == r.key }), r)
	return rs[max(0, len(rs)-most):]
}

func (rs remarks) texts() (out []string) {
	for _, r := range rs {
		out = append(out, r.text)
	}
	return out
}
