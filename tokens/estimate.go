package tokens

import "unicode/utf8"

// Estimate guesses the count of a tokenizer from what a text is made of: words,
// digits, marks, line breaks, indentation, and the script of each character. It
// is off by a few per cent on a conversation of English, code, JSON or Chinese,
// and by up to a quarter on a single text of a hundred tokens; on dense data such
// as hex by more. It allocates nothing and takes some nanoseconds a word.
//
// The zero value guesses o200k_base, which GPT-4o and later models have.
// [EstimateFor] makes those of other families. Estimates are comparable and safe
// for concurrent use.
type Estimate struct {
	rates *rates // nil: those of o200k_base
}

// EstimateFor returns the estimate of a family. For one that is not known it
// returns that of o200k_base and false.
func EstimateFor(f Family) (e Estimate, ok bool) {
	row, ok := find(f)
	return Estimate{rates: row.rates}, ok
}

// Fitted reports whether the rates were fitted to the tokenizer itself. Those of
// families whose tokenizer is not public, or was not tried, come from ratios
// that others measured.
func (e Estimate) Fitted() bool { return e.rates == nil || e.rates == &o200k || e.rates == &cl100k }

// Count implements [Counter]. A text that is not empty has one token at least.
func (e Estimate) Count(text string) int {
	if text == "" {
		return 0
	}
	r := e.rates
	if r == nil {
		r = &o200k
	}
	var f features
	f.take(text)
	return max(1, (f.milli(r)+500)/1000)
}

// rates are what the features of a text cost, in milli-tokens.
type rates struct {
	word      int // a word, or a part of one that begins with a capital
	letter    int // each of its letters beyond the sixth
	digits    int // a group of three digits
	marks     int // a run of punctuation
	mark      int // each of its characters beyond the first
	again     int // instead, if it is the same as the two before
	newlines  int // a run of line breaks
	spaces    int // a run of several spaces
	ideograph int
	cjkMark   int
	latin     int // a Latin letter that ASCII lacks
	alphabet  int // a letter of Greek, Cyrillic, Armenian
	abjad     int // a letter of Hebrew, Arabic, Syriac
	syllable  int // a letter of an Indic or South-East Asian script
	kana      int
	hangul    int
	other     int // any other character, and a byte that is none; an emoji is two
}

// features are how often each of them occurs.
type features rates

func (f *features) milli(r *rates) int {
	return f.word*r.word + f.letter*r.letter + f.digits*r.digits +
		f.marks*r.marks + f.mark*r.mark + f.again*r.again + f.newlines*r.newlines + f.spaces*r.spaces +
		f.ideograph*r.ideograph + f.cjkMark*r.cjkMark +
		f.latin*r.latin + f.alphabet*r.alphabet + f.abjad*r.abjad +
		f.syllable*r.syllable + f.kana*r.kana + f.hangul*r.hangul + f.other*r.other
}

// freeLetters is how many letters of a word cost nothing beyond the word.
const freeLetters = 6

// take counts the features of a text, run by run.
func (f *features) take(text string) {
	for i := 0; i < len(text); {
		from := i
		switch class[text[i]] {
		case lower, upper:
			i = skip(text, i, upper)
			i = skip(text, i, lower)
			f.word++
			f.letter += max(0, i-from-freeLetters)
		case digit:
			i = skip(text, i, digit)
			f.digits += (i - from + 2) / 3
		case space:
			if i = skip(text, i, space); i-from > 1 {
				f.spaces++
			}
		case newline:
			i = skip(text, i, newline)
			f.newlines++
		case mark:
			f.marks++
			for i++; i < len(text) && class[text[i]] == mark; i++ {
				if i-from > 1 && text[i] == text[i-1] && text[i] == text[i-2] {
					f.again++
				} else {
					f.mark++
				}
			}
		default:
			i = f.beyondASCII(text, i)
		}
	}
}

// beyondASCII counts one character and what belongs to it, and returns where
// the next begins.
func (f *features) beyondASCII(text string, i int) int {
	if i+3 <= len(text) && text[i] >= 0xE4 && text[i] <= 0xE9 && text[i+1]&0xC0 == 0x80 && text[i+2]&0xC0 == 0x80 {
		f.ideograph++ // U+4000 to U+9FFF, by far the most frequent
		return i + 3
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	i += size
	switch {
	case r >= 0xC0 && r < 0x250:
		f.latin++
		rest := skip(text, i, lower) // of its word
		f.letter += rest - i
		return rest
	case r >= 0x1E00 && r < 0x1F00: // Vietnamese, whose syllables are tokens
		return skip(text, i, lower)
	case r >= 0x370 && r < 0x590:
		f.alphabet++
	case r >= 0x590 && r < 0x780:
		f.abjad++
	case r >= 0x900 && r < 0x1200:
		f.syllable++
	case r >= 0x3040 && r < 0x3100:
		f.kana++
	case r >= 0x3000 && r < 0x3040, r >= 0xFF00 && r < 0xFFF0:
		f.cjkMark++
	case r >= 0x3400 && r < 0xA000, r >= 0xF900 && r < 0xFB00:
		f.ideograph++
	case r >= 0xAC00 && r < 0xD7B0:
		f.hangul++
	case r >= 0x10000: // mostly emoji
		f.other += 2
	default:
		f.other++
	}
	return i
}

// skip returns where the run of a class ends.
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
	beyond // not ASCII
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
		case b >= utf8.RuneSelf:
			c[b] = beyond
		}
	}
	return c
}()
