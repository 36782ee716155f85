// Package rulewriter writes the words of a summary by rules, without a model: what the
// user asked, what the model concluded, and the languages of its code.
//
//	words := rulewriter.Summary(folded, rulewriter.Options{Tokens: 800, Counter: counter})
//
// The result reads, in English or Chinese:
//
//	Topics: How do I start a server in Rust?; Which settings does it need?
//	Key conclusions:
//	- Use axum, because it is built on tokio
//	Technical context:
//	- Code (rust)
//
// [Extract] returns the first question and the newest messages, one line each. It
// serves where there are no topics and conclusions, or no room for them.
//
// The result depends on the messages and options only. Of each message the first and
// the last 16 KiB are read.
package rulewriter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Options define how a summary or an extract is written.
type Options struct {
	Tokens   int // at most, by Counter; 0 or less: the result is empty
	Counter  tokens.Counter
	Language text.Language // of the titles; "": English
}

func (o Options) fits(words string) bool { return o.Counter.Count(words) <= o.Tokens }

func (o Options) wording() *wording {
	if o.Language == text.Chinese {
		return &chinese
	}
	return &english
}

// wording is the fixed text of one language.
type wording struct {
	topics, conclusions, technical, fence         string
	omitted, user, assistant, tool, system, calls string // of an extract
}

var english = wording{
	topics: "Topics: ", conclusions: "Key conclusions:", technical: "Technical context:", fence: "Code (%s)",
	omitted: "(%d messages left out)",
	user:    "User", assistant: "Assistant", tool: "Tool", system: "System", calls: "calls",
}

var chinese = wording{
	topics: "讨论主题: ", conclusions: "关键结论:", technical: "技术上下文:", fence: "代码片段 (%s)",
	omitted: "(此处省略 %d 条消息)",
	user:    "用户", assistant: "助手", tool: "工具", system: "系统", calls: "调用",
}

// Limits of a summary. Lengths are in code points.
const (
	mostTopics        = 8
	mostConclusions   = 8
	mostFences        = 8
	longestTopic      = 60
	longestConclusion = 120

	readOfText = 16 << 10 // bytes at the beginning and at the end of a message
)

// Summary returns the words of a summary of messages, which are all that are folded,
// oldest first. If it is too long, lines are removed from its end: first the technical
// context, then conclusions, the oldest of which are last, then the oldest topics.
func Summary(msgs []message.Message, o Options) string {
	w := o.wording()
	topics, conclusions, fences := read(msgs)
	lines := newestFirst(conclusions)
	for i, name := range fences {
		fences[i] = fmt.Sprintf(w.fence, name)
	}
	for {
		words := ""
		if len(topics) > 0 {
			words = w.topics + strings.Join(topics.texts(), "; ") + "\n"
		}
		words = strings.TrimSuffix(words+section(w.conclusions, lines)+section(w.technical, fences), "\n")
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

func section(title string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return title + "\n- " + strings.Join(lines, "\n- ") + "\n"
}

// read returns the newest topics of the user, the newest conclusions of the model and
// the first languages of code, all oldest first.
func read(msgs []message.Message) (topics, conclusions remarks, fences []string) {
	for i := range msgs {
		role := msgs[i].Role
		if role != message.RoleUser && role != message.RoleAssistant {
			continue
		}
		said := msgs[i].Text()
		if len(said) > 2*readOfText {
			said = shorten.Head(said, readOfText) + "\n\n" + shorten.Tail(said, readOfText)
		}
		for name := range text.Fences(said) {
			if !slices.Contains(fences, name) && len(fences) < mostFences {
				fences = append(fences, name)
			}
		}
		if role == message.RoleUser {
			topics = topics.with(topicOf(said, i), mostTopics)
			continue
		}
		for s := range text.Sentences(said) {
			if concludes(s) {
				conclusions = conclusions.with(newRemark(bare(s.Text, longestConclusion), i), mostConclusions)
			}
		}
	}
	return topics, conclusions, fences
}

// newestFirst returns conclusions by message, the newest message first. Those of one
// message remain in order.
func newestFirst(conclusions remarks) (lines []string) {
	for end := len(conclusions); end > 0; {
		from := end
		for from > 0 && conclusions[from-1].from == conclusions[end-1].from {
			from--
		}
		lines = append(lines, conclusions[from:end].texts()...)
		end = from
	}
	return lines
}

// topicOf returns the first sentence of a message of the user that is not just a
// courtesy, or its heading if there is nothing else.
func topicOf(said string, from int) (topic remark) {
	for s := range text.Sentences(said) {
		if isCourtesy(s.Text) {
			continue
		}
		topic = newRemark(bare(s.Text, longestTopic), from)
		if !s.Heading {
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

// isCourtesy reports whether a sentence contains only courtesies, such as "好的,继续".
func isCourtesy(sentence string) bool {
	const longest = 60 // bytes
	if len(sentence) > longest {
		return false
	}
	if strings.HasPrefix(sentence, "[") && strings.HasSuffix(strings.TrimRight(sentence, " .。"), "]") {
		return true // a note of the user's client
	}
	for piece := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(",，、;；!！", r) }) {
		if r := newRemark(piece, 0); r.key != "" && !courtesies[r.key] && !startsWith(normal(piece), thanks) {
			return false
		}
	}
	return true
}

// concludes reports whether a sentence states a result or a decision.
func concludes(s text.Sentence) bool {
	const shortest = 4 // bytes
	low := strings.ToLower(strings.TrimLeft(s.Text, " *_"))
	end := strings.TrimRight(low, " *")
	if s.Heading || len(low) < shortest {
		return false
	}
	for _, mark := range [...]string{"?", "？", ":", "："} {
		if strings.HasSuffix(end, mark) {
			return false
		}
	}
	low = normal(low)
	if startsWith(low, prospective) || startsWith(low, links) || containsWord(low, prospectiveIn) {
		return false
	}
	return containsWord(low, conclusive) || s.Item && !isField(s.Text)
}

// isField reports whether a list item is a field of a record, such as "Price: $121".
func isField(item string) bool {
	const mostOfLabel, mostOfValue = 3, 4 // words
	item = strings.ReplaceAll(item, "**", "")
	label, value, found := strings.Cut(item, ": ")
	short := len(strings.Fields(label)) <= mostOfLabel && len(strings.Fields(value)) <= mostOfValue
	chinese := func(r rune) bool { return unicode.Is(unicode.Han, r) } // has no spaces to count words by
	return found && short && !strings.ContainsFunc(item, chinese)
}

// normal returns a text in lower case with plain apostrophes.
func normal(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), "’", "'"))
}

