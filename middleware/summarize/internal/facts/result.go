package facts

import (
	"cmp"
	_ "embed" // for patterns.txt and words.txt
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

//go:embed patterns.txt
var patternFile string

//go:embed words.txt
var wordFile string

// lists are those of words.txt.
var lists = lex.Lists(wordFile, " | ")

// is reports whether a word is in a list. Keys are compared in lower case, without - and _.
func is(list, word string) bool { return lists[list].Has(word) }

// begins reports whether a text begins with a word of a list.
func begins(list, text string) bool {
	return slices.ContainsFunc(lists[list].Words, func(w string) bool { return strings.HasPrefix(text, w) })
}

// pattern is a line of patterns.txt.
type pattern struct {
	kind, stem, example string
	line                *regexp.Regexp
}

// patterns are the lines of patterns.txt by their kind.
var patterns = func() map[string][]pattern {
	all := map[string][]pattern{}
	for line := range strings.Lines(patternFile) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4); line[0] != '#' { //nolint:mnd // its columns
			all[f[0]] = append(all[f[0]], pattern{f[0], f[1], f[3], regexp.MustCompile(f[2])})
		}
	}
	return all
}()

// shows returns a line of an output that matches a pattern of a kind, or "".
func shows(kind, output string) string {
	const most, longest = 20, 400 // lines that a pattern is compared with; bytes of a line
	absent := ""                  // the newest stem that the output does not have
	for _, p := range patterns[kind] {
		rest := output
		for n := 0; n < most && p.stem != absent; n++ {
			at := strings.Index(rest, p.stem)
			if at < 0 && n == 0 {
				absent = p.stem
			}
			if at < 0 {
				break
			}
			from := max(strings.LastIndexByte(rest[:at], '\n')+1, at-longest)
			line, after, _ := strings.Cut(rest[from:], "\n")
			line = strings.TrimSpace(shorten.Head(line, 2*longest))
			if p.line.MatchString(line) && (kind != "failed" || !patterns["one"][0].line.MatchString(line)) {
				return line
			}
			rest = after
		}
	}
	return ""
}

// result is how a call ended.
type result struct {
	state  state  // unknown if the result does not show it for certain
	code   string // exit code, or ""
	fault  string // the line that shows what failed, or ""
	tested bool   // the output reports how tests ended, or that there were none
}

// resultOf reads the result of a call. It was stopped or denied if a line at the beginning or the end states it. It failed
// if the result is an error. A command also failed if its exit code is not 0 or its output shows it; it passed if its exit
// code is 0, cannot hide that of another program, and the output shows nothing else. Otherwise nothing is certain.
func resultOf(r message.ToolResult, use use) (o result) {
	const half = 16 << 10 // bytes
	head, tail := r.Text, ""
	if len(head) > 2*half {
		head, tail = shorten.Head(r.Text, half), shorten.Tail(r.Text, half)
	}
	lines, s := outerLines(head, cmp.Or(tail, head)), shellOf(use.command)
	several, line := false, ""
	if use.command != "" {
		o.code, several = exitCode(lines)
	}
	broken := r.Error || (o.code != "0" || s.acts) && startsWithFault(head)
	if o.code == "" && (use.command != "" || use.kind == writes || r.Error) {
		o.state = stopIn(lines, r.Error)
		broken = broken || o.state != unknown
	}
	switch {
	case s.acts:
		line, o.tested = failureIn(head + "\n" + tail)
	case use.command == "" && use.kind != reads:
		line, _ = failureIn(opening(head)) // the rest may be contents
	}
	switch {
	case o.state != unknown:
	case broken, line != "", o.code != "" && o.code != "0" && (several || !s.acts || !s.filtered):
		o.state = failed
	case o.code == "0" && !s.hidden:
		o.state = passed
	}
	if o.state != passed && o.state != unknown {
		o.fault = cmp.Or(faultIn(head, tail, broken), line)
	}
	return o
}

// opening returns the first line of a result, or of JSON in several lines the first values in one line.
func opening(result string) string {
	const longest = 400 // bytes
	first, _, _ := strings.Cut(strings.TrimLeft(result, " \r\n"), "\n")
	if strings.Trim(first, "{[ \r") == "" {
		return strings.Join(strings.Fields(shorten.Head(result, longest)), " ")
	}
	return first
}

// failureIn returns the line of an output that shows a failure, or "", and whether the output reports how tests ended. If
// tests were run and did not fail, an error that was printed is theirs.
func failureIn(output string) (line string, tested bool) {
	if !strings.Contains(output, "\n") || strings.HasPrefix(output, "{") || strings.HasPrefix(output, "[{") {
		output += "\n" + lex.Unescape(output) // JSON
	}
	isTest := func() bool { return patterns["test"][0].line.MatchString(output) }
	if line = shows("failed", output); line != "" {
		return line, isTest()
	}
	if shows("some", output) != "" {
		return shows("build", output), isTest()
	}
	line = shows("none", output)
	return cmp.Or(line, shows("build", output), shows("fault", output)), line != ""
}

