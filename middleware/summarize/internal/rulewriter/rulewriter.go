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
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

type wording struct {
	topics, conclusions, technical, fence string

	state, before string // of the state of the work
}

var english = wording{
	topics: "Topics: ", conclusions: "Key conclusions:", technical: "Technical context: ", fence: "Code (",
	state: "The assistant said last:", before: "The assistant said before:",
}

var chinese = wording{
	topics: "讨论主题: ", conclusions: "关键结论:", technical: "技术上下文: ", fence: "代码片段 (",
	state: "助手最近所说:", before: "助手此前所说:",
}

// Limits of a summary. Lengths are in code points.
const (
	mostLines         = 8 // topics, conclusions and languages
	longestTopic      = 60
	longestConclusion = 120
	longestLine       = 160 // of a short text in the state
)

// Summary returns the words of a summary of messages, oldest first. If it is too long,
// the technical context is removed, then the oldest conclusions, then the oldest topics.
func Summary(msgs []message.Message, o text.Options) string {
	w := text.Pick(o.Language, &english, &chinese)
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
		case o.Counter.Count(words) <= o.Tokens:
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
		said := text.Ends(m.Text())
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
		!lists["thanks"].Begins(normal(said))
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

// has reports whether a text has a word of a list.
func has(list, s string) bool {
	for i := range s {
		if !lex.SplitsWord(s, i) && lists[list].Begins(s[i:]) {
			return true
		}
	}
	return false
}

// State returns the newest long text of the assistant, or both ends of it, in at most 300 tokens, and its newest text, if that is
// a short one after it. It returns "" if there is neither, or no room.
func State(msgs []message.Message, o text.Options) string {
	const most, least = 300, 40 // tokens; bytes of a text that is cut
	w := text.Pick(o.Language, &english, &chinese)
	long, short := newest(msgs)
	heading, after := w.state, ""
	if short != long {
		heading, after = w.before, w.state+" "+text.Line(short, longestLine)
	}
	room := min(most, o.Tokens-o.Counter.Count("\n"+heading+"\n"+after))
	cut, ok := shorten.Within(long, room, least, o.Counter.Count, func(string) string { return "[…]" })
	if ok && cut != "" {
		return strings.TrimSpace(heading + "\n" + cut + "\n" + after)
	}
	if o.Counter.Count(after) <= o.Tokens {
		return after
	}
	return ""
}

// newest returns the newest long text of the assistant, or its newest text if none is long, and its newest text, each without
// the heading that it has in an earlier summary.
func newest(msgs []message.Message) (long, short string) {
	const least = 200 // bytes of a long text
	for _, m := range slices.Backward(msgs) {
		raw := m.Text()
		if m.Role != message.RoleAssistant || short != "" && len(raw) < least {
			continue
		}
		said := strings.TrimSpace(text.Clean(raw))
		for _, w := range []wording{english, chinese} {
			said = strings.TrimPrefix(strings.TrimPrefix(said, w.before+"\n"), w.state+"\n")
		}
		short = cmp.Or(short, said)
		if len(said) >= least {
			return said, short
		}
	}
	return short, short
}
