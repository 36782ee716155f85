package prose

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
