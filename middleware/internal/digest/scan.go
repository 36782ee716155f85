package digest

import (
	"fmt"
	"strings"
)

// The lengths of facts in bytes.
const (
	shortestFact = 2
	longestName  = 60  // of several words
	longestValue = 100 // in quotes
	longestFact  = 240
)

// mostNumbers is how many numbers without a telling key are taken from a text.
const mostNumbers = 1000

// scanner finds the facts of a text in one pass. It does not parse a format. It
// reads lines and tokens and keeps track of the key of the next value: a quoted
// string before a colon, the words before the colon of a line, the name in
// name=value, or the head of a column. Brackets keep the key of what surrounds
// them. This is enough for JSON and Python literals, complete, cut off, or in
// strings of other JSON, and has no effect on prose and code.
type scanner struct {
	text  string
	found func(fact)

	end    int    // of the current line
	body   int    // where it begins after a line number
	gutter gutter // of the line before
	listing
	open    []string // the keys around the open brackets
	key     string   // the current key
	fresh   bool     // the next token is a value of the key, or the first word of it
	value   string   // the rest of a line after its key
	fault   int      // where the newest error message ends
	numbers int      // how many had no telling key
	cells   []cell   // of the current row of a table

	cached string // the key that label and role belong to
	label  string
	role   role
}

// listing has the first and the last number before the lines of a file, if at least two follow each other.
type listing struct{ first, last int }

// scan calls found with each fact of a text, in order. A fact that occurs again
// is passed again.
func scan(text string, found func(fact)) {
	var of listing
	for _, part := range legible(text) {
		s := scanner{text: part, found: found, listing: of}
		for from := 0; from < len(part); from = s.end + 1 {
			s.end = lineEnd(part, from)
			if !s.table(from) {
				s.line(from)
			}
		}
		of = s.listing
	}
	if of.last > of.first+1 {
		found(fact{text: fmt.Sprintf("lines %d-%d", of.first, of.last), kind: lines})
	}
}

// lineEnd returns the end of the line that begins at i.
func lineEnd(text string, i int) int {
	if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(text)
}

// line finds the facts of the line at from.
func (s *scanner) line(from int) {
	if c, _ := classAt(s.text, from); len(s.open) > 0 && c >= lower && c != digit {
		s.open = s.open[:0] // the text is not JSON, or no longer
	}
	s.closeValue()
	s.body = skip(s.text[:s.end], s.takeGutter(from), " ")
	key, from, next := s.lineKey()
	if key != "" {
		s.value = strings.Trim(strings.Trim(s.text[next:s.end], padding+","), padding)
		if !noText[strings.ToLower(s.value)] {
			s.words(from, from+len(key))
		}
		s.key, s.fresh = key, true
	}
	s.words(next, s.end)
	if w := s.value; w != "" && len(w) <= longestName && !strings.ContainsAny(w, codeMarks) {
		if s.key = key; s.keyRole() > otherKey {
			s.addWhole(w)
		}
	}
	s.value = ""
}

const (
	padding   = " \t\r\"*`"    // around a value of a line or table
	codeMarks = "\"'`(){}[];=" // in code, and not in such a value
)

// closeValue ends the value of the current key. What follows belongs to the key
// around the brackets.
func (s *scanner) closeValue() {
	s.key, s.fresh = "", len(s.open) > 0
	if s.fresh {
		s.key = s.open[len(s.open)-1]
	}
}

// lineKey returns the key of a line such as "Total price: 54.04", where it begins,
// and where reading continues after it. The key is "" if there is none.
func (s *scanner) lineKey() (key string, from, next int) {
	const longest, most = 40, 4 // bytes, words
	from = skip(s.text[:s.end], s.body, " \t-*#>")
	head := s.text[from:min(s.end, from+longest)]
	n, size := strings.IndexByte(head, ':'), 1
	if k := strings.Index(head, "："); k >= 0 && (n < 0 || k < n) {
		n, size = k, len("：")
	}
	if next = from + n + size; n < 0 || size == 1 && next < s.end && strings.IndexByte(" \t*\"'", s.text[next]) < 0 {
		return "", from, s.body
	}
	key = strings.TrimRight(head[:n], "* ")
	letters := false
	for i := 0; i < len(key); i += size {
		var c class
		if c, size = classAt(key, i); c < lower && strings.IndexByte(" _-*./", key[i]) < 0 {
			return "", from, s.body
		}
		letters = letters || c >= lower && c != digit
	}
	if !letters || strings.Count(key, " ") >= most {
		return "", from, s.body
	}
	return key, from, next
}

