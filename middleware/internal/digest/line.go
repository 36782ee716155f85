package digest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

const digits = "0123456789"

// gutter matches what is before a line of a file or of a search result: 12→, 12:, a/b.go:12:, L12:. Its groups are the file, the
// number, and a mark that is after the number of a line only.
var gutter = regexp.MustCompile(`^[ \t>]*(?:([^ \t"(,]*\.[^ \t"(,:-]*)[:-])?(?:[Ll]ine |L|第)?(\d{1,5})(?:( ?[→│]|\t)|: ?|, | ?\||-|行| )`)

// takeGutter returns where the line at from itself begins, without its number. Numbers belong to lines if they follow each other.
func (s *scanner) takeGutter(from int) (body int) {
	const more = 3 // lines
	n, m := numberOf(s.text[from:s.end])
	follows := n == s.number+1
	s.number = n
	if m == nil {
		return from
	}
	body = from + m[1]
	if m[2] >= 0 {
		if file := s.text[from+m[2] : from+m[3]]; isPrintable(file) {
			s.take(file, lex.ShapeOf(file))
		}
	} else if m[6] < 0 && !follows && (s.text[body-1] != ':' || !lex.InName(s.text, body) || s.text[body] <= '9') {
		later, _ := numberOf(s.after(more))
		if later != n+more {
			s.number = 0
			return from
		}
	}
	if strings.TrimSpace(s.text[body:s.end]) == "" { // an empty line: a part begins or ends here
		return from
	}
	return body
}

// after returns the line that is so many lines after the current one, or "".
func (s *scanner) after(lines int) string {
	end := s.end
	for range lines {
		end = lineEnd(s.text, min(len(s.text), end+1))
	}
	return s.text[strings.LastIndexByte(s.text[:end], '\n')+1 : end]
}

// numberOf returns the number before a line, and what [gutter] matches, or nil.
func numberOf(line string) (n int, m []int) {
	const longest = 200 // bytes
	if line = line[:min(len(line), longest)]; strings.ContainsAny(line, digits) {
		m = gutter.FindStringSubmatchIndex(line)
	}
	if m != nil {
		n, _ = strconv.Atoi(line[m[4]:m[5]])
	}
	return n, m
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
