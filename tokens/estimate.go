package tokens

import (
	"strings"
	"unicode/utf8"
)

// Estimate estimates the count of a tokenizer from what a text is made of: words,
// digits, marks, line breaks, indentation, and the script of each character. The
// error is a few per cent on a conversation of English, code, JSON or Chinese, and up
// to a quarter on a single text of a hundred tokens. Dense data such as hex has larger
// errors; languages with long words, such as Finnish, are estimated up to a third too
// low. It allocates nothing and takes some nanoseconds for each word.
//
// The zero value estimates o200k_base, the tokenizer of GPT-4o and later models.
// [MeterFor] returns the estimates of other families. Estimates are comparable and
// safe for concurrent use.
type Estimate struct {
	rates *rates // nil: those of o200k_base
}

// Count implements [Counter]. A text that is not empty has at least one token.
func (e Estimate) Count(text string) int {
	if text == "" {
		return 0
	}
	r := e.rates
	if r == nil {
		r = &o200k
	}
	return max(1, (r.milli(text, 0)+500)/1000)
}

// rates are the costs of the features of a text, in thousandths of a token.
type rates struct {
	word      int // a word, or a part of one that begins with a capital
	letter    int // each of its letters beyond the sixth
	cluster   int // in such a word, each small consonant after four others, as in random letters
	mixed     int // instead of the above, each byte of a run that looks like base64
	digits    int // a group of three digits
	marks     int // a run of punctuation
	mark      int // each of its characters beyond the first
	again     int // instead of mark, if it equals the two before; a quarter of it from the 17th on
	newlines  int // a run of line breaks
	spaces    int // a run of several spaces
	ideograph int
	cjkMark   int
	latin     int // a Latin letter outside ASCII
	alphabet  int // a letter of Greek, Cyrillic, Armenian
	abjad     int // a letter of Hebrew, Arabic, Syriac
	syllable  int // a letter of an Indic or South-East Asian script
	kana      int
	hangul    int
	other     int // any other character, and a byte that is not UTF-8; an emoji is two, a fifth equal one in a row a quarter
}

// freeLetters is the number of letters of a word that are included in its cost.
const freeLetters = 6

// milli returns the cost of a text, in thousandths of a token. It looks at each byte before slow,
// and at blocks from there on, which is four times as fast and gives the same cost.
func (r *rates) milli(text string, slow int) int {
	n := 0
	for i := 0; i < len(text); {
		from := i
		switch class[text[i]] {
		case lower, upper, digit:
			if i >= slow {
				cost, length, ok := r.block(text[i:])
				if ok {
					n += cost
					i += length
					continue
				}
				slow = i + length
			}
			cost, next := r.run(text, i)
			n += cost
			i = next
		case space:
			i = skip(text, i, space)
			if i-from > 1 {
				n += r.spaces
			}
		case newline:
			i = skip(text, i, newline)
			n += r.newlines
		case mark:
			cost, next := r.punctuation(text, i)
			n += cost
			i = next
		default:
			cost, next := r.beyondASCII(text, i)
			n += cost
			i = next
		}
	}
	return n
}

// punctuation returns the cost of a run of punctuation, and the position of the next other character.
func (r *rates) punctuation(text string, i int) (milli, next int) {
	const ruled = 16 // equal characters in a row: of more, up to 64 are one token
	equal, milli := 1, r.marks
	for i++; i < len(text) && class[text[i]] == mark; i++ {
		equal++
		if text[i] != text[i-1] {
			equal = 1
		}
		switch {
		case equal > ruled:
			milli += r.again / 4
		case equal > 2:
			milli += r.again
		default:
			milli += r.mark
		}
	}
	return milli, i
}