func startsWith(s string, all []string) bool {
	return slices.ContainsFunc(all, func(start string) bool { return strings.HasPrefix(s, start) })
}

// containsWord reports whether one of the words occurs in a text, an English one as a
// whole word.
func containsWord(s string, words []string) bool {
	isLetter := func(i int) bool {
		return i >= 0 && i < len(s) && ('a' <= s[i] && s[i] <= 'z' || s[i] == '_')
	}
	return slices.ContainsFunc(words, func(word string) bool {
		for from := 0; ; {
			k := strings.Index(s[from:], word)
			if k < 0 {
				return false
			}
			from += k + len(word)
			if word[0] >= 0x80 || !isLetter(from-len(word)-1) && !isLetter(from) {
				return true
			}
		}
	})
}

// remark is a topic or a conclusion.
type remark struct {
	text string
	from int // index of its message

	key    string   // its letters and digits
	digits string   // its digits
	pairs  []uint64 // neighbouring characters of the key, sorted
}

func newRemark(s string, from int) remark {
	r := remark{text: s, from: from}
	var last rune
	var b strings.Builder
	for _, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			continue
		}
		c = unicode.ToLower(c)
		if unicode.IsDigit(c) {
			r.digits += string(c)
		}
		b.WriteRune(c)
		if last != 0 {
			r.pairs = append(r.pairs, uint64(last)<<32|uint64(c))
		}
		last = c
	}
	r.key = b.String()
	slices.Sort(r.pairs)
	return r
}

// isNear reports whether two remarks have nearly the same words: all digits, and four
// of five pairs of neighbouring characters. "issue 12" is not near "issue 13".
func (r *remark) isNear(o *remark) bool {
	if r.key == o.key {
		return true
	}
	if r.digits != o.digits {
		return false
	}
	common := 0
	for i, k := 0, 0; i < len(r.pairs) && k < len(o.pairs); {
		switch a, b := r.pairs[i], o.pairs[k]; {
		case a == b:
			common++
			i++
			k++
		case a < b:
			i++
		default:
			k++
		}
	}
	const most, of = 4, 5
	return 2*common*of >= most*(len(r.pairs)+len(o.pairs)) && common > 0
}

// remarks are the newest ones, oldest first, without near duplicates.
type remarks []remark

// with returns the remarks with one more, without earlier ones that are near it, and
// without the oldest if there are more than the given number.
func (rs remarks) with(r remark, most int) remarks {
	if r.key == "" {
		return rs
	}
	rs = append(slices.DeleteFunc(rs, func(o remark) bool { return o.isNear(&r) }), r)
	return rs[max(0, len(rs)-most):]
}

func (rs remarks) texts() (out []string) {
	for _, r := range rs {
		out = append(out, r.text)
	}
	return out
}
