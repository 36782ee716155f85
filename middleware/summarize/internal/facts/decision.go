package facts

import (
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// readOfDecision is what is read of a result with a decision, in bytes.
const readOfDecision = 4 << 10

// decisionIn returns what the user decided about a call, and the words of the user, or unknown. Any tool can print the words of
// a decision, so they count only in the result of a call that asks the user, and a refusal also in that of a call that does
// something: not of one that reads, searches or prints, and of one that is not known only if the result is an error.
func (c *call) decisionIn(r message.ToolResult, asking []string) (how state, said string) {
	whole := strings.TrimSpace(shorten.Head(r.Text, readOfDecision))
	asks := c.asksUser(asking)
	if (asks || c.may(r.Error)) && matches("refused by the user", shorten.Head(whole, longestLine)) {
		return refused, wordsIn(whole)
	}
	switch {
	case !asks:
		return unknown, ""
	case matches("approved by the user", whole):
		return approved, wordsIn(whole)
	case r.Error || whole == "" || matches("unanswered", whole) || slices.Contains(words(c.Name), "plan"):
		return unknown, ""
	}
	return answered, answersIn(whole, c.questions())
}

// speaksOfUser reports whether a result begins as a decision does, which it need not be.
func speaksOfUser(result string) bool {
	first := shorten.Head(strings.TrimSpace(result), longestLine)
	return matches("refused by the user", first) || matches("approved by the user", first) || matches("answered", first)
}

// asksUser reports whether a call asks the user: by the name of its tool, or since it has a question or a plan and a name
// that says so. A tool of another server, as mcp__docs__ask_question, has to name the user.
func (c *call) asksUser(asking []string) bool {
	if slices.Contains(asking, c.Name) {
		return true
	}
	isForeign := strings.HasPrefix(c.Name, "mcp__")
	name := c.Name[strings.LastIndex(c.Name, "__")+1:]
	parts := words(name)
	toPerson := slices.ContainsFunc(parts, lists["person"].Has)
	if lists["asking"].Has(bareKey(name)) {
		return toPerson || !isForeign
	}
	asked := slices.ContainsFunc(fields(c.Arguments), func(f field) bool { return lists["asked"].Has(bareKey(f.key)) })
	isAsking := toPerson && slices.ContainsFunc(parts, lists["ask"].Has)
	return asked && (isAsking || !isForeign && slices.ContainsFunc(parts, lists["approve"].Has))
}

// may reports whether a refusal in the result of a call may be one of the user.
func (c *call) may(isError bool) bool {
	does := func(w string) bool { return lists["access"].Of(w) == "write" || lists["acting"].Has(w) }
	mayAct := c.kind == acts && (isError || slices.ContainsFunc(words(c.Name), does))
	return mayAct || c.kind == writes || c.kind == runs && !c.prints
}

// wordsIn returns the words of the user in a refusal or an approval: in an element or a value of JSON, or after a colon in the
// first line, but not what the harness itself says.
func wordsIn(whole string) string {
	if m := patterns["reply"][0].FindStringSubmatch(whole); m != nil {
		return strings.TrimSpace(lex.Unescape(m[1] + m[2]))
	}
	first, rest, _ := strings.Cut(whole, "\n")
	first = strings.TrimSpace(first)
	if strings.HasSuffix(first, ":") {
		first += " " + rest
	}
	m := patterns["said"][0].FindStringSubmatch(strings.ReplaceAll(first, "\n", " "))
	if m == nil {
		return ""
	}
	return strings.TrimSpace(without("harness", m[1]))
}

// questions returns what a call asks.
func (c *call) questions() (all []string) {
	for _, f := range fields(c.Arguments) {
		if bareKey(f.key) == "question" {
			all = append(all, f.text(readOfCommand))
		}
	}
	return all
}

var pair = regexp.MustCompile(`"([^"\n]+)" ?= ?"([^"]*)"`)

// answersIn returns what the user answered, each answer with its question. If there is little room, the questions are shortened first.
func answersIn(whole string, questions []string) string {
	whole = without("harness", without("answered", whole))
	var asked, answers []string
	for _, m := range pair.FindAllStringSubmatch(whole, -1) {
		asked, answers = append(asked, m[1]), append(answers, m[2])
	}
	if m := patterns["reply"][0].FindStringSubmatch(whole); answers == nil && m != nil && m[1] != "" {
		answers = []string{m[1]}
	}
	if answers == nil && strings.HasPrefix(whole, "{") {
		for _, f := range fields(whole) {
			if key := bareKey(f.key); !lists["about"].Has(key) && !slices.Contains(questions, f.raw) {
				answers = append(answers, f.text(readOfCommand))
			}
		}
	}
	if answers == nil {
		answers = []string{strings.Trim(whole, `"`)}
	}
	if asked == nil && len(questions) == len(answers) {
		asked = questions
	}
	room := longestSaid
	for i, a := range answers {
		answers[i] = text.Line(a, longestSaid/len(answers))
		room -= len([]rune(answers[i]))
	}
	for i, q := range asked {
		answers[i] = `"` + text.Line(q, max(1, room/len(asked))) + `"="` + strings.TrimSpace(answers[i]) + `"`
	}
	if asked == nil {
		return `"` + strings.Join(answers, `", "`) + `"`
	}
	return strings.Join(answers, ", ")
}
