package tokens

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// block is a piece of ASCII of at most 64 bytes: bit k of a field is for byte k. It begins and
// ends where a run of letters and digits, spaces, line breaks or punctuation does. So its cost
// is a part of that of the text.
type block struct {
	length                                     int
	letter, upper, digit, space, newline, mark uint64

	consonant uint64 // small
}

// block returns what milli returns for the first bytes of a text, and their number. It returns
// false if they have to be looked at one by one.
func (r *rates) block(text string) (milli, length int, ok bool) {
	const least = 16 // bytes for which it pays
	switch {
	case len(text) < least:
		return 0, least, false
	case (binary.LittleEndian.Uint64([]byte(text[:8]))|binary.LittleEndian.Uint64([]byte(text[8:least])))&0x8080808080808080 != 0:
		return 0, least / 2, false
	}
	var b block
	b.read(text)
	milli, ok = b.cost(r, text)
	return milli, b.length, ok
}

// read makes b the first block of a text. Its length is 0 if the text begins with a longer run.
func (b *block) read(text string) {
	var letter, digit, space, consonant uint64 // as planes has them
	n, end := 0, min(len(text), 64)&^7
	open := end < len(text)
	for ; n < end; n += 8 {
		t := text[n : n+8]
		x := planes[t[0]] | planes[t[1]]<<1 | planes[t[2]]<<2 | planes[t[3]]<<3 |
			planes[t[4]]<<4 | planes[t[5]]<<5 | planes[t[6]]<<6 | planes[t[7]]<<7
		letter |= x & 0xff << (n & 63)
		digit |= x >> 8 & 0xff << (n & 63)
		space |= x >> 16 & 0xff << (n & 63)
		consonant |= x >> 24 & 0xff << (n & 63)
		if beyond := x >> 32; beyond != 0 {
			n += bits.TrailingZeros64(beyond)
			open = false
			break
		}
	}
	if runs := letter&^space | digit; open { // the last run may be longer
		last := uint64(1) << (n - 1)
		switch {
		case runs&last != 0:
		case space&last == 0:
			runs = ^(letter | digit | space)
		case letter&last != 0:
			runs = letter & space
		default:
			runs = space &^ letter
		}
		n -= bits.LeadingZeros64(^(runs << (64 - n)))
	}
	valid := uint64(1)<<n - 1
	b.length, b.consonant = n, consonant&valid
	b.letter = letter &^ space & valid
	b.upper = letter & digit & valid
	b.digit = digit &^ letter & valid
	b.space = space &^ letter & valid
	b.newline = space & letter & valid
	b.mark = ^(letter | digit | space) & valid
}

// cost returns what milli returns for the text of the block, or false if it may have random
// letters, base64 or ruled lines.
func (b *block) cost(r *rates, text string) (milli int, ok bool) {
	count, runs := bits.OnesCount64, b.letter|b.digit
	later := func(of uint64) uint64 { return (runs + of) & of } // without the first of each run, from where the sum carries
	capitals, numbers := begins(b.upper), begins(b.digit)
	words := capitals | begins(b.letter)&^b.upper
	four, third := b.consonant&(b.consonant<<1)&(b.consonant<<2)&(b.consonant<<3), b.mark&(b.mark<<1)&(b.mark<<2)
	if four&(b.consonant<<4) != 0 || count(third) > 8 || b.length == 0 ||
		numbers != 0 && later(capitals) != 0 && later(later(later(words|numbers))) != 0 {
		return 0, false
	}
	two, group := words|words<<1, b.digit&(b.digit<<1)&(b.digit<<2)&(b.digit<<3)
	milli = r.word*count(words) + r.letter*count(b.letter&^(two|two<<2|two<<4)) // behind the six free ones
	for ; numbers != 0; numbers = numbers << 3 & group {
		milli += r.digits * count(numbers)
	}
	marks := count(begins(b.mark))
	milli += r.marks*marks + r.mark*(count(b.mark)-marks)
	for ; third != 0; third &= third - 1 {
		if t := text[bits.TrailingZeros64(third)-2:]; t[0] == t[1] && t[1] == t[2] {
			milli += r.again - r.mark
		}
	}
	return milli + r.spaces*count(begins(b.space)&(b.space>>1)) + r.newlines*count(begins(b.newline)), true
}

// begins returns the first byte of each run.
func begins(runs uint64) uint64 { return runs &^ (runs << 1) }

// planes has five bits for each byte: a letter or line break; a digit or capital; a space or line
// break; a small consonant; not ASCII. Each is in a byte of its own, so that shifts put eight bytes
// together.
var planes = func() (p [256]uint64) {
	for c := range p {
		switch class[c] {
		case lower:
			p[c] = 1
			if !strings.ContainsRune("aeiouy", rune(c)) {
				p[c] |= 1 << 24
			}
		case upper:
			p[c] = 1 | 1<<8
		case digit:
			p[c] = 1 << 8
		case space:
			p[c] = 1 << 16
		case newline:
			p[c] = 1 | 1<<16
		case beyond:
			p[c] = 1 << 32
		}
	}
	return p
}()
