package digest

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// Lengths in bytes: of the parts of a longer text that are read, and of facts; a name has several words.
const (
	headSize, tailSize                     = 256 << 10, 64 << 10
	shortestFact, longestName, longestFact = 2, 60, 240
	mostNumbers                            = 1000 // without a telling key, so that the time does not depend on them
	idDigits                               = 5    // digits of a number that may identify something
)

// colour matches the control sequences of a terminal: \x1b[1;31m.
var colour = regexp.MustCompile(`\x1b\[[\d;]*.?`)

// legible returns what is read of a text, as the model writes it: without the escapes of JSON and the colours of a terminal.
func legible(text string) string {
	if len(text) > headSize+tailSize {
		text = shorten.Ends(text, headSize, tailSize, func(string) string { return "" })
	}
	if strings.Contains(text, "\x1b[") {
		text = colour.ReplaceAllString(text, "")
	}
	begin := strings.TrimLeft(text, " \t\r\n")
	if begin != "" && strings.IndexByte(`{["`, begin[0]) >= 0 ||
		strings.Contains(begin, `\n`) && !strings.Contains(begin, "\n") && !strings.Contains(begin, `:\`) { // Result(text='a\nb')
		return lex.Unescape(text)
	}
	return text
}

// scanner finds the facts of a text in one pass. It does not parse a format. It reads lines and tokens and keeps track of
// the key of the next value: a quoted string before a colon, the words before the colon of a line, or the name in
// name=value. The values of a list have the key of the list. This is enough for JSON and Python literals, complete, cut off,
// or in strings of other JSON, and has no effect on prose and code.
type scanner struct {
	text  string
	found func(w string, k kind, key string, keyed int) // keyed: what a value of the key is worth

	end     int // of the current line
	number  int // before the line that was read last
	key     string
	fresh   bool // the next token is a value of the key, or the first word of it
	list    bool // more values of the key follow
	fault   int  // where the newest error message ends
	numbers int  // how many had no telling key
}

// scan calls found with each fact of a legible text, in order, and with the words between them, whose kind is none. What occurs
// again is passed again.
func scan(text string, found func(w string, k kind, key string, keyed int)) {
	s := scanner{text: text, found: found}
	for from := 0; from < len(s.text); from = s.end + 1 {
		s.end = lineEnd(s.text, from)
		s.line(s.takeGutter(from))
	}
}

// inDiff matches what is before a path of a diff, or a hunk.
var inDiff = regexp.MustCompile(`^(?:diff --git a/\S+ b/|--- a/|\+{3} b/|@@ -\d[\d, +-]*@@)`)

// line finds the facts of the line at from.
func (s *scanner) line(from int) {
	if from < s.end && strings.IndexByte("d-+@", s.text[from]) >= 0 {
		from += len(inDiff.FindString(s.text[from:s.end]))
	}
	from = s.end - len(strings.TrimLeft(s.text[from:s.end], " \t-*#>"))
	s.list = s.list && !lex.InName(s.text[:s.end], from)
	if !s.list {
		s.key = ""
	}
	s.fresh = s.list
	if key, value := keyOf(s.text[from:s.end]); key != "" {
		s.takeFault(from + len(key))
		w := strings.Trim(s.text[from+value:s.end], " \t\r,*`\"'")
		if !lex.IsFlag(w) {
			s.words(from, from+len(key))
		}
		s.key, s.fresh = key, true
		if len(w) <= longestName && !strings.ContainsAny(w, "\"'`(){}[];:=") {
			s.take(w, kindOf(w))
		}
		from += value
		s.fresh = true
	}
	s.words(from, s.end)
}

// words finds the facts among the tokens of a part of the line.
func (s *scanner) words(from, to int) {
	for i := from; i < to; {
		size := 1
		switch s.text[i] {
		case '"', '\'', '`':
			i = s.quoted(i, to)
			continue
		case '[':
			s.list, s.fresh = s.key != "", s.key != ""
		case '}', ']', '{':
			s.list, s.fresh = false, false
			s.key = ""
		case ',':
			s.fresh = s.list
		case '\\': // an escape, or a part of a path
			if strings.HasPrefix(s.text[i:to], `\u`) {
				size = min(len(`\u202e`), to-i)
			} else if i+1 < to && !lex.InName(s.text, i-1) {
				size = 2
			}
		default:
			var c lex.Class
			c, size = lex.ClassAt(s.text, i)
			if c.InWord() || c == lex.Currency || c == lex.Sign && strings.IndexByte("./-_@#$+~", s.text[i]) >= 0 {
				i = s.word(i, to)
				continue
			}
			s.fresh = s.fresh && c == lex.Blank
		}
		i += size
	}
}

