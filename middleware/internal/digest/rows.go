package digest

import (
	"slices"
	"strconv"
	"strings"
)

// gutter is the number before a line of a file or of a search result: 12→, 12:,
// a/b.go:12:, a/b.go-12-, L12:.
type gutter struct {
	file string // before the number
	lead string // before the number, if it has no file
	n    int    // 0: the line has no number
	size int    // in bytes
	run  int    // it is one only if so many lines in a row have numbers that follow each other
}

// leads are what is written before the number of a line.
var leads = []string{"line ", "Line ", "L", "第"}

// gutterOf reads the gutter of a line.
func gutterOf(line string) (g gutter) {
	const longest = 5 // digits: a longer number identifies something
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
	g.n, _ = strconv.Atoi(line[from:end])
	if strings.HasPrefix(line[end:], " |") || strings.HasPrefix(line[end:], " │") {
		end++
	}
	mark := line[end]
	g.size, g.run = end+1, 1
	if g.lead != "" {
		g.run = 2
	}
	aligned := from > len(g.lead) || is(line, end+1, space)
	switch {
	case strings.HasPrefix(line[end:], "→"), strings.HasPrefix(line[end:], "│"):
		g.size = end + len("→")
	case mark == ':' && g.file+g.lead == "" && is(line, end+1, space) && !is(line, end+2, space):
		g.run = 4 // 4711: Ann
	case mark == '|', mark == '\t', mark == ':' && (g.file != "" || !is(line, end+1, digit)):
	case mark == '-', mark == ' ' && aligned, strings.HasPrefix(line[end:], "行"), mark == ',' && g.lead != "":
		g.run = 2 // 3-in-1
	default:
		return gutter{}
	}
	return g
}

// isNext reports whether the number is the one after another.
func (g *gutter) isNext(before *gutter) bool {
	return before.n > 0 && before.n+1 == g.n && before.lead == g.lead && before.file == g.file
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

// startsListing reports whether enough numbers of the next lines follow that of the current one, or one that is the number of
// a line for sure.
func (s *scanner) startsListing(g gutter) bool {
	end := s.end
	for range g.run - 1 {
		from := min(len(s.text), end+1)
		end = lineEnd(s.text, from)
		next := gutterOf(s.text[from:end])
		if !next.isNext(&g) || next.run == 1 {
			return next.isNext(&g)
		}
		g = next
	}
	return true
}

// takeGutter reads the number of the line at from, and returns where the line itself begins.
func (s *scanner) takeGutter(from int) (body int) {
	before, g := s.gutter, gutterOf(s.text[from:s.end])
	follows := g.isNext(&before)
	if !follows && !s.startsListing(g) {
		g = gutter{}
	}
	if g.file != "" {
		s.addAs(g.file, shapeOf(g.file), false, false)
	}
	if follows && g.file == "" && g.n > s.last {
		if s.last == 0 {
			s.first = before.n
		}
		s.last = g.n
	}
	s.gutter = g
	body = from + g.size
	if strings.TrimSpace(s.text[body:s.end]) == "" { // an empty line: a part begins or ends here
		return from
	}
	if hunk := s.text[body:s.end]; strings.HasPrefix(hunk, "@@ -") {
		body += strings.LastIndex(hunk, "@@")
	}
	return body
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
