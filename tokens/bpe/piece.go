package bpe

// memoSize is how many pieces a scratch remembers, of 16 bytes each: a quarter
// of a megabyte, which fits the second-level cache of a processor.
const memoSize = 1 << 14

// scratch is what counting needs beside a vocabulary. It is used for one text
// at a time and kept for the next one.
type scratch struct {
	merger
	memo [memoSize]key // short pieces by hash, with their counts in the top four bits
}

// piece counts text[at:end], which is not empty: one if it is a token, else
// what merging its bytes leaves. What a text says it says again, and a memo is
// nearer than a vocabulary of megabytes; so the counts of short pieces are
// remembered.
func (s *scratch) piece(text string, at, end int) int {
	n := end - at
	if n == 1 {
		return 1
	}
	if n >= 16 {
		return s.count(text, at, end)
	}
	const countAt = 60 // neither a length nor a count of up to 15 bytes needs more than four bits
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
