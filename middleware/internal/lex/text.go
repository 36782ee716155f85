package lex

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a text that is read.
type Text struct {
	Folded string
	Tokens []Token
	Spans  []Span // what is in quotation marks or backticks
	Items  []Item // quotations first, then names, then numbers
	Named  []bool // by token: it is in a name
}

// Span is a part of a text.
type Span struct{ From, To int }

// Item is something in a text that can be compared with another text.
type Item struct {
	Span
	Kind  ItemKind
	Text  string   // folded
	Words []string // of names and quotations: the normalised tokens that count
	Value Value    // of numbers and dates
	Weak  bool     // it may be no path, as and/or
	Open  bool     // it ends in an ellipsis
}

// ItemKind is what an item is.
type ItemKind string

// The kinds of items.
const (
	Number    ItemKind = "number" // also an amount
	Date      ItemKind = "date"   // or a time
	Name      ItemKind = "name"   // as programs and lists have them
	Path      ItemKind = "path"
	Link      ItemKind = "link"
	Code      ItemKind = "code" // in backticks
	Quotation ItemKind = "quotation"
)

// Read reads a text, which should be a sentence: a quotation may end anywhere after its beginning.
func Read(text string) *Text {
	t := Tokenize(text)
	t.Named = make([]bool, len(t.Tokens))
	t.findSpans()
	t.findNames()
	t.findValues()
	return t
}

// Tokenize returns a text with its tokens, but without spans and items.
func Tokenize(text string) *Text {
	folded := Fold(text)
	return &Text{Folded: folded, Tokens: Tokens(nil, folded)}
}

var quoteMarks = map[rune]string{'`': "`", '"': `"`, '“': "”", '「': "」", '『': "』", '«': "»", '‘': "'"}

func (t *Text) findSpans() {
	missing := map[string]bool{} // marks that do not occur any more
	for i := 0; i < len(t.Folded); {
		r, size := utf8.DecodeRuneInString(t.Folded[i:])
		i += size
		closing := quoteMarks[r]
		if closing == "" || missing[closing] {
			continue
		}
		n := strings.Index(t.Folded[i:], closing)
		if n < 0 {
			missing[closing] = true
			continue
		}
		sp := Span{i, i + n}
		t.Spans = append(t.Spans, sp)
		kind := Quotation
		if r == '`' {
			kind = Code
		}
		for from := sp.From; from < sp.To; { // the parts between ellipses
			part, _, open := strings.Cut(t.Folded[from:sp.To], "...")
			it := Item{Kind: kind, Span: Span{from, from + len(part)}, Open: open && !strings.HasSuffix(part, " ")}
			if it.Words = t.WordsIn(it.From, it.To); len(it.Words) > 0 {
				t.add(it)
			}
			from = it.To + len("...")
		}
		i = sp.To + len(closing)
	}
}

func (t *Text) add(it Item) {
	it.Text = strings.TrimSpace(t.Folded[it.From:it.To])
	for it.Kind != Quotation && len(it.Words) > 1 && it.Words[len(it.Words)-1] == "/" {
		it.Words = it.Words[:len(it.Words)-1]
	}
	t.Items = append(t.Items, it)
}

// TokenAt returns the first token at or after a position.
func (t *Text) TokenAt(at int) int {
	i, _ := slices.BinarySearchFunc(t.Tokens, at, func(t Token, at int) int { return cmp.Compare(t.From, at) })
	return i
}

// WordsIn returns the normalised tokens of a part that count when names and quotations are compared.
func (t *Text) WordsIn(from, to int) (words []string) {
	for i := t.TokenAt(from); i < len(t.Tokens) && t.Tokens[i].To() <= to; i++ {
		if t.Tokens[i].Counts() {
			words = append(words, t.Tokens[i].Text)
		}
	}
	return words
}

// Counts reports whether the token is a word, a number or a slash.
func (t *Token) Counts() bool { return t.Kind != Mark || t.Text == "/" }

// Raw returns the text of some tokens, folded.
func (t *Text) Raw(from, to int) string {
	return t.Folded[t.Tokens[from].From:t.Tokens[to-1].To()]
}

// findNames adds names, paths and links: runs of tokens without a space or bracket.
func (t *Text) findNames() {
	joins := func(t *Token) bool {
		return t.Kind == Word || t.Kind == Digits && isDigit(t.Raw[0]) || t.Is(`./\:-#@~$+%`)
	}
	for i := 0; i < len(t.Tokens); {
		from, to := i, i
		for to < len(t.Tokens) && (to == from || t.Tokens[to].Glued) && joins(&t.Tokens[to]) {
			to++
		}
		i = max(to, i+1)
		for to > from && t.Tokens[to-1].Is(`.:-#@~$+/\%`) {
			to--
		}
		for from < to && t.Tokens[from].Is(":-+%") {
			from++
		}
		if from < to && strings.Trim(t.Raw(from, to), "abcdefghijklmnopqrstuvwxyz") != "" {
			t.findName(from, t.withoutPlace(from, to))
		}
	}
}

