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

// quoted matches a quotation, or code in backticks.
var quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|«[^»]*»|‘[^']*'")

func (t *Text) findSpans() {
	for _, m := range quoted.FindAllStringIndex(t.Folded, -1) {
		kind := Quotation
		if t.Folded[m[0]] == '`' {
			kind = Code
		}
		_, opening := utf8.DecodeRuneInString(t.Folded[m[0]:])
		_, closing := utf8.DecodeLastRuneInString(t.Folded[:m[1]])
		sp := Span{m[0] + opening, m[1] - closing}
		t.Spans = append(t.Spans, sp)
		for from := sp.From; from < sp.To; { // the parts between ellipses
			part, _, _ := strings.Cut(t.Folded[from:sp.To], "...")
			t.add(Item{Kind: kind, Span: Span{from, from + len(part)}}, from)
			from += len(part) + len("...")
		}
	}
}

// add adds an item whose words begin at from, unless it has none.
func (t *Text) add(it Item, from int) {
	it.Text, it.Words = strings.TrimSpace(t.Folded[it.From:it.To]), t.WordsIn(from, it.To)
	for it.Kind != Quotation && len(it.Words) > 1 && it.Words[len(it.Words)-1] == "/" {
		it.Words = it.Words[:len(it.Words)-1]
	}
	if len(it.Words) > 0 {
		t.Items = append(t.Items, it)
	}
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
			t.findName(from, end)
		}
		for i++; i < len(t.Tokens) && t.Tokens[i].From < next; {
			i++
		}
	}
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
		it.Kind = Path
	case ShapeID, ShapeSymbol:
		isWord := func(t Token) bool { return t.Kind == Word }
		if !slices.ContainsFunc(t.Tokens[t.TokenAt(from):t.TokenAt(end)], isWord) || known.Has(strings.ToLower(raw)) {
			return
		}
	default:
		return
	}
	t.addName(it, from)
}

// addName adds a name whose words begin at from.
func (t *Text) addName(it Item, from int) {
	t.add(it, from)
	for i := t.TokenAt(it.From); i < t.TokenAt(it.To); i++ {
		t.Named[i] = true
	}
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
		t.add(it, it.From)
	}
}
