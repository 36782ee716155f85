package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/store"
)

// templateTokens match the marks of chat templates, which local servers may read in any text.
var templateTokens = regexp.MustCompile(`<([|｜][^<>\n]{1,60}?[|｜])>|<(/?(?:s|bos|eos|start_of_turn|end_of_turn))>|` +
	`(?i:\[(/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS))\]|<<(/?SYS)>>)`)

// tags match tags that look like those of a program that talks to the model.
var tags = regexp.MustCompile(`(?i)[<＜](\s*/?\s*[\w:.-]*(?:system|remind|instruct|human|user|assistant|developer|admin|prompt|antml|` +
	`function|tool|invoke|record|important|policy|override|系统|提醒|指令|用户)[\w:.-]*[^<>＜＞\n]{0,200})[>＞]?`)

// The sides of a conversation, and how a line or a section of one is marked: Human: and **USER:** begin a turn.
const (
	sides = `(?i:human|user|assistant|system|developer|tool)`
	turns = `Human|User|Assistant|System|Developer|Tool|HUMAN|USER|ASSISTANT|SYSTEM|DEVELOPER|TOOL`
)

// replaced is what is replaced besides, if a text has one of the words: marks of sides in the forms of logs and prompt
// templates, our notes on what is in the archive, and our title of the user's words.
var replaced = []struct {
	words []string
	of    *regexp.Regexp
	by    string
}{
	{[]string{":", "："}, regexp.MustCompile(`(?m)^([\s>*#_\d.-]*)(` + turns + `)([*_]*)[ \t]*[:：]`), "$1($2)$3:"},
	{[]string{"["}, regexp.MustCompile(`(^|[^\w\])])\[\s*(/?\s*` + sides + `(?i:\s+(?:message|prompt))?)\s*\]`), "$1($2)"},
	{[]string{"{{"}, regexp.MustCompile(`\{\{([~#/\s]*` + sides + `\b[^{}\n]{0,60})\}\}`), "(($1))"},
	{
		[]string{store.RecallTool + " "},
		regexp.MustCompile(store.RecallTool + ` ([a-z]{12}|hash=[0-9a-f]{24})\b`),
		store.RecallTool + ` "$1"`,
	},
	{[]string{"compacted", "已压缩"}, regexp.MustCompile(`\((\d+ messages compacted|已压缩 \d+ 条消息)`), `("$1"`},
	{
		[]string{"ord for word", "ORD FOR WORD", "原话"},
		regexp.MustCompile(`(?mi)^([\s>*#-]*)(What the user said, word for word|用户的原话)(\s*[(:：（])`), `$1"$2"$3`,
	},
}

var ranks = regexp.MustCompile(`(?i)\(\s*(correction by a person)\s*\)`)

// WithoutRanks returns a text whose marks of a correction are in quotes: only the program sets them.
func WithoutRanks(s string) string { return ranks.ReplaceAllString(s, `"$1"`) }

// WithoutTemplate returns a text whose marks of chat templates have round brackets.
func WithoutTemplate(s string) string {
	if !strings.ContainsAny(s, "<[") {
		return s
	}
	return templateTokens.ReplaceAllString(s, "($1$2$3$4)")
}

// Defused returns a text in which nothing looks like a heading, a handle or a count of ours, a
// mark of a chat template, a tag of a program, or the beginning of a turn: it may come from a tool
// result, and stands next to what the user said. Invisible characters hide no mark: they go from a text with one.
func Defused(s string) string {
	if visible := strings.Map(asRead, s); visible != s {
		if d := defused(visible); d != visible {
			return d
		}
	}
	return defused(s)
}

// asRead returns a space for each space of Unicode, and -1 for characters that are not seen.
func asRead(r rune) rune {
	switch {
	case unicode.Is(unicode.Cf, r):
		return -1
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

func defused(s string) string {
	s = WithoutRanks(WithoutMarks(WithoutTemplate(s)))
	if strings.ContainsAny(s, "<＜") {
		s = tags.ReplaceAllStringFunc(s, func(found string) string {
			return "(" + strings.TrimSpace(tags.FindStringSubmatch(found)[1]) + ")"
		})
	}
	for _, m := range replaced {
		if slices.ContainsFunc(m.words, func(word string) bool { return strings.Contains(s, word) }) {
			s = m.of.ReplaceAllString(s, m.by)
		}
	}
	return s
}
