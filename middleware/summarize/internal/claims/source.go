package claims

import (
	"index/suffixarray"
	"slices"
	"strings"
)

// Source is what claims are compared with: the texts of messages that are folded. Building it takes linear time. A
// Source does not change and is safe for concurrent use.
type Source struct {
	stream []byte // the normalised tokens, each between two zero bytes
	words  *suffixarray.Index

	digits   map[string]bool      // digits of all numbers, also in names
	amounts  map[string][]float64 // by dimension, sorted; those without a unit under bare, and each as it is written under any
	dates    map[date]bool        // also without year or day; weekdays have a negative day
	clocks   map[string]bool
	commands map[string]*command
}

const (
	bare      = "" // of numbers without a unit
	asWritten = "any"
)

// NewSource returns the source of texts. JSON texts are read with and without their escapes.
func NewSource(texts ...string) *Source {
	s := &Source{
		digits: map[string]bool{}, amounts: map[string][]float64{}, dates: map[date]bool{}, clocks: map[string]bool{},
		commands: map[string]*command{},
	}
	var toks []token
	for _, t := range texts {
		toks = s.add(toks, t)
		const deepest = 3 // JSON in JSON in JSON
		for range deepest {
			plain := unescape(t)
			if plain == t {
				break
			}
			t = plain
			toks = s.add(toks, t)
		}
	}
	for _, all := range s.amounts {
		slices.Sort(all)
	}
	s.words = suffixarray.New(s.stream)
	return s
}

// add reads a text piece by piece. It uses the room of the tokens, and returns it.
func (s *Source) add(toks []token, text string) []token {
	s.stream = append(s.stream, 0, 1, 0) // nothing begins in one text and ends in another
	for text != "" {
		piece := text[:pieceEnd(text)]
		text = text[len(piece):]
		toks = lex(toks[:0], fold(piece))
		for _, t := range toks {
			if inStream(t) {
				s.stream = append(append(s.stream, t.text...), 0)
			}
		}
		for _, v := range values(toks) {
			s.addValue(toks, v)
		}
		for _, t := range toks {
			s.addDigits(t.text)
		}
	}
	return toks
}

// pieceEnd returns the end of the first lines of a text, or of a long line.
func pieceEnd(text string) int {
	const usual, most = 4 << 10, 16 << 10
	if len(text) <= usual {
		return len(text)
	}
	head := text[:min(len(text), most)]
	if k := strings.IndexByte(head[usual:], '\n'); k >= 0 {
		return usual + k + 1
	}
	if k := strings.LastIndexAny(head, " ,;，。"); k > 0 && len(head) < len(text) {
		return k
	}
	for k := len(head) - 1; len(head) < len(text) && k > most-4; k-- {
		if text[k]&0xC0 != 0x80 { // the first byte of a character
			return k
		}
	}
	return len(head)
}

// inStream reports whether a token counts when words are compared.
func inStream(t token) bool { return t.kind != mark || t.text == "/" }

// addDigits adds the digits in a word, and of 1.2.3 also 1.2 and 1.
func (s *Source) addDigits(word string) {
	const most = 4 // dots
	for i := 0; i < len(word); {
		if !isDigit(rune(word[i])) {
			i++
			continue
		}
		from, dots := i, 0
		for i < len(word) && (isDigit(rune(word[i])) || word[i] == '.' && startsWithDigit(word[i+1:])) {
			if word[i] == '.' && dots < most {
				s.digits[plainDigits(word[from:i])] = true
				dots++
			}
			i++
		}
		s.digits[plainDigits(word[from:i])] = true
	}
}

// plainDigits removes zeros at the beginning.
func plainDigits(d string) string {
	if d = strings.TrimLeft(d, "0"); d == "" || d[0] == '.' {
		return "0" + d
	}
	return d
}

func (s *Source) addValue(toks []token, v value) {
	switch {
	case v.clock != "":
		s.clocks[v.clock], s.clocks[v.clock[:len("00:00")]] = true, true
		return
	case v.date != date{}:
		s.addDate(v.date)
		return
	case !v.has:
		return
	}
	s.digits[plainDigits(v.literal)] = true
	s.put(asWritten, v.value)
	for _, u := range v.units {
		s.put(u.dimension, v.value*u.size)
	}
	if v.units != nil || v.part || isCounted(at(toks, v.to)) {
		return
	}
	s.put(bare, v.value)
	for _, u := range keyUnit(toks, v.from) { // "timeout_ms": 30000
		s.put(u.dimension, v.value*u.size)
	}
	if raw := toks[v.from].raw; strings.Contains(raw, ",") { // 101,102 may be two
		for part := range strings.SplitSeq(raw, ",") {
			s.addDigits(part)
		}
	}
}

// isCounted reports whether the token after a number shows that it counts something, as in 42 containers.
func isCounted(next token) bool {
	named := next.kind == word && !next.glued && len(next.raw) > 2 && !linking[next.text]
	return !next.first && (named || next.kind == ideograph && next.glued)
}

func (s *Source) put(dimension string, v float64) {
	s.amounts[dimension] = append(s.amounts[dimension], v)
}

func (s *Source) addDate(d date) {
	s.dates[d] = true
	if w := d.weekday(); w != 0 {
		s.dates[date{day: w}] = true
	}
	if d.month > 0 {
		s.dates[date{d.year, d.month, 0}], s.dates[date{0, d.month, d.day}] = true, true
	}
}

// keyUnit returns the unit at the end of a key before a number.
func keyUnit(toks []token, i int) []unit {
	for k := i - 1; k >= max(0, i-3); k-- {
		if t := toks[k]; t.kind == word {
			key := t.raw
			if at := strings.LastIndexByte(key, '_'); at >= 0 {
				return unitsOf(key[at+1:])
			}
			if at := strings.LastIndexFunc(key, func(r rune) bool { return 'A' <= r && r <= 'Z' }); at > 0 {
				return unitsOf(key[at:])
			}
			return nil
		}
	}
	return nil
}

// unescape returns a text without the escapes of JSON.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n', 'r', 't':
			b.WriteByte('\n')
		case '"', '\\', '/', '\'':
			b.WriteByte(s[i])
		case 'u':
			if r, ok := hexRune(s[i+1:]); ok {
				b.WriteRune(r)
				i += 4
				continue
			}
			b.WriteString(`\u`)
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func hexRune(s string) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range []byte(s[:4]) {
		k := strings.IndexByte("0123456789abcdef", c|0x20)
		if k < 0 {
			return 0, false
		}
		r = r<<4 | rune(k)
	}
	return r, true
}
