package lex

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
			it.Words = t.WordsIn(it.From, it.To)
			if len(it.Words) > 0 {
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

// findNames adds names, paths and links: what [NameAt] finds and [ShapeOf] takes for one, and flags such as --force.
func (t *Text) findNames() {
	for i := 0; i < len(t.Tokens); {
		at := t.Tokens[i].From
		from, end, next := NameAt(t.Folded, at)
		if t.Folded[at] == '-' && t.Tokens[i].Kind == Word {
			from = at
			end = t.Tokens[i].To()
			next = t.Tokens[i].To()
			t.addName(Item{Kind: Name, Span: Span{from, end}}, from)
		} else if from < end {
			t.findName(from, t.withoutPlace(from, end))
		}
		for i++; i < len(t.Tokens) && t.Tokens[i].From < next; {
			i++
		}
	}
}

var place = regexp.MustCompile(`^[^:]*[./][^:]*(:\d+(-\d+)?)+$`)

// withoutPlace returns the end of main.go in main.go:42 or main.go:42-45, and adds the lines.
func (t *Text) withoutPlace(from, end int) int {
	if !place.MatchString(t.Folded[from:end]) {
		return end
	}
	colon := from + strings.IndexByte(t.Folded[from:], ':')
	for i := t.TokenAt(colon); i < t.TokenAt(end); i++ {
		if n := &t.Tokens[i]; n.Kind == Digits {
			t.add(Item{Kind: Number, Span: Span{n.From, n.To()}, Value: Value{Literal: n.Text, Amount: n.Amount, Label: true}})
			t.Named[i] = true
		}
	}
	return colon
}

// findName adds a name if it looks like one of a program or a list.
func (t *Text) findName(from, end int) {
	raw := t.Folded[from:end]
	it := Item{Kind: Name, Span: Span{from, end}}
	switch ShapeOf(raw) {
	case ShapeLink:
		it.Kind = Link
		if before, _, ok := strings.Cut(raw, "://"); ok {
			from += len(before) + len("://")
		}
	case ShapePath:
		it.Kind, it.Weak = Path, strings.IndexByte(`/\.~`, raw[0]) < 0 && !oddPart.MatchString(raw)
	case ShapeID, ShapeSymbol:
		toks := t.Tokens[t.TokenAt(from):t.TokenAt(end)]
		isWord := func(t Token) bool { return t.Kind == Word }
		isCount := len(toks) > 1 && (isDigit(raw[0]) && !strings.Contains(raw, ".") || counted.Has(toks[0].Text)) // 3-day, top-10
		if isCount || !slices.ContainsFunc(toks, isWord) || known.Has(strings.ToLower(raw)) || isAmount(raw) {
			return
		}
	default:
		return
	}
	t.addName(it, from)
}

// addName adds a name whose words begin at from.
func (t *Text) addName(it Item, from int) {
	it.Words, it.Open = t.WordsIn(from, it.To), strings.HasPrefix(t.Folded[it.To:], "...")
	if len(it.Words) == 0 {
		return
	}
	t.add(it)
	for i := t.TokenAt(it.From); i < t.TokenAt(it.To); i++ {
		t.Named[i] = true
	}
}

// oddPart matches a part of a path that is no plain word: if there is none, it may be no path.
var oddPart = regexp.MustCompile(`\pL[^/\\]*[._\d]|[._\d][^/\\]*\pL`)

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