// word reads the token at i and returns where reading continues.
func (s *scanner) word(i, to int) (next int) {
	line := s.text[:to]
	from, end, next := lex.NameAt(line, i)
	w := line[from:end]
	if strings.HasSuffix(line[:from], "%") { // a part of a format string, or of an escape
		return next
	}
	if n, k := phrase(line[from:], len(w)); n > 0 {
		s.take(line[from:from+n], k)
		return from + n
	}
	if w == "" {
		return next
	}
	s.takeFault(end)
	k := lex.ShapeOf(w)
	isFile := k == lex.ShapePath || k == lex.ShapeSymbol
	if file, rest, _ := strings.Cut(w, ":"); isFile && file != "" && strings.Trim(rest, ":"+digits) == "" { // b.go:12
		if of := lex.ShapeOf(file); of == lex.ShapePath || of == lex.ShapeSymbol {
			w, k = file, of
		}
	}
	if k != lex.ShapeNumber && end+1 < to && line[end] == '=' && line[end+1] > ' ' && line[end+1] != '=' { // name=value
		if first, last, _ := lex.NameAt(line, end+1); !lex.IsFlag(line[first:last]) {
			s.take(w, k)
		}
		s.key, s.fresh = w, true
		return end + 1
	}
	if !s.fresh && len(w) >= idDigits && strings.Trim(w, digits) == "" {
		key := strings.TrimRight(line[:from], " #")
		if before := lastWord(key); len(key) < from && ids[before] > 0 { // job 48210
			s.key, s.fresh = key[len(key)-len(before):], true
		}
	}
	s.take(w, k)
	return next
}

// takeFault takes the error message whose first word ends at i, if there is one.
func (s *scanner) takeFault(i int) {
	const longest = 80 // bytes
	from, msg := lex.FaultAt(s.text[:s.end], i)
	if from < s.fault || from+len(msg) <= i+len(":") || strings.HasSuffix(s.text[:from], `("`) { // an argument
		return
	}
	s.fault = from + len(msg)
	if len(msg) > longest {
		msg = shorten.Head(msg, longest)
		msg = cmp.Or(msg[:max(0, strings.LastIndexByte(msg, ' '))], msg)
	}
	s.take(msg, fault)
}

// quoted reads the quote at i and returns where reading continues. A short string can be a key or a value.
func (s *scanner) quoted(i, to int) (next int) {
	const longest = 100
	from := i + 1
	if lex.InName(s.text, i-1) { // it's, or the end of a string
		return from
	}
	n := strings.IndexByte(s.text[from:min(to, from+longest)], s.text[i])
	if n <= 0 {
		s.fresh = false
		return from + max(n, 0)
	}
	w, after := s.text[from:from+n], to-len(strings.TrimLeft(s.text[from+n+1:to], " "))
	switch {
	case after < to && s.text[after] == ':':
		s.fresh = false
		if strings.ContainsFunc(w, func(r rune) bool { return r < 'A' && r != ' ' }) { // not only letters and underscores
			if k := kindOf(w); k != lex.ShapeSymbol && k != lex.ShapeCode && k != text {
				s.take(w, k) // {"1656367028": {…}}
			}
		}
		s.key, s.list = w, false
		s.fresh = true
		return after + 1
	case s.fresh && (after == to || strings.IndexByte(",]})\r", s.text[after]) >= 0):
		s.take(w, kindOf(w))
		if !isPhrase(w) {
			return after
		}
	}
	return from
}

// kindOf returns the kind of all of a value.
func kindOf(w string) kind {
	from, end, _ := lex.NameAt(w, 0)
	n, k := phrase(w[from:], end-from)
	switch {
	case n == len(w):
		return k
	case end-from == len(w):
		return cmp.Or(lex.ShapeOf(w), text)
	}
	return text
}

var phone = regexp.MustCompile(`^\+\d(?:[ ()-]{0,2}\d){6,}`)

// phrase returns the length of the amount, date or phone number of several words that begins a text, or 0. The first word has a length.
func phrase(text string, word int) (n int, k kind) {
	if word > 0 && text[0] == '+' {
		return len(phone.FindString(text)), lex.ShapeID
	}
	n, isDate := lex.MoneyOrDate(text, word)
	if isDate {
		return n, lex.ShapeDate
	}
	return n, lex.ShapeMoney
}

// take takes a fact, unless it has no meaning of its own. It has the current key if it is a value of it.
func (s *scanner) take(w string, k kind) {
	const longest = 32 // bytes of a key
	key, keyed := "", 0
	if k != lex.ShapeNone && s.fresh && s.key != "" && len(s.key) <= longest && isPrintable(s.key) {
		key = s.key
		keyed = int(cmp.Or(keys[lastWord(key)], ids[lastWord(key)]))
	}
	s.fresh = false
	isBare := k == lex.ShapeNumber && keyed == 0
	if isBare {
		s.numbers++
	}
	isShort := len(w) < shortestFact || isBare && len(w) == shortestFact
	if isShort || len(w) > longestFact || k == text && keyed == 0 || isBare && s.numbers > mostNumbers {
		return
	}
	if k < lex.ShapeMoney || isPrintable(w) {
		s.found(w, k, key, keyed)
	}
	if (k == lex.ShapePath || k == lex.ShapeLink) && strings.Count(w, "-") >= 4 {
		if id := uuid.FindString(w); id != "" { // it fits where all of the path does not
			s.found(id, lex.ShapeID, "", 0)
		}
	}
}

var uuid = regexp.MustCompile(`[\da-fA-F]{8}-(?:[\da-fA-F]{4}-){3}[\da-fA-F]{12}`)

// isPrintable reports whether a string can be part of a line as it is.
func isPrintable(w string) bool {
	for i := 0; i < len(w); {
		c, size := lex.ClassAt(w, i)
		if c == lex.Blank && w[i] != ' ' {
			return false
		}
		i += size
	}
	return w == strings.TrimSpace(w)
}

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
	line = line[:min(len(line), longest)]
	rest := strings.TrimLeft(line, digits+" \t>")
	if rest != "" && strings.IndexByte("\",()[]{}", rest[0]) < 0 && strings.ContainsAny(line, digits) { // most lines have none
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
