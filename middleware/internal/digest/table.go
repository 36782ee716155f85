package digest

import "strings"

// table reads the table that a stretch begins with and returns where it ends;
// where it begins, if it is none. A table has a row of names and at least one
// more row with as many cells, between bars, tabs, semicolons or commas. The
// names are the keys of the cells.
func (s *scanner) table(p span) (next int) {
	head, second := s.cutLine(p)
	by := delimiter(s.text[head.from:head.to])
	if by == 0 || second == p.to {
		return p.from
	}
	names := s.cells(head, by)
	if line, _ := s.cutLine(span{second, p.to}); !s.areNames(names) || len(s.cells(line, by)) != len(names) {
		return p.from
	}
	key := s.key
	next = second
	for next < p.to {
		line, behind := s.cutLine(span{next, p.to})
		cells := s.cells(line, by)
		if len(cells) != len(names) {
			break
		}
		s.row++
		for i, c := range cells {
			s.setKey(names[i])
			s.cell(c)
		}
		next = behind
	}
	s.setKey(key)
	return next
}

// delimiter returns what stands between the cells of a line; 0: it has none.
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

// cells returns the cells of a line. A delimiter in quotes is none.
func (s *scanner) cells(line span, by byte) []span {
	if by == '|' {
		for !line.empty() && strings.IndexByte(" |", s.text[line.from]) >= 0 {
			line.from++
		}
		for !line.empty() && strings.IndexByte(" |\r", s.text[line.to-1]) >= 0 {
			line.to--
		}
	}
	var cells []span
	from, quoted := line.from, false
	for i := line.from; i < line.to; i++ {
		switch b := s.text[i]; {
		case b == '"' && by != '|':
			quoted = !quoted
		case b == by && !quoted:
			cells = append(cells, s.trimmed(span{from, i}))
			from = i + 1
		}
	}
	return append(cells, s.trimmed(span{from, line.to}))
}

// trimmed returns a stretch without the spaces, quotes and signs of Markdown
// around it.
func (s *scanner) trimmed(p span) span {
	around := func(b byte) bool { return b <= ' ' || b == '"' || b == '*' || b == '`' }
	for !p.empty() && around(s.text[p.from]) {
		p.from++
	}
	for !p.empty() && around(s.text[p.to-1]) {
		p.to--
	}
	return p
}

// areNames reports whether cells look like the names of columns.
func (s *scanner) areNames(cells []span) bool {
	const longest = 32
	for _, c := range cells {
		w := s.text[c.from:c.to]
		if w == "" || len(w) > longest || strings.ContainsAny(w, "(){}[]<>=:;\\/@$") {
			return false
		}
		if k := shapeOf(w); k != none && k != symbol && k != code && k != slug {
			return false
		}
	}
	return len(cells) > 1
}

// cell takes the value of a cell, and the words in it.
func (s *scanner) cell(c span) {
	w := s.text[c.from:c.to]
	if len(w) <= longestName {
		s.addWhole(c)
	}
	if strings.IndexByte(w, ' ') >= 0 || len(w) > longestName {
		s.words(c)
	}
}
