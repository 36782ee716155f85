// Package claims checks the text of a model against what it was written from.
//
//	s := claims.SourceOf(folded, earlier)
//	for _, f := range s.Check(summary) {
//		fmt.Println(summary[f.From:f.To], f.Items) // a sentence, and what of it the source does not have
//	}
//
// A claim is something in a sentence that can be compared: a number, an amount, a date, a name as programs have them, a
// path, an address, a quotation, or the outcome of a command. It is supported if the source has it, however it is
// written: digit grouping, Chinese numerals, wide characters, case, units of the same dimension, and the folder before a
// path do not count. Whole numbers up to 20 without a unit are no claims, since models count. A number that two others
// of its sentence give by one operation is supported.
//
// The package knows no language: it does not find a false sentence whose words are all right. All functions take any
// text, also invalid UTF-8, and need time proportional to its length.
package claims

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a claim is.
type Kind string

// The kinds.
const (
	Number     Kind = "number" // also an amount
	Date       Kind = "date"   // or a time
	Identifier Kind = "identifier"
	Path       Kind = "path"
	Address    Kind = "address" // of the web
	Code       Kind = "code"    // in backticks
	Quotation  Kind = "quotation"
	Outcome    Kind = "outcome" // of a command
)

// Claim is something in a sentence that a source has or not.
type Claim struct {
	Kind Kind
	Text string // as in the sentence, in characters of usual width

	from, to int // bytes of the folded sentence
	words    []string
	value    value
	weak     bool // it may be no path, as and/or
	open     bool // it ends in an ellipsis
}

// sentence is a sentence that is read.
type sentence struct {
	text   string // folded
	toks   []token
	spans  []span
	claims []Claim
	named  []bool // by token: it is in the claim of a name
}

// Find returns the claims of a sentence, in order of kinds.
func Find(text string) []Claim {
	s := read(text)
	return s.claims
}

func read(text string) *sentence {
	s := &sentence{text: fold(text)}
	s.toks = lex(nil, s.text)
	s.named = make([]bool, len(s.toks))
	s.findSpans()
	s.findNames()
	s.findValues()
	return s
}

// span is what is between quotation marks or backticks.
type span struct {
	from, to int
	code     bool
}

var quoteMarks = map[rune]string{'`': "`", '"': `"`, '“': "”", '「': "」", '『': "』", '«': "»", '‘': "'"}

func (s *sentence) findSpans() {
	open := map[string]bool{} // marks that do not occur any more
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		closing := quoteMarks[r]
		if closing == "" || open[closing] {
			i += size
			continue
		}
		for r == '`' && size < 3 && strings.HasPrefix(s.text[i+size:], "`") {
			size++
			closing += "`"
		}
		n := strings.Index(s.text[i+size:], closing)
		if n < 0 {
			open[closing] = true
			i += size
			continue
		}
		sp := span{i + size, i + size + n, r == '`'}
		s.spans = append(s.spans, sp)
		s.claimSpan(sp)
		i = sp.to + len(closing)
	}
}

// claimSpan adds a claim for each part of a quotation between ellipses.
func (s *sentence) claimSpan(sp span) {
	kind := Quotation
	if sp.code {
		kind = Code
	}
	for from := sp.from; from < sp.to; {
		n := strings.Index(s.text[from:sp.to], "...")
		end, next := sp.to, sp.to
		if n >= 0 {
			end, next = from+n, from+n+len("...")
		}
		c := Claim{Kind: kind, from: from, to: end, words: s.wordsIn(from, end)}
		c.open = n > 0 && s.text[end-1] != ' ' && s.text[end-1] != '/'
		if len(c.words) > 0 {
			s.add(c)
		}
		from = next
	}
}

func (s *sentence) add(c Claim) {
	c.Text = strings.TrimSpace(s.text[c.from:c.to])
	s.claims = append(s.claims, c)
}

func (s *sentence) wordsIn(from, to int) (words []string) {
	first, _ := slices.BinarySearchFunc(s.toks, from, func(t token, at int) int { return cmp.Compare(t.from, at) })
	for _, t := range s.toks[first:] {
		if t.to() > to {
			break
		}
		if inStream(t) {
			words = append(words, t.text)
		}
	}
	return words
}

// isChinese reports whether at least a fifth of the letters of a text are ideographs.
func isChinese(text string) bool {
	han, all := 0, 0
	for _, r := range text {
		switch {
		case isHan(r):
			han++
			all++
		case unicode.IsLetter(r):
			all++
		}
	}
	return han*5 >= all && han > 0
}

