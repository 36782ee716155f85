package facts

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// What is read of a result, in bytes, but for identifiers.
const (
	headOfResult = 2 << 10
	tailOfResult = 1 << 10
)

// place fits what compilers and tests begin a complaint with: main.go:9:22: and the
// like.
var place = regexp.MustCompile(`^[\w./\\-]+\.\w{1,5}(:\d+){1,2}: \S`)

// outcome is how a call ended.
type outcome struct {
	state state  // passed or failed; unknown: the result does not say
	code  string // the exit code; "": unknown
	fault string // the line that tells what failed; "": nothing did, or it does not say
}

// outcomeOf tells it from a piece of a result. A command has failed if its exit
// code is not 0, or if the result is marked as an error; it has passed if the exit
// code is 0, and nothing else says so.
func outcomeOf(r message.ToolResult, command bool) (o outcome) {
	head, tail := r.Text, ""
	if len(head) > headOfResult+tailOfResult {
		head, tail = text.Head(r.Text, headOfResult), text.Tail(r.Text, tailOfResult)
	}
	if command {
		if o.code = exitCode(head, tail); o.code == "0" {
			o.state = passed
		} else if o.code != "" {
			o.state = failed
		}
	}
	broken := r.Error || startsWithFault(head)
	if broken {
		o.state = failed
	}
	if o.state == failed {
		o.fault = faultIn(head, tail, broken)
	}
	return o
}

// exitCode looks for it in the first and the last three lines.
func exitCode(head, tail string) string {
	if tail == "" {
		tail = head
	}
	const near = 3
	rest := head
	for range near {
		var line string
		line, rest, _ = strings.Cut(strings.TrimLeft(rest, "\r\n"), "\n")
		if code := codeIn(line); code != "" {
			return code
		}
	}
	rest = tail
	for range near {
		rest = strings.TrimRight(rest, "\r\n")
		k := strings.LastIndexByte(rest, '\n')
		if code := codeIn(rest[k+1:]); code != "" {
			return code
		}
		rest = rest[:max(k, 0)]
	}
	return ""
}

// codeIn returns the exit code that a line tells; "": it tells none.
func codeIn(line string) string {
	const longest, early = 120, 32
	if line = strings.TrimSpace(line); line == "" {
		return ""
	}
	json := line[0] == '{'
	if !json && len(line) > longest {
		return ""
	}
	low := strings.ToLower(line)
	for _, w := range exitWords {
		k := strings.Index(low, w)
		if k < 0 || !json && k > early {
			continue
		}
		rest := strings.TrimLeft(low[k+len(w):], "\"'`> :=：(")
		digits := len(rest) - len(strings.TrimLeft(rest, "-0123456789"))
		if digits > 0 && digits <= len("-1073741819") {
			return rest[:digits]
		}
	}
	return ""
}

// startsWithFault reports whether a result says of itself that it failed.
func startsWithFault(head string) bool {
	const longest = 64
	low := strings.ToLower(text.Head(strings.TrimLeft(head, " \t\r\n"), longest))
	for _, w := range faultStarts {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return strings.TrimSpace(low) == "error"
}

// faultIn returns the line that tells what failed: the first that names a place in
// a file or reads like an error, else, if the result is one as a whole, the first
// that says anything.
func faultIn(head, tail string, whole bool) string {
	first, label := "", ""
	for _, s := range [...]string{head, tail} {
		for line := range strings.Lines(s) {
			line = strings.TrimSpace(line)
			_, ok := digest.Fault(line)
			switch {
			case label != "" && line != "":
				return label + " " + line
			case ok && isLabel(line): // it says what failed in the line below
				label = line
				continue
			case ok || place.MatchString(line):
				return line
			}
			if first == "" && !isWrapper(line) {
				first = line
			}
		}
	}
	if whole {
		return cmp.Or(label, first)
	}
	return label
}

// isLabel reports whether a line is a word with a colon.
func isLabel(line string) bool {
	const longest = 20
	return strings.HasSuffix(line, ":") && len(line) <= longest && !strings.Contains(line, " ")
}

// isWrapper reports whether a line only says what kind of lines follow.
func isWrapper(line string) bool {
	const longest, most = 40, len("2</returncode>") // most: what may stand behind the words
	low := strings.ToLower(text.Head(line, longest))
	for _, w := range wrappers {
		if strings.HasPrefix(low, w) && len(line) <= len(w)+most {
			return true
		}
	}
	return false
}

// Files returns the names of the newest files, at most n, the oldest of them
// first, each as a line.
func (l *Ledger) Files(n int) []string { return newest(l.fileLines(), n) }

// Commands returns the newest commands likewise, with what is known of their
// outcome in the given language.
func (l *Ledger) Commands(n int, lang text.Language) []string {
	return newest(l.commandLines(wordings[lang.Or(text.English)]), n)
}

// Errors returns the newest errors likewise.
func (l *Ledger) Errors(n int) []string { return newest(l.errorLines(), n) }

func newest(lines []line, n int) []string {
	var texts []string
	for _, l := range lines[max(len(lines)-n, 0):] {
		texts = append(texts, l.text)
	}
	return texts
}
