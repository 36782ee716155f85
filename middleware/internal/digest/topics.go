package digest

import "iter"

// topics are what the user and the model speak of: the parts of their words, as
// get and user are those of getUser. How much each counts, by its hash, is in
// hundredths.
type topics map[uint32]int

// add takes a text that was said, so many texts before the end.
func (t topics) add(text string, back int) {
	const (
		recent = 12
		full   = 100
	)
	w := full
	if back > recent {
		w /= 2
	}
	for h := range parts(text) {
		if t[h] < w {
			t[h] = w
		}
	}
}

// share returns how much of a text was spoken of, in hundredths.
func (t topics) share(text string) int {
	n, sum := 0, 0
	for h := range parts(text) {
		n++
		sum += t[h]
	}
	return sum / max(n, 1)
}

// parts yields a hash of each part of the words of a text, whatever its case.
// Very short ones say nothing, unless they are ideographs.
func parts(text string) iter.Seq[uint32] {
	const shortest = 3
	return func(yield func(uint32) bool) {
		for i := 0; i < len(text); {
			h, end := part(text, i)
			if c, size := classAt(text, i); end == i {
				i += size
			} else if i, size = end, end-i; (c == ideograph || size >= shortest) && !yield(h) {
				return
			}
		}
	}
}

// part reads the part of a word that begins at i.
func part(text string, i int) (hash uint32, end int) {
	hash = hashOffset
	before := upper
	for i < len(text) {
		c, size := classAt(text, i)
		switch {
		case c == ideograph && before == upper && hash == hashOffset:
			return hashOf(text[i : i+size]), i + size
		case c == lower, c == letter, c == upper && before == upper:
		default:
			return hash, i
		}
		for _, b := range []byte(text[i : i+size]) {
			if c == upper && size == 1 {
				b |= 0x20
			}
			hash = (hash ^ uint32(b)) * hashPrime
		}
		before = c
		i += size
	}
	return hash, i
}
