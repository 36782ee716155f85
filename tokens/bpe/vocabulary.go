package bpe

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// vocabulary is the tokens of one or several encodings. It is immutable after it was
// loaded.
type vocabulary struct {
	table
	*singleTokens
	pool sync.Pool // of *scratch
}

// loadVocabulary loads an embedded vocabulary. It panics if the file is missing or
// broken, since then the build is broken.
func loadVocabulary(name string) *vocabulary {
	file, err := assets.Assets.ReadFile(name + ".tiktoken")
	if err != nil {
		panic(fmt.Sprintf("bpe: %s is not among the embedded vocabularies: %v", name, err))
	}
	v, err := newVocabulary(file)
	if err != nil {
		panic(fmt.Sprintf("bpe: the embedded vocabulary %s, %v", name, err))
	}
	return v
}

// newVocabulary reads lines of a token in base64, a space, and its rank.
func newVocabulary(file []byte) (*vocabulary, error) {
	classify()
	v := &vocabulary{table: newTable(bytes.Count(file, []byte("\n")))}
	out := make(breaks)
	var token []byte
	line := 0
	for l := range bytes.Lines(file) {
		line++
		code, decimal, _ := bytes.Cut(bytes.TrimSuffix(l, []byte("\n")), []byte(" "))
		var err error
		token, err = base64.StdEncoding.AppendDecode(token[:0], code)
		rank, ok := parseRank(decimal)
		if err != nil || !ok || len(token) == 0 {
			return nil, fmt.Errorf("line %d: %q, want a token in base64, a space and a rank", line, l)
		}
		v.add(string(token), rank)
		out.add(string(token), rank)
	}
	v.singleTokens = newSingleTokens(&v.table, out)
	v.pool.New = func() any { return &scratch{merger: merger{vocabulary: v}} }
	return v, nil
}

// parseRank reads a decimal number of up to nine digits. strconv would allocate for each
// of 200,000 lines.
func parseRank(digits []byte) (rank uint32, ok bool) {
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		rank = rank*10 + uint32(d-'0')
	}
	return rank, len(digits) > 0 && len(digits) < 10
}

// none is the rank of bytes that are not a token.
const none = math.MaxUint32

// table maps tokens to their ranks. It is 20 to 40 percent faster than a Go map, for
// which counting would be slower by as much: two thirds of the tokens have at most seven
// bytes and nearly all other tokens at most fifteen, so their keys are one or two words with
// the length in the top byte. A lookup compares numbers instead of texts and mostly
// reads one cache line.
type table struct {
	filter []uint64          // a bit for each hash of a token: it rejects most bytes that are not a token
	pairs  []pairRanks       // of each two bytes
	short  []shortSlot       // tokens of up to 7 bytes
	medium []mediumSlot      // tokens of 8 to 15 bytes
	long   map[string]uint32 // all other tokens
	max    int               // length of the longest token
}

// pairRanks are ranks of tokens of two bytes or more, or none.
type pairRanks struct {
	rank         uint32 // of the two bytes
	begins, ends uint32 // the lowest of all tokens that begin with them, and that end with them
}

// shortSlot and mediumSlot are slots of tables with open addressing. A free slot has the
// key 0 and the rank none.
type shortSlot struct {
	key  uint64
	rank uint32
}

type mediumSlot struct {
	key  key
	rank uint32
}

// key is a text of up to 15 bytes, with its length in the top byte. It is not an array
// because the compiler keeps arrays in memory.
type key struct{ low, high uint64 }

const filterBits = 21

// newTable returns a table for the given number of tokens.
func newTable(tokens int) table {
	size := 1
	for size < tokens+tokens/4 { // with two thirds of the tokens in these slots, it is half full
		size *= 2
	}
	t := table{
		filter: make([]uint64, 1<<filterBits/64),
		pairs:  make([]pairRanks, 1<<16),
		short:  make([]shortSlot, size),
		medium: make([]mediumSlot, size/2),
		long:   make(map[string]uint32),
	}
	for i := range t.pairs {
		t.pairs[i] = pairRanks{none, none, none}
	}
	for i := range t.short {
		t.short[i].rank = none
	}
	for i := range t.medium {
		t.medium[i].rank = none
	}
	return t
}