// run returns the cost of letters and digits up to the next other character, and its
// position.
func (r *rates) run(text string, i int) (milli, next int) {
	from, words, capitals, numbers := i, 0, 0, 0
	for i < len(text) {
		begin := i
		i = skip(text, i, digit)
		if i > begin {
			numbers++
			milli += r.digits * ((i - begin + 2) / 3)
			continue
		}
		i = skip(text, i, upper)
		if i > begin {
			capitals++
		}
		i = skip(text, i, lower)
		if i == begin {
			break
		}
		words++
		milli += r.word
		if more := i - begin - freeLetters; more > 0 {
			milli += r.letter*more + r.cluster*clustered(text[begin:i])
		}
	}
	const partLength = 3.2 // of base64 it is about 2.5, of names such as getUser2FA more than 3.5
	if parts := words + numbers; parts >= 4 && capitals > 1 && numbers > 0 && float64(i-from) < partLength*float64(parts) {
		milli = max(milli, r.mixed*(i-from))
	}
	return milli, i
}

// clustered returns the number of small consonants of a word that follow four others. A
// row of the same letter has few tokens.
func clustered(word string) (n int) {
	row := 0
	for k := range len(word) {
		switch c := word[k]; c {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			row = 0
		default:
			row++
			if class[c] == upper || k > 0 && c == word[k-1] {
				row = 0
			}
		}
		if row > 4 {
			n++
		}
	}
	return n
}

// beyondASCII returns the cost of one character, with the rest of its word if it
// is a Latin letter, and the position of the next one.
func (r *rates) beyondASCII(text string, i int) (milli, next int) {
	if i+3 <= len(text) && text[i] >= 0xE4 && text[i] <= 0xE9 && text[i+1]&0xC0 == 0x80 && text[i+2]&0xC0 == 0x80 {
		return r.ideograph, i + 3 // U+4000 to U+9FFF, by far the most frequent
	}
	c, size := utf8.DecodeRuneInString(text[i:])
	start := i
	i += size
	switch {
	case c >= 0xC0 && c < 0x250:
		rest := skip(text, i, lower) // of its word
		return r.latin + r.letter*(rest-i), rest
	case c >= 0x1E00 && c < 0x1F00: // Vietnamese, whose syllables are tokens
		if start == 0 || class[text[start-1]] != lower && class[text[start-1]] != upper && text[start-1] < utf8.RuneSelf {
			milli = r.word // and not a letter inside of a word
		}
		return milli, skip(text, i, lower)
	case c >= 0x370 && c < 0x590:
		return r.alphabet, i
	case c >= 0x590 && c < 0x780:
		return r.abjad, i
	case c >= 0x900 && c < 0x1200:
		return r.syllable, i
	case c >= 0x3040 && c < 0x3100:
		return r.kana, i
	case c >= 0x3000 && c < 0x3040, c >= 0xFF00 && c < 0xFFF0:
		return r.cjkMark, i
	case c >= 0x3400 && c < 0xA000, c >= 0xF900 && c < 0xFB00:
		return r.ideograph, i
	case c >= 0xAC00 && c < 0xD7B0:
		return r.hangul, i
	case c < utf8.RuneSelf: // a control character
		return r.other, i
	case c >= 0x10000: // mostly emoji
		return 2 * r.other, i
	}
	return r.row(text, start, size)
}

// row returns the cost of equal characters in a row, as in a line that is drawn, and the position after them.
func (r *rates) row(text string, i, size int) (milli, next int) {
	const drawn = 4 // of more, several are one token
	one := text[i : i+size]
	for n := 1; strings.HasPrefix(text[i:], one); n++ {
		i += size
		if n <= drawn {
			milli += r.other
		} else {
			milli += r.other / 4
		}
	}
	return milli, i
}

// skip returns the end of the run of a class.
func skip(text string, i int, c byte) int {
	for i < len(text) && class[text[i]] == c {
		i++
	}
	return i
}

// The classes of bytes.
const (
	mark byte = iota
	lower
	upper
	digit
	space
	newline
	beyond // not ASCII, or a control character
)

var class = func() (c [256]byte) {
	for b := range c {
		switch {
		case b >= 'a' && b <= 'z':
			c[b] = lower
		case b >= 'A' && b <= 'Z':
			c[b] = upper
		case b >= '0' && b <= '9':
			c[b] = digit
		case b == ' ', b == '\t':
			c[b] = space
		case b == '\n', b == '\r':
			c[b] = newline
		case b >= utf8.RuneSelf, b < ' ', b == 0x7f:
			c[b] = beyond
		}
	}
	return c
}()
