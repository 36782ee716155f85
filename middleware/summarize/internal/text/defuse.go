package text

import (
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/store"
)

// templateTokens match the marks of chat templates, which local servers may read in any text.
var templateTokens = regexp.MustCompile(`<([|｜][^<>\n]{1,60}?[|｜])>|<(/?(?:s|bos|eos|start_of_turn|end_of_turn))>|` +
	`(?i:\[(/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS))\]|<<(/?SYS)>>)`)

// tags match tags that look like those of a program that talks to the model.
var tags = regexp.MustCompile(`(?i)[<＜](\s*/?\s*[\w:.-]*(?:system|remind|instruct|human|user|assistant|developer|admin|prompt|antml|` +
	`function|tool|invoke|record|important|policy|override|系统|提醒|指令|用户)[\w:.-]*[^<>＜＞\n]{0,200})[>＞]?`)

// turns match the beginning of a turn, orders our mark of a standing order, said our title
// of the user's words, and handles our notes on what is in the archive.
var (
	turns   = regexp.MustCompile(`(?m)^([\s>*#-]*)(Human|System|Developer|HUMAN|SYSTEM|DEVELOPER)[ \t]*[:：]`)
	orders  = regexp.MustCompile(`(?i)\(\s*(standing order)\s*\)`)
	said    = regexp.MustCompile(`(?mi)^([\s>*#-]*)(What the user said, word for word|用户的原话)(\s*[(:：（])`)
	handles = regexp.MustCompile(store.RecallTool + ` ([a-z]{12})\b`)
	counted = regexp.MustCompile(`\((\d+ messages compacted|已压缩 \d+ 条消息)`)
)

// WithoutTemplate returns a text whose marks of chat templates have round brackets.
func WithoutTemplate(s string) string {
	if !strings.ContainsAny(s, "<[") {
		return s
	}
	return templateTokens.ReplaceAllString(s, "($1$2$3$4)")
}

// Defused returns a text in which nothing looks like a heading, a handle or a count of ours, a
// mark of a chat template, a tag of a program, or the beginning of a turn: it may come from a tool
// result, and stands next to what the user said.
func Defused(s string) string {
	s = WithoutMarks(WithoutTemplate(s))
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
	}
	if has("<", "＜") {
		s = tags.ReplaceAllStringFunc(s, func(found string) string {
			return "(" + strings.TrimSpace(tags.FindStringSubmatch(found)[1]) + ")"
		})
	}
	if has("uman", "ystem", "eveloper", "HUMAN", "SYSTEM", "DEVELOPER") {
		s = turns.ReplaceAllString(s, "$1($2):")
	}
	if has("(") {
		s = orders.ReplaceAllString(s, `"$1"`)
	}
	if has(store.RecallTool + " ") {
		s = handles.ReplaceAllString(s, store.RecallTool+` "$1"`)
	}
	if has("compacted", "已压缩") {
		s = counted.ReplaceAllString(s, `("$1"`)
	}
	if has("ord for word", "ORD FOR WORD", "原话") {
		s = said.ReplaceAllString(s, `$1"$2"$3`)
	}
	return s
}
