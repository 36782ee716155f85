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

var lists = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(wordFile) {
		if name, words, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && line[0] != '#' {
			all[name] = append(all[name], strings.Split(words, " | ")...)
		}
	}
	return all
}()

func set(name string) map[string]bool {
	m := map[string]bool{}
	for _, w := range lists[name] {
		m[w] = true
	}
	return m
}

// finder finds words in a text in one pass.
type finder struct {
	words []string
	first [256][]int // the words that begin with a byte
}

func newFinder(words []string) *finder {
	f := &finder{words: words}
	for i, w := range words {
		f.first[w[0]] = append(f.first[w[0]], i)
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

var patterns = func() (all []pattern) {
	for line := range strings.Lines(patternFile) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4); line[0] != '#' { //nolint:mnd // its columns
			all = append(all, pattern{f[0], f[1], f[3], regexp.MustCompile(f[2])})
		}
	}
	return all
}()

var (
	exitWords, partialWords = newFinder(lists["exit"]), newFinder(lists["partial"])
	stopWords               = newFinder(slices.Concat(lists["timed out"], lists["denied"], lists["cancelled"], lists["killed"]))

	stems = func() *finder {
		var words []string
		for _, p := range patterns {
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
		p := &patterns[i]
		if tried == nil {
			tried = make([]int, len(patterns))
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
	state   state  // unknown if the result does not show it for certain
	code    string // exit code, or ""
	fault   string // the line that shows what failed, or ""
	partial bool   // the output is not complete
}

// resultOf reads the result of a call. It was stopped or denied if a line at the beginning or the end states it. It failed
// if the result is an error. A command also failed if its exit code is not 0 or its output shows it; it passed if its exit
// code is 0, cannot hide that of another program, and the output shows nothing else. Otherwise nothing is certain.
func resultOf(r message.ToolResult, use toolUse) (o result) {
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
	if o.code == "" && (use.command != "" || use.access == written || r.Error) {
		o.state = stopIn(lines, r.Error)
		broken = broken || o.state != unknown
	}
	shown := ""
	switch {
	case s.acts:
		shown = failureIn(head + "\n" + tail)
	case use.command == "" && use.access != read:
		first, _, _ := strings.Cut(strings.TrimLeft(head, " \r\n"), "\n") // the others may be contents
		shown = failureIn(first)
	}
	switch {
	case o.state != unknown:
	case broken, shown != "", o.code != "" && o.code != "0" && (several || !s.acts || !s.filtered):
		o.state = failed
	case o.code == "0" && !s.hidden:
		o.state = passed
	}
	for _, line := range lines {
		for range partialWords.in(line) {
			o.partial = o.partial || isShort(line)
		}
	}
	if o.state != passed && o.state != unknown {
		o.fault = cmp.Or(faultIn(head, tail, broken), shown)
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
		first := len(stopWords.words)
		for at, i := range stopWords.in(line) {
			if at == 0 || isError || hasPrefix(line, lists["subject"]) {
				first = min(first, i)
			}
		}
		for _, s := range [...]state{timedOut, denied, cancelled, killed} {
			if first -= len(lists[english.outcomes[s]]); first < 0 {
				return s
			}
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
		json := line[0] == '{'
		for k, i := range exitWords.in(line) {
			if !json && (k > early || !isShort(line)) {
				break
			}
			rest := strings.TrimLeft(line[k+len(exitWords.words[i]):], "\"'`> :=：(")
			found := rest[:len(rest)-len(strings.TrimLeft(rest, "-0123456789"))]
			switch {
			case found == "" || len(found) > len("-1073741819"):
			case found != "0":
				return found, code != ""
			default:
				code = found
			}
		}
	}
	return code, false
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
		case ok && strings.HasSuffix(line, ":") && len(line) <= longest && !strings.Contains(line, " "):
			label = line
		case ok || place.MatchString(line):
			return line
		case first == "" && !isWrapper(line):
			first = line
		}
	}
	if whole {
		return cmp.Or(label, first)
	}
	return label
}

// isWrapper reports whether a line only announces the lines after it.
func isWrapper(line string) bool {
	const longest, most = 40, len("2</returncode>") // most: bytes after the words
	low := strings.ToLower(shorten.Head(line, longest))
	return slices.ContainsFunc(lists["wrapper"], func(w string) bool {
		return strings.HasPrefix(low, w) && len(line) <= len(w)+most
	})
}
