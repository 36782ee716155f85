package digest

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// gutter is the number before a line of a file or of a search result: 12→, 12:,
// a/b.go:12:, a/b.go-12-.
type gutter struct {
	file   span // before the number
	digits span
	n      int // 0: the line has no number
	mark   byte
	end    int // where the line itself begins
	taken  int // numbers in a row that were taken
}

// gutterOf reads the gutter of the line at p. Whether 12-a is one depends on the
// lines around it.
func gutterOf(text string, p span) (g gutter) {
	const longest = 7 // digits
	g.end = p.from
	i := skip(text[:p.to], p.from, " \t>")
	from := i
	if end := fileEnd(text[:p.to], i); end > i {
		g.file, from = span{i, end}, end+1
	}
	g.digits = span{from, skip(text[:p.to], from, digits)}
	rest := text[g.digits.to:p.to]
	if rest == "" || g.digits.empty() || g.digits.to-from > longest {
		return gutter{end: p.from}
	}
	size := 1
	switch g.mark = rest[0]; {
	case strings.HasPrefix(rest, "→"):
		size = len("→")
	case g.mark == '|', g.mark == '\t', g.mark == '-', g.mark == ':' && (!g.file.empty() || !is(rest, 1, digit)):
	default:
		return gutter{end: p.from}
	}
	g.n, _ = strconv.Atoi(text[from:g.digits.to])
	g.end = g.digits.to + size
	return g
}

// isNext reports whether the number is the one after another.
func (g gutter) isNext(before gutter) bool { return before.n > 0 && before.n+1 == g.n }

// fileEnd returns the end of the file name at i that is followed by the number of
// a line; i if there is none.
func fileEnd(text string, i int) int {
	dot, slash := -1, -1
	for k := i; k+2 < min(len(text), i+longestFact); k++ {
		switch b := text[k]; {
		case b == '.':
			dot = k
		case b == '/':
			slash = k
		case b <= ' ' || b == '"' || b == '(' || b == ',':
			return i
		case b == ':' && max(dot, slash) >= 0, b == '-' && dot > slash && dot+1 < k && !is(text, dot+1, digit):
			if end := skip(text, k+1, digits); end > k+1 && end < len(text) && text[end] == b {
				return k
			}
		}
	}
	return i
}

// takeGutter takes the number of the line at p and returns where the line itself
// begins. Of numbers that follow each other it takes those of declarations,
// matches and empty lines, the first and the last one, but not three in a row.
func (s *scanner) takeGutter(p span) (from int) {
	before, g, after := s.before, gutterOf(s.text, p), gutter{}
	if p.to+1 < len(s.text) && g.n > 0 {
		after = gutterOf(s.text, span{p.to + 1, lineEnd(s.text, p.to+1)})
	}
	follows, precedes := g.isNext(before), after.isNext(g)
	if g.mark == '-' && !follows && !precedes {
		g = gutter{end: p.from} // 3-in-1
	}
	line := s.text[g.end:p.to]
	s.defines = declares(line)
	if hunk, ok := strings.CutPrefix(line, "@@ -"); ok { // of a diff
		s.defines = true
		g.digits = span{p.to - len(hunk), skip(s.text, p.to-len(hunk), digits)}
	} else if !g.file.empty() && g.n > 0 {
		s.add(g.file, shapeOf(s.text[g.file.from:g.file.to]))
	}
	if follows {
		g.taken = before.taken
	}
	match := s.defines || g.mark == ':' && (follows && before.mark == '-' || precedes && after.mark == '-')
	ends := g.n > 0 && (!follows || !precedes || strings.TrimSpace(line) == "")
	if !g.digits.empty() && (match && g.taken < 2 || g.taken == 0 && ends) {
		s.addLineNumber(g.digits, g.file)
		g.taken++
	} else {
		g.taken = 0
	}
	s.before = g
	return g.end
}

// declaring are the words that declarations begin with in many programming
// languages.
var declaring = setOf("abstract async class const create def define enum export extension final fn fun func function " +
	"impl interface let module namespace object package private proc protected protocol public record static struct sub trait type " +
	"typedef union val var")

