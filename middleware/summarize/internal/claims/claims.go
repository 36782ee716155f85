// Package claims checks the text of a model against what it was written from.
//
//	s := claims.SourceOf(folded, view, earlier)
//	for _, f := range s.Check(summary) {
//		fmt.Println(summary[f.From:f.To], f.Items) // a sentence, and what of it the source does not have
//	}
//
// A claim is something in a sentence that can be compared: a number, an amount, a date, a name as programs have them, a
// path, an address, a quotation, or the outcome of a command. It is supported if the source has it, however it is written:
// digit grouping, Chinese numerals, wide characters, case, units of the same dimension, and the folder before a path do not
// count. Whole numbers up to 20 without a unit are no claims, since models count. A number that two others of its sentence
// give by one operation is supported.
//
// The package knows no language: it does not find a false sentence whose words are all right. All functions take any text,
// also invalid UTF-8, and need time proportional to its length.
package claims

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a claim is.
type Kind string

// The kinds. Outcomes of commands are claims of a sentence as a whole, which have no kind.
const (
	Number     Kind = "number" // also an amount
	Date       Kind = "date"   // or a time
	Identifier Kind = "identifier"
	Path       Kind = "path"
	Address    Kind = "address" // of the web
	Code       Kind = "code"    // in backticks
	Quotation  Kind = "quotation"
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
func Find(text string) []Claim { return read(text).claims }

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
type span struct{ from, to int }

var quoteMarks = map[rune]string{'`': "`", '"': `"`, '“': "”", '「': "」", '『': "』", '«': "»", '‘': "'"}

func (s *sentence) findSpans() {
	missing := map[string]bool{} // marks that do not occur any more
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		i += size
		closing := quoteMarks[r]
		if closing == "" || missing[closing] {
			continue
		}
		n := strings.Index(s.text[i:], closing)
		if n < 0 {
			missing[closing] = true
			continue
		}
		sp := span{i, i + n}
		s.spans = append(s.spans, sp)
		kind := Quotation
		if r == '`' {
			kind = Code
		}
		for from := sp.from; from < sp.to; { // the parts between ellipses
			part, _, open := strings.Cut(s.text[from:sp.to], "...")
			c := Claim{Kind: kind, from: from, to: from + len(part), open: open && !strings.HasSuffix(part, " ")}
			if c.words = s.wordsIn(c.from, c.to); len(c.words) > 0 {
				s.add(c)
			}
			from = c.to + len("...")
		}
		i = sp.to + len(closing)
	}
}

func (s *sentence) add(c Claim) {
	c.Text = strings.TrimSpace(s.text[c.from:c.to])
	for c.Kind != Quotation && len(c.words) > 1 && c.words[len(c.words)-1] == "/" {
		c.words = c.words[:len(c.words)-1]
	}
	s.claims = append(s.claims, c)
}

// tokenAt returns the first token at or after a byte.
func (s *sentence) tokenAt(at int) int {
	i, _ := slices.BinarySearchFunc(s.toks, at, func(t token, at int) int { return cmp.Compare(t.from, at) })
	return i
}

func (s *sentence) wordsIn(from, to int) (words []string) {
	for _, t := range s.toks[s.tokenAt(from):] {
		if t.to() > to {
			break
		}
		if inStream(t) {
			words = append(words, t.text)
		}
	}
	return words
}

// chunk is a run of tokens without a space or bracket.
type chunk struct {
	toks []token
	raw  string
}

func (s *sentence) chunk(from, to int) chunk {
	return chunk{s.toks[from:to], s.text[s.toks[from].from:s.toks[to-1].to()]}
}

// findNames adds the claims of names, paths and addresses.
func (s *sentence) findNames() {
	joins := func(t token) bool {
		return t.kind == word || t.kind == number && isDigit(rune(t.raw[0])) || t.is(`./\:-#@~$+%`)
	}
	for i := 0; i < len(s.toks); {
		from, to := i, i
		for to < len(s.toks) && (to == from || s.toks[to].glued) && joins(s.toks[to]) {
			to++
		}
		i = max(to, i+1)
		for to > from && s.toks[to-1].is(`.:-#@~$+/\%`) {
			to--
		}
		for from < to && s.toks[from].is(":-+%") {
			from++
		}
		if from < to {
			s.findName(from, s.withoutPlace(from, to))
		}
	}
}

var place = regexp.MustCompile(`^[^:]*[./][^:]*(:\d+(-\d+)?)+$`)

// withoutPlace returns the end of main.go in main.go:42 or main.go:42-45, and adds claims for the lines.
func (s *sentence) withoutPlace(from, to int) int {
	if !place.MatchString(s.chunk(from, to).raw) {
		return to
	}
	colon := from + slices.IndexFunc(s.toks[from:to], func(t token) bool { return t.is(":") })
	for i := colon + 1; i < to; i++ {
		if t := s.toks[i]; t.kind == number {
			s.add(Claim{Kind: Number, from: t.from, to: t.to(), value: value{literal: t.text, amount: t.amount, label: true}})
			s.named[i] = true
		}
	}
	return colon
}

