package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// Sentence is a sentence as it was written, with spaces in place of line breaks.
type Sentence struct {
	Text    string
	Item    bool // it is the first of a list item
	Heading bool // it is a heading
	First   bool // it begins a paragraph, or a list of items
}

// Sentences yields the sentences of a text. It skips code in fences or indented, quotes
// after ">", tables, lines that are one tag, and what has no letter. A line that begins
// with a lower-case letter continues the sentence before it.
func Sentences(text string) iter.Seq[Sentence] {
	return func(yield func(Sentence) bool) {
		par := row{kind: blank} // the paragraph so far
		first := true
		for line := range lines(text) {
			if par.continues(line) {
				par.text += " " + line.text
				continue
			}
			if !par.sentences(first, yield) {
				return
			}
			first = par.kind == blank || par.kind == code || par.kind == heading
			par = line
		}
		par.sentences(first, yield)
	}
}

// kind is what a line of a text belongs to.
type kind uint8

const (
	plain   kind = iota
	blank        // the end of a paragraph
	item         // the first line of a list item
	heading      // without its marks
	code         // also quotes, tables, and lines that are one tag
)

// row is a line without the marks of an item or a heading.
type row struct {
	text string
	kind kind
	info string // the language in the line that opens a fence, or ""
}

// sentences yields the sentences of a line. It returns false if yield does.
func (r row) sentences(first bool, yield func(Sentence) bool) bool {
	if r.kind == blank || r.kind == code {
		return true
	}
	for i, s := range split(r.text) {
		if !yield(Sentence{Text: s, Item: r.kind == item && i == 0, Heading: r.kind == heading, First: first && i == 0}) {
			return false
		}
	}
	return true
}

// continues reports whether a line continues the last sentence of a paragraph.
func (r row) continues(line row) bool {
	const longest = 4 << 10 // bytes of a paragraph, so that the time is linear
	if line.kind != plain || r.kind != plain && r.kind != item || r.text == "" || len(r.text) >= longest {
		return false
	}
	next, _ := utf8.DecodeRuneInString(line.text)
	last, _ := utf8.DecodeLastRuneInString(r.text)
	return unicode.IsLower(next) && !isEnd(last) && last != ':' && last != '：'
}

func split(par string) []string {
	var out []string
	from := 0
	take := func(to int) {
		if s := strings.TrimSpace(par[from:to]); strings.IndexFunc(s, unicode.IsLetter) >= 0 {
			out = append(out, s)
		}
		from = to
	}
	for end := range ends(par) {
		take(end)
	}
	take(len(par))
	return out
}

// ends yields where the sentences of a paragraph end, but for the last one if it has no mark.
func ends(par string) iter.Seq[int] {
	return func(yield func(int) bool) {
		from := 0
		for i, r := range par {
			if i < from || !isEnd(r) {
				continue
			}
			end := afterMarks(par, i+utf8.RuneLen(r))
			if r >= utf8.RuneSelf || endsHere(par[from:i], par[end:], r) {
				if !yield(end) {
					return
				}
				from = end
			}
		}
	}
}

// afterMarks returns the end of marks such as …?!」.
func afterMarks(par string, end int) int {
	for end < len(par) {
		next, size := utf8.DecodeRuneInString(par[end:])
		if !isEnd(next) && !strings.ContainsRune(`"'”’」』）)】]*`, next) {
			break
		}
		end += size
	}
	return end
}

func isEnd(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？', '｡':
		return true
	}
	return false
}

// endsHere reports whether a mark ends a sentence, unlike the dot in main.go, e.g. and
// 1.5.
func endsHere(before, after string, mark rune) bool {
	if after == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	if lex.IsHan(next) {
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
	case "e.g", "i.e", "etc", "vs", "cf", "no", "fig", "approx", "incl", "max", "min", "ca", "bzw", "z.b", "p.ej":
		return true
	case "mr", "mrs", "ms", "dr", "st":
		return word != strings.ToLower(word) // "Ms. Kaya", but "below 300 ms."
	}
	return false
}

func lines(text string) iter.Seq[row] {
	return func(yield func(row) bool) {
		fence, open := "", false // open: the next line may continue a paragraph
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

// fenceOf returns the marks that open a fence, or "".
func fenceOf(bare string) string {
	for _, mark := range [...]string{"`", "~"} {
		n := len(bare) - len(strings.TrimLeft(bare, mark))
		if n >= 3 && !strings.Contains(bare[n:], "`") {
			return bare[:n]
		}
	}
	return ""
}

// classify returns a line outside of fences.
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

// IsItem reports whether a line without white space before it begins with the mark of a list item.
func IsItem(bare string) bool { return markerLen(bare) > 0 }

// markerLen returns the bytes of the mark of a list item: "- ", "1. ", "（1）".
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
	// 1.先 has no space after the mark.
	if r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, ".")); rest[:min(1, len(rest))] == "." && lex.IsHan(r) {
		return len(bare) - len(rest) + 1
	}
	return 0
}

// Fences yields the languages of the fenced blocks of a text in lower case. It skips
// blocks without a language.
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

// isName reports whether the text after a fence is the name of a language, such as c++
// or objective-c.
func isName(s string) bool {
	const longest = 20
	return s != "" && len(s) <= longest && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+#-_.") == ""
}

// Pieces yields the sentences of a text as they are, also in code and tables, each with the mark of its item and the space
// after it: together they are the text. A sentence ends with its line.
func Pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			bare := strings.TrimLeft(line, " \t")
			from, at := 0, len(line)-len(bare)+markerLen(bare)
			for end := range ends(line[at:]) {
				to := len(line) - len(strings.TrimLeft(line[at+end:], " \t\r\n"))
				if !yield(line[from:to]) {
					return
				}
				from = to
			}
			if from < len(line) && !yield(line[from:]) {
				return
			}
		}
	}
}
