package digest

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// The parts of a longer text that are read, in bytes.
const (
	headSize = 256 << 10
	tailSize = 64 << 10
)

// legible returns the parts of a text that are read, as the model writes what they contain: without the escapes of JSON and
// the colours of a terminal.
func legible(text string) []string {
	parts := []string{text}
	if len(text) > headSize+tailSize {
		const near = 4 << 10 // bytes to the end of a line
		head, tail := shorten.Head(text, headSize), shorten.Tail(text, tailSize)
		if k := strings.LastIndexByte(head, '\n'); k > headSize-near {
			head = head[:k]
		}
		if k := strings.IndexByte(tail, '\n'); k < near {
			tail = tail[k+1:]
		}
		parts = []string{head, tail}
	}
	begin := strings.TrimLeft(text[:min(len(text), headSize)], " \t\r\n")
	isJSON := begin != "" && strings.IndexByte(`{["`, begin[0]) >= 0 ||
		strings.Contains(begin, `\n`) && !strings.Contains(begin, "\n") && !strings.Contains(begin, `:\`) // Result(text='a\nb')
	for i := range parts {
		if strings.Contains(parts[i], "\x1b[") {
			parts[i] = colour.ReplaceAllString(parts[i], "")
		}
		if isJSON {
			parts[i] = unescaped(parts[i])
		}
	}
	return parts
}

// colour matches the control sequences of a terminal: \x1b[1;31m.
var colour = regexp.MustCompile(`\x1b\[[\d;]*.?`)

// unescaped replaces the escapes of JSON by their characters, also those in a string of JSON that is in a string of JSON.
// Backslashes that are not part of an escape remain, as those of the path C:\\new.
func unescaped(text string) string {
	k := strings.IndexByte(text, '\\')
	if k < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for ; k >= 0; k = strings.IndexByte(text, '\\') {
		end := k + len(text[k:]) - len(strings.TrimLeft(text[k:], `\`))
		out = append(out, text[:k]...)
		r, n := escape(text[end:])
		if n == 0 || end > k+1 && endsInDrive(out) {
			out = append(out, text[k:end]...)
			n = 0
		} else {
			out = utf8.AppendRune(out, r)
		}
		text = text[end+n:]
	}
	return string(append(out, text...))
}

// endsInDrive reports whether a text ends in a path such as C:\\Users.
func endsInDrive(text []byte) bool {
	word := text[bytes.LastIndexAny(text, " \n\t\"")+1:]
	return len(word) > 1 && word[1] == ':'
}

// escape returns the character of the escape whose backslash precedes a text, and its length in bytes. The length is 0 if there
// is no escape, or one of a character of ASCII or one that cannot be shown.
func escape(text string) (r rune, n int) {
	if text == "" {
		return 0, 0
	}
	switch text[0] {
	case '/', '"', '\'':
		return rune(text[0]), 1
	case 'n', 'r':
		return '\n', 1
	case 't':
		return '\t', 1
	}
	r, n = codeUnit(text)
	if c, _ := lex.ClassAt(string(r), 0); r < utf8.RuneSelf || c == lex.Blank {
		return 0, 0
	}
	return r, n
}

// codeUnit reads u5f20 at the beginning of a text, and returns its length. It is 0 if there is none.
func codeUnit(text string) (r rune, n int) {
	const size = len("u5f20")
	if len(text) < size || text[0] != 'u' {
		return 0, 0
	}
	v, err := strconv.ParseUint(text[1:size], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(v), size
}

// The lengths of facts in bytes.
const (
	shortestFact = 2
	longestName  = 60 // of several words
	longestFact  = 240
)

// mostNumbers is how many numbers without a telling key are taken from a text, so that the time does not depend on them.
const mostNumbers = 1000

// scanner finds the facts of a text in one pass. It does not parse a format. It reads lines and tokens and keeps track of the
// key of the next value: a quoted string before a colon, the words before the colon of a line, or the name in name=value. The
// values of a list have the key of the list. This is enough for JSON and Python literals, complete, cut off, or in strings of
// other JSON, and has no effect on prose and code.
type scanner struct {
	text  string
	found func(fact)

	end     int // of the current line
	gutter      // of the line before
	key     string
	fresh   bool // the next token is a value of the key, or the first word of it
	list    bool // more values of the key follow
	fault   int  // where the newest error message ends
	numbers int  // how many had no telling key

	first, last int // of the numbers before lines, if at least two follow each other
}

// scan calls found with each fact of a text, in order, and with the words between them, whose kind is none. What occurs again is
// passed again.
func scan(text string, found func(fact)) {
	s := scanner{found: found}
	for _, s.text = range legible(text) {
		s.fault = 0
		for from := 0; from < len(s.text); from = s.end + 1 {
			s.end = lineEnd(s.text, from)
			s.line(s.takeGutter(from))
		}
	}
	if s.last > s.first+1 {
		found(fact{text: fmt.Sprintf("lines %d-%d", s.first, s.last), kind: lines})
	}
}

// line finds the facts of the line at from.
func (s *scanner) line(from int) {
	from = skip(s.text[:s.end], from, " \t-*#>")
	line := s.text[from:s.end]
	if s.list = s.list && !isName(line, 0); !s.list {
		s.key = ""
	}
	s.fresh = s.list
	key, value := keyOf(line)
	if key != "" {
		s.takeFault(from, from+len(key))
		s.words(from, from+len(key))
		s.key, s.fresh = key, true
		w := strings.Trim(line[value:], " \t\r,*`\"'")
		if len(w) <= longestName && !strings.ContainsAny(w, "\"'`(){}[];:=") {
			s.take(w, kindOf(w))
		}
		s.fresh = true
	}
	s.words(from+value, s.end)
}

