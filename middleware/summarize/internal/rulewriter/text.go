package rulewriter

import (
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Options say how a recap or an extract is written.
type Options struct {
	// Tokens is the most that it may take, by Counter. The heading and the count
	// line stay in any case. 0: 800; negative: no limit.
	Tokens int

	// Bare leaves out the heading and the count line, for whoever writes others: what
	// stays is within Tokens, and may be nothing.
	Bare bool

	// Counter counts it. nil: [tokens.Estimate].
	Counter tokens.Counter

	// Language of the wording. Unknown: that of the conversation, by [text.Of].
	Language text.Language

	// Facts tell files, commands and errors in the technical context. nil: they are
	// not told, as where the ledger stands beside the recap.
	Facts *facts.Ledger
}

// DefaultTokens is how long a recap is at most, if nobody says otherwise.
const DefaultTokens = 800

func (o Options) filled(lang text.Language) Options {
	if o.Tokens == 0 {
		o.Tokens = DefaultTokens
	}
	if o.Counter == nil {
		o.Counter = tokens.Estimate{}
	}
	o.Language = o.Language.Or(lang)
	return o
}

// fits reports whether a text is within the limit.
func (o Options) fits(s string) bool { return o.Tokens < 0 || o.Counter.Count(s) <= o.Tokens }

// framed puts words between heading and count line.
func (o Options) framed(heading, words, count string) string {
	switch {
	case o.Bare:
		return words
	case words == "":
		return heading + "\n" + count
	}
	return heading + "\n" + words + "\n" + count
}

// wording is what a recap and an extract say in one language.
type wording struct {
	heading, topics, conclusions, technical string
	fence, file, command, fault             string // entries of the technical context
	count                                   string // of all messages, of the user's, of the model's

	extract, omitted                     string
	user, assistant, tool, system, calls string
}

var wordings = map[text.Language]wording{
	text.English: {
		heading: "[Summary of the earlier conversation]",
		topics:  "Topics: ", conclusions: "Key conclusions:", technical: "Technical context:",
		fence: "Code (%s)", file: "File: %s", command: "Command: %s", fault: "Error: %s",
		count:   "(%d messages compacted: %d of the user, %d of the assistant)",
		extract: "[Extract of the earlier conversation]", omitted: "(%d messages left out)",
		user: "User", assistant: "Assistant", tool: "Tool", system: "System", calls: "calls",
	},
	text.Chinese: {
		heading: "[以下是之前对话的摘要]", topics: "讨论主题: ", conclusions: "关键结论:", technical: "技术上下文:",
		fence: "代码片段 (%s)", file: "文件: %s", command: "命令: %s", fault: "错误: %s",
		count:   "(已压缩 %d 条消息,其中用户 %d 条,助手 %d 条)",
		extract: "[以下是之前对话的摘录]", omitted: "(此处省略 %d 条消息)",
		user: "用户", assistant: "助手", tool: "工具", system: "系统", calls: "调用",
	},
}

// Heading returns the first line of a recap.
func Heading(l text.Language) string { return wordings[l].heading }

// ExtractHeading returns the first line of an extract.
func ExtractHeading(l text.Language) string { return wordings[l].extract }

// Text writes the recap, without a line break at its end. What is too long is cut
// from the bottom, line by line: of the technical context, then of the
// conclusions, whose oldest stand last, then the oldest topics.
func (r *Recap) Text(o Options) string {
	o = o.filled(r.language.Language())
	w := wordings[o.Language]
	topics, conclusions, technical := r.topics, r.statements(), r.technical(w, o)
	for {
		s := ""
		if len(topics) > 0 {
			s = w.topics + join(topics) + "\n"
		}
		s += block(w.conclusions, conclusions) + block(w.technical, technical)
		s = o.framed(w.heading, strings.TrimSuffix(s, "\n"), fmt.Sprintf(w.count, r.messages, r.users, r.assistants))
		switch {
		case o.fits(s):
			return s
		case len(technical) > 0:
			technical = technical[:len(technical)-1]
		case len(conclusions) > 0:
			conclusions = conclusions[:len(conclusions)-1]
		case len(topics) > 0:
			topics = topics[1:]
		default:
			return s
		}
	}
}

func join(topics remarks) string {
	var texts []string
	for _, t := range topics {
		texts = append(texts, t.text)
	}
	return strings.Join(texts, "; ")
}

func block(title string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return title + "\n- " + strings.Join(lines, "\n- ") + "\n"
}

// statements returns the conclusions, those of the newest message first, and of
// each in the order in which it states them.
func (r *Recap) statements() (lines []string) {
	for end := len(r.conclusions); end > 0; {
		from := end
		for from > 0 && r.conclusions[from-1].from == r.conclusions[end-1].from {
			from--
		}
		for _, c := range r.conclusions[from:end] {
			lines = append(lines, c.text)
		}
		end = from
	}
	return lines
}

// technical returns the entries of the technical context.
func (r *Recap) technical(w wording, o Options) (lines []string) {
	for _, name := range r.fences {
		lines = append(lines, fmt.Sprintf(w.fence, name))
	}
	if o.Facts == nil {
		return lines
	}
	const files, commands, faults = 8, 5, 3
	for _, s := range o.Facts.Files(files) {
		lines = append(lines, fmt.Sprintf(w.file, s))
	}
	for _, s := range o.Facts.Commands(commands, o.Language) {
		lines = append(lines, fmt.Sprintf(w.command, s))
	}
	for _, s := range o.Facts.Errors(faults) {
		lines = append(lines, fmt.Sprintf(w.fault, s))
	}
	return lines
}