// words finds the facts among the tokens of a part of the line.
func (s *scanner) words(from, to int) {
	for i := from; i < to; {
		c, size := classAt(s.text, i)
		switch {
		case c == space:
			i += size
		case c.inWord(), c.isJoint():
			i = s.word(i, to)
		case c == quote:
			i = s.quoted(i, i+size, to)
		case c == ideograph:
			if n := ideographicFault(s.text[i:]); n > 0 {
				s.takeFault(i, i+n)
			}
			s.fresh = false
			i += size
		case c == currency:
			i = s.money(i, i+size, to)
		default:
			i = s.punctuation(i, size, to)
		}
	}
}

// punctuation reads the mark at i and returns where reading continues.
func (s *scanner) punctuation(i, size, to int) (next int) {
	switch s.text[i] {
	case '{', '[':
		const most = 100
		if len(s.open) < most {
			s.open = append(s.open, s.key)
		}
		s.fresh = true
		return i + 1
	case '}', ']':
		s.open = s.open[:max(0, len(s.open)-1)]
		s.closeValue()
		return i + 1
	case ',':
		s.closeValue()
		return i + 1
	case '\\':
		if _, ok := codeUnit(s.text[i:to]); ok {
			return wordEnd(s.text[:to], i+1)
		}
		if i+1 < to && !isNameAt(s.text, i-1) && !is(s.text, i-1, colon) {
			size = 2 // an escape, not a part of a path
		}
	}
	s.fresh = false
	return i + size
}

// word reads the token at i and returns where reading continues.
func (s *scanner) word(i, to int) (next int) {
	line := s.text[:to]
	from, end, next := tokenAt(line, i)
	if from == end {
		return next
	}
	s.takeFault(from, end)
	if strings.HasSuffix(s.text[:from], "%") || strings.HasSuffix(s.text[:from], "%-") {
		return next // a part of a format string, or of an escape
	}
	w := s.text[from:end]
	k := shapeOf(w)
	switch {
	case k != number && end+1 < to && s.text[end] == '=' && s.text[end+1] != '=' && s.text[end+1] > ' ':
		if value := s.text[end+1 : wordEnd(s.text[:to], end+1)]; !noText[strings.ToLower(value)] {
			s.add(from, end, k)
		}
		s.key, s.fresh = w, true // name=value
		return end + 1
	case k == code && isCurrency[w]:
		return s.money(from, end, to)
	case k == host || k == path:
		s.place(from, end, k)
		return next
	case k <= amount || w[0] == '+':
		if n, whole := extension(w, k, line[end:]); n > 0 && !splitsWord(s.text, end+n) {
			end, k = end+n, whole
		}
	}
	s.add(from, end, k)
	return max(next, end)
}

// money takes the amount whose currency is from i to after, and returns where
// reading continues.
func (s *scanner) money(i, after, to int) (next int) {
	from, end, _ := tokenAt(s.text[:to], skip(s.text[:min(to, after+1)], after, " "))
	if from <= after+1 && from < end && shapeOf(s.text[from:end]) == number {
		s.add(i, end, amount)
		return end
	}
	s.fresh = false
	return after
}

// place takes a path, or a place in a file: b.go:12, a/b.go:12:5. The a/ and b/ of
// a diff are not part of the path.
func (s *scanner) place(from, end int, k kind) {
	line := s.text[s.body:s.end]
	if w := s.text[from:end]; (strings.HasPrefix(w, "a/") || strings.HasPrefix(w, "b/")) &&
		(strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "diff --git ")) {
		from += len("a/")
	}
	w, position, _ := strings.Cut(s.text[from:end], ":")
	if position != "" && strings.Trim(position, ":0123456789") == "" {
		if k := shapeOf(w); k == path || k == symbol {
			s.add(from, from+len(w), k)
			return
		}
	}
	s.add(from, end, k)
}

