package bpe

import (
	"math"
	"strings"
)

// none is the rank of what is no token.
const none = math.MaxUint32

// table maps tokens to their ranks. Two thirds of the tokens have up to seven
// bytes, nearly all others up to fifteen. They are keys of one and of two words
// with the length in the top byte, so that a look-up compares numbers, not
// texts, and mostly touches one line of the cache.
type table struct {
	filter []uint64          // a bit for what a token hashes to: it ends most look-ups of what is no token
	pairs  []uint32          // ranks of two bytes, by these
	short  []shortSlot       // tokens of up to 7 bytes
	medium []mediumSlot      // tokens of 8 to 15 bytes
	long   map[string]uint32 // all others
	max    int               // length of the longest token
}

// shortSlot is a place of a table with open addressing. A free one has the key
// 0 and the rank none; so has a mediumSlot.
type shortSlot struct {
	key  uint64
	rank uint32
}

type mediumSlot struct {
	key  key
	rank uint32
}

// key is a text of up to 15 bytes, with its length in the top byte. (It is no
// array, as the compiler keeps those in memory.)
type key struct{ low, high uint64 }

const filterBits = 21

// newTable returns a table with room for so many tokens.
func newTable(tokens int) table {
	size := 1
	for size < tokens+tokens/4 { // with two thirds of the tokens in so many slots, it is half full
		size *= 2
	}
	t := table{
		filter: make([]uint64, 1<<filterBits/64),
		pairs:  make([]uint32, 1<<16),
		short:  make([]shortSlot, size),
		medium: make([]mediumSlot, size/2),
		long:   make(map[string]uint32),
	}
	for i := range t.pairs {
		t.pairs[i] = none
	}
	for i := range t.short {
		t.short[i].rank = none
	}
	for i := range t.medium {
		t.medium[i].rank = none
	}
	return t
}

// add puts a token in, which is not in yet. It does not keep the text.
func (t *table) add(token string, rank uint32) {
	var h uint64
	switch n := len(token); {
	case n == 2:
		t.pairs[pair(token, 0)] = rank
		return
	case n < 8:
		k := shortKey(token, 0, n)
		h = hash(k)
		*t.findShort(k, h) = shortSlot{k, rank}
	case n < 16:
		k := keyOf(token, 0, n)
		h = k.hash()
		*t.findMedium(k, h) = mediumSlot{k, rank}
	default:
		h = longHash(token, 0, n)
		t.long[strings.Clone(token)] = rank
	}
	h >>= 64 - filterBits
	t.filter[h/64] |= 1 << (h % 64)
	t.max = max(t.max, len(token))
}

// rank returns the rank of text[at:end], which is not empty.
func (t *table) rank(text string, at, end int) uint32 {
	switch n := end - at; {
	case n == 2:
		return t.pairs[pair(text, at)]
	case n < 8:
		k := shortKey(text, at, n)
		if h := hash(k); t.mayHave(h) {
			return t.findShort(k, h).rank
		}
	case n < 16:
		k := keyOf(text, at, n)
		if h := k.hash(); t.mayHave(h) {
			return t.findMedium(k, h).rank
		}
	case n <= t.max && t.mayHave(longHash(text, at, n)):
		if r, ok := t.long[text[at:end]]; ok {
			return r
		}
	}
	return none
}

// mayHave tells for all but a tenth of what is no token that it is none.
func (t *table) mayHave(h uint64) bool {
	h >>= 64 - filterBits
	return t.filter[h/64]>>(h%64)&1 != 0
}

// findShort returns the slot of a key, or the free one where it would be.
func (t *table) findShort(k, h uint64) *shortSlot {
	mask := uint64(len(t.short) - 1)
	for h &= mask; ; h = (h + 1) & mask {
		if s := &t.short[h]; s.key == k || s.key == 0 {
			return s
		}
	}
}

// findMedium is findShort for keys of two words.
func (t *table) findMedium(k key, h uint64) *mediumSlot {
	mask := uint64(len(t.medium) - 1)
	for h &= mask; ; h = (h + 1) & mask {
		if s := &t.medium[h]; s.key == k || s.key.high == 0 {
			return s
		}
	}
}

func pair(text string, at int) int { return int(text[at]) | int(text[at+1])<<8 }

func shortKey(text string, at, n int) uint64 { return load(text, at, n) | uint64(n)<<56 }

func keyOf(text string, at, n int) key {
	if n <= 8 {
		return key{load(text, at, n), uint64(n) << 56}
	}
	return key{load(text, at, 8), load(text, at+8, n-8) | uint64(n)<<56}
}

func (k key) hash() uint64 { return hash(k.low ^ hash(k.high)) }

func longHash(text string, at, n int) uint64 {
	return hash(load(text, at, 8) ^ hash(load(text, at+n-8, 8)^uint64(n)))
}

// hash spreads a number over all bits: the product is best in its high half,
// which is folded onto the low one.
func hash(k uint64) uint64 {
	k *= 0x9e3779b97f4a7c15
	return k ^ k>>32
}

// load returns n bytes, at most 8, as a number, the first one lowest.
func load(text string, at, n int) uint64 {
	if len(text)-at >= 8 { // the compiler makes one instruction of these loads
		b := text[at : at+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		return w & (1<<(8*n) - 1)
	}
	var w uint64
	for i := range n {
		w |= uint64(text[at+i]) << (8 * i)
	}
	return w
}
