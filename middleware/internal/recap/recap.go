package recap

import (
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/prose"
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
	language    prose.Guess
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
func (r *Recap) asked(text string) {
	text = read(text)
	r.fenced(text)
	var topic remark
	for s := range prose.Sentences(text) {
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
func (r *Recap) answered(text string) {
	text = read(text)
	r.fenced(text)
	for s := range prose.Sentences(text) {
		if concludes(s) {
			r.conclusions.add(newRemark(bare(s.Text, longestStatement), r.messages), mostConclusions)
		}
	}
}

// fenced takes the languages of blocks of code.
func (r *Recap) fenced(text string) {
	for name := range prose.Fences(text) {
		if !slices.Contains(r.fences, name) && len(r.fences) < mostFences {
			r.fences = append(r.fences, name)
		}
	}
}

// read returns what is read of a text.
func read(text string) string {
	if len(text) <= 2*partOfText {
		return text
	}
	return prose.Head(text, partOfText) + "\n\n" + prose.Tail(text, partOfText)
}

// bare returns a sentence as a line, without emphasis and without the mark at its
// end, which says nothing unless it asks.
func bare(sentence string, most int) string {
	sentence = strings.ReplaceAll(sentence, "**", "")
	return prose.Line(strings.TrimRight(sentence, " 。.!！,，;；:：｡*"), most)
}

// concludes reports whether a sentence states a result or a decision.
func concludes(s prose.Sentence) bool {
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
func plain(text string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "’", "'"))
}

func startsWith(text string, all []string) bool {
	return slices.ContainsFunc(all, func(start string) bool { return strings.HasPrefix(text, start) })
}

// has reports whether a word occurs in a text: an English one alone.
func has(text, word string) bool {
	for from := 0; ; {
		k := strings.Index(text[from:], word)
		if k < 0 {
			return false
		}
		from += k + len(word)
		if word[0] >= 0x80 || !isLetterAt(text, from-len(word)-1) && !isLetterAt(text, from) {
			return true
		}
	}
}

func isLetterAt(text string, i int) bool {
	return i >= 0 && i < len(text) && ('a' <= text[i] && text[i] <= 'z' || text[i] == '_')
}
