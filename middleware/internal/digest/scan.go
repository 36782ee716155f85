package digest

import "strings"

// span is a stretch of a text.
type span struct{ from, to int }

func (p span) empty() bool { return p.from >= p.to }

// scanner finds the facts of a text in one pass over it. It knows neither
// language nor format: what looks like JSON is read as JSON as far as that goes,
// what looks like a table as a table, and all else line by line.
type scanner struct {
	text  string
	found func(fact)

	escaped bool     // a backslash begins an escape: the words are in a string of JSON
	row     int      // how many lines, lists and objects there were
	line    lineKind // what is read now
	key     span     // of what is read now
	label   string   // the key, if it can stand in a line
	role    role     // of the key
	value   span     // all that stands behind the key of a line
	pair    span     // the key of the next word alone: key=value
	numbers int      // how many there were without a telling key
}

// scan calls found with the facts of a text, one by one, and again where one
// stands again.
func scan(text string, found func(fact)) {
	json := false
	for i, part := range window(text) {
		if i == 0 {
			json = looksLikeJSON(part)
		}
		if json {
			part = plainJSON(part)
		}
		s := scanner{text: part, found: found}
		p := span{0, len(part)}
		if i > 0 && json {
			p.from = s.resume(p)
		}
		s.read(p)
	}
}

// read finds the facts of a stretch.
func (s *scanner) read(p span) {
	for !p.empty() {
		next := s.json(p)
		if next == p.from {
			next = s.table(p)
		}
		if next == p.from {
			var line span
			line, next = s.cutLine(p)
			s.readLine(line)
		}
		p.from = next
	}
}

// cutLine returns the line that a stretch begins with, and where the next begins.
func (s *scanner) cutLine(p span) (line span, next int) {
	if k := strings.IndexByte(s.text[p.from:p.to], '\n'); k >= 0 {
		return span{p.from, p.from + k}, p.from + k + 1
	}
	return p, p.to
}

// readLine finds the facts of one line.
func (s *scanner) readLine(p span) {
	s.row++
	key := s.key
	p = s.lineNumber(p)
	line := s.text[p.from:p.to]
	s.line = declares(line)
	if k := faultAt(line); k >= 0 {
		s.line = fails
		s.fault(span{p.from + k, p.to})
	}
	if k := s.lineKey(p); !k.empty() {
		s.words(k)
		s.setKey(k)
		p.from = k.to
		_, size := classAt(s.text, k.to)
		s.value = s.trimmed(span{k.to + size, p.to})
		if !s.value.empty() && s.text[s.value.to-1] == ',' {
			s.value = s.trimmed(span{s.value.from, s.value.to - 1})
		}
	}
	s.words(p)
	if w := s.text[s.value.from:s.value.to]; s.role > anyRole && len(w) <= longestName && !strings.ContainsAny(w, codeMarks) {
		s.addWhole(s.value)
	}
	s.setKey(key)
	s.line, s.value = plain, span{}
}

// setKey says what is the key of what follows.
func (s *scanner) setKey(p span) {
	const longest = 32
	s.key, s.label, s.role = p, "", roleOf(s.text[p.from:p.to])
	if p.to-p.from <= longest && s.isPlainText(p) {
		s.label = s.text[p.from:p.to]
	}
}

// words finds the facts among the words of a stretch.
func (s *scanner) words(p span) {
	s.pair = span{}
	for i := p.from; i < p.to; {
		c, size := classAt(s.text, i)
		switch {
		case s.text[i] == '\x1b':
			i = s.controlEnd(i+1, p.to)
		case c == mark && s.text[i] == '\\' && s.isEscape(i, p.from):
			i += 2
		case c == mark && s.text[i] == '<' && (i == p.from || !isNameByte(s.text[i-1])):
			i = s.tagEnd(i+1, p.to)
		case c == currency:
			i = s.money(i, i+size, p.to)
		case c == quote:
			s.quoted(i, i+size, p.to)
			i += size
		case c.isWord(), c == joint:
			i = s.word(i, p.to)
		default:
			i += size
		}
	}
}

// isEscape reports whether the backslash at i begins an escape, rather than a
// part of a path.
func (s *scanner) isEscape(i, from int) bool {
	return s.escaped || i == from || !isNameByte(s.text[i-1]) && s.text[i-1] != ':'
}

// controlEnd returns where a sequence for a terminal ends that goes on at i.
func (s *scanner) controlEnd(i, to int) int {
	if i == to || s.text[i] != '[' {
		return i
	}
	end := i + 1
	for end < to && (s.text[end] >= '0' && s.text[end] <= '9' || s.text[end] == ';') {
		end++
	}
	return min(end+1, to)
}

// tagEnd returns where the name of an element of HTML or XML ends that may begin
// at i.
func (s *scanner) tagEnd(i, to int) int {
	end := i
	for end < to && (isNameByte(s.text[end]) || s.text[end] == '/' || s.text[end] == '-') {
		end++
	}
	if end < to && (s.text[end] == '>' || s.text[end] == ' ') {
		return end
	}
	return i
}

// word takes the word at i and returns where reading goes on.
func (s *scanner) word(i, to int) (next int) {
	p, next := s.wordAt(i, to)
	if p.empty() {
		return next
	}
	w := s.text[p.from:p.to]
	k := shapeOf(w)
	switch {
	case k != number && s.isPairKey(p.to, to):
		s.add(p, k)
		s.pair = p
	case k == number, k == amount, k == phone, k == none && narrow[w[0]&0x7F] == upper:
		return max(next, s.extended(p, k, to))
	case k == host || k == path:
		p.from += s.sideLen(p)
		s.place(p, k)
	default:
		s.add(p, k)
	}
	return next
}

