package digest

import "strings"

// span is a part of a text.
type span struct{ from, to int }

func (p span) empty() bool { return p.from >= p.to }

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

	line    span   // the current line
	body    int    // where it begins after a line number
	before  gutter // of the line before
	defines bool   // the line declares a name
	open    []span // the keys around the open brackets
	key     span   // the current key
	fresh   bool   // the next token is a value of the key, or the first word of it
	value   span   // the rest of a line after its key
	fault   int    // where the newest error message ends
	numbers int    // how many had no telling key

	cached span // the key that label and role belong to
	label  string
	role   role
}

// scan calls found with each fact of a text, in order. A fact that occurs again
// is passed again.
func scan(text string, found func(fact)) {
	for _, part := range legible(text) {
		s := scanner{text: part, found: found}
		for from := 0; from < len(part); {
			next := s.table(from)
			if next == from {
				end := lineEnd(part, from)
				s.readLine(span{from, end})
				next = end + 1
			}
			from = next
		}
	}
}

// lineEnd returns the end of the line that begins at i.
func lineEnd(text string, i int) int {
	if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(text)
}

// readLine finds the facts of a line.
func (s *scanner) readLine(p span) {
	s.line = p
	if c, _ := classAt(s.text, min(p.from, len(s.text)-1)); len(s.open) > 0 && (c.inWord() || c == ideograph) {
		s.open = s.open[:0] // the text is not JSON, or no longer
	}
	s.closeValue()
	p.from = s.takeGutter(p)
	p.from = skip(s.text[:p.to], p.from, " ")
	s.body = p.from
	key := s.lineKey(p)
	if !key.empty() {
		s.words(key)
		s.key, s.fresh = key, true
		_, size := classAt(s.text, key.to)
		p.from = key.to + size
		s.value = trim(s.text, p)
		if !s.value.empty() && s.text[s.value.to-1] == ',' {
			s.value = trim(s.text, span{s.value.from, s.value.to - 1})
		}
	}
	s.words(p)
	if w := s.text[s.value.from:s.value.to]; w != "" && len(w) <= longestName && !strings.ContainsAny(w, codeMarks) {
		if s.key = key; s.keyRole() > otherKey {
			s.addWhole(s.value)
		}
	}
	s.value = span{}
}

// codeMarks do not occur in the value of a line, but in code.
const codeMarks = "\"'`(){}[];="

// closeValue ends the value of the current key. What follows belongs to the key
// around the brackets.
func (s *scanner) closeValue() {
	s.key, s.fresh = span{}, len(s.open) > 0
	if s.fresh {
		s.key = s.open[len(s.open)-1]
	}
}

// lineKey returns the key of a line such as "Total price: 54.04", without the
// colon.
func (s *scanner) lineKey(p span) span {
	const longest, most = 40, 4 // bytes, words
	p.from = skip(s.text[:p.to], p.from, " \t-*#>")
	words, letters := 1, false
	for k := p.from; k < min(p.to, p.from+longest) && words <= most; {
		c, size := classAt(s.text, k)
		ends := c == colon && (k+1 == p.to || strings.IndexByte(" \t*\"'", s.text[k+1]) >= 0)
		switch {
		case ends, c == mark && strings.HasPrefix(s.text[k:], "："):
			for k > p.from && (s.text[k-1] == '*' || s.text[k-1] == ' ') {
				k--
			}
			if letters {
				return span{p.from, k}
			}
			return span{}
		case s.text[k] == ' ':
			words++
		case !c.inWord() && c != ideograph && strings.IndexByte("_-*./", s.text[k]) < 0:
			return span{}
		}
		letters = letters || c != digit && (c.inWord() || c == ideograph)
		k += size
	}
	return span{}
}

