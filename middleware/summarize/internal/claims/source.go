package claims

import (
	"index/suffixarray"
	"math"
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
	s := &Source{digits: map[string]bool{}, amounts: map[string][]float64{}, dates: map[date]bool{}, clocks: map[string]bool{}, commands: map[string]*command{}}
	for _, t := range texts {
		s.add(t)
		const deepest = 3 // JSON in JSON in JSON
		for range deepest {
			plain := unescape(t)
			if plain == t {
				break
			}
			t = plain
			s.add(t)
		}
	}
	for _, all := range s.amounts {
		slices.Sort(all)
	}
	s.words = suffixarray.New(s.stream)
	return s
}

// add reads a text piece by piece.
func (s *Source) add(text string) {
	s.stream = append(s.stream, 0, 1, 0) // nothing begins in one text and ends in another
	var toks []token
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
	return !next.first && (next.kind == ideograph && next.glued || next.kind == word && !next.glued && len(next.raw) > 2 && !linking[next.text])
}

func (s *Source) put(dimension string, v float64) {
	s.amounts[dimension] = append(s.amounts[dimension], v)
}

func (s *Source) addDate(d date) {
	s.dates[d] = true
	if w := d.weekday(); w > 0 {
		s.dates[date{day: -w}] = true
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

// has reports whether words are next to each other in the source.
func (s *Source) has(words []string) bool {
	return len(words) == 0 || s.words.Lookup(pattern(words), 1) != nil
}

func pattern(words []string) []byte { return []byte("\x00" + strings.Join(words, "\x00") + "\x00") }

// hasPrefix reports whether a word begins with a text.
func (s *Source) hasPrefix(head string) bool { return s.words.Lookup([]byte("\x00"+head), 1) != nil }

// hasPart reports whether a text is in a word, as refund in RefundTotal.
func (s *Source) hasPart(part string) bool { return s.words.Lookup([]byte(part), 1) != nil }

// hasNear reports whether words are close to each other in the source, in any order.
func (s *Source) hasNear(words []string) bool {
	const most, window = 500, 120 // places that are looked at; bytes on each side, besides the words
	rarest, places := 0, []int(nil)
	for i, w := range words {
		found := s.words.Lookup(pattern(words[i:i+1]), most)
		if found == nil {
			return false
		}
		if _ = w; places == nil || len(found) < len(places) {
			rarest, places = i, found
		}
	}
	size := window
	for _, w := range words {
		size += len(w) + 1
	}
	if len(words) > most {
		return false
	}
	slices.Sort(places)
	for _, at := range places {
		around := string(s.stream[max(0, at-size):min(len(s.stream), at+size)])
		all := true
		for i, w := range words {
			all = all && (i == rarest || strings.Contains(around, "\x00"+w+"\x00"))
		}
		if all {
			return true
		}
	}
	return len(words) == 0
}

// hasAmount reports whether a number of a dimension is in the source that may be written as v: half a step less, as
// rounded up, or nearly a step more, as cut off.
func (s *Source) hasAmount(dimension string, v, step float64) bool {
	all, exact := s.amounts[dimension], math.Abs(v)*1e-9
	k, _ := slices.BinarySearch(all, v-step*0.5-exact)
	return k < len(all) && all[k] <= v+step*0.95+exact
}

// hasValue reports whether a value is in the source.
func (s *Source) hasValue(v value) bool {
	switch {
	case v.clock != "":
		return s.clocks[v.clock] || s.clocks[v.clock[:len("00:00")]] && len(v.clock) == len("00:00")
	case v.date.month == 0 && v.date.day < 0, v.date.month > 0:
		return s.hasDate(v.date)
	case !v.has:
		return s.digits[plainDigits(v.literal)] || s.hasPrefix(v.literal+".")
	}
	m := v.precision()
	if v.units == nil {
		return s.digits[plainDigits(v.literal)] || s.hasAmount(asWritten, v.value, m)
	}
	for _, u := range v.units {
		inBytes := u.dimension == "bytes" && s.hasAmount(bare, v.value*u.size, m*u.size)
		if inBytes || s.hasAmount(u.dimension, v.value*u.size, m*u.size) {
			return true
		}
	}
	return s.hasAmount(bare, v.value, m) || v.units[0].dimension == "ratio" && s.hasAmount(bare, v.value/100, m/100)
}

func (s *Source) hasDate(d date) bool {
	return s.dates[d] || d.year > 0 && d.day > 0 && s.dates[date{0, d.month, d.day}] && !s.otherYear(d)
}

// otherYear reports whether the source has the day in other years only.
func (s *Source) otherYear(d date) bool {
	for year := 1900; year < 2200; year++ {
		if s.dates[date{year, d.month, d.day}] {
			return true
		}
	}
	return false
}

// Supports reports whether the source has what a claim is about.
func (s *Source) Supports(c Claim) bool {
	switch c.Kind {
	case Number, Date:
		return s.hasValue(c.value)
	case Path:
		return s.hasPath(c)
	case Identifier, Address:
		return s.hasName(c)
	case Code:
		return s.hasCode(c)
	case Quotation:
		return s.hasQuotation(c)
	case Outcome:
	}
	return true
}

func (s *Source) hasQuotation(c Claim) bool {
	const few = 3
	if s.has(c.words) || c.open && s.hasStart(c.words) {
		return true
	}
	return len(c.words) == 1 && s.hasInflected(c.words[0]) || len(c.words) <= few && !isChinese(c.Text) && s.hasNear(c.words)
}

// hasStart reports whether words are in the source if the last one may be longer there.
func (s *Source) hasStart(words []string) bool {
	p := pattern(words)
	return s.words.Lookup(p[:len(p)-1], 1) != nil
}

// hasInflected reports whether a word of natural language is in the source, also with another end.
func (s *Source) hasInflected(w string) bool {
	const least = 4
	for _, end := range [...]string{"", "s", "es", "ed", "d", "ing", "ly"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= least && s.hasPart(stem) {
			return true
		}
	}
	return false
}

func (s *Source) hasCode(c Claim) bool {
	words := c.words
	for len(words) > 1 && words[len(words)-1] == "/" {
		words = words[:len(words)-1]
	}
	switch {
	case s.has(words), c.open && s.hasStart(words):
		return true
	case len(words) == 1:
		return plainWords[words[0]] || isPlainWord(words[0]) && s.hasInflected(words[0]) || s.hasName(c)
	case strings.ContainsAny(c.Text, `/\`) && !strings.Contains(c.Text, " "):
		return s.hasPath(c)
	case isFile(words) && !strings.Contains(c.Text, " "):
		return false
	}
	return s.hasNear(words)
}

func isPlainWord(w string) bool {
	return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == ""
}

func isFile(words []string) bool { return len(words) > 1 && fileEnds[words[len(words)-1]] }

func (s *Source) hasName(c Claim) bool {
	const shortHash = 7
	words := c.words
	for len(words) > 1 && words[len(words)-1] == "/" {
		words = words[:len(words)-1]
	}
	last := words[len(words)-1]
	switch {
	case s.has(words), c.open && s.hasStart(words):
		return true
	case strings.HasPrefix(c.Text, "_"): // the end of several names
		return s.hasPart("_" + last)
	case strings.Contains(c.Text, "-") && len(words) > 1 && !strings.ContainsAny(c.Text, "0123456789.@:#_"): // non-WebSocket
		return !slices.ContainsFunc(strings.Split(c.Text, "-"), func(part string) bool {
			own := Find(part)
			return own != nil && !s.Supports(own[0])
		})
	case len(words) == 1 && len(last) >= shortHash && strings.Trim(last, "0123456789abcdef") == "":
		return s.hasPrefix(last)
	case len(words) == 1 && c.Kind == Identifier:
		if stem, ok := strings.CutSuffix(last, "s"); ok && s.has([]string{stem}) {
			return true
		}
		return s.has(humps(c.Text))
	}
	return c.Kind == Identifier && strings.ContainsAny(c.Text, ".:") && !isFile(words) && !strings.Contains(c.Text, "@") && s.hasNear(words)
}

// humps returns the words of a name such as WebSocket, or a name that nobody has.
func humps(name string) (words []string) {
	from := 0
	for i, r := range name {
		if i > from && 'A' <= r && r <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z' {
			words, from = append(words, strings.ToLower(name[from:i])), i
		}
	}
	if words == nil {
		return []string{"\x02"}
	}
	return append(words, strings.ToLower(name[from:]))
}

// hasPath reports whether the source has a path, or its end in a folder that it has.
func (s *Source) hasPath(c Claim) bool {
	words := c.words
	for len(words) > 0 && words[0] == "/" {
		words = words[1:]
	}
	for len(words) > 0 && words[len(words)-1] == "/" {
		words = words[:len(words)-1]
	}
	const most = 100 // words
	switch {
	case s.has(words), c.open && s.hasStart(words):
		return true
	case len(words) > most:
		return false
	}
	if c.weak && !s.has([]string{words[0], "/"}) {
		return true
	}
	absolute := strings.ContainsAny(c.Text[:1], `/~\`) || len(c.Text) > 1 && c.Text[1] == ':'
	for k, w := range words {
		if w != "/" || !s.beginsPath(words[k+1:]) {
			continue
		}
		if s.has(words[:k]) || absolute && slices.Contains(words[k+1:], "/") {
			return true
		}
	}
	return false
}

// beginsPath reports whether words begin a path of the source.
func (s *Source) beginsPath(words []string) bool {
	const most = 1000
	for _, at := range s.words.Lookup(pattern(words), most) {
		if at < 2 || s.stream[at-1] != '/' || s.stream[at-2] != 0 {
			return true
		}
	}
	return false
}

// plainWords may be in backticks without being in the source.
var plainWords = set("true false nil null none undefined yes no ok error string int bool float void main test tests void any object")