// isPairKey reports whether what ends at i is the key in key=value.
func (s *scanner) isPairKey(i, to int) bool {
	return i+1 < to && s.text[i] == '=' && s.text[i+1] != '=' && s.text[i+1] > ' '
}

// sideLen returns how much of a path tells the side of a diff: a/ or b/.
func (s *scanner) sideLen(p span) int {
	const long = len("a/")
	w, before := s.text[p.from:p.to], s.text[:p.from]
	if len(w) > long && (w[:long] == "a/" || w[:long] == "b/") && (strings.HasSuffix(before, "--- ") || strings.HasSuffix(before, "+++ ") ||
		strings.HasSuffix(before, "--git ") || strings.HasSuffix(before, " a/"+w[long:]+" ")) {
		return long
	}
	return 0
}

// place takes a word that may be a place in a file: b.go:12, a/b.go:12:5.
func (s *scanner) place(p span, k kind) {
	w := s.text[p.from:p.to]
	if at := strings.IndexByte(w, ':'); at > 0 && strings.Trim(w[at:], ":0123456789") == "" {
		name := span{p.from, p.from + at}
		if k := shapeOf(w[:at]); k == path || k == file {
			s.add(name, k)
			line, _, _ := strings.Cut(w[at+1:], ":")
			s.addLineNumber(span{name.to + 1, name.to + 1 + len(line)}, name)
			return
		}
	}
	s.add(p, k)
}

// quoted takes what stands in quotes as one, if it is short. The words in it are
// taken as well.
func (s *scanner) quoted(i, from, to int) {
	if i > 0 && isNameByte(s.text[i-1]) {
		return // it's
	}
	closing := closingQuote(s.text[i:from])
	rest := s.text[from:min(to, from+longestName)]
	end := strings.Index(rest, closing)
	if end < 2 || strings.IndexByte(rest[:end], '\\') >= 0 {
		return
	}
	if shapeOf(rest[:end]) == none {
		pair := s.pair
		s.add(span{from, from + end}, proseKind(rest[:end]))
		s.pair = pair
	}
}

func closingQuote(opening string) string {
	switch opening {
	case "“":
		return "”"
	case "‘":
		return "’"
	case "«":
		return "»"
	case "「":
		return "」"
	case "『":
		return "』"
	case "《":
		return "》"
	}
	return opening
}

// proseKind returns the kind of what has no shape.
func proseKind(w string) kind {
	if strings.IndexByte(w, ' ') >= 0 {
		return name
	}
	return word
}

// isPlainText reports whether a stretch can stand in a line as it is, and says
// something.
func (s *scanner) isPlainText(p span) bool {
	says := false
	for i := p.from; i < p.to; {
		c, size := classAt(s.text, i)
		switch c {
		case newline:
			return false
		case space:
			if s.text[i] != ' ' {
				return false
			}
		case lower, upper, digit, letter, ideograph, currency:
			says = true
		case mark, joint, quote:
		}
		i += size
	}
	return says && s.text[p.from] != ' ' && s.text[p.to-1] != ' '
}

// Facts have so many bytes.
const (
	shortestFact = 2
	longestName  = 60 // of several words
	longestFact  = 240
)

// codeMarks are in lines of code rather than in values.
const codeMarks = "\"'`(){}[];="

// mostNumbers are taken of a text that have no telling key.
const mostNumbers = 1000

// add takes a fact among other words. It has a key if it stands right behind one.
func (s *scanner) add(p span, k kind) {
	key := s.key
	switch {
	case !s.pair.empty():
		s.setKey(s.pair)
		s.pair = span{}
	case p.from != s.value.from:
		s.setKey(span{})
	}
	s.addAs(p, k, p == s.value)
	s.setKey(key)
}

// addWhole takes all of a value. One that has no shape is taken too.
func (s *scanner) addWhole(p span) {
	w := s.text[p.from:p.to]
	k := none
	if strings.IndexByte(w, ' ') < 0 {
		k = shapeOf(w)
	}
	if k == none {
		k = proseKind(w)
	}
	s.addAs(p, k, true)
}

// addAs takes a fact, unless it says next to nothing.
func (s *scanner) addAs(p span, k kind, whole bool) {
	n := p.to - p.from
	switch {
	case k == none, n < shortestFact, n > longestFact, !s.isPlainText(p):
		return
	case s.role > anyRole:
	case k == word, k == slug && !whole:
		return
	case k == number && !s.isNumberTaken(p):
		return
	}
	s.found(fact{text: s.text[p.from:p.to], kind: k, label: s.label, role: s.role, line: s.line, row: s.row, whole: whole})
}

// isNumberTaken reports whether a number without a telling key is taken: if it is
// not too short, and there were not too many before.
func (s *scanner) isNumberTaken(p span) bool {
	s.numbers++
	return s.numbers <= mostNumbers && len(strings.TrimLeft(s.text[p.from:p.to], "+-")) > shortestFact
}

// addLineNumber takes the number of a line, with the file as its label.
func (s *scanner) addLineNumber(p, file span) {
	if !s.isNumberTaken(p) {
		return
	}
	f := fact{text: s.text[p.from:p.to], kind: number, line: s.line, row: s.row, leads: true}
	if !file.empty() && s.isPlainText(file) {
		f.label = s.text[file.from:file.to]
	}
	s.found(f)
}
