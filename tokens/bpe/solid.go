package bpe

import (
	"strings"
	"unicode/utf8"
)

// solid has a bit for each character of the basic plane, which is set for
// ideographs and their like whose bytes merge to one token whatever stands
// around them, as long as that is their like. Merging may then begin with the
// whole character instead of its three bytes, which more than doubles the speed
// on Chinese.
type solid [1 << 16 / 64]uint64

// The first bytes of what is meant by ideographs and their like: U+3000 to
// U+9FFF, with the punctuation and the kana of East Asia.
const (
	cjkFirst = 0xe3
	cjkLast  = 0xe9
)

// unit returns the length of what merging may begin with at a byte of
// text[from:end]: a character that is solid where it stands, else the byte.
func (s *solid) unit(text string, from, at, end int) int {
	lead := text[at]
	if !cjk(lead) || end-at < 3 {
		return 1
	}
	r := rune(lead&0x0f)<<12 | rune(text[at+1]&0x3f)<<6 | rune(text[at+2]&0x3f)
	switch {
	case s[r/64]>>(r%64)&1 == 0,
		at > from && text[at-1] < utf8.RuneSelf,
		end-at > 3 && !cjk(text[at+3]):
		return 1
	}
	return 3
}

func cjk(lead byte) bool { return lead >= cjkFirst && lead <= cjkLast }

// newSolid finds the solid characters of a vocabulary. Joins come in the order
// of their ranks. So a character breaks only if the part of it that stands at
// its border joins what is outside at a lower rank than the one at which it
// would join the rest of the character.
func newSolid(t *table, out breaks) *solid {
	s := new(solid)
	for r := rune(cjkFirst&0x0f) << 12; r < (cjkLast&0x0f+1)<<12; r++ {
		c := string(r)
		whole, front, back := t.rank(c, 0, 3), t.rank(c, 0, 2), t.rank(c, 1, 3)
		switch {
		case whole == none:
			continue
		case front < back: // the first two bytes join, and then the third
			if out.before(c[:1], front) || out.before(c[:2], whole) || out.before(c[2:], whole) {
				continue
			}
		default:
			if out.before(c[:1], whole) || out.before(c[1:], whole) || out.before(c[2:], back) {
				continue
			}
		}
		s[r/64] |= 1 << (r % 64)
	}
	return s
}

// breaks has the lowest rank of a token that a part of a character joins
// outside of it, by the part.
type breaks map[string]uint32

// before tells whether a part joins outside before a rank.
func (b breaks) before(part string, rank uint32) bool {
	lowest, ok := b[part]
	return ok && lowest < rank
}

// add notes, without keeping the text, what a token breaks: the character whose first bytes it ends with,
// unless they stand behind ASCII, and the one whose last bytes it begins with,
// if an ideograph or its like follows. In any other place no character is solid.
func (b breaks) add(token string, rank uint32) {
	note := func(part string) {
		if lowest, ok := b[part]; !ok || rank < lowest {
			b[strings.Clone(part)] = rank
		}
	}
	end := len(token) - 1
	for end > 0 && !utf8.RuneStart(token[end]) {
		end--
	}
	if end > 0 && token[end-1] >= utf8.RuneSelf && !utf8.FullRuneInString(token[end:]) {
		note(token[end:])
	}
	begin := 0
	for begin < len(token) && !utf8.RuneStart(token[begin]) {
		begin++
	}
	if begin > 0 && begin < len(token) && cjk(token[begin]) {
		note(token[:begin])
	}
}
