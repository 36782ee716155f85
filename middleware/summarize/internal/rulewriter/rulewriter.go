// Package recap makes a summary of messages without a model, by rules: what was
// asked, what was concluded, and what it was about technically.
//
//	r := rulewriter.Of(folded)
//	text := r.Text(rulewriter.Options{Tokens: 800})
//
// It reads, in Chinese or English by the language of the conversation:
//
//	[Summary of the earlier conversation]
//	Topics: How do I start a server in Rust?; Which settings does it need?
//	Key conclusions:
//	- Use axum, because it is built on tokio
//	Technical context:
//	- Code (rust)
//	(24 messages compacted: 12 of the user, 12 of the assistant)
//
// [Extract] is the last resort where even that does not fit: the question, and
// what was said last, each in one line.
//
// Make it again from all messages folded so far, or [Recap.Add] those that are
// folded now: both give the same, so counts are right after any number of folds,
// and no earlier summary is ever read.
//
// Of each message the first and the last 16 KiB are read. All is deterministic.
package rulewriter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// How much of each is told, and how long each may be, in code points.
const (
	mostTopics       = 8
	mostConclusions  = 8
	mostFences       = 8
	longestTopic     = 60
	longestStatement = 120
)

// partOfText is what is read of the beginning and of the end of a message, in
// bytes.
const partOfText = 16 << 10

// Recap is what is told of messages. The zero value tells of none. It holds the
// few sentences that are told and is not safe for concurrent use.
type Recap struct {
	messages, users, assistants int

	topics      remarks
	conclusions remarks
	fences      []string // languages, the oldest first
	language    text.Guess
}

// Of returns the recap of messages, which should be all that are folded, oldest
// first.
func Of(msgs []message.Message) *Recap {
	r := &Recap{}
	r.Add(msgs)
	return r
}

// Add brings it up to date with messages that come after those before. Adding
// messages piece by piece gives the same recap as making it of all of them.
func (r *Recap) Add(msgs []message.Message) {
	r.language.Add(msgs)
	for i := range msgs {
		r.messages++
		switch msgs[i].Role {
		case message.RoleUser:
			r.users++
			r.asked(msgs[i].Text())
		case message.RoleAssistant:
			r.assistants++
			r.answered(msgs[i].Text())
		default:
		}
	}
}

// asked takes the topic of a message of the user: its first sentence that is no
// mere courtesy, or its heading if there is nothing else.
func (r *Recap) asked(body string) {
	body = read(body)
	r.fenced(body)
	var topic remark
	for s := range text.Sentences(body) {
		if isCourtesy(s.Text) {
			continue
		}
		topic = newRemark(bare(s.Text, longestTopic), r.messages)
		if !s.Heading {
			break
		}
	}
	r.topics.add(topic, mostTopics)
}

// isCourtesy reports whether a sentence is nothing but courtesies, such as
// "好的,继续".
func isCourtesy(sentence string) bool {
	const longest = 60 // bytes
	if len(sentence) > longest {
		return false
	}
	if strings.HasPrefix(sentence, "[") && strings.HasSuffix(strings.TrimRight(sentence, " .。"), "]") {
		return true // written by the program that the user sits at
	}
	for piece := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(",，、;；!！", r) }) {
		if r := newRemark(piece, 0); r.key != "" && !courtesies[r.key] && !startsWith(plain(piece), thanks) {
			return false
		}
	}
	return true
}

// answered takes the conclusions of a message of the model.
func (r *Recap) answered(body string) {
	body = read(body)
	r.fenced(body)
	for s := range text.Sentences(body) {
		if concludes(s) {
			r.conclusions.add(newRemark(bare(s.Text, longestStatement), r.messages), mostConclusions)
		}
	}
}

// fenced takes the languages of blocks of code.
func (r *Recap) fenced(s string) {
	for name := range text.Fences(s) {
		if !slices.Contains(r.fences, name) && len(r.fences) < mostFences {
			r.fences = append(r.fences, name)
		}
	}
}

// read returns what is read of a text.
func read(s string) string {
	if len(s) <= 2*partOfText {
		return s
	}
	return text.Head(s, partOfText) + "\n\n" + text.Tail(s, partOfText)
}

// bare returns a sentence as a line, without emphasis and without the mark at its
// end, which says nothing unless it asks.
func bare(sentence string, most int) string {
	sentence = strings.ReplaceAll(sentence, "**", "")
	return text.Line(strings.TrimRight(sentence, " 。.!！,，;；:：｡*"), most)
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
	low = plain(low)
	if startsWith(low, prospective) || startsWith(low, links) {
		return false
	}
	if slices.ContainsFunc(conclusive, func(w string) bool { return has(low, w) }) {
		return !slices.ContainsFunc(prospectiveIn, func(w string) bool { return has(low, w) })
	}
	return s.Item && !isField(s.Text) && !slices.ContainsFunc(prospectiveIn, func(w string) bool { return has(low, w) })
}

