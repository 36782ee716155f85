package microcompact

import "unicode/utf8"

// length returns how many code points a text has, as [utf8.RuneCountInString]
// does, and quicker where it is ASCII: it is asked of each long result.
func length(text string) int {
	const step, beyondASCII = 32, 0x8080_8080_8080_8080
	n := 0
	for len(text) >= step {
		if (word(text)|word(text[8:])|word(text[16:])|word(text[24:]))&beyondASCII == 0 {
			n += step
			text = text[step:]
			continue
		}
		for rest := len(text) - step; len(text) > rest; n++ {
			_, size := utf8.DecodeRuneInString(text)
			text = text[size:]
		}
	}
	return n + utf8.RuneCountInString(text)
}

// word returns the first eight bytes of a text.
func word(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// longer returns how many code points a text has, if that is more than a limit,
// else 0.
func longer(text string, limit int) int {
	if len(text) <= limit { // there are no more code points than bytes
		return 0
	}
	if n := length(text); n > limit {
		return n
	}
	return 0
}
