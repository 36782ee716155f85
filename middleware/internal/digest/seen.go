package digest

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// finder finds which of many strings occur in a text, in one pass over the text.
// A string occurs only as whole words: W12 does not occur in W123.
type finder struct {
	strings []string
	shown   []bool              // by string: in a text that stays
	passing []bool              // by string: in a result that may be cleared later
	anchors map[uint32][]anchor // by the hash of a word
	filter  [1 << 12]uint64     // a bit for each of them
}

// anchor is the rarest word of a string.
type anchor struct{ id, at int32 }

func newFinder(all []string) *finder {
	const most = 64 // strings of one anchor; others count as not shown
	f := &finder{strings: all, shown: make([]bool, len(all)), passing: make([]bool, len(all)), anchors: make(map[uint32][]anchor, len(all))}
	often := make(map[uint32]int32, len(all))
	for _, s := range all {
		for h := range hashes(s) {
			often[h]++
		}
	}
	for i, s := range all {
		var hash uint32
		var a anchor
		for h, at := range hashes(s) {
			if often[hash] == 0 || often[h] < often[hash] {
				hash, a = h, anchor{id: int32(i), at: int32(at)}
			}
		}
		if len(f.anchors[hash]) < most {
			f.anchors[hash] = append(f.anchors[hash], a)
			f.filter[hash>>20] |= 1 << (hash >> 14 & 63)
		}
	}
	return f
}

// mark marks the strings that occur in a text.
func (f *finder) mark(marks []bool, text string) {
	for h, at := range hashes(text) {
		if f.filter[h>>20]&(1<<(h>>14&63)) == 0 {
			continue
		}
		for _, a := range f.anchors[h] {
			marks[a.id] = marks[a.id] || occursAt(f.strings[a.id], text, at-int(a.at))
		}
	}
}

// occursAt reports whether a string is in a text at a position, as whole words.
func occursAt(s, text string, from int) bool {
	to := from + len(s)
	return from >= 0 && to <= len(text) && text[from:to] == s && !splitsWord(text, from) && !splitsWord(text, to)
}

// occurs reports whether a string is in a text, as whole words.
func occurs(s, text string) bool {
	for from := 0; from < len(text); from++ {
		k := strings.Index(text[from:], s)
		if k < 0 {
			return false
		}
		from += k
		if occursAt(s, text, from) {
			return true
		}
	}
	return false
}

// splitsWord reports whether a word begins before i and continues there. \n, \r
// and \t end a word.
func splitsWord(text string, i int) bool {
	if i == 0 || i == len(text) || i > 1 && isBlankEscape(text, i-2) {
		return false
	}
	_, size := utf8.DecodeLastRuneInString(text[:i])
	before, _ := classAt(text, i-size)
	after, _ := classAt(text, i)
	return (before.inWord() || text[i-1] == '_') && (after.inWord() || text[i] == '_')
}

// hashes yields a hash of each word of a text, and where it begins. Each ideograph
// is a word.
func hashes(text string) iter.Seq2[uint32, int] {
	return func(yield func(uint32, int) bool) {
		for i := 0; i < len(text); {
			c, size := classAt(text, i)
			end := i + size
			switch {
			case c.inWord() || text[i] == '_':
				end = wordEnd(text, end)
			case isBlankEscape(text, i):
				i += len(`\n`)
				continue
			case c != ideograph:
				i = end
				continue
			}
			if !yield(hashOf(text[i:end]), i) {
				return
			}
			i = end
		}
	}
}

// isBlankEscape reports whether \n, \r or \t is at i.
func isBlankEscape(text string, i int) bool {
	return text[i] == '\\' && i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 'r' || text[i+1] == 't')
}

// The numbers of FNV-1a.
const (
	hashOffset = 2166136261
	hashPrime  = 16777619
)

// hashOf returns a hash with good upper bits.
func hashOf(word string) uint32 {
	h := uint32(hashOffset)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * hashPrime
	}
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>12
}
