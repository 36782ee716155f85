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
		var par row // the paragraph so far
		flush := func() bool {
			for i, s := range split(par.text) {
				if !yield(Sentence{Text: s, Item: par.kind == item && i == 0, Heading: par.kind == heading}) {
					return false
				}
			}
			par = row{kind: blank}
			return true
		}
		for line := range lines(text) {
			if line.kind == plain && (par.kind == plain || par.kind == item) && goesOn(par.text, line.text) {
				par.text += " " + line.text
				continue
			}
			if !flush() {
				return
			}
			if line.kind != blank && line.kind != code {
				par = line
			}
		}
		flush()
	}
}

// goesOn reports whether a line goes on with the sentence of the one before.
func goesOn(before, line string) bool {
	const longest = 4 << 10 // of a paragraph, so that joining stays linear
	r, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && len(before) < longest && unicode.IsLower(r) && !isEnd(last) && last != ':' && last != '：'
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