// declares reports whether a line declares a name, or decorates a declaration.
func declares(line string) bool {
	i := skip(line, 0, " \t+-*>|")
	if !is(line, i, lower) {
		return is(line, i, at) && isNameAt(line, i+1)
	}
	first, _, ok := strings.Cut(line[i:], " ")
	return ok && declaring[first]
}

// table reads the table that begins at a line and returns where it ends; from if
// there is none. A table has a row of names and more rows with as many cells,
// between bars, tabs, semicolons or commas. The names are the keys of the cells.
func (s *scanner) table(from int) (next int) {
	if c := s.text[from]; c <= ' ' || c == '{' || c == '[' || c == '}' || c == ']' {
		return from
	}
	head := span{from, lineEnd(s.text, from)}
	by := delimiter(s.text[head.from:head.to])
	if by == 0 || head.to+1 >= len(s.text) {
		return from
	}
	names := s.cells(head, by)
	if !s.areNames(names) {
		return from
	}
	for next = head.to + 1; next < len(s.text); next = s.line.to + 1 {
		line := span{next, lineEnd(s.text, next)}
		cells := s.cells(line, by)
		if len(cells) != len(names) {
			break
		}
		s.line, s.body = line, line.from
		for i, c := range cells {
			s.key, s.fresh = names[i], true
			s.cell(c)
		}
	}
	s.closeValue()
	if next == head.to+1 {
		return from
	}
	return next
}

// cell takes the value of a cell, and the words in it.
func (s *scanner) cell(c span) {
	w := s.text[c.from:c.to]
	if len(w) <= longestName {
		s.addWhole(c)
	}
	if strings.IndexByte(w, ' ') >= 0 || len(w) > longestName {
		s.fresh = false
		s.words(c)
	}
}

// delimiter returns the character between the cells of a line; 0 if there is
// none.
func delimiter(line string) byte {
	const longest = 1000
	if len(line) > longest {
		return 0
	}
	for _, by := range []byte("|\t;,") {
		if n := strings.Count(line, string(by)); n > 1 || n == 1 && by != '|' && by != ',' {
			return by
		}
	}
	return 0
}

// cells returns the cells of a line. A delimiter in quotes does not count.
func (s *scanner) cells(line span, by byte) (cells []span) {
	if by == '|' {
		for !line.empty() && strings.IndexByte(" |", s.text[line.from]) >= 0 {
			line.from++
		}
		for !line.empty() && strings.IndexByte(" |\r", s.text[line.to-1]) >= 0 {
			line.to--
		}
	}
	from, quoted := line.from, false
	for i := line.from; i < line.to; i++ {
		switch b := s.text[i]; {
		case b == '"' && by != '|':
			quoted = !quoted
		case b == by && !quoted:
			cells = append(cells, trim(s.text, span{from, i}))
			from = i + 1
		}
	}
	return append(cells, trim(s.text, span{from, line.to}))
}

// trim returns a part of a text without the spaces, quotes and Markdown signs
// around it.
func trim(text string, p span) span {
	around := func(b byte) bool { return b <= ' ' || b == '"' || b == '*' || b == '`' }
	for !p.empty() && around(text[p.from]) {
		p.from++
	}
	for !p.empty() && around(text[p.to-1]) {
		p.to--
	}
	return p
}

// areNames reports whether cells can be the names of columns.
func (s *scanner) areNames(cells []span) bool {
	const longest = 32
	for _, c := range cells {
		w := s.text[c.from:c.to]
		if w == "" || len(w) > longest || strings.ContainsAny(w, "(){}[]<>=:;\\/@$") {
			return false
		}
		if k := shapeOf(w); k != none && k != symbol && k != code {
			return false
		}
	}
	return len(cells) > 1
}

// faultWords begin the message of an error, alone or as the end of a name such as
// KeyError. They are listed by their last byte.
var faultWords = func() (m [256][]string) {
	for w := range strings.FieldsSeq("error exception fatal panic failed failure erreur échec fehler ошибка 错误 失败 异常 エラー 오류") {
		m[w[len(w)-1]] = append(m[w[len(w)-1]], w)
	}
	return m
}()