// closing are the closing quotes of opening ones that differ.
var closing = map[string]string{"“": "”", "‘": "’", "«": "»", "「": "」", "『": "』", "《": "》"}

// quoted reads the quote from i to from and returns where reading continues. A
// short string can be a key, a value, or a name in a sentence.
func (s *scanner) quoted(i, from, to int) (next int) {
	if isNameAt(s.text, i-1) { // it's, or the end of a string
		return from
	}
	end := s.text[i:from]
	if len(end) > 1 {
		end = closing[end]
	}
	n := strings.Index(s.text[from:min(to, from+longestValue+len("”"))], end)
	if n < 0 || end == "" {
		s.fresh = false
		return from
	}
	w, after := s.text[from:from+n], from+n+len(end)
	if w == "" {
		return after
	}
	k := skip(s.text[:to], after, " ")
	switch {
	case k < to && s.text[k] == ':' && from == i+1:
		s.takeKey(w)
		return k + 1
	case s.fresh && (k == to || s.text[k] < ' ' || strings.IndexByte(",]})", s.text[k]) >= 0):
		s.addWhole(w)
		if strings.IndexByte(w, ' ') < 0 {
			from = after
		}
	case len(w) <= longestName && shapeOf(w) == none:
		s.addAs(w, text, false, s.fresh)
	}
	s.fresh = false
	return from
}

// takeKey takes a key in quotes. It is a fact too if it identifies something:
// {"1656367028": {…}}.
func (s *scanner) takeKey(w string) {
	if k := shapeOf(w); k != none && k != symbol && k != code {
		s.closeValue()
		s.addWhole(w)
	}
	s.key, s.fresh = w, true
}

// add takes a token. It has the current key if it is its value, or the first word
// of it.
func (s *scanner) add(from, end int, k kind) {
	fresh, w := s.fresh, s.text[from:end]
	s.fresh = false
	whole := w == s.value
	if fresh && !whole && s.key != "" {
		i := skip(s.text[:s.end], end, " ")
		whole = i == s.end && s.value == "" || i < s.end && strings.IndexByte(",]}", s.text[i]) >= 0
	}
	s.addAs(w, k, whole, fresh)
}

// addWhole takes all of a value. It can have several words.
func (s *scanner) addWhole(w string) {
	k := none
	if !isPhrase(w) {
		k = shapeOf(w)
	}
	if k == none {
		k = text
	}
	s.addAs(w, k, true, true)
}

// addAs takes a fact. It has the current key if it is keyed.
func (s *scanner) addAs(w string, k kind, whole, keyed bool) {
	f := fact{text: w, kind: k, whole: whole}
	if keyed && s.key != "" && k != none {
		f.role = s.keyRole()
		f.label = s.label
	}
	s.take(f)
}

// take takes a fact, unless it has no meaning of its own.
func (s *scanner) take(f fact) {
	keyed := f.role > otherKey
	switch {
	case f.kind == none, len(f.text) < shortestFact, len(f.text) > longestFact:
	case f.kind == text && (isFormat(f.text) || !keyed && !isPhrase(f.text)):
	case f.kind == number && !keyed && !s.takesNumber(f.text):
	case isPrintable(f.text):
		s.found(f)
	}
}

// keyRole returns the role of the current key, and sets its label.
func (s *scanner) keyRole() role {
	const longest = 32
	if s.cached != s.key {
		s.cached, s.label, s.role = s.key, "", roleOf(s.key)
		if len(s.key) <= longest && isPrintable(s.key) {
			s.label = s.key
		}
	}
	return s.role
}

// takesNumber reports whether a number without a telling key is taken.
func (s *scanner) takesNumber(w string) bool {
	s.numbers++
	return s.numbers <= mostNumbers && len(strings.TrimLeft(w, "+-")) > shortestFact
}

// isPrintable reports whether a string can be part of a line as it is: it has a
// letter or a digit, no control characters, and no spaces at its ends.
func isPrintable(w string) bool {
	solid := false
	for i := 0; i < len(w); {
		c, size := classAt(w, i)
		if c == newline || c == space && w[i] != ' ' {
			return false
		}
		solid = solid || c >= lower || c == currency
		i += size
	}
	return solid && w[0] != ' ' && w[len(w)-1] != ' '
}