// words finds the facts among the tokens of a part of the line.
func (s *scanner) words(from, to int) {
	for i := from; i < to; {
		c, size := lex.ClassAt(s.text, i)
		switch b := s.text[i]; {
		case c == lex.Blank:
		case b == '"', b == '\'', b == '`':
			i = s.quoted(i, to)
			continue
		case c.InWord(), c == lex.Currency, strings.IndexByte("./-_@#$+~", b) >= 0:
			i = s.word(i, to)
			continue
		case b == '[':
			s.list, s.fresh = s.key != "", s.key != ""
		case b == '}', b == ']', b == '{':
			s.list, s.fresh, s.key = false, false, ""
		case b == ',':
			s.fresh = s.list
		case b == '\\': // an escape, or part of a path
			if _, n := codeUnit(s.text[i+1 : to]); n > 0 || i+1 < to && !isName(s.text, i-1) {
				size = 1 + max(n, 1)
			}
		default:
			s.fresh = false
		}
		i += size
	}
}

// word reads the token at i and returns where reading continues.
func (s *scanner) word(i, to int) (next int) {
	line := s.text[:to]
	from, end, next := tokenAt(line, i)
	w := line[from:end]
	if strings.HasSuffix(line[:from], "%") { // a part of a format string, or of an escape
		return next
	}
	if n, k := moneyOrDate(line[from:], len(w)); n > 0 {
		s.take(line[from:from+n], k)
		return from + n
	}
	if w == "" {
		return next
	}
	s.takeFault(from, end)
	k := shapeOf(w)
	if place, position, ok := strings.Cut(w, ":"); ok && strings.Trim(position, ":"+digits) == "" { // b.go:12
		if of := shapeOf(place); of == path || of == file {
			w, k = place, of
		}
	}
	s.take(w, k)
	if k != number && end+1 < to && line[end] == '=' && line[end+1] > ' ' && line[end+1] != '=' { // name=value
		s.key, s.fresh = w, true
		return end + 1
	}
	return next
}

// takeFault takes the error message that begins with the word from from to end, if it begins one.
func (s *scanner) takeFault(from, end int) {
	line := s.text[:s.end]
	const longest = 80                                                                                       // bytes
	if end == len(line) || from < s.fault || !endsFault(line, end) || strings.HasSuffix(line[:from], `("`) { // an argument
		return
	}
	begin := from
	if from > 0 && strings.IndexByte("\"'`", line[from-1]) >= 0 { // the string that it is in
		begin--
	}
	msg, _ := Fault(line[begin:])
	s.fault = from + len(msg)
	if len(msg) > longest {
		msg = msg[:max(longest/2, strings.LastIndexByte(msg[:longest], ' '))]
	}
	if isPhrase(msg) {
		s.take(msg, fault)
	}
}

// quoted reads the quote at i and returns where reading continues. A short string can be a key or a value.
func (s *scanner) quoted(i, to int) (next int) {
	const longest = 100
	from := i + 1
	if isName(s.text, i-1) { // it's, or the end of a string
		return from
	}
	n := strings.IndexByte(s.text[from:min(to, from+longest)], s.text[i])
	if n <= 0 {
		s.fresh = false
		return from + max(n, 0)
	}
	w, after := s.text[from:from+n], skip(s.text[:to], from+n+1, " ")
	switch k := kindOf(w); {
	case after < to && s.text[after] == ':':
		if s.fresh = false; k != symbol && k != code && k != text {
			s.take(w, k) // {"1656367028": {…}}
		}
		s.key, s.fresh, s.list = w, true, false
		return after + 1
	case s.fresh && (after == to || strings.IndexByte(",]})\r", s.text[after]) >= 0):
		if s.take(w, k); !isPhrase(w) {
			return after
		}
	}
	return from
}

// kindOf returns the kind of all of a value.
func kindOf(w string) kind {
	from, end, _ := tokenAt(w, 0)
	if n, k := moneyOrDate(w[from:], end-from); n == len(w) {
		return k
	}
	if end-from == len(w) {
		return cmp.Or(shapeOf(w), text)
	}
	return text
}

// moneyOrDate returns the length of the amount or date of several words that begins a text, or 0. The first word has a length.
func moneyOrDate(text string, word int) (n int, k kind) {
	n, isDate := lex.MoneyOrDate(text, word)
	if isDate {
		return n, date
	}
	return n, amount
}

// take takes a fact, unless it has no meaning of its own. It has the current key if it is a value of it.
func (s *scanner) take(w string, k kind) {
	const longest = 32 // bytes of a key
	f, worth := fact{text: w, kind: k}, 0
	if s.fresh && len(s.key) <= longest && isPrintable(s.key) {
		f.key = s.key
		worth = worthOf(f.key)
	}
	s.fresh = false
	switch {
	case len(w) < shortestFact, len(w) > longestFact, k == text && worth == 0:
		return
	case k == number && worth == 0:
		if s.numbers++; s.numbers > mostNumbers || len(w) <= shortestFact {
			return
		}
	}
	if isToken := k != text && k != fault && k != path && k != file && k != amount && k != date; isToken || isPrintable(w) {
		s.found(f)
	}
}

// isPrintable reports whether a string can be part of a line as it is.
func isPrintable(w string) bool {
	return w == strings.TrimSpace(w) && !strings.ContainsFunc(w, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) })
}