// outerLines returns the first three lines in lower case, then the last three, the last one first, each one once and
// without spaces around it.
func outerLines(head, tail string) (lines []string) {
	const near = 3
	add := func(line string) {
		if line = strings.ToLower(strings.TrimSpace(line)); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	lines = make([]string, 0, 2*near)
	for range near {
		line, rest, _ := strings.Cut(strings.TrimLeft(head, "\r\n"), "\n")
		add(line)
		head = rest
	}
	for range near {
		tail = strings.TrimRight(tail, "\r\n")
		k := strings.LastIndexByte(tail, '\n')
		add(tail[k+1:])
		tail = tail[:max(k, 0)]
	}
	return lines
}

// stops are the states of a call that was stopped, by the list with the words for it.
var stops = []struct {
	list  string
	state state
}{{"timed out", timedOut}, {"denied", denied}, {"cancelled", cancelled}, {"killed", killed}}

// stopIn returns how a call was stopped, as one of these short lines states it, or unknown. Such a line begins with what
// happened, or with what it happened to. In a result that is an error, any short line counts.
func stopIn(lines []string, isError bool) state {
	for _, line := range lines {
		if line = strings.Trim(line, " \t[]<>()*.!。"); !isShort(line) {
			continue
		}
		anywhere := isError || begins("subject", line)
		for _, stop := range stops {
			if begins(stop.list, line) || anywhere && hasAny(line, lists[stop.list].Words) {
				return stop.state
			}
		}
	}
	return unknown
}

func isShort(line string) bool { return len(line) <= 160 } //nolint:mnd // bytes of a line that a tool adds

// exitCode returns the first exit code in lines that is not 0, "0" if all are, or "" if there is none, and whether there
// was a 0 before it.
func exitCode(lines []string) (code string, several bool) {
	const early = 32
	for _, line := range lines {
		if !hasAny(line, lists["exit stem"].Words) {
			continue
		}
		for _, m := range exit.FindAllStringSubmatchIndex(line, -1) {
			if line[0] != '{' && (m[0] > early || !isShort(line)) {
				break
			}
			if found := line[m[2]:m[3]]; found != "0" {
				return found, code != ""
			}
			code = "0"
		}
	}
	return code, false
}

// exit matches an exit code in a line in lower case.
var exit = regexp.MustCompile("(?:exit[ _]?(?:code|status)|exited with (?:code|status)|return[ _]?code|exit:|退出码|退出代码|返回码)" +
	"[\"'`> :=：(]*(-?\\d{1,10})")

func hasAny(line string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) })
}

// decisionIn returns whether a result begins with what the user decided about its call, and the words of the user about it.
func decisionIn(result string) (how state, said string) {
	const read, opening = 4 << 10, 100 // bytes
	start := shorten.Head(result, opening)
	if !hasAny(start, []string{"user", "User", "用户"}) {
		return unknown, ""
	}
	for _, p := range slices.Concat(patterns["refused"], patterns["approved"]) {
		m := p.line.FindStringIndex(start)
		if m == nil {
			continue
		}
		rest := strings.ReplaceAll(shorten.Head(result[m[1]:], read), "\n", " ")
		if of := patterns["said"][0].line.FindStringSubmatch(rest); of != nil {
			said = strings.TrimSpace(of[1])
		}
		return map[string]state{"refused": refused, "approved": approved}[p.kind], said
	}
	return unknown, ""
}

// startsWithFault reports whether a result begins as an error.
func startsWithFault(head string) bool {
	const longest = 64
	low := strings.TrimSpace(strings.ToLower(shorten.Head(strings.TrimLeft(head, " \t\r\n"), longest)))
	return low == "error" || strings.HasPrefix(low, "error\n") || begins("fault", low)
}

// place matches the beginning of a message of compilers and tests, as "main.go:9:22: ".
var place = regexp.MustCompile(`^[\w./\\-]+\.\w{1,5}(:\d+){1,2}: \S`)

// faultIn returns the line that shows what failed: the first with a place in a file or with an error; otherwise, if the
// whole result is an error, its first line.
func faultIn(head, tail string, whole bool) string {
	first, indented := "", ""
	for raw := range strings.Lines(head + "\n" + tail) {
		line := strings.TrimSpace(raw)
		if isWrapper(line) {
			continue
		}
		if _, ok := lex.Fault(line); ok || place.MatchString(line) {
			return line
		}
		if raw[0] == ' ' || raw[0] == '\t' { // a frame of a traceback; the error is below
			indented = cmp.Or(indented, line)
		} else {
			first = cmp.Or(first, line)
		}
	}
	if whole {
		return cmp.Or(first, indented)
	}
	return ""
}

// isWrapper reports whether a line only announces the lines after it.
func isWrapper(line string) bool {
	const longest, most = 40, len("2</returncode>") // most: bytes after the words
	low := strings.ToLower(shorten.Head(line, longest))
	label := strings.HasSuffix(line, ":") && !strings.Contains(line, " ")
	return label || slices.ContainsFunc(lists["wrapper"].Words, func(w string) bool {
		return strings.HasPrefix(low, w) && len(line) <= len(w)+most
	})
}
