package facts

import (
	"cmp"
	_ "embed" // for patterns.txt and words.txt
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/failure"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

//go:embed patterns.txt
var patternFile string

//go:embed words.txt
var wordFile string

// lists are those of words.txt. Keys are compared in lower case, without - and _.
var lists = lex.Lists(wordFile, " | ")

// patterns are the lines of patterns.txt by their kind.
var patterns = lex.Patterns(patternFile)

// matches reports whether a text matches the only pattern of a kind.
func matches(kind, said string) bool { return patterns[kind][0].MatchString(said) }

// result is how a call ended.
type result struct {
	state  state  // unknown if the result does not show it for certain
	code   string // exit code, or ""
	fault  string // the line that shows what failed, or ""
	last   string // the last line of the output, if the state is unknown
	tested bool   // the output reports how tests ended, or that there were none
}

// resultOf reads the result of a call. It was stopped or denied if a line at the beginning or the end states it. It failed
// if the result is an error. A command also failed if its exit code is not 0 or its output shows it; it passed if its exit
// code is 0, cannot hide that of another program, and the output shows nothing else. Otherwise nothing is certain.
func resultOf(r message.ToolResult, c *call) (o result) {
	const opening = 80 // bytes
	flagged := strings.Contains(r.Text, "isError=True")
	output := c.outputOf(r.Text)
	lines := outerLines(output)
	if c.line != "" {
		o.code = exitCode(lines)
	}
	broken := r.Error || flagged || (o.code != "0" || c.acts) && matches("broken", shorten.Head(output, opening))
	if o.code == "" && (c.line != "" || c.kind == writes || r.Error) {
		o.state = stopIn(lines, r.Error)
		broken = broken || o.state != unknown
	}
	line, hint, tested := c.failureIn(output)
	o.tested = tested
	certain := o.code == "0" && !c.hidden
	if certain && line != "" && failure.PassesAfter(output, line) {
		certain, line = false, "" // of several attempts the last one passed
	}
	if how := lists["code"].Of(o.code); how != "" && o.state == unknown && c.acts {
		o.state = state(slices.Index(english.outcomes[:], how))
	}
	switch {
	case o.state != unknown:
	case broken, line != "", hint != "" && !certain, o.code != "" && o.code != "0" && (!c.acts || !c.filtered):
		o.state = failed
	case certain && hint == "":
		o.state = passed
	}
	if o.code == "0" && o.state != passed {
		o.code = ""
	}
	switch {
	case o.state == unknown:
		o.last = lastLine(output)
	case o.state >= failed:
		o.fault = cmp.Or(faultIn(output, broken), line, hint)
	}
	return o
}

// outputOf returns both ends of a result without the codes of a terminal; if the call is no command, the text in it.
func (c *call) outputOf(output string) string {
	if hasAny(output, lists["escape"].Words) {
		output = without("escape", output)
	}
	output = text.Ends(output)
	if c.line != "" {
		return output
	}
	return unwrapped(output)
}

// failureIn returns what [failure.In] finds in the output of a command, or in the first and the last line of another result.
func (c *call) failureIn(output string) (line, hint string, tested bool) {
	const ofJSON = 400 // bytes
	switch {
	case c.acts:
		return failure.In(output)
	case c.line == "" && c.kind != reads:
		first, _, _ := strings.Cut(strings.TrimLeft(output, " \r\n"), "\n")
		if strings.Trim(first, "{[ \r") == "" {
			first = strings.Join(strings.Fields(shorten.Head(output, ofJSON)), " ")
		}
		if c.kind == acts {
			trimmed := strings.TrimSpace(output)
			first += "\n" + trimmed[strings.LastIndexByte(trimmed, '\n')+1:]
		}
		line, _, _ = failure.In(first) // the rest may be contents
	}
	return line, "", false
}

// unwrapped returns the text in a result of MCP, or any other result as it is.
func unwrapped(result string) string {
	if m := patterns["text"][0].FindStringSubmatch(result); m != nil {
		return lex.Unescape(m[1] + m[2])
	}
	return result
}

// lastLine returns the last line of an output that is not empty, without what a harness puts around it, in about 12 tokens.
func lastLine(output string) string {
	const longest, trailer = 48, 40 // code points of the line; bytes of a line with an exit code alone
	lines := strings.Split(output, "\n")
	for _, line := range slices.Backward(lines[max(0, len(lines)-9):]) {
		line = strings.TrimSpace(line)
		isTrailer := len(line) <= trailer && matches("exit", strings.ToLower(line))
		if line != "" && !isTrailer && !matches("wrapper", line) {
			return strings.ReplaceAll(text.Line(line, longest), `"`, "'")
		}
	}
	return ""
}

// outerLines returns the first three lines in lower case, then the last three, the last one first, without spaces around them.
func outerLines(output string) (lines []string) {
	const near = 3
	lines = strings.SplitN(strings.TrimLeft(output, "\r\n"), "\n", near+1)
	lines = lines[:min(near, len(lines))]
	for range near {
		output = strings.TrimRight(output, "\r\n")
		k := strings.LastIndexByte(output, '\n')
		lines, output = append(lines, output[k+1:]), output[:max(k, 0)]
	}
	lines = slices.Compact(lines)
	for i, line := range lines {
		lines[i] = strings.ToLower(strings.TrimSpace(line))
	}
	return lines
}

// stopIn returns how a call was stopped, as one of these short lines states it, or unknown. Such a line begins with what
// happened, or with what it happened to. In a result that is an error, any short line counts.
func stopIn(lines []string, isError bool) state {
	for _, line := range lines {
		line = strings.Trim(line, " \t[]<>()*.!。")
		if line == "" || len(line) > longestNote {
			continue
		}
		anywhere := isError || slices.ContainsFunc(lists["subject"].Words, func(w string) bool { return strings.HasPrefix(line, w) })
		for i, w := range lists["stop"].Words {
			if strings.HasPrefix(line, w) || anywhere && strings.Contains(line, w) {
				return state(slices.Index(english.outcomes[:], lists["stop"].Means[i]))
			}
		}
	}
	return unknown
}

// exitCode returns the first exit code in lines that is not 0, "0" if all are, or "" if there is none.
func exitCode(lines []string) (code string) {
	const early = 32
	for _, line := range lines {
		if !hasAny(line, lists["exit stem"].Words) {
			continue
		}
		for _, m := range patterns["exit"][0].FindAllStringSubmatchIndex(line, -1) {
			if line[0] != '{' && (m[0] > early || len(line) > longestNote) {
				break
			}
			at := slices.DeleteFunc(slices.Clone(m[2:]), func(i int) bool { return i < 0 })
			if found := line[at[0]:at[1]]; found != "0" {
				return found
			}
			code = "0"
		}
	}
	return code
}

func hasAny(said string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(said, part) })
}

// faultIn returns the line that shows what failed: the first with a place in a file or with an error; otherwise, if the
// whole result is an error, its first line that is no frame of a traceback.
func faultIn(output string, whole bool) (first string) {
	for raw := range strings.Lines(output) {
		line := strings.TrimSpace(raw)
		if line == "" || matches("wrapper", line) {
			continue
		}
		if matches("fault", line) || matches("place", line) {
			return line
		}
		if whole && raw[0] > ' ' { // below a frame is the error
			first = cmp.Or(first, line)
		}
	}
	return first
}

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
