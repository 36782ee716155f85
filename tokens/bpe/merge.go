package bpe

// window is the number of bytes that are merged at once. The longest token has 128
// bytes.
const window = 512

// merger merges bytes to tokens. Its slices are reused.
type merger struct {
	*vocabulary
	parts []part   // in the order of the text, with an empty one at the end
	ranks []uint32 // of each part joined with the next one; none for a part that was joined to the previous one
}

// part is a token that may be joined with its neighbours.
type part struct {
	start          int
	next, previous int32 // indices of the neighbours
}

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
// leftmost two if there are several, until no two form a token. Here all pairs that form
// the same token are joined in one pass. The result is the same, because a join only
// enables joins of higher ranks. This is true for every text if it is true for the
// merging of each token, which a test checks for all tokens of all vocabularies.
func (m *merger) tokens(text string, at, end int) int {
	m.begin(text, at, end)
	n := len(m.ranks)
	for {
		lowest := uint32(none)
		for _, r := range m.ranks {
			lowest = min(lowest, r)
		}
		if lowest == none {
			return n
		}
		for i := range m.ranks {
			if m.ranks[i] == lowest {
				m.join(text, i)
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
			m.ranks = append(m.ranks, m.rank(text, m.parts[i-2].start, at))
		}
		if at == end {
			break
		}
		at += m.unit(text, from, at, end)
	}
	m.ranks = append(m.ranks, none)
}

// join joins a part with the next one.
func (m *merger) join(text string, i int) {
	p := &m.parts[i]
	m.ranks[p.next] = none
	p.next = m.parts[p.next].next
	next := &m.parts[p.next]
	next.previous = int32(i)
	m.ranks[i] = none
	if int(p.next) < len(m.ranks) {
		m.ranks[i] = m.rank(text, p.start, m.parts[next.next].start)
	}
	if i > 0 {
		m.ranks[p.previous] = m.rank(text, m.parts[p.previous].start, next.start)
	}
}

// memoSize is the number of pieces that a scratch remembers, of 16 bytes each: a quarter
// of a megabyte, which fits into the second-level cache of a processor.
const memoSize = 1 << 14

// scratch is the memory that counting uses. It is used for one text at a time and
// reused.
type scratch struct {
	merger
	memo [memoSize]key // short pieces by hash, with their counts in the top four bits
}

// piece returns the number of tokens of text[at:end], which is not empty: one if it is
// a token, otherwise the result of merging its bytes. The counts of short pieces are
// remembered, because words are repeated, and the memo is in a faster cache than the
// vocabulary.
func (s *scratch) piece(text string, at, end int) int {
	n := end - at
	if n == 1 {
		return 1
	}
	if n >= 16 {
		return s.count(text, at, end)
	}
	const countAt = 60 // the length and the count of up to 15 bytes take four bits each
	k := keyOf(text, at, n)
	known := &s.memo[k.hash()%memoSize]
	if known.low == k.low && known.high&(1<<countAt-1) == k.high {
		return int(known.high >> countAt)
	}
	tokens := s.count(text, at, end)
	*known = key{k.low, k.high | uint64(tokens)<<countAt}
	return tokens
}

func (s *scratch) count(text string, at, end int) int {
	if s.rank(text, at, end) != none {
		return 1
	}
	return s.merge(text, at, end, window)
}
