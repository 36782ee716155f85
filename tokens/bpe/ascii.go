package bpe

import "math/bits"

// Here a number has eight bytes of text, the first one lowest. In a mask, the high bit of
// each byte is set or not, and all other bits are 0. Shifts are written with &63, which they
// never exceed, so that the compiler does not check it.
const (
	each = 0x0101010101010101
	high = 0x80 * each
	fold = 0x20 * each // makes capitals small letters
)

// between returns a mask of the bytes from first to last. All bytes of w are ASCII.
func between(w uint64, first, last byte) uint64 {
	return (w + uint64(0x80-first)*each) &^ (w + uint64(0x7f-last)*each) & high
}

// run8 returns the end of the bytes of a mask that begin at a byte: the first one that is
// not set, or 8.
func run8(mask uint64, from int) int {
	return bits.TrailingZeros64(^mask&high>>(8*from&63)<<(8*from&63)) / 8
}

// ascii counts the pieces from text[at] on, and returns where it stops: at the first piece
// that it leaves to the split. It knows pieces of ASCII of up to 7 bytes, and words of up to
// 15, if eight bytes of ASCII follow and no apostrophe. That is nearly all of most texts.
// It finds the end of a piece without a loop over its bytes.
//
// Capitals has all bits set if capitals can follow small letters in a word, otherwise none.
func (s *scratch) ascii(text string, at int, capitals uint64) (tokens, end int) {
	for len(text)-at >= 16 {
		w := eight(text[at:])
		if w&high != 0 || byte(w) == '\'' {
			break
		}
		letters := between(w|fold, 'a', 'z')
		var n int
		if letters&0x8080 != 0 && classes[byte(w)]&(upper|lower|lead) != 0 {
			n = shortWord(w, letters, capitals)
		} else {
			n = otherPiece(w, letters, capitals)
		}
		if n == 0 || n < 8 && byte(w>>(8*n&63)) == '\'' {
			break
		}
		if n == 8 {
			count, end := s.longWord(text, at, capitals)
			if end == at {
				break
			}
			tokens, at = tokens+count, end
			continue
		}
		k := w&(1<<(8*n&63)-1) | uint64(n)<<56
		if known := s.short[hash(k)%memoSize]; known&pieceOf == k { // inlined shortPiece
			tokens += int(known >> countAt)
		} else {
			tokens += s.shortPiece(k, text, at, at+n)
		}
		at += n
	}
	return tokens, at
}

// shortWord returns the length of the word that w begins with: 8 if it is that long or
// longer, and 0 if the split must find it, as it begins with several capitals or is one.
func shortWord(w, letters, capitals uint64) int {
	begin := 0x80 | letters&^(letters<<8)&0x8000 // any character and a letter, or a letter
	follow := letters & (w<<2 | capitals)        // the moved bit is set for small letters
	n := run8(begin|follow, 0)
	if follow>>((8*n-1)&63)&1 == 0 {
		return 0
	}
	return n
}

// longWord counts the word at text[at], of which the first eight bytes are known, and
// returns its end; 0 and at if the split must find that.
func (s *scratch) longWord(text string, at int, capitals uint64) (tokens, end int) {
	w := eight(text[at+8:])
	n := run8(between(w|fold, 'a', 'z')&(w<<2|capitals), 0)
	if n == 8 || w&high != 0 || byte(w>>(8*n&63)) == '\'' {
		return 0, at
	}
	end = at + 8 + n
	return s.mediumPiece(key{eight(text[at:]), w&(1<<(8*n&63)-1) | uint64(8+n)<<56}, text, at, end), end
}

// otherPiece returns the length of the piece that w begins with, if it is not a word: digits,
// white space or other characters. It returns 0 if the piece may be longer than 7 bytes.
func otherPiece(w, letters, capitals uint64) int {
	digits := between(w, '0', '9')
	if digits&0x80 != 0 {
		return min(run8(digits, 1), 3)
	}
	lines := between(w, '\n', '\n') | between(w, '\r', '\r')
	spaces := between(w, '\t', '\r') | between(w, ' ', ' ')
	others := high &^ (letters | digits | spaces)
	if others&0x80 != 0 || byte(w) == ' ' && others&0x8000 != 0 {
		n := run8(others, 1)
		if capitals == 0 { // o200k_base
			lines |= between(w, '/', '/')
		}
		if n < 8 {
			n = run8(lines, n)
		}
		return n % 8
	}
	n := run8(spaces, 1)
	if n == 8 {
		return 0
	}
	lines &= 1<<(8*n&63) - 1
	if lines != 0 {
		return bits.Len64(lines) / 8
	}
	return max(n-1, 1) // the last space belongs to the next piece
}
