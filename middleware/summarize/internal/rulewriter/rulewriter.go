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
	_ "embed" // for words.txt
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
}

func (o Options) fits(words string) bool { return o.Counter.Count(words) <= o.Tokens }

func (o Options) wording() *wording { return text.Pick(o.Language, &english, &chinese) }

type wording struct {
	topics, conclusions, technical, fence string

	state, before, question, asked, call string // of the state of the work
}

var english = wording{
	topics: "Topics: ", conclusions: "Key conclusions:", technical: "Technical context: ", fence: "Code (",
	state: "The assistant said last:", before: "The assistant said before:",
	question: "Open question of the assistant: ", asked: "Question that the user has answered: ", call: "Call without a result: ",
}

var chinese = wording{
	topics: "讨论主题: ", conclusions: "关键结论:", technical: "技术上下文: ", fence: "代码片段 (",
	state: "助手最近所说:", before: "助手此前所说:", question: "助手的未决问题: ", asked: "用户已回答的问题: ", call: "尚无结果的调用: ",
}

// Limits of a summary. Lengths are in code points.
const (
	mostLines         = 8 // topics, conclusions and languages
	longestTopic      = 60
	longestConclusion = 120
	longestLine       = 160 // of a call, and of a short text in the state
)

// Summary returns the words of a summary of messages, oldest first. If it is too long,
// the technical context is removed, then the oldest conclusions, then the oldest topics.
func Summary(msgs []message.Message, o Options) string {
	w := o.wording()
	topics, conclusions, languages := read(msgs)
	for {
		words := ""
		if len(topics) > 0 {
			words = w.topics + strings.Join(topics, "; ") + "\n"
		}
		if len(conclusions) > 0 {
			words += w.conclusions + "\n- " + strings.Join(conclusions, "\n- ") + "\n"
		}
		if len(languages) > 0 {
			words += w.technical + w.fence + strings.Join(languages, "), "+w.fence) + ")\n"
		}
		words = strings.TrimSuffix(words, "\n")
		switch {
		case o.fits(words):
			return words
		case len(languages) > 0:
			languages = languages[:len(languages)-1]
		case len(conclusions) > 0:
			conclusions = conclusions[:len(conclusions)-1]
		case len(topics) > 0:
			topics = topics[1:]
		default:
			return ""
		}
	}
}

// read returns the newest topics of the user, oldest first; the newest conclusions of the model, those of the newest message
// first; and the first languages of code.
func read(msgs []message.Message) (topics, conclusions, languages []string) {
	for i := range msgs {
		role := msgs[i].Role
		if role != message.RoleUser && role != message.RoleAssistant {
			continue
		}
		said, tail := text.Ends(msgs[i].Text())
		sentences, of := divide(said + "\n\n" + tail)
		for _, l := range of {
			if len(languages) < mostLines && !slices.Contains(languages, l) {
				languages = append(languages, l)
			}
		}
		if role == message.RoleUser {
			topics = with(topics, topicOf(sentences))
			continue
		}
		var found []string
		for _, s := range sentences {
			if s.concludes() {
				found = append(found, bare(s.text, longestConclusion))
			}
		}
		conclusions = with(conclusions, found...)
	}
	slices.Reverse(topics)
	return topics, conclusions, languages
}

// with returns newer lines and then some others, each once by its letters and digits without a particle at the end, at most eight.
func with(lines []string, newer ...string) (out []string) {
	seen := map[string]bool{"": true}
	for _, line := range slices.Concat(newer, lines) {
		key := strings.TrimRight(strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, line), "呢吧啊")
		if !seen[key] && len(out) < mostLines {
			seen[key] = true
			out = append(out, line)
		}
	}
	return out
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
		s.text = strings.TrimSpace(strings.TrimLeft(s.text, "#"))
		if strings.ContainsFunc(s.text, unicode.IsLetter) {
			all = append(all, s)
		}
	}
	return all, languages
}

// topicOf returns the first sentence of a message of the user that is not just a courtesy, or "".
func topicOf(said []sentence) string {
	for _, s := range said {
		isNote := strings.HasPrefix(s.text, "[") && strings.HasSuffix(s.text, "]") // of the user's client
		if !isNote && !quotes.IsCourtesy(s.text) && !begins("thanks", normal(s.text)) {
			return bare(s.text, longestTopic)
		}
	}
	return ""
}

// bare returns a sentence as one line, without emphasis and final punctuation, except for a question mark.
func bare(sentence string, most int) string {
	if !strings.Contains(sentence, "`") { // in code, it is no emphasis
		sentence = strings.ReplaceAll(sentence, "**", "")
	}
	return text.Line(strings.TrimRight(sentence, " 。.!！,，;；:：｡*"), most)
}

// concludes reports whether a sentence of the model states a result or a decision.
func (s sentence) concludes() bool {
	low := normal(s.text)
	isOpen := strings.ContainsAny(low[max(0, len(low)-len("？")):], "?？:：")
	return !s.heading && !isOpen && low[0] != '[' && !has("next", low) && (s.item || has("conclusive", low))
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
