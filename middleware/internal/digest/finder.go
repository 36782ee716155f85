package digest

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// finder tells which of many strings occur in a text, in one pass over it. A
// string occurs where no letter or digit goes on beyond its ends: W12 does not
// occur in W123.
type finder struct {
	strings []string
	shown   []bool
	anchors []anchor
	first   map[uint32]int32 // of the strings that share an anchor
	next    []int32          // the one behind it; -1: none
	sieve   [1 << 12]uint64  // of the anchors
}

// anchor is the word of a string by which it is found: the rarest.
type anchor struct {
	hash uint32
	at   int32
}

// bucket is how many strings of one anchor are compared at one place. Those
// beyond count as not shown.
const bucket = 64

func newFinder(all []string) *finder {
	f := &finder{
		strings: all,
		shown:   make([]bool, len(all)),
		anchors: make([]anchor, len(all)),
		first:   make(map[uint32]int32, len(all)),
		next:    make([]int32, len(all)),
	}
	often := make(map[uint32]int32, len(all))
	for _, s := range all {
		for h := range hashes(s) {
			often[h]++
		}
	}
	for i, s := range all {
		rarest := int32(0)
		for h, at := range hashes(s) {
			if n := often[h]; rarest == 0 || n < rarest {
				rarest, f.anchors[i] = n, anchor{hash: h, at: int32(at)}
			}
		}
		h := f.anchors[i].hash
		f.next[i] = -1
		if k, ok := f.first[h]; ok {
			f.next[i] = k
		}
		f.first[h] = int32(i)
		f.sieve[h>>20] |= 1 << (h >> 14 & 63)
	}
	return f
}

// show marks the strings that occur in a text.
func (f *finder) show(text string) {
	for h, at := range hashes(text) {
		if f.sieve[h>>20]&(1<<(h>>14&63)) == 0 {
			continue
		}
		k, ok := f.first[h]
		if !ok {
			continue
		}
		for range bucket {
			if k < 0 {
				break
			}
			from := at - int(f.anchors[k].at)
			f.shown[k] = f.shown[k] || occurs(f.strings[k], text, from)
			k = f.next[k]
		}
	}
}

// occurs reports whether a string stands in a text at a place, as words of its own.
func occurs(s, text string, from int) bool {
	to := from + len(s)
	if from < 0 || to > len(text) || text[from:to] != s {
		return false
	}
	return (!goesOn(text, from) || from > 1 && isEscapedBlank(text, from-2)) && !goesOn(text, to)
}

// goesOn reports whether a word begins before i and ends behind it.
func goesOn(text string, i int) bool {
	if i == 0 || i == len(text) {
		return false
	}
	_, size := utf8.DecodeLastRuneInString(text[:i])
	before, _ := classAt(text, i-size)
	after, _ := classAt(text, i)
	return (before.isWord() || text[i-1] == '_') && (after.isWord() || text[i] == '_')
}

// hashes yields a hash of each word of a text, and where it begins. Ideographs
// are words of their own.
func hashes(text string) iter.Seq2[uint32, int] {
	return func(yield func(uint32, int) bool) {
		for i := 0; i < len(text); {
			c, size := classAt(text, i)
			end := i + size
			switch {
			case c.isWord() || text[i] == '_':
				end = wordEnd(text, end)
			case isEscapedBlank(text, i):
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

// isEscapedBlank reports whether \n, \r or \t stands at i: no word goes on there.
func isEscapedBlank(text string, i int) bool {
	return text[i] == '\\' && i+1 < len(text) && strings.IndexByte("nrt", text[i+1]) >= 0
}

// wordEnd returns where the letters, digits and underscores at i end.
func wordEnd(text string, i int) int {
	for i < len(text) {
		c, size := classAt(text, i)
		if !c.isWord() && text[i] != '_' {
			break
		}
		i += size
	}
	return i
}

// The numbers of FNV-1a.
const (
	hashOffset = 2166136261
	hashPrime  = 16777619
)

// hashOf returns a hash whose upper bits are as good as its lower ones.
func hashOf(word string) uint32 {
	h := uint32(hashOffset)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * hashPrime
	}
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>12
}
