package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is a sentence as it was written, but for the line breaks in it.
type Sentence struct {
	Text    string
	Item    bool // it begins an item of a list
	Heading bool // it is a heading
}

// Sentences yields the sentences of a text in order. Code in fences or indented,
// quotes of others behind >, tables and lines that are one tag are passed over,
// and so is what has no letter in it. A line that begins with a small letter goes
// on with the sentence of the line before it.
func Sentences(text string) iter.Seq[Sentence] {
	return func(yield func(Sentence) bool) {
		par := row{kind: blank} // the paragraph so far
		for line := range lines(text) {
			if par.goesOn(line) {
				par.text += " " + line.text
				continue
			}
			if !par.sentences(yield) {
				return
			}
			par = line
		}
		par.sentences(yield)
	}
}

// sentences yields those of a paragraph, and reports whether more are wanted.
func (r row) sentences(yield func(Sentence) bool) bool {
	if r.kind == blank || r.kind == code {
		return true
	}
	for i, s := range split(r.text) {
		if !yield(Sentence{Text: s, Item: r.kind == item && i == 0, Heading: r.kind == heading}) {
			return false
		}
	}
	return true
}

// goesOn reports whether a line goes on with the last sentence of a paragraph.
func (r row) goesOn(line row) bool {
	const longest = 4 << 10 // bytes of a paragraph, so that joining stays linear
	if line.kind != plain || r.kind != plain && r.kind != item || r.text == "" || len(r.text) >= longest {
		return false
	}
	next, _ := utf8.DecodeRuneInString(line.text)
	last, _ := utf8.DecodeLastRuneInString(r.text)
	return unicode.IsLower(next) && !isEnd(last) && last != ':' && last != '：'
}

// split cuts a paragraph into sentences.
func split(par string) []string {
	var out []string
	from := 0
	take := func(to int) {
		if s := strings.TrimSpace(par[from:to]); strings.IndexFunc(s, unicode.IsLetter) >= 0 {
			out = append(out, s)
		}
		from = to
	}
	for i, r := range par {
		if i < from || !isEnd(r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		for end < len(par) { // …?!」
			next, size := utf8.DecodeRuneInString(par[end:])
			if !isEnd(next) && !strings.ContainsRune(`"'”’」』）)】]*`, next) {
				break
			}
			end += size
		}
		if r >= utf8.RuneSelf || endsHere(par[from:i], par[end:], r) {
			take(end)
		}
	}
	take(len(par))
	return out
}

// isEnd reports whether a sentence may end in a character.
func isEnd(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？', '｡':
		return true
	}
	return false
}

// endsHere tells the end of a sentence from the dot in main.go, e.g. and 1.5.
func endsHere(before, after string, mark rune) bool {
	if after == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	if isIdeograph(next) {
		return mark != '.' || after[0] == ' '
	}
	if after[0] != ' ' {
		return false
	}
	if mark != '.' {
		return true
	}
	word := before[strings.LastIndexAny(before, " (")+1:]
	return !unicode.IsLower(next) && !isAbbreviation(word)
}

func isAbbreviation(word string) bool {
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "ms", "dr", "st", "no", "fig", "approx", "incl":
		return true
	}
	return false
}

func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// block is what a line of a text belongs to.
type block uint8

const (
	plain   block = iota
	blank         // it ends a paragraph
	item          // it begins an item of a list
	heading       // without its marks
	code          // also quotes of others, tables, and lines that are one tag
)

// row is a line without what makes it an item or a heading.
type row struct {
	text string
	kind block
	info string // of the line that opens a fence: the language; "": it has none, or is no such line
}

// lines yields the lines of a text.
func lines(text string) iter.Seq[row] {
	return func(yield func(row) bool) {
		fence, open := "", false // open: a paragraph may go on
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, " \t\r\n")
			bare := strings.TrimLeft(line, " \t")
			r := row{text: bare, kind: code}
			switch f := fenceOf(bare); {
			case fence != "" && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "":
				fence = ""
			case fence != "":
			case f != "":
				fence, r.info = f, strings.TrimLeft(bare, f[:1])
			default:
				r = classify(line, bare, open)
			}
			open = r.kind == plain || r.kind == item
			if !yield(r) {
				return
			}
		}
	}
}

// fenceOf returns the marks that open a fence; "": there are none.
func fenceOf(bare string) string {
	for _, mark := range [...]string{"`", "~"} {
		n := len(bare) - len(strings.TrimLeft(bare, mark))
		if n >= 3 && !strings.Contains(bare[n:], "`") {
			return bare[:n]
		}
	}
	return ""
}

// classify tells what a line outside of fences is.
func classify(line, bare string, open bool) row {
	if bare == "" {
		return row{kind: blank}
	}
	if n := markerLen(bare); n > 0 {
		return row{text: strings.TrimSpace(bare[n:]), kind: item}
	}
	if text := strings.TrimLeft(bare, "#"); len(text) < len(bare) && strings.HasPrefix(text, " ") {
		return row{text: strings.TrimSpace(text), kind: heading}
	}
	indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	tag := bare[0] == '<' && bare[len(bare)-1] == '>'
	if indented && !open || tag || bare[0] == '>' || bare[0] == '|' {
		return row{text: bare, kind: code}
	}
	return row{text: bare, kind: plain}
}

// markerLen returns how much of a line makes it an item: "- ", "1. ", "（1）".
func markerLen(bare string) int {
	for _, mark := range [...]string{"- ", "* ", "+ ", "• ", "· ", "•", "– "} {
		if strings.HasPrefix(bare, mark) {
			return len(mark)
		}
	}
	inner := strings.TrimPrefix(strings.TrimPrefix(bare, "("), "（")
	digits := len(inner) - len(strings.TrimLeft(inner, "0123456789"))
	if digits == 0 || digits > 3 {
		return 0
	}
	rest := inner[digits:]
	for _, mark := range [...]string{". ", ") ", "、", "）", "．"} {
		if strings.HasPrefix(rest, mark) {
			return len(bare) - len(rest) + len(mark)
		}
	}
	// 1.先 has no space.
	if r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, ".")); rest[:min(1, len(rest))] == "." && isIdeograph(r) {
		return len(bare) - len(rest) + 1
	}
	return 0
}

// Fences yields the languages of the fenced blocks of a text, as they are
// written, in lower case. A block without one yields nothing.
func Fences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
			return
		}
		for line := range lines(text) {
			name, _, _ := strings.Cut(strings.TrimLeft(line.info, " {."), " ")
			name = strings.ToLower(strings.TrimRight(name, "}"))
			if isName(name) && !yield(name) {
				return
			}
		}
	}
}

// isName tells the names of languages, such as c++ and objective-c, from what
// else stands behind a fence.
func isName(s string) bool {
	const longest = 20
	return s != "" && len(s) <= longest && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+#-_.") == ""
}