var place = regexp.MustCompile(`^[^:]*[./][^:]*(:\d+(-\d+)?)+$`)

// withoutPlace returns the end of main.go in main.go:42 or main.go:42-45, and adds the lines.
func (t *Text) withoutPlace(from, to int) int {
	if !place.MatchString(t.Raw(from, to)) {
		return to
	}
	colon := from + slices.IndexFunc(t.Tokens[from:to], func(t Token) bool { return t.Is(":") })
	for i := colon + 1; i < to; i++ {
		if n := &t.Tokens[i]; n.Kind == Digits {
			t.add(Item{Kind: Number, Span: Span{n.From, n.To()}, Value: Value{Literal: n.Text, Amount: n.Amount, Label: true}})
			t.Named[i] = true
		}
	}
	return colon
}

func (t *Text) findName(from, to int) {
	raw := t.Raw(from, to)
	it := Item{Kind: Name, Span: Span{t.Tokens[from].From, t.Tokens[to-1].To()}}
	at, ok := it.From, true // where its words begin
	switch before, _, isLink := strings.Cut(raw, "://"); {
	case isLink:
		it.Kind = Link
		at += len(before) + len("://")
	case strings.ContainsAny(raw, `/\`):
		it.Kind = Path
		it.Weak, ok = isPath(raw)
	default:
		ok = isName(raw, t.Tokens[from:to])
	}
	if !ok {
		return
	}
	it.Words, it.Open = t.WordsIn(at, it.To), strings.HasPrefix(t.Folded[it.To:], "...")
	t.add(it)
	for i := from; i < to; i++ {
		t.Named[i] = true
	}
	if low := strings.ToLower(raw); strings.HasSuffix(low, "error") || strings.HasSuffix(low, "exception") {
		if said := strings.TrimRight(errorText.FindString(t.Folded[it.To:]), ".!"); said != "" {
			end := it.To + len(said)
			t.add(Item{Kind: Quotation, Span: Span{it.From, end}, Words: t.WordsIn(t.Tokens[to-1].From, end)})
		}
	}
}

var (
	// What follows the name of an error is word for word.
	errorText = regexp.MustCompile("^: ?[^,;()\\[\\]\"`。“”\\s]+( [^,;()\\[\\]\"`。“”\\s]+){0,11}")
	// A part of a path that is no plain word.
	oddPart  = regexp.MustCompile(`\pL[^/\\]*[._\d]|[._\d][^/\\]*\pL`)
	longPart = regexp.MustCompile(`[^.]{2}`) // a file or a host, but not U.S
	// A flag, underscores, capitals inside, digits after letters, errors of systems.
	nameWord = regexp.MustCompile(`^-|[^\W_]_+[^\W_]|\p{Ll}\d*\p{Lu}|\pL\d|` +
		`^(ECONN|ENO|EACC|EPERM|EADDR|EEXIST|EPIPE|ETIMED|EINVAL|EHOST|SIG)[A-Z0-9]+$`)
)

// isPath reports whether a run looks like a path. weak: only if its first part is known to be a folder.
func isPath(raw string) (weak, ok bool) {
	const short = 3 // /x
	rooted := strings.ContainsAny(raw[:1], `/\.~`)
	first := raw[:strings.IndexAny(raw, `/\`)]
	ok = strings.ContainsFunc(raw, unicode.IsLetter) && !isAmount(first) && (!rooted || len(raw) > short)
	return !rooted && !oddPart.MatchString(raw), ok
}

// isName reports whether a run looks like the name of something in a program or a list.
func isName(raw string, toks []Token) bool {
	raw = strings.TrimLeft(raw, "#~")
	letters, named := false, false
	for _, t := range toks {
		letters = letters || t.Kind == Word
		named = named || t.Kind == Word && nameWord.MatchString(t.Raw) && !known.Has(strings.ToLower(t.Raw))
	}
	if !letters || known.Has(strings.ToLower(raw)) || isAmount(raw) {
		return false
	}
	digits := isDigit(raw[0])
	switch {
	case named && !digits, strings.Index(raw, "@") > 0, strings.Contains(raw, "::"):
		return true
	case strings.Contains(raw, "."):
		return longPart.MatchString(raw)
	case len(toks) == 1 || digits || strings.Contains(raw, ":"):
		return digits && len(toks) == 1
	}
	return strings.ContainsAny(raw, "0123456789") && !counted.Has(toks[0].Text)
}

// findValues adds the numbers and dates that are not in a name.
func (t *Text) findValues() {
	for _, v := range Values(t.Tokens) {
		if slices.Contains(t.Named[v.From:v.To], true) {
			continue
		}
		it := Item{Kind: Number, Span: Span{t.Tokens[v.From].From, t.Tokens[v.To-1].To()}, Value: v}
		if !v.Has {
			it.Kind = Date
		} else if v.Literal == "" {
			it.Value.Literal = strconv.FormatFloat(v.Value, 'f', -1, 64)
		}
		t.add(it)
	}
}