func (s *sentence) findName(from, to int) {
	c := s.chunk(from, to)
	kind, weak, ok := Identifier, false, true
	switch {
	case strings.Contains(c.raw, "://"):
		kind = Address
	case strings.ContainsAny(c.raw, `/\`):
		kind = Path
		weak, ok = c.isPath()
	default:
		ok = c.isName()
	}
	if !ok {
		return
	}
	start := s.toks[from].from
	end := start + len(c.raw)
	at := start
	if _, rest, found := strings.Cut(c.raw, "://"); found {
		at = end - len(rest)
	}
	s.add(Claim{Kind: kind, from: start, to: end, words: s.wordsIn(at, end), weak: weak, open: strings.HasPrefix(s.text[end:], "...")})
	for i := from; i < to; i++ {
		s.named[i] = true
	}
	if errorName.MatchString(c.raw) {
		if said := strings.TrimRight(errorText.FindString(s.text[end:]), ".!"); said != "" {
			s.add(Claim{Kind: Quotation, from: start, to: end + len(said), words: s.wordsIn(s.toks[to-1].from, end+len(said))})
		}
	}
}

// What follows the name of an error is word for word.
var (
	errorName = regexp.MustCompile(`(?i)(error|exception)$`)
	errorText = regexp.MustCompile("^: ?[^,;()\\[\\]\"`。“”\\s]+( [^,;()\\[\\]\"`。“”\\s]+){0,11}")
)

// oddPart matches a part of a path that is no plain word.
var oddPart = regexp.MustCompile(`\pL[^/\\]*[._\d]|[._\d][^/\\]*\pL`)

// isPath reports whether a chunk looks like a path. weak: only if its first part is known to be a folder.
func (c chunk) isPath() (weak, ok bool) {
	const short = 3 // /x
	rooted := strings.ContainsAny(c.raw[:1], `/\.~`)
	first := c.raw[:strings.IndexAny(c.raw, `/\`)]
	ok = strings.ContainsFunc(c.raw, unicode.IsLetter) && !isAmount(first) && (!rooted || len(c.raw) > short)
	return !rooted && !oddPart.MatchString(c.raw), ok
}

var (
	longPart = regexp.MustCompile(`[^.]{2}`) // a file or a host, but not U.S
	humps    = regexp.MustCompile(`([a-z])([A-Z])`)
	// A flag, underscores, capitals inside, digits after letters, errors of systems.
	nameWord = regexp.MustCompile(`^-|[^\W_]_+[^\W_]|\p{Ll}\d*\p{Lu}|\pL\d|` +
		`^(ECONN|ENO|EACC|EPERM|EADDR|EEXIST|EPIPE|ETIMED|EINVAL|EHOST|SIG)[A-Z0-9]+$`)
)

// isName reports whether a chunk looks like the name of something in a program or a list.
func (c chunk) isName() bool {
	c.raw = strings.TrimLeft(c.raw, "#~")
	letters, named := false, false
	for _, t := range c.toks {
		letters = letters || t.kind == word
		named = named || t.kind == word && nameWord.MatchString(t.raw) && !known.has(strings.ToLower(t.raw))
	}
	if !letters || known.has(strings.ToLower(c.raw)) || isAmount(c.raw) {
		return false
	}
	digits := isDigit(rune(c.raw[0]))
	switch {
	case named && !digits, strings.Index(c.raw, "@") > 0, strings.Contains(c.raw, "::"):
		return true
	case strings.Contains(c.raw, "."):
		return longPart.MatchString(c.raw)
	case len(c.toks) == 1 || digits || strings.Contains(c.raw, ":"):
		return digits && len(c.toks) == 1
	}
	return strings.ContainsAny(c.raw, "0123456789") && !counted.has(c.toks[0].text)
}

// findValues adds the claims of numbers and dates that are not in a name.
func (s *sentence) findValues() {
	for _, v := range values(s.toks) {
		if slices.Contains(s.named[v.from:v.to], true) || !s.counts(v) {
			continue
		}
		c := Claim{Kind: Number, from: s.toks[v.from].from, to: s.toks[v.to-1].to(), value: v}
		if !v.has {
			c.Kind = Date
		} else if v.literal == "" {
			c.value.literal = strconv.FormatFloat(v.value, 'f', -1, 64)
		}
		s.add(c)
	}
}

// counts reports whether a value is a claim: not a small number, an ordinal, a factor, or a time from now.
func (s *sentence) counts(v value) bool {
	t, next := s.toks[v.from], at(s.toks, v.to)
	switch {
	case v.clock != "" || v.date != (date{}) || v.label || !v.has:
		return true
	case isOrdinal(t.suffix), t.suffix == "x", next.is("×"), next.text == "倍", v.units != nil && ago.has(next.text):
		return false
	}
	return v.units != nil || v.step < 1 || v.value > small
}
