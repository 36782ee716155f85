// Package failure finds the line of an output that shows that something failed: tests, a compiler, a shell, a call.
//
//	line, hint, tested := failure.In("ok a\n--- FAIL: TestB (0.02s)\n") // "--- FAIL: TestB (0.02s)", "", true
package failure

import (
	"cmp"
	_ "embed" // for patterns.txt
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

//go:embed patterns.txt
var file string

// patterns are the lines of patterns.txt by their kind.
var patterns = lex.Patterns(file)

// matches reports whether a text matches the only pattern of a kind.
func matches(kind, said string) bool { return patterns[kind][0].MatchString(said) }

// index returns where a stem is in a text, or -1. Its first letter may be a capital.
func index(text, stem string) int {
	for i := 1; i < len(text); i++ {
		k := strings.Index(text[i:], stem[1:])
		if k < 0 {
			break
		}
		i += k
		if b := text[i-1]; b == stem[0] || b|0x20 == stem[0] {
			return i - 1
		}
	}
	return -1
}

// pairs are the pairs of bytes that a text has, in lower case: most stems are not in most outputs.
type pairs [1 << 12]bool

// have reports whether the pairs of a text are there. If it is to add them, they are.
func (p *pairs) have(said string, add bool) bool {
	for i := 1; i < len(said); i++ {
		pair := (uint(said[i-1]|0x20)<<5 ^ uint(said[i]|0x20)) % uint(len(p))
		if add {
			p[pair] = true
		} else if !p[pair] {
			return false
		}
	}
	return true
}

// shows returns a line of an output with these pairs that matches a pattern of a kind, or "". A line that is repeated at once is
// compared once.
func (p *pairs) shows(kind, output string) string {
	const most, longest = 20, 400 // lines that a pattern is compared with; bytes of a line
	for _, by := range patterns[kind] {
		rest, last := output, ""
		for n := 0; n < most && (n > 0 || p.have(by.Stem, false)); n++ {
			at := index(rest, by.Stem)
			if at < 0 {
				break
			}
			from := max(strings.LastIndexByte(rest[:at], '\n')+1, at-longest)
			line, after, _ := strings.Cut(rest[from:], "\n")
			rest = after
			if line == last {
				continue
			}
			last = line
			line = strings.TrimSpace(shorten.Head(line, 2*longest))
			if by.MatchString(line) && !isWhole(by, line) && (kind != "failed" || !matches("one", line)) {
				return line
			}
		}
	}
	return ""
}

// isWhole reports whether a line counts a part of something, and the part is all of it: 3 of 3.
func isWhole(p *lex.Pattern, line string) bool {
	part, all := p.SubexpIndex("part"), p.SubexpIndex("all")
	return all > 0 && !slices.ContainsFunc(p.FindAllStringSubmatch(line, -1), func(m []string) bool { return m[part] != m[all] })
}

// In returns the line of an output that shows a failure, or "", one that only hints at it, and whether the output
// reports how tests ended. If tests were run and did not fail, an error that was printed is theirs.
func In(said string) (line, hint string, tested bool) {
	if strings.Contains(said, `\`) && (!strings.Contains(said, "\n") || strings.HasPrefix(said, "{") || strings.HasPrefix(said, "[{")) {
		said += "\n" + lex.Unescape(said) // JSON
	}
	var p pairs
	p.have(said, true)
	line = p.shows("failed", said)
	if line != "" {
		return line, "", matches("test", said)
	}
	if p.shows("some", said) != "" {
		return p.shows("build", said), "", matches("test", said)
	}
	line = p.shows("none", said)
	return cmp.Or(line, p.shows("build", said), p.shows("fault", said)), p.shows("hint", said), line != ""
}

// PassesAfter reports whether tests passed in an output after a line that shows that some failed.
func PassesAfter(output, line string) bool {
	_, rest, _ := strings.Cut(output[strings.LastIndex(output, line)+len(line):], "\n")
	_, rest, _ = strings.Cut(rest, "\n") // the next line may belong to the same run
	var p pairs
	p.have(rest, true)
	return p.shows("some", rest) != "" && p.shows("failed", rest) == ""
}
