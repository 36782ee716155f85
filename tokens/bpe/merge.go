package bpe

import "math"

// window is the number of bytes that are merged at once. The longest token has 128
// bytes.
const window = 512

// merger merges bytes to tokens. Its slices are reused.
type merger struct {
	*vocabulary
	parts []part   // in the order of the text, with an empty one at the end
	ranks []uint64 // of each part joined with the next one, in the high half, and the index of the part
}

// part is a token that may be joined with its neighbours.
type part struct {
	start          int
	next, previous int32 // indices of the neighbours
}

// noRank is none among the ranks of a merger.
const noRank = math.MaxUint64

// merge returns the number of tokens of text[at:end], which is not empty. The text is
// valid UTF-8; the piece may begin or end within a character.
//
// A long piece is merged in windows, so that time is linear in its length and memory is
// constant. The result is exact for two reasons. A merge is never undone, so the text on
// each side of a border between two tokens merges to the same tokens without the other
// side. And if each two neighbouring tokens remain two tokens when merged without the
// others, all of them remain; see [merger.tokens] for the condition. So the text after a
// border can be merged separately if it begins with a token that can follow the border,
// such as the one that the previous window had there. If the next window begins with
// another token, the whole piece is merged again in larger windows.
func (m *merger) merge(text string, at, end, window int) int {
	tokens, second := 0, 0 // second: where the first token of a window must end
	for from := at; ; {
		to := min(from+window, end)
		n := m.tokens(text, from, to)
		if second > 0 && m.parts[m.parts[0].next].start != second {
			break
		}
		if to == end {
			return tokens + n
		}
		// The last border is not used, since the text after the window can change
		// the tokens at its end.
		n--
		border := m.parts[m.parts[len(m.parts)-1].previous]
		for ; n > 0 && border.start > to-window/4; n-- {
			border = m.parts[border.previous]
		}
		if n == 0 {
			break
		}
		tokens += n
		from, second = border.start, m.parts[border.next].start
	}
	return m.merge(text, at, end, 2*window)
}

// tokens merges text[at:end] at once and returns the number of tokens.
//
// The rule is to join the two neighbours that form the token of the lowest rank, the
// leftmost two if there are several, until no two form a token. A join only enables joins of
// higher ranks. This is true for every text if it is true for the merging of each
// token, which a test checks for all tokens of all vocabularies. So in a long piece, all
// pairs that form the same token are joined in one pass, and merging can begin with units
// of several bytes, see [vocabulary.unit].
func (m *merger) tokens(text string, at, end int) int {
	m.begin(text, at, end)
	for n := len(m.parts) - 1; ; n-- {
		lowest := uint64(noRank)
		// Eight at a time and by their index, there is no branch that depends on the text.
		for r := m.ranks; len(r) >= 8; r = r[8:] {
			lowest = min(lowest, min(min(r[0], r[1]), min(r[2], r[3])), min(min(r[4], r[5]), min(r[6], r[7])))
		}
		if lowest>>32 == none {
			return n
		}
		m.join(text, int32(lowest))
		if len(m.ranks) < window/4 {
			continue
		}
		for i := range m.ranks {
			if m.ranks[i]>>32 == lowest>>32 {
				m.join(text, int32(i))
				n--
			}
		}
	}
}

// begin fills parts and ranks for text[at:end].
func (m *merger) begin(text string, at, end int) {
	m.parts, m.ranks = m.parts[:0], m.ranks[:0]
	from := at
	for i := int32(0); ; i++ {
		m.parts = append(m.parts, part{start: at, next: i + 1, previous: i - 1})
		if i > 1 {
			m.ranks = append(m.ranks, indexed(m.rank(text, m.parts[i-2].start, at), i-2))
		}
		if at == end {
			break
		}
		at += m.unit(text, from, at, end)
	}
	for len(m.ranks) < len(m.parts) || len(m.ranks)%8 != 0 {
		m.ranks = append(m.ranks, noRank)
	}
}

// join joins a part with the next one.
func (m *merger) join(text string, i int32) {
	p := &m.parts[i]
	m.ranks[p.next] = noRank
	p.next = m.parts[p.next].next
	next := &m.parts[p.next]
	next.previous = i
	m.ranks[i] = noRank
	if int(p.next) < len(m.parts)-1 {
		m.ranks[i] = indexed(m.rank(text, p.start, m.parts[next.next].start), i)
	}
	if i > 0 {
		m.ranks[p.previous] = indexed(m.rank(text, m.parts[p.previous].start, next.start), p.previous)
	}
}

// indexed returns a rank with an index in the low half.
func indexed(rank uint32, i int32) uint64 {
	return uint64(rank)<<32 | uint64(i)
}

// memoSize is the number of short and of medium pieces that a scratch remembers, and four times that of long ones. Together
// they take half a megabyte, which fits into the second-level cache of a processor.
const memoSize = 1 << 14

// scratch is the memory that counting uses. It is used for one text at a time and
// reused. It remembers the counts of pieces by hash, because words are repeated, and it is
// in a faster cache than the vocabulary.
type scratch struct {
	merger
	short  [memoSize]uint64      // of up to 7 bytes
	medium [memoSize]key         // of 8 to 15 bytes
	long   [memoSize / 4]longKey // of 16 to 31 bytes
}

// longKey is a text of 16 bytes and up to 15 more.
type longKey struct{ first, rest key }

// The count of a remembered piece takes the top four bits of its key.
const (
	countAt = 60
	pieceOf = 1<<countAt - 1
)

// piece returns the number of tokens of text[at:end], which is not empty: one if it is
// a token, otherwise the result of merging its bytes.
func (s *scratch) piece(text string, at, end int) int {
	n := end - at
	switch {
	case n < 8:
		return s.shortPiece(shortKey(text, at, n), text, at, end)
	case n < 16:
		return s.mediumPiece(keyOf(text, at, n), text, at, end)
	case n < 32:
		return s.longPiece(text, at, end)
	}
	return s.count(text, at, end)
}

// shortPiece returns the number of tokens of a piece by its key.
func (s *scratch) shortPiece(k uint64, text string, at, end int) int {
	known := &s.short[hash(k)%memoSize]
	if *known&pieceOf != k {
		*known = k | uint64(s.count(text, at, end))<<countAt
	}
	return int(*known >> countAt)
}

// mediumPiece is shortPiece for a key of two words.
func (s *scratch) mediumPiece(k key, text string, at, end int) int {
	known := &s.medium[k.hash()%memoSize]
	if known.low != k.low || known.high&pieceOf != k.high {
		*known = key{k.low, k.high | uint64(s.count(text, at, end))<<countAt}
	}
	return int(known.high >> countAt)
}

// longPiece is shortPiece for a key of four words.
func (s *scratch) longPiece(text string, at, end int) int {
	k := longKey{key{load(text, at, 8), load(text, at+8, 8)}, keyOf(text, at+16, end-at-16)}
	known := &s.long[key{k.first.hash(), k.rest.hash()}.hash()%uint64(len(s.long))]
	if known.first == k.first && known.rest.low == k.rest.low && known.rest.high&pieceOf == k.rest.high {
		if n := known.rest.high >> countAt; n > 0 { // 0: nothing is remembered, and the text is 16 zero bytes
			return int(n)
		}
	}
	tokens := s.count(text, at, end)
	k.rest.high |= uint64(tokens) << countAt
	if tokens <= 15 {
		*known = k
	}
	return tokens
}

func (s *scratch) count(text string, at, end int) int {
	if s.rank(text, at, end) != none {
		return 1
	}
	return s.merge(text, at, end, window)
}