// isField reports whether an item is no sentence but a line of a record, which
// says nothing without those around it: "Price: $121".
func isField(item string) bool {
	const mostOfLabel, mostOfValue = 3, 4 // words
	item = strings.ReplaceAll(item, "**", "")
	label, value, found := strings.Cut(item, ": ")
	short := len(strings.Fields(label)) <= mostOfLabel && len(strings.Fields(value)) <= mostOfValue
	return found && short && !strings.ContainsFunc(item, isHan) // which has no spaces
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// plain returns a text in lower case, with plain apostrophes.
func plain(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), "’", "'"))
}

func startsWith(s string, all []string) bool {
	return slices.ContainsFunc(all, func(start string) bool { return strings.HasPrefix(s, start) })
}

// has reports whether a word occurs in a text: an English one alone.
func has(s, word string) bool {
	for from := 0; ; {
		k := strings.Index(s[from:], word)
		if k < 0 {
			return false
		}
		from += k + len(word)
		if word[0] >= 0x80 || !isLetterAt(s, from-len(word)-1) && !isLetterAt(s, from) {
			return true
		}
	}
}

func isLetterAt(s string, i int) bool {
	return i >= 0 && i < len(s) && ('a' <= s[i] && s[i] <= 'z' || s[i] == '_')
}

// A line of an extract has at most so many code points, and an extract so many
// lines.
const (
	longestLine = 160
	mostLines   = 200
)

// Extract returns what always can be said of messages: the beginning of the
// first one of the user, and of the newest ones, a line each, as many as fit. It
// never fails: with no room at all, the heading and the count line remain.
func Extract(msgs []message.Message, o Options) string {
	o = o.filled(text.Of(msgs))
	e := extract{Options: o, msgs: msgs, wording: wordings[o.Language], first: -1}
	for i := range msgs {
		switch msgs[i].Role {
		case message.RoleUser:
			e.users++
			if e.first < 0 && e.line(i) != "" {
				e.first = i
			}
		case message.RoleAssistant:
			e.assistants++
		default:
		}
	}
	// The longest that fits is looked for by halving.
	few, many := 0, min(len(msgs), mostLines)
	for few < many {
		n := few + (many-few+1)/2
		if o.fits(e.text(n)) {
			few = n
		} else {
			many = n - 1
		}
	}
	if s := e.text(few); few > 0 || o.fits(s) {
		return s
	}
	e.first = -1
	if s := e.text(0); !o.Bare || o.fits(s) {
		return s
	}
	return ""
}

// extract is one that is being made.
type extract struct {
	Options
	wording

	msgs              []message.Message
	first             int // message of the user; -1: there is none, or no room for it
	users, assistants int
}

// text writes it with so many of the newest messages.
func (e *extract) text(n int) string {
	var lines []string
	from := len(e.msgs) - n
	if e.first >= 0 && e.first < from {
		lines = append(lines, e.line(e.first))
	}
	omitted := from
	if e.first >= 0 && e.first < from {
		omitted--
	}
	if omitted > 0 {
		lines = append(lines, fmt.Sprintf(e.omitted, omitted))
	}
	for i := from; i < len(e.msgs); i++ {
		if line := e.line(i); line != "" {
			lines = append(lines, line)
		}
	}
	return e.framed(e.extract, strings.Join(lines, "\n"), fmt.Sprintf(e.count, len(e.msgs), e.users, e.assistants))
}

// line tells a message; "": it has nothing that can be told.
func (e *extract) line(i int) string {
	m := &e.msgs[i]
	said := ""
	for _, p := range m.Parts {
		if len(said) > longestLine {
			break
		}
		switch p := p.(type) {
		case message.Text:
			said += " " + text.Line(p.Text, longestLine)
		case message.ToolCall:
			said += " " + e.calls + " " + text.Line(p.Name+" "+text.Head(p.Arguments, longestLine), longestLine)
		case message.ToolResult:
			said += " " + text.Line(p.Name+" "+text.Head(p.Text, longestLine), longestLine)
		case message.Thinking, message.Media, message.Opaque:
		}
	}
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	return text.Line(e.speaker(m.Role)+": "+said, longestLine)
}

func (e *extract) speaker(r message.Role) string {
	switch r {
	case message.RoleUser:
		return e.user
	case message.RoleAssistant:
		return e.assistant
	case message.RoleSystem:
		return e.system
	case message.RoleTool:
		return e.tool
	default:
		return text.Line(string(r), longestTopic)
	}
}

// remark is a sentence worth repeating.
type remark struct {
	text string
	from int // the message that says it

	key   string   // its letters and digits alone
	count string   // its digits alone
	pairs []uint64 // of neighbouring characters of the key, sorted
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
			r.count += string(c)
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

// isNear reports whether two remarks say the same in nearly the same words: four
// of five pairs of neighbouring characters are common, and all digits: issue 12 is
// not issue 13.
func (r *remark) isNear(o *remark) bool {
	if r.key == o.key {
		return true
	}
	if r.count != o.count {
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

// remarks are the newest ones, the oldest first, without those that are nearly
// the same.
type remarks []remark

// add appends a remark in place of one that is near, and drops the oldest beyond
// the most.
func (rs *remarks) add(r remark, most int) {
	if r.key == "" {
		return
	}
	*rs = slices.DeleteFunc(*rs, func(o remark) bool { return o.isNear(&r) })
	if *rs = append(*rs, r); len(*rs) > most {
		*rs = slices.Delete(*rs, 0, 1)
	}
}