// words finds the facts among the tokens of a part of the line.
func (s *scanner) words(p span) {
	for i := p.from; i < p.to; {
		c, size := classAt(s.text, i)
		switch {
		case c == space:
			i += size
		case c.inWord(), c.isJoint():
			i = s.word(i, p.to)
		case c == quote:
			i = s.quoted(i, i+size, p.to)
		case c == ideograph:
			if n := ideographicFault(s.text[i:]); n > 0 {
				s.takeFault(i, i+n)
			}
			s.fresh = false
			i += size
		case c == currency:
			i = s.money(i, i+size, p.to)
		default:
			i = s.punctuation(i, size, p.to)
		}
	}
}

// punctuation reads the mark at i and returns where reading continues.
func (s *scanner) punctuation(i, size, to int) (next int) {
	switch b := s.text[i]; b {
	case '{', '[':
		const most = 100
		if len(s.open) < most {
			s.open = append(s.open, s.key)
		}
		s.fresh = true
		return i + 1
	case '}', ']':
		if n := len(s.open); n > 0 {
			s.open = s.open[:n-1]
		}
		s.closeValue()
		return i + 1
	case ',':
		s.closeValue()
		return i + 1
	case '<':
		if end := wordEnd(s.text[:to], skip(s.text, i+1, "/")); !isNameAt(s.text, i-1) && skip(s.text[:min(to, end+1)], end, "> ") > end {
			return end // of the name of an element
		}
	case '\\':
		if _, ok := codeUnit(s.text[i:to]); ok {
			return wordEnd(s.text[:to], i+1)
		}
		if i+1 < to && !isNameAt(s.text, i-1) && !is(s.text, i-1, colon) {
			i++ // an escape, not a part of a path
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
	p, w := span{from, end}, s.text[from:end]
	k := shapeOf(w)
	switch {
	case k != number && end+1 < to && s.text[end] == '=' && s.text[end+1] != '=' && s.text[end+1] > ' ':
		s.add(p, k)
		s.key, s.fresh = p, true // name=value
		return end + 1
	case k == code && isCurrency[w]:
		return s.money(from, end, to)
	case k == host || k == path:
		s.place(p, k)
	case k <= amount || w[0] == '+':
		if n, whole := extension(w, k, line[end:]); n > 0 && !splitsWord(s.text, end+n) {
			p.to, k = end+n, whole
		}
		s.add(p, k)
	default:
		s.add(p, k)
	}
	return max(next, p.to)
}

// money takes the amount whose currency is from i to after, and returns where
// reading continues.
func (s *scanner) money(i, after, to int) (next int) {
	from, end, _ := tokenAt(s.text[:to], skip(s.text[:min(to, after+1)], after, " "))
	if from <= after+1 && from < end && shapeOf(s.text[from:end]) == number {
		s.add(span{i, end}, amount)
		return end
	}
	s.fresh = false
	return after
}

// place takes a path, or a place in a file: b.go:12, a/b.go:12:5. The a/ and b/ of
// a diff are not part of the path.
func (s *scanner) place(p span, k kind) {
	w, before := s.text[p.from:p.to], s.text[s.body:p.from]
	if len(w) > 2 && (w[:2] == "a/" || w[:2] == "b/") && (strings.HasSuffix(before, "--- ") || strings.HasSuffix(before, "+++ ") ||
		strings.HasSuffix(before, "--git ") || strings.HasSuffix(before, " a/"+w[2:]+" ")) {
		p.from += 2
		w = w[2:]
	}
	if at := strings.IndexByte(w, ':'); at > 0 && strings.Trim(w[at:], ":0123456789") == "" {
		file := span{p.from, p.from + at}
		if k := shapeOf(w[:at]); k == path || k == symbol {
			s.add(file, k)
			s.addLineNumber(span{file.to + 1, skip(s.text, file.to+1, digits)}, file)
			return
		}
	}
	s.add(p, k)
}

// quoted reads the quote from i to from and returns where reading continues. A
// short string can be a key, a value, or a name in a sentence.
func (s *scanner) quoted(i, from, to int) (next int) {
	if isNameAt(s.text, i-1) { // it's, or the end of a string
		return from
	}
	p, after := stringAt(s.text[:min(to, from+longestValue+len("”"))], i, from)
	if p.empty() {
		s.fresh = s.fresh && after > from
		return after
	}
	k := skip(s.text[:to], after, " ")
	switch {
	case k < to && s.text[k] == ':' && from == i+1:
		s.takeKey(p)
		return k + 1
	case s.fresh && (k == to || s.text[k] < ' ' || strings.IndexByte(",]})", s.text[k]) >= 0):
		s.addWhole(p)
		s.fresh = false
		if strings.IndexByte(s.text[p.from:p.to], ' ') >= 0 {
			return from
		}
		return after
	case p.to-p.from <= longestName && shapeOf(s.text[p.from:p.to]) == none:
		s.addAs(p, text, false, s.fresh)
	}
	s.fresh = false
	return from
}

// closing are the closing quotes of opening ones that differ.
var closing = map[string]string{"“": "”", "‘": "’", "«": "»", "「": "」", "『": "』", "《": "》"}

// stringAt returns the string whose opening quote is from i to from, and the end
// of its closing quote; an empty span if there is no closing quote.
func stringAt(text string, i, from int) (p span, after int) {
	end := text[i:from]
	if from > i+1 {
		end = closing[end]
	}
	if n := strings.Index(text[from:], end); n >= 0 && end != "" {
		return span{from, from + n}, from + n + len(end)
	}
	return span{}, from
}

// takeKey takes a key in quotes. It is a fact too if it identifies something:
// {"1656367028": {…}}.
func (s *scanner) takeKey(p span) {
	switch shapeOf(s.text[p.from:p.to]) {
	case none, symbol, code, text:
	default:
		s.closeValue()
		s.addWhole(p)
	}
	s.key, s.fresh = p, true
}

// add takes a token. It has the current key if it is its value, or the first word
// of it.
func (s *scanner) add(p span, k kind) {
	fresh := s.fresh
	s.fresh = false
	whole := p == s.value
	if fresh && !whole && !s.key.empty() {
		i := skip(s.text[:s.line.to], p.to, " ")
		whole = i == s.line.to && s.value.empty() || i < s.line.to && strings.IndexByte(",]}", s.text[i]) >= 0
	}
	s.addAs(p, k, whole, fresh)
}

// addWhole takes all of a value. It can have several words.
func (s *scanner) addWhole(p span) {
	k := none
	if w := s.text[p.from:p.to]; strings.IndexByte(w, ' ') < 0 {
		k = shapeOf(w)
	}
	if k == none {
		k = text
	}
	s.addAs(p, k, true, true)
}

// addAs takes a fact, unless it has no meaning of its own.
func (s *scanner) addAs(p span, k kind, whole, keyed bool) {
	n := p.to - p.from
	if k == none || n < shortestFact || n > longestFact {
		return
	}
	f := fact{text: s.text[p.from:p.to], kind: k, whole: whole}
	if keyed && !s.key.empty() {
		f.role = s.keyRole()
		f.label = s.label
	}
	if k == text && isFormat(f.text) || f.role <= otherKey && (k == text && !isPhrase(f.text) || k == number && !s.takesNumber(f.text)) {
		return
	}
	if isPrintable(f.text) {
		s.found(f)
	}
}

// keyRole returns the role of the current key, and sets its label.
func (s *scanner) keyRole() role {
	const longest = 32
	if s.cached != s.key {
		w := s.text[s.key.from:s.key.to]
		s.cached, s.label, s.role = s.key, "", roleOf(w)
		if len(w) <= longest && isPrintable(w) {
			s.label = w
		}
	}
	return s.role
}

// takesNumber reports whether a number without a telling key is taken.
func (s *scanner) takesNumber(w string) bool {
	s.numbers++
	return s.numbers <= mostNumbers && len(strings.TrimLeft(w, "+-")) > shortestFact
}

// addLineNumber takes the number of a line. Its label is the file.
func (s *scanner) addLineNumber(p, file span) {
	f := fact{text: s.text[p.from:p.to], kind: number, defines: s.defines}
	if !file.empty() && isPrintable(s.text[file.from:file.to]) {
		f.label = s.text[file.from:file.to]
	}
	if s.takesNumber(f.text) {
		s.found(f)
	}
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