// isFaultWord reports whether a token is a fault word, or a constant or type that
// ends with one, or a qualified name of these.
func isFaultWord(w string) bool {
	last := w[len(w)-1]
	if is(w, len(w)-1, upper) {
		last |= 0x20
	}
	for _, f := range faultWords[last] {
		name := w[strings.LastIndexByte(w, '.')+1:]
		if n := len(name) - len(f); n >= 0 && strings.EqualFold(name[n:], f) {
			return n == 0 || is(name, 0, upper) && is(name, n, upper)
		}
	}
	return false
}

// ideographicFault returns the length of the fault word that begins a text without
// spaces between words.
func ideographicFault(text string) int {
	for _, f := range [...]string{"错误", "失败", "异常", "エラー"} {
		if strings.HasPrefix(text, f) {
			return len(f)
		}
	}
	return 0
}

var (
	format = regexp.MustCompile(`%[a-zA-Z+#]|\{[\w.]*\}|\$\{`)
	noText = setOf("true false null none nil undefined")
)

// isMessage reports whether a text can be an error message, rather than a value or
// a part of a program.
func isMessage(s string) bool {
	inText := func(r rune) bool { return r == ' ' || unicode.IsLetter(r) }
	return strings.IndexByte("=,;|&<>)", s[0]) < 0 && strings.IndexByte(",;{([=|+\\", s[len(s)-1]) < 0 &&
		strings.ContainsFunc(s, inText) && !isFormat(s) &&
		(len(s) > len("undefined.") || !noText[strings.ToLower(strings.TrimRight(s, "."))])
}

// isFormat reports whether a text is a format string.
func isFormat(s string) bool { return strings.ContainsAny(s, "%{") && format.MatchString(s) }

// faultEnd returns the end of the error message that begins with the token from i
// to end, or 0 if the token does not begin one. A message is in quotes or continues
// to the end of the line. Format strings, and values of keys such as isError, are
// not messages.
func faultEnd(line string, i, end int) int {
	const indent, longest = 16, 200 // bytes before the first word of a line, and of a message
	rest := line[end:min(len(line), end+longest)]
	marked := !strings.HasPrefix(rest, "::") && (is(rest, 0, colon) || strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "："))
	if !marked && (!strings.HasPrefix(rest, " ") || (!is(line, i, upper) || !is(line, end-1, upper)) &&
		(i >= indent || strings.Trim(line[:i], " \t[(*>") != "")) || !isFaultWord(line[i:end]) {
		return 0
	}
	if is(line, i-1, quote) {
		if i > 1 && line[i-2] == '(' { // an argument in a program
			return 0
		}
		rest, _, _ = strings.Cut(rest, line[i-1:i])
	}
	if k := strings.IndexFunc(rest, unicode.IsControl); k >= 0 {
		rest = rest[:k]
	}
	rest = strings.TrimRight(rest, " ")
	if m := strings.TrimLeft(rest, " :：]"); m != "" && !isMessage(m) {
		return 0
	}
	return end + len(rest)
}

// takeFault takes the error message that begins with the token from i to end, if
// it begins one. A long one is cut at a space.
func (s *scanner) takeFault(i, end int) {
	const longest = 80
	if i < s.fault { // a part of a message
		return
	}
	to := s.body + faultEnd(s.text[s.body:s.line.to], i-s.body, end-s.body)
	if to <= end+len(":") { // no fault, or a word without a message
		return
	}
	s.fault = to
	if to-i > longest {
		to = max(i, i+strings.LastIndexByte(s.text[i:i+longest], ' '))
	}
	s.addAs(span{i, to}, fault, false, false)
}

// Fault returns the error message in a line, with the word that marks it as one.
func Fault(line string) (msg string, ok bool) {
	for i := 0; i < len(line); {
		from, end, next := tokenAt(line, i)
		if n := ideographicFault(line[i:]); n > 0 {
			from, end, next = i, i+n, i+n
		}
		if from < end {
			if to := faultEnd(line, from, end); to > 0 {
				return line[from:to], true
			}
		}
		i = next
	}
	return "", false
}