// chunk is a run of tokens without a space or bracket.
type chunk struct {
	toks []token
	at   int // the first of them in the sentence
	raw  string
}

// chunks yields the chunks of the sentence.
func (s *sentence) chunks(yield func(chunk)) {
	for i := 0; i < len(s.toks); {
		end := i
		for end < len(s.toks) && (end == i || s.toks[end].glued) && joins(s.toks[end]) {
			end++
		}
		from, to := i, end
		for to > from && s.toks[to-1].is(`.:-#@~$+/\%`) {
			to--
		}
		if to < end && s.toks[to].is(`/\`) && to > from {
			to++ // a folder
		}
		for from < to && s.toks[from].is(":-+%") {
			from++
		}
		if from < to {
			yield(chunk{s.toks[from:to], from, s.text[s.toks[from].from:s.toks[to-1].to()]})
		}
		i = max(end, i+1)
	}
}

func joins(t token) bool {
	return t.kind == word || t.kind == number && !unicode.Is(unicode.Han, firstRune(t.raw)) || t.is(`./\:-#@~$+%`)
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// findNames adds the claims of names, paths and addresses.
func (s *sentence) findNames() {
	s.chunks(func(c chunk) {
		c = s.withoutPlace(c)
		kind, weak, ok := c.kind()
		if !ok {
			return
		}
		end := c.toks[0].from + len(c.raw)
		words := s.wordsIn(c.toks[0].from, end)
		if kind == Address {
			if _, rest, found := strings.Cut(c.raw, "://"); found {
				words = s.wordsIn(end-len(rest), end)
			}
		}
		s.add(Claim{
			Kind: kind, from: c.toks[0].from, to: end, words: words, weak: weak,
			open: strings.HasPrefix(s.text[end:], "..."),
		})
		for i := range c.toks {
			s.named[c.at+i] = true
		}
		s.errorText(c, end)
	})
}

// withoutPlace removes the lines from main.go:42 and main.go:42-45, and adds claims for them.
func (s *sentence) withoutPlace(c chunk) chunk {
	n := len(c.toks)
	for n > 2 && c.toks[n-1].kind == number && c.toks[n-2].is(":-") {
		n -= 2
	}
	if n == len(c.toks) || !c.toks[n].is(":") || strings.Contains(c.raw, "://") || !strings.ContainsAny(c.raw, "./") {
		return c
	}
	for i := n + 1; i < len(c.toks); i += 2 {
		t := c.toks[i]
		s.add(Claim{Kind: Number, from: t.from, to: t.to(), value: value{literal: t.text, amount: t.amount, label: true}})
		s.named[c.at+i] = true
	}
	return chunk{c.toks[:n], c.at, s.text[c.toks[0].from:c.toks[n-1].to()]}
}

// kind returns what a chunk claims to be. weak: only if its first part is known to be a folder.
func (c chunk) kind() (k Kind, weak, ok bool) {
	switch {
	case strings.Contains(c.raw, "://"):
		return Address, false, true
	case strings.ContainsAny(c.raw, `/\`):
		weak, ok = c.isPath()
		return Path, weak, ok
	}
	return Identifier, false, c.isName()
}

func (c chunk) isPath() (weak, ok bool) {
	letters, odd := false, false
	parts := strings.FieldsFunc(c.raw, func(r rune) bool { return r == '/' || r == '\\' })
	for _, p := range parts {
		hasLetter := strings.ContainsFunc(p, unicode.IsLetter)
		letters = letters || hasLetter
		odd = odd || hasLetter && strings.ContainsAny(strings.TrimLeft(p, "."), "._0123456789") && !isAmount(p)
	}
	rooted := strings.ContainsAny(c.raw[:1], `/\.~`)
	if !letters || isAmount(parts[0]) || rooted && len(parts) == 1 && len(parts[0]) < 3 {
		return false, false
	}
	return !rooted && !odd && len(parts) > 1, true
}

// isAmount reports whether a text is a number with a unit.
func isAmount(s string) bool {
	toks := lex(nil, s)
	v, ok := valueAt(append(toks, token{kind: mark}), 0)
	return ok && v.from == 0 && v.to == len(toks) && !v.part
}

// isName reports whether a chunk looks like the name of something in a program or a list.
func (c chunk) isName() bool {
	low := strings.ToLower(c.raw)
	if known[low] || isAmount(c.raw) {
		return false
	}
	first := c.toks[0]
	if len(c.toks) == 1 && first.kind == word {
		return isNameWord(first)
	}
	if first.is("#") || first.is("~") {
		rest := chunk{c.toks[1:], c.at + 1, c.raw[1:]}
		return len(rest.toks) > 0 && rest.isName()
	}
	if first.is("$") {
		return c.toks[1].kind == word && c.toks[1].suffix == ""
	}
	letters, digits, named := false, false, false
	for _, t := range c.toks {
		letters = letters || t.kind == word
		digits = digits || t.amount.has || strings.ContainsFunc(t.raw, unicode.IsDigit)
		named = named || t.kind == word && isNameWord(t) && !known[strings.ToLower(t.raw)]
	}
	switch {
	case !letters:
		return false
	case named && !first.amount.has, strings.Contains(c.raw, "@") && !first.is("@"), strings.Contains(c.raw, "::"):
		return true
	case strings.Contains(c.raw, "."):
		return isDotted(c)
	case strings.Contains(c.raw, ":"):
		return false
	}
	return digits && !first.amount.has && !counted[first.text]
}

// isNameWord reports whether a single word is a name: it has an underscore, capitals inside, or digits.
func isNameWord(t token) bool {
	w := t.raw
	switch {
	case w[0] == '-':
		return true
	case strings.Contains(strings.Trim(w, "_"), "_"):
		return true
	case t.amount.has:
		_, isValue := valueAt([]token{t, {kind: mark}}, 0)
		return !isValue
	case strings.ContainsFunc(w, unicode.IsDigit):
		return true
	}
	for _, p := range [...]string{"ECONN", "ENO", "EACC", "EPERM", "EADDR", "EEXIST", "EPIPE", "ETIMED", "EINVAL", "EHOST", "SIG"} {
		if strings.HasPrefix(w, p) && strings.ToUpper(w) == w && len(w) > len(p) {
			return true
		}
	}
	lower := false
	for _, r := range strings.TrimSuffix(w, "s") {
		if lower && unicode.IsUpper(r) {
			return !known[strings.ToLower(w)]
		}
		lower = lower || unicode.IsLower(r)
	}
	return false
}

// isDotted reports whether a chunk with a dot is a file, a host or the like.
func isDotted(c chunk) bool {
	for part := range strings.SplitSeq(strings.Trim(c.raw, "."), ".") {
		if utf8.RuneCountInString(part) > 1 {
			return !known[strings.ToLower(strings.Trim(c.raw, "."))]
		}
	}
	return false // e.g, U.S
}

// errorText adds what follows the name of an error.
func (s *sentence) errorText(c chunk, end int) {
	const most = 12
	if low := strings.ToLower(c.raw); !strings.HasSuffix(low, "error") && !strings.HasSuffix(low, "exception") {
		return
	}
	k := c.at + len(c.toks)
	if !at(s.toks, k).is(":") {
		return
	}
	words, to := []string{c.toks[len(c.toks)-1].text}, end
	for k++; k < len(s.toks) && len(words) <= most && !s.toks[k].is(",;()[]\"`。“”"); k++ {
		if t := s.toks[k]; inStream(t) {
			words, to = append(words, t.text), t.to()
		}
	}
	if len(words) > 1 {
		s.add(Claim{Kind: Quotation, from: c.toks[0].from, to: to, words: words})
	}
}

// findValues adds the claims of numbers and dates that are not in a name.
func (s *sentence) findValues() {
	for _, v := range values(s.toks) {
		from, to := s.toks[v.from].from, s.toks[v.to-1].to()
		c := Claim{Kind: Number, from: from, to: to, value: v}
		if !v.has {
			c.Kind = Date
		}
		if v.clock == "" && v.date == (date{}) && v.literal == "" {
			c.value.literal = strconv.FormatFloat(v.value, 'f', -1, 64)
		}
		if !slices.Contains(s.named[v.from:v.to], true) && s.counts(v) {
			s.add(c)
		}
	}
}

// counts reports whether a value is a claim: not a small number, an ordinal, the number of a list, or a time from now.
func (s *sentence) counts(v value) bool {
	const small = 20
	t, next := s.toks[v.from], at(s.toks, v.to)
	switch {
	case v.clock != "" || v.date != (date{}) || v.label || !v.has:
		return true
	case v.part, isOrdinal(t.suffix), strings.EqualFold(t.suffix, "x"), next.is("×") && next.glued, next.text == "倍":
		return false
	case v.from == 0 && t.first && next.is(".)、"):
		return false
	case v.units != nil && (ago[next.text] || next.text == "前" || next.text == "之" && at(s.toks, v.to+1).text == "前"):
		return false
	}
	return v.units != nil || v.step < 1 || v.value > small
}

var ago = set("ago earlier later")
