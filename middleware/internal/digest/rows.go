package digest

import (
	"slices"
	"strconv"
	"strings"
)

// gutter is the number before a line of a file or of a search result: 12→, 12:,
// a/b.go:12:, a/b.go-12-, 12), L12:, [12].
type gutter struct {
	file   string // before the number
	lead   string // before the number, if it has no file
	number string
	n      int // 0: the line has no number
	mark   byte
	size   int  // in bytes
	weak   bool // it is one only if the number of a line around it is the one before or after
	taken  int  // numbers in a row that were taken
}

// leads are what is written before the number of a line.
var leads = []string{"line ", "Line ", "L", "[", "(", "第"}

// gutterOf reads the gutter of a line.
func gutterOf(line string) (g gutter) {
	const longest = 7 // digits
	from := skip(line, 0, " \t>")
	if end := fileEnd(line, from); end > from {
		g.file, from = line[from:end], end+1
	} else {
		for _, lead := range leads {
			if strings.HasPrefix(line[from:], lead) {
				g.lead, from = lead, from+len(lead)
				break
			}
		}
	}
	end := skip(line, from, digits)
	if end == len(line) || end == from || end-from > longest {
		return gutter{}
	}
	g.number = line[from:end]
	if strings.HasPrefix(line[end:], " |") || strings.HasPrefix(line[end:], " │") {
		end++
	}
	g.mark, g.size, g.weak = line[end], end+1, g.lead != ""
	aligned := from > len(g.lead) || is(line, end+1, space)
	switch {
	case strings.HasPrefix(line[end:], "→"), strings.HasPrefix(line[end:], "│"):
		g.size = end + len("→")
	case g.mark == '|', g.mark == '\t', g.mark == ':' && (g.file != "" || !is(line, end+1, digit)):
	case g.mark == '-', g.mark == ']', g.mark == ' ' && aligned, strings.HasPrefix(line[end:], "行"),
		strings.IndexByte(".)", g.mark) >= 0 && is(line, end+1, space), g.mark == ',' && g.lead != "":
		g.weak = true
	default:
		return gutter{}
	}
	g.n, _ = strconv.Atoi(g.number)
	return g
}

// isNext reports whether the number is the one after another.
func (g *gutter) isNext(before *gutter) bool {
	return before.n > 0 && before.n+1 == g.n && before.lead == g.lead
}

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

// takeGutter takes the number of the line at from and returns where the line itself
// begins. Of numbers that follow each other it takes those of declarations,
// matches and empty lines, the first and the last one, but not three in a row.
func (s *scanner) takeGutter(from int) (body int) {
	before, g, after := s.gutter, gutterOf(s.text[from:s.end]), gutter{}
	if s.end+1 < len(s.text) && g.n > 0 {
		after = gutterOf(s.text[s.end+1 : lineEnd(s.text, s.end+1)])
	}
	follows, precedes := g.isNext(&before), after.isNext(&g)
	if g.weak && !follows && !precedes && !s.isBesideGroups(g, from) {
		g = gutter{} // 3-in-1
	}
	line := s.text[from+g.size : s.end]
	s.defines = declares(line)
	if g.readHunk(line) {
		s.defines = true
	} else if g.file != "" {
		s.addAs(g.file, shapeOf(g.file), false, false)
	}
	if follows {
		g.taken = before.taken
	}
	match := s.defines || g.mark == ':' && (follows && before.mark == '-' || precedes && after.mark == '-')
	ends := g.n > 0 && (!follows || !precedes || strings.TrimSpace(line) == "")
	if g.number != "" && (match && g.taken < 2 || g.taken == 0 && ends) {
		s.takeLineNumber(g.number, g.file)
		g.taken++
	} else {
		g.taken = 0
	}
	s.gutter = g
	return from + g.size
}

// readHunk reads the number of a hunk of a diff, and skips the others, which say the same.
func (g *gutter) readHunk(line string) bool {
	hunk, ok := strings.CutPrefix(line, "@@ -")
	if ok {
		g.number = hunk[:skip(hunk, 0, digits)]
		g.size += len("@@ -") + len(g.number)
		if k := strings.Index(hunk, " @@"); k >= 0 {
			g.size += k + len(" @@") - len(g.number)
		}
	}
	return ok
}

