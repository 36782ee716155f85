package digest

import (
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

const digits = "0123456789"

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
	const longest, sure = 5, 4 // digits: a longer number identifies something; marks
	from := lex.Skip(line, 0, " \t>")
	g.before = fileOf(line[from:])
	if g.before != "" {
		from += len(g.before) + 1
	}
	for _, lead := range leads {
		if strings.HasPrefix(line[from:], lead) {
			g.before, from = lead, from+len(lead)
		}
	}
	end := lex.Skip(line, from, digits)
	if end > from && end-from <= longest {
		for i, mark := range marks {
			g.size = end + len(mark)
			if strings.HasPrefix(line[end:], mark) {
				g.n, _ = strconv.Atoi(line[from:end])
				g.sure = i < sure || strings.Contains(g.before, ".") ||
					mark == ":" && g.before == "" && lex.InName(line, g.size) && line[g.size] > '9'
				return g
			}
		}
	}
	return gutter{}
}

// fileOf returns the name of a file that begins a text, if a number follows between colons or hyphens; else "".
func fileOf(text string) string {
	dot := -1
	for k, b := range []byte(text) {
		switch {
		case b == '.':
			dot = k
		case b <= ' ' || b == '"' || b == '(' || b == ',':
			return ""
		case dot >= 0 && (b == ':' || b == '-' && text[dot+1] > '9'):
			if end := lex.Skip(text, k+1, digits); end > k+1 && end < len(text) && text[end] == b && isPrintable(text[:k]) {
				return text[:k]
			}
		}
	}
	return ""
}

// takeGutter reads the number of the line at from, and returns where the line itself begins.
func (s *scanner) takeGutter(from int) (body int) {
	const more = 3 // lines
	last, g := s.gutter, gutterOf(s.text[from:s.end])
	isNext := func(g, last gutter, n int) bool { return g.n > n && g.n == last.n+n && g.before == last.before }
	follows := isNext(g, last, 1)
	s.gutter = g
	if g.n == 0 {
		return from
	}
	if !follows && !g.sure {
		end := s.end
		for range more {
			end = lineEnd(s.text, min(len(s.text), end+1))
		}
		if later := gutterOf(s.text[strings.LastIndexByte(s.text[:end], '\n')+1 : end]); !isNext(later, g, more) {
			s.gutter = gutter{}
			return from
		}
	}
	if strings.Contains(g.before, ".") {
		s.take(g.before, lex.ShapeOf(g.before))
	} else if follows && g.n > s.last {
		if s.last == 0 {
			s.first = last.n
		}
		s.last = g.n
	}
	body = from + g.size
	if strings.TrimSpace(s.text[body:s.end]) == "" { // an empty line: a part begins or ends here
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

// keyOf returns the key of a line such as "Total price: 54.04", and where its value begins. A line without a key has "".
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
