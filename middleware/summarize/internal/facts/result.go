package facts

import (
	"cmp"
	_ "embed" // for patterns.txt and words.txt
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

//go:embed patterns.txt
var patternFile string

//go:embed words.txt
var wordFile string

// lists are those of words.txt, also as sets.
var lists, sets = func() (lists map[string][]string, sets map[string]map[string]bool) {
	lists, sets = map[string][]string{}, map[string]map[string]bool{}
	for line := range strings.Lines(wordFile) {
		name, words, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		if sets[name] == nil {
			sets[name] = map[string]bool{}
		}
		for w := range strings.SplitSeq(words, " | ") {
			lists[name], sets[name][w] = append(lists[name], w), true
		}
	}
	return lists, sets
}()

// is reports whether a word is in a list. Keys are compared in lower case, without - and _.
func is(list, word string) bool { return sets[list][word] }

// finder finds words of lists in a text in one pass.
type finder struct {
	words []string
	list  []int      // of each word, its list
	first [256][]int // the words that begin with a byte
}

func newFinder(lists ...[]string) *finder {
	f := &finder{}
	for n, list := range lists {
		for _, w := range list {
			f.first[w[0]] = append(f.first[w[0]], len(f.words))
			f.words, f.list = append(f.words, w), append(f.list, n)
		}
	}
	return f
}

// in yields the positions of the words in a text.
func (f *finder) in(text string) iter.Seq2[int, int] {
	return func(yield func(at, word int) bool) {
		for at := range len(text) {
			for _, i := range f.first[text[at]] {
				if strings.HasPrefix(text[at:], f.words[i]) && !yield(at, i) {
					return
				}
			}
		}
	}
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

var (
	stopWords = newFinder(lists["timed out"], lists["denied"], lists["cancelled"], lists["killed"])
	stops     = [...]state{timedOut, denied, cancelled, killed}

	shown = slices.Concat(patterns["failed"], patterns["none"], patterns["some"], patterns["fault"])
	stems = func() *finder {
		var words []string
		for _, p := range shown {
			words = append(words, p.stem)
		}
		return newFinder(words)
	}()
)

// shows returns the first line of an output for each kind of pattern.
func shows(output string) map[string]string {
	const most, longest = 20, 400 // lines that a pattern is compared with; bytes of a line
	var tried []int
	found := map[string]string{}
	for at, i := range stems.in(output) {
		p := &shown[i]
		if tried == nil {
			tried = make([]int, len(shown))
		}
		if found[p.kind] != "" || tried[i] == most {
			continue
		}
		tried[i]++
		from := max(strings.LastIndexByte(output[:at], '\n')+1, at-longest)
		line, _, _ := strings.Cut(output[from:min(len(output), from+2*longest)], "\n")
		if line = strings.TrimSpace(line); p.line.MatchString(line) {
			found[p.kind] = line
		}
	}
	return found
}

// result is how a call ended.
type result struct {
	state state  // unknown if the result does not show it for certain
	code  string // exit code, or ""
	fault string // the line that shows what failed, or ""
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
	several := false
	if use.command != "" {
		o.code, several = exitCode(lines)
	}
	broken := r.Error || (o.code != "0" || s.acts) && startsWithFault(head)
	if o.code == "" && (use.command != "" || use.kind == writes || r.Error) {
		o.state = stopIn(lines, r.Error)
		broken = broken || o.state != unknown
	}
	line := ""
	switch {
	case s.acts:
		line = failureIn(head + "\n" + tail)
	case use.command == "" && use.kind != reads:
		first, _, _ := strings.Cut(strings.TrimLeft(head, " \r\n"), "\n") // the others may be contents
		line = failureIn(first)
	}
	switch {
	case o.state != unknown:
	case broken, line != "", o.code != "" && o.code != "0" && (several || !s.acts || !s.filtered):
		o.state = failed
	case o.code == "0" && !s.hidden:
		o.state = passed
	}
	if o.state != passed && o.state != unknown {
		if isWrapper(line) { // the end of a traceback has the error
			line = lastLine(cmp.Or(tail, head))
		}
		o.fault = cmp.Or(faultIn(head, tail, broken), line)
	}
	return o
}

var unescaped = strings.NewReplacer(`\\n`, "\n", `\n`, "\n", `\"`, `"`)

// failureIn returns the line of an output that shows a failure, or "".
func failureIn(output string) string {
	if !strings.Contains(output, "\n") || strings.HasPrefix(output, "{") || strings.HasPrefix(output, "[{") {
		output += "\n" + unescaped.Replace(output) // JSON
	}
	found := shows(output)
	if found["some"] != "" {
		return found["failed"]
	}
	return cmp.Or(found["failed"], found["none"], found["fault"])
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

// stopIn returns how a call was stopped, as one of these short lines states it, or unknown. Such a line begins with what
// happened, or with what it happened to. In a result that is an error, any short line counts.
func stopIn(lines []string, isError bool) state {
	for _, line := range lines {
		if line = strings.Trim(line, " \t[]<>()*.!。"); !isShort(line) {
			continue
		}
		first := len(stops)
		for at, i := range stopWords.in(line) {
			if at == 0 || isError || hasPrefix(line, lists["subject"]) {
				first = min(first, stopWords.list[i])
			}
		}
		if first < len(stops) {
			return stops[first]
		}
	}
	return unknown
}

func isShort(line string) bool { return len(line) <= 160 } //nolint:mnd // bytes of a line that a tool adds

func hasPrefix(line string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line, w) })
}

// exitCode returns the first exit code in lines that is not 0, "0" if all are, or "" if there is none, and whether there
// was a 0 before it.
func exitCode(lines []string) (code string, several bool) {
	const early = 32
	for _, line := range lines {
		if !hasAny(line, lists["exit stem"]) {
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
	if !strings.Contains(start, "user") && !strings.Contains(start, "User") && !strings.Contains(start, "用户") {
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
	return low == "error" || strings.HasPrefix(low, "error\n") || hasPrefix(low, lists["fault"])
}

// place matches the beginning of a message of compilers and tests, as "main.go:9:22: ".
var place = regexp.MustCompile(`^[\w./\\-]+\.\w{1,5}(:\d+){1,2}: \S`)

// faultIn returns the line that shows what failed: the first with a place in a file or with an error; otherwise, if the
// whole result is an error, its first line.
func faultIn(head, tail string, whole bool) string {
	const longest = 20 // bytes of a word that announces the next line
	first, label := "", ""
	for line := range strings.Lines(head + "\n" + tail) {
		line = strings.TrimSpace(line)
		_, ok := digest.Fault(line)
		switch {
		case label != "" && line != "":
			return label + " " + line
		case isWrapper(line):
		case ok && strings.HasSuffix(line, ":") && len(line) <= longest && !strings.Contains(line, " "):
			label = line
		case ok || place.MatchString(line):
			return line
		case first == "":
			first = line
		}
	}
	if whole {
		return cmp.Or(label, first)
	}
	return label
}

// lastLine returns the last line that is not blank and does not only surround others.
func lastLine(output string) string {
	for _, line := range slices.Backward(strings.Split(output, "\n")) {
		if line = strings.TrimSpace(line); line != "" && !isWrapper(line) {
			return line
		}
	}
	return ""
}

// isWrapper reports whether a line only announces the lines after it.
func isWrapper(line string) bool {
	const longest, most = 40, len("2</returncode>") // most: bytes after the words
	low := strings.ToLower(shorten.Head(line, longest))
	return slices.ContainsFunc(lists["wrapper"], func(w string) bool {
		return strings.HasPrefix(low, w) && len(line) <= len(w)+most
	})
}