// isBesideGroups reports whether grep -C has written -- before or after the line at from.
func (s *scanner) isBesideGroups(g gutter, from int) bool {
	if g.mark != '-' {
		return false
	}
	after := s.text[min(len(s.text), s.end+1):]
	return strings.HasSuffix(s.text[:from], "--\n") || after == "--" || strings.HasPrefix(after, "--\n")
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

// cell is the text of a cell in a table, and where it begins.
type cell struct {
	text string
	from int
}

// table reads the table that begins at a line, and returns false if there is none.
// A table has a row of names and more rows with as many cells, between bars, tabs,
// semicolons or commas. The names are the keys of the cells.
func (s *scanner) table(from int) bool {
	head := s.text[from:s.end]
	if head == "" || strings.IndexByte("{}[]", head[0]) >= 0 || s.end+1 >= len(s.text) {
		return false
	}
	divided := isDivider(s.text[s.end+1 : lineEnd(s.text, s.end+1)])
	if head[0] <= ' ' && !divided {
		return false
	}
	by := delimiter(head)
	if divided && strings.IndexByte(head, '|') >= 0 {
		by = '|'
	}
	if by == 0 {
		return false
	}
	s.split(from, s.end, by)
	if !areNames(s.cells) {
		return false
	}
	names := slices.Clone(s.cells)
	headEnd, rows := s.end, 0
	for from = s.end + 1; from < len(s.text); from = s.end + 1 {
		end := lineEnd(s.text, from)
		if isDivider(s.text[from:end]) {
			s.end = end
			continue
		}
		s.split(from, end, by)
		if len(s.cells) != len(names) {
			break
		}
		s.end, s.body, rows = end, from, rows+1
		for i, c := range s.cells {
			s.key, s.fresh = names[i].text, true
			s.cell(c)
		}
	}
	s.closeValue()
	if rows == 0 {
		s.end = headEnd
	}
	return rows > 0
}

// isDivider reports whether a line only divides the rows of a table, as |---|---| and -----+-----.
func isDivider(line string) bool {
	i := skip(line, 0, " |+:-")
	return i > 0 && skip(line, i, "\r") == len(line) && strings.Contains(line, "--")
}

// cell takes the value of a cell, and the words in it.
func (s *scanner) cell(c cell) {
	if len(c.text) <= longestName {
		s.addWhole(c.text)
	}
	if isPhrase(c.text) || len(c.text) > longestName {
		s.fresh = false
		s.words(c.from, c.from+len(c.text))
	}
}

// delimiter returns the character between the cells of a line; 0 if there is
// none.
func delimiter(line string) byte {
	const longest = 1000
	if len(line) > longest {
		return 0
	}
	for _, by := range []string{"|", "\t", ";", ","} {
		if n := strings.Count(line, by); n > 1 || n == 1 && (by == "\t" || by == ";") {
			return by[0]
		}
	}
	return 0
}

// split finds the cells of a line. A delimiter in quotes does not count.
func (s *scanner) split(from, to int, by byte) {
	s.cells = s.cells[:0]
	if by == '|' {
		from = skip(s.text[:to], from, " |")
		to = from + len(strings.TrimRight(s.text[from:to], " |\r"))
	}
	quoted := false
	for i := from; i <= to; i++ {
		switch {
		case i == to || s.text[i] == by && !quoted:
			w := strings.TrimLeft(s.text[from:i], padding)
			s.cells = append(s.cells, cell{strings.TrimRight(w, padding), i - len(w)})
			from = i + 1
		case s.text[i] == '"' && by != '|':
			quoted = !quoted
		}
	}
}

// areNames reports whether cells can be the names of columns.
func areNames(cells []cell) bool {
	const longest = 32
	for _, c := range cells {
		if c.text == "" || len(c.text) > longest || strings.ContainsAny(c.text, "(){}[]<>=:;\\/@$") {
			return false
		}
		if k := shapeOf(c.text); k != none && k != symbol && k != code {
			return false
		}
	}
	return len(cells) > 1
}
