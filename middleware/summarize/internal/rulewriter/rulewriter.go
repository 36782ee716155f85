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
	for _, m := range msgs {
		if m.Role != message.RoleUser && m.Role != message.RoleAssistant {
			continue
		}
		head, tail := text.Ends(m.Text())
		said := head + "\n\n" + tail
		for _, block := range fenced.FindAllStringSubmatch(said, -1) {
			languages = append(languages, strings.ToLower(block[1]))
		}
		var found []string
		for piece := range text.Pieces(fenced.ReplaceAllString(said, "")) {
			line := strings.TrimSpace(piece)
			if line == "" || strings.ContainsAny(line[:1], "<>|") || strings.HasPrefix(piece, "    ") || piece[0] == '\t' {
				continue // a table, a quotation, a tag or code
			}
			sentence := line[text.MarkOf(line):]
			switch {
			case m.Role == message.RoleAssistant && concludes(sentence, sentence != line):
				found = append(found, bare(sentence, longestConclusion))
			case m.Role == message.RoleUser && found == nil && isTopic(sentence):
				found = []string{bare(strings.TrimLeft(sentence, "# "), longestTopic)}
			}
		}
		if m.Role == message.RoleUser {
			topics = with(topics, found)
		} else {
			conclusions = with(conclusions, found)
		}
	}
	slices.Reverse(topics)
	return topics, conclusions, with(nil, languages)
}

// fenced matches code in a fence, with the name of its language, such as c++ or objective-c.
var fenced = regexp.MustCompile("(?s)(?:^|\n)[ \t]*(?:```|~~~)[ {.]*([A-Za-z0-9+#_.-]*).*?(?:\n[ \t]*(?:```|~~~)|$)")

// with returns newer lines and then some others, each once but for case and the marks at its end, at most eight.
func with(lines, newer []string) (out []string) {
	seen := map[string]bool{"": true}
	for _, line := range slices.Concat(newer, lines) {
		key := strings.TrimRight(strings.ToLower(line), " ?？呢吧啊")
		if !seen[key] && len(out) < mostLines {
			seen[key] = true
			out = append(out, line)
		}
	}
	return out
}

// isTopic reports whether a sentence of the user is neither a courtesy nor a note of the user's client.
func isTopic(said string) bool {
	return strings.ContainsFunc(said, unicode.IsLetter) && !strings.HasPrefix(said, "[") && !quotes.IsCourtesy(said) &&
		!begins("thanks", normal(said))
}

// bare returns a sentence as one line, without emphasis and final punctuation, except for a question mark.
func bare(sentence string, most int) string {
	if !strings.Contains(sentence, "`") { // in code, it is no emphasis
		sentence = strings.ReplaceAll(sentence, "**", "")
	}
	return text.Line(strings.TrimRight(sentence, " 。.!！,，;；:：｡*"), most)
}

// concludes reports whether a sentence of the model states a result or a decision; one in a list mostly does.
func concludes(said string, isItem bool) bool {
	low := normal(said)
	isOpen := strings.TrimRight(low, "?？:：") != low || strings.HasPrefix(low, "#") || strings.HasPrefix(low, "[")
	return !isOpen && !has("next", low) && (isItem && strings.ContainsFunc(low, unicode.IsLetter) || has("conclusive", low))
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

// State returns the newest long text of the assistant, word for word, in at most 300 tokens, and what came after it: its
// newest text, if that is a short one, and the newest call if it has no result. It returns "" if there is neither, or no room.
func State(msgs []message.Message, o Options) string {
	const most = 300 // tokens
	w := o.wording()
	long, short, open := newest(msgs)
	if open != "" {
		open = "\n" + w.call + open
	}
	if short.text != long.text {
		open = "\n" + w.label(short) + text.Line(short.text, longestLine) + open
	}
	heading := w.before
	if short == long && !long.answered {
		heading = w.state
	}
	room := min(most, o.Tokens-o.Counter.Count("\n"+heading+open))
	if cut := ends(long.text, room, o); cut != "" {
		return heading + "\n" + cut + open
	}
	open = strings.TrimPrefix(open, "\n")
	if o.fits(open) {
		return open
	}
	return ""
}

// utterance is a text of the assistant.
type utterance struct {
	text     string
	question bool // its last line has one
	answered bool // so it has, and the user has written since, or the work went on
}

// label returns what is before a short text.
func (w *wording) label(u utterance) string {
	switch {
	case u.answered:
		return w.asked
	case u.question:
		return w.question
	}
	return w.state + " "
}

// newest returns the newest long text of the assistant, or its newest text if none is long; the newest text; and the newest
// call, if it has no result.
func newest(msgs []message.Message) (long, short utterance, open string) {
	const least = 200 // bytes of a long text
	replied := false
	for _, m := range slices.Backward(msgs) {
		if len(long.text) >= least {
			break
		}
		if raw := m.Text(); m.Role == message.RoleAssistant && (short.text == "" || len(raw) >= least) {
			long = utteranceOf(raw, replied)
			if short.text == "" {
				short = long
			}
		}
		replied = replied || m.Role == message.RoleUser || m.Role == message.RoleTool
	}
	if len(long.text) < least {
		long = short
	}
	return long, short, openCall(msgs)
}

// utteranceOf returns a text of the assistant, without the heading that it has in an earlier summary.
func utteranceOf(raw string, replied bool) utterance {
	said := strings.TrimSpace(text.Clean(raw))
	for _, w := range []wording{english, chinese} {
		said = strings.TrimPrefix(strings.TrimPrefix(said, w.before+"\n"), w.state+"\n")
	}
	question := strings.ContainsAny(said[strings.LastIndexByte(said, '\n')+1:], "?？")
	return utterance{said, question, question && replied}
}

// openCall returns a call at the end of the messages that has no result, or "".
func openCall(msgs []message.Message) (open string) {
	results := map[string]bool{}
	for _, m := range slices.Backward(msgs) {
		for r := range m.Results() {
			results[r.CallID] = true
		}
		for c := range m.Calls() {
			if !results[c.ID] {
				open = text.Line(c.Name+" "+c.Arguments, longestLine)
			}
		}
		if m.Role != message.RoleTool {
			break
		}
	}
	return open
}

// ends returns a text, or as many sentences of its beginning and of its end as have room, in equal parts.
func ends(said string, room int, o Options) string {
	const gap = "[…]"
	if said == "" || o.Counter.Count(said) <= room {
		return said
	}
	pieces := slices.Collect(text.Pieces(said))
	left := room - o.Counter.Count("\n"+gap+"\n")
	head, tail := 0, len(pieces)
	for tail > 0 && o.Counter.Count(strings.Join(pieces[tail-1:], "")) <= left/2 { // the end has what is next
		tail--
	}
	left -= o.Counter.Count(strings.Join(pieces[tail:], ""))
	for head < tail && o.Counter.Count(strings.Join(pieces[:head+1], "")) <= left {
		head++
	}
	if head == 0 && tail == len(pieces) {
		return ""
	}
	first, last := strings.Join(pieces[:head], ""), strings.Join(pieces[tail:], "")
	return strings.TrimSpace(strings.TrimSpace(first) + "\n" + gap + "\n" + strings.TrimSpace(last))
}
