package digest

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// gutter is the number before a line of a file or of a search result: 12→, 12:, a/b.go:12:, L12:.
type gutter struct {
	before string // the name of the file, or a word such as line
	n      int    // 0: the line has no number
	size   int    // in bytes
	sure   bool   // false: it is one only if those of the next lines follow
}

var (
	leads = []string{"line ", "Line ", "L", "第"}
	marks = []string{"→", "│", " │", "\t", ": ", ":", "|", " |", "-", "行", ", ", " "} // the first four are sure
)

// gutterOf reads the gutter of a line.
func gutterOf(line string) (g gutter) {
	const longest = 5 // digits: a longer number identifies something
	from := skip(line, 0, " \t>")
	if g.before = fileOf(line[from:]); g.before != "" {
		from += len(g.before) + 1
	}
	for _, lead := range leads {
		if strings.HasPrefix(line[from:], lead) {
			g.before, from = lead, from+len(lead)
		}
	}
	end := skip(line, from, digits)
	if end == from || end-from > longest || end == len(line) {
		return gutter{}
	}
	g.n, _ = strconv.Atoi(line[from:end])
	for i, mark := range marks {
		if strings.HasPrefix(line[end:], mark) {
			g.size = end + len(mark)
			g.sure = i < 4 || strings.Contains(g.before, ".") || mark == ":" && g.before == "" && g.size < len(line) && line[g.size] > ' ' && !isDigit(line[g.size])
			return g
		}
	}
	return gutter{}
}

// fileOf returns the name of a file that begins a text, if a number follows between colons or hyphens; else "".
func fileOf(text string) string {
	dot := -1
	for k := 0; k < min(len(text), longestFact); k++ {
		switch b := text[k]; {
		case b == '.':
			dot = k
		case b <= ' ' || b == '"' || b == '(' || b == ',':
			return ""
		case dot >= 0 && (b == ':' || b == '-' && dot+1 < k && !isDigit(text[dot+1])):
			if end := skip(text, k+1, digits); end > k+1 && end < len(text) && text[end] == b {
				return text[:k]
			}
		}
	}
	return ""
}

// isNext reports whether the number is n more than another.
func (g *gutter) isNext(other *gutter, n int) bool {
	return g.n > n && g.n == other.n+n && g.before == other.before
}

// takeGutter reads the number of the line at from, and returns where the line itself begins.
func (s *scanner) takeGutter(from int) (body int) {
	last, g := s.gutter, gutterOf(s.text[from:s.end])
	follows := g.isNext(&last, 1)
	if !follows && !g.sure {
		const more = 3 // lines
		end := s.end
		for range more {
			end = lineEnd(s.text, min(len(s.text), end+1))
		}
		later := gutterOf(s.text[strings.LastIndexByte(s.text[:end], '\n')+1 : end])
		if g.n == 0 || !later.isNext(&g, more) {
			s.gutter = gutter{}
			return from
		}
	}
	s.gutter = g
	if strings.Contains(g.before, ".") {
		s.take(g.before, shapeOf(g.before))
	} else if follows && g.n > s.last {
		if s.last == 0 {
			s.first = last.n
		}
		s.last = g.n
	}
	if body = from + g.size; strings.TrimSpace(s.text[body:s.end]) == "" { // an empty line: a part begins or ends here
		return from
	}
	return body
}

// lineEnd returns the end of the line that begins at i.
func lineEnd(text string, i int) int {
	if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(text)
}

// keyOf returns the key of a line such as "Total price: 54.04", and where its value begins. The key is "" if there is none.
func keyOf(line string) (key string, value int) {
	const longest, most = 40, 4 // bytes, words
	for i := 0; i < min(len(line), longest); {
		c, size := lex.ClassAt(line, i)
		next := i + size
		if line[i] == ':' && (next == len(line) || strings.IndexByte(" \t*\"'", line[next]) >= 0) || strings.HasPrefix(line[i:], "：") {
			key = strings.TrimRight(line[:i], "* ")
			if strings.Count(key, " ") >= most || strings.Trim(key, digits+" _-*./") == "" {
				return "", 0
			}
			return key, next
		}
		if c < lex.Lower && strings.IndexByte(" _-*./", line[i]) < 0 {
			break
		}
		i = next
	}
	return "", 0
}

// faults begin the message of an error, alone or as the end of a name such as KeyError.
var faults = strings.Fields("error exception fatal panic failed failure erreur échec fehler ошибка 오류 错误 失败 异常 エラー")

var (
	flag   = regexp.MustCompile(`^(?i:true|false|null|none|nil|undefined)\W*$`)
	format = regexp.MustCompile(`%(?:\(|[-.\d$]*[sdvwqfx])|\{[\w.]*[!:]?[\w?.]*\}`) // %s, %(name)s, {}, {0!r}, {err:?}
)

// isMessage reports whether a text can be an error message, rather than a flag, a format string or a part of a program.
func isMessage(said string) bool {
	inText := func(r rune) bool { return r == ' ' || unicode.IsLetter(r) }
	return strings.IndexByte("=,;|&<>)", said[0]) < 0 && strings.IndexByte(",:;{([=|+\\", said[len(said)-1]) < 0 &&
		strings.ContainsFunc(said, inText) && !flag.MatchString(said) && !(strings.ContainsAny(said, "%{") && format.MatchString(said))
}

// Fault returns the error message in a line, with the word that marks it as one. It ends with the line, or with the string that it
// is in. The word alone is a message, too.
func Fault(line string) (msg string, ok bool) {
	const longest = 200 // bytes
	for i := 1; i < len(line); i++ {
		if !endsFault(line, i) {
			continue
		}
		from := i
		for from > 0 && line[from-1] != ' ' && strings.IndexByte("\"'`([", line[from-1]) < 0 {
			from--
		}
		rest := line[i:min(len(line), i+longest)]
		if from > 0 && strings.IndexByte("\"'`", line[from-1]) >= 0 {
			rest, _, _ = strings.Cut(rest, line[from-1:from])
		}
		rest = strings.TrimRight(rest, " ")
		if said := strings.TrimLeft(rest, " :：]"); said == "" || isMessage(said) {
			return line[from : i+len(rest)], true
		}
	}
	return "", false
}

// endsFault reports whether a word that marks an error ends at i: before a colon or bracket, or in capital letters, or as the
// first word of the line.
func endsFault(line string, i int) bool {
	switch mark := line[i:]; {
	case strings.HasPrefix(mark, "::"):
		return false
	case mark[0] == ':', mark[0] == ']', strings.HasPrefix(mark, "："):
	case mark[0] == ' ' && (line[i-1] >= 'A' && line[i-1] <= 'Z' || strings.IndexByte(line[:i], ' ') < 0):
	default:
		return false
	}
	if line[i-1] < 0x80 && strings.IndexByte("cdelnr", line[i-1]|0x20) < 0 { // no fault ends with another letter
		return false
	}
	for _, f := range faults {
		from := i - len(f)
		if from >= 0 && strings.EqualFold(line[from:i], f) {
			return !isName(line, from-1) || line[from] <= 'Z' // no terror
		}
	}
	return false
}