// add adds a token that is not in the table. It does not keep the text.
func (t *table) add(token string, rank uint32) {
	if n := len(token); n > 1 {
		first, last := &t.pairs[pair(token, 0)], &t.pairs[pair(token, n-2)]
		first.begins, last.ends = min(first.begins, rank), min(last.ends, rank)
	}
	var h uint64
	n := len(token)
	switch {
	case n == 2:
		t.pairs[pair(token, 0)].rank = rank
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
	n := end - at
	switch {
	case n == 2:
		return t.pairs[pair(text, at)].rank
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

// mayHave returns false for nine of ten texts that are not a token.
func (t *table) mayHave(h uint64) bool {
	h >>= 64 - filterBits
	return t.filter[h/64]>>(h%64)&1 != 0
}

// findShort returns the slot of a key, or the free slot for it.
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

// hash distributes a number over all bits: the high half of the product is the better
// one, and is combined with the low one.
func hash(k uint64) uint64 {
	k *= 0x9e3779b97f4a7c15
	return k ^ k>>32
}

// load returns n bytes, at most 8, as a number, the first one lowest.
func load(text string, at, n int) uint64 {
	if len(text)-at >= 8 {
		return eight(text[at:]) & (1<<(8*n) - 1)
	}
	var w uint64
	for i := range n {
		w |= uint64(text[at+i]) << (8 * i)
	}
	return w
}

// eight returns the first eight bytes as a number. The compiler combines the loads.
func eight(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// singleTokens has a bit for each character of the basic plane. It is set for CJK
// characters whose bytes always merge to one token between other CJK characters. Merging
// then begins with the whole character instead of its three bytes, which more than
// doubles the speed for Chinese.
type singleTokens [1 << 16 / 64]uint64

// The first bytes of CJK characters here: U+3000 to U+9FFF, with the punctuation and the
// kana of East Asia.
const (
	cjkFirst = 0xe3
	cjkLast  = 0xe9
)

// unit returns the number of bytes at text[at] with which merging of text[from:end] can
// begin: those of a character that is a single token here, those of a pair that is joined
// here before each of them could be joined with a neighbour, otherwise 1.
func (v *vocabulary) unit(text string, from, at, end int) int {
	if cjk(text[at]) && end-at >= 3 {
		if v.single(text, from, at, end) {
			return 3
		}
		return 1
	}
	if end-at < 2 {
		return 1
	}
	rank := v.pairs[pair(text, at)].rank
	if rank == none ||
		at > from && v.pairs[pair(text, at-1)].ends <= rank ||
		end-at > 2 && v.pairs[pair(text, at+1)].begins <= rank {
		return 1
	}
	return 2
}

// single reports whether the CJK character at a byte is a single token in text[from:end].
func (s *singleTokens) single(text string, from, at, end int) bool {
	r := rune(text[at]&0x0f)<<12 | rune(text[at+1]&0x3f)<<6 | rune(text[at+2]&0x3f)
	return s[r/64]>>(r%64)&1 != 0 &&
		(at == from || text[at-1] >= utf8.RuneSelf) &&
		(end-at == 3 || cjk(text[at+3]))
}

func cjk(lead byte) bool { return lead >= cjkFirst && lead <= cjkLast }

// newSingleTokens finds these characters in a vocabulary. Joins are made in the order of
// their ranks. So a character is split only if its first or last bytes join bytes outside
// of it at a lower rank than they join the rest of the character.
func newSingleTokens(t *table, out breaks) *singleTokens {
	s := new(singleTokens)
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

// breaks maps a part of a character to the lowest rank at which it joins bytes outside of
// the character.
type breaks map[string]uint32

// before reports whether a part joins bytes outside at a rank below the given one.
func (b breaks) before(part string, rank uint32) bool {
	lowest, ok := b[part]
	return ok && lowest < rank
}

// add records which characters a token splits: the one whose first bytes it ends with,
// unless they follow ASCII, and the one whose last bytes it begins with, if a CJK
// character follows. Elsewhere no character is a single token. The text is not kept.
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
