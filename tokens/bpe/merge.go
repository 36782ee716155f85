package bpe

// window is how many bytes are merged at one time. It is several times as long
// as the longest token, which has 128 bytes.
const window = 512

// merger merges bytes to tokens. Its slices are kept from piece to piece.
type merger struct {
	*vocabulary
	parts []part   // in the order of the text, and last an empty one at the end
	ranks []uint32 // of each part joined with the next one; none for what is no part any more
}

// part is some bytes that are a token, and may become one with their neighbours.
type part struct {
	start          int
	next, previous int32 // indices of the neighbours
}

// merge returns how many tokens text[at:end], which is not empty, merges to. The
// text is valid UTF-8; it may be cut within a character.
//
// A long piece is merged window by window, so that time is linear in its length
// and memory does not depend on it. This is exact, for two reasons. No merge is
// ever undone, so what stands on either side of a border between two tokens
// merges to the same tokens alone. And tokens of which each two neighbours, merged
// alone, stay as they are, stay as they are together; see [merger.tokens] for
// what that needs. So what follows a border may be merged on its own if it
// begins with a token that can stand behind the border; and the one that the
// window before had there can. Should the window behind begin with another one,
// nothing is known, and all is merged anew in larger windows.
func (m *merger) merge(text string, at, end, window int) int {
	tokens, second := 0, 0 // second: where the first token of a window should end
	for from := at; ; {
		to := min(from+window, end)
		n := m.tokens(text, from, to)
		if second > 0 && m.parts[m.parts[0].next].start != second {
			break
		}
		if to == end {
			return tokens + n
		}
		// The border is not the last one, as what follows the window may change
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

// tokens merges text[at:end] at once and returns how many tokens it gives.
//
// The rule is to join the two neighbours that make the token of the lowest
// rank, the leftmost ones if there are several, until no two make a token. Here
// all that make the same token are joined in one go. That is the same, because
// what a join makes possible always has a higher rank than the join itself, so
// that ranks never fall from one to the next. It is so in every text if it is so
// in the making of each token alone, which a test shows for all tokens of all
// vocabularies.
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

// begin makes the first parts of text[at:end].
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
