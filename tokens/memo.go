package tokens

import (
	"hash/maphash"
	"sync"
)

// memoTexts is how many texts a memo remembers at least, once it has seen as
// many. It remembers twice as many at most, at about 40 bytes each.
const memoTexts = 1 << 16

// Memo returns a counter that remembers what c has counted, so that a text
// counted once is not counted again. It is for counters that are slow, as exact
// ones are; [Chars4] is quicker than any memory and comes back as it is, and of
// [Estimate] and the other profiles only long texts are remembered. The texts
// themselves are not kept, but a hash with a seed of this memo, so that it makes
// no difference who holds or changes them. The counter is bounded and safe for
// concurrent use; calls at the same time may have a text counted twice.
func Memo(c Counter) Counter {
	m := &memo{counter: c, seed: maphash.MakeSeed(), limit: memoTexts, young: map[fingerprint]int{}}
	switch c.(type) {
	case Chars4, *memo:
		return c
	case Estimate, CJK15, Cautious:
		m.from = memoFrom
	}
	return m
}

// memoFrom is how many bytes it takes until a look into the memory is quicker
// than one of the profiles.
const memoFrom = 128

// memo keeps two generations: what is asked for moves to the young one, and
// when that is full, the old one is forgotten.
type memo struct {
	counter Counter
	seed    maphash.Seed
	from    int // shorter texts are not remembered
	limit   int

	mu         sync.Mutex
	young, old map[fingerprint]int
}

// fingerprint stands for a text.
type fingerprint struct {
	hash uint64
	len  int
}

// Count implements [Counter].
func (m *memo) Count(text string) int {
	switch {
	case text == "":
		return 0
	case len(text) < m.from:
		return m.counter.Count(text)
	}
	key := fingerprint{hash: maphash.String(m.seed, text), len: len(text)}
	if n, ok := m.known(key); ok {
		return n
	}
	n := m.counter.Count(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(key, n)
	return n
}

func (m *memo) known(key fingerprint) (n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, ok = m.young[key]; ok {
		return n, true
	}
	if n, ok = m.old[key]; ok {
		m.keep(key, n)
	}
	return n, ok
}

// keep remembers a count. The lock is held.
func (m *memo) keep(key fingerprint, n int) {
	if len(m.young) >= m.limit {
		m.old, m.young = m.young, make(map[fingerprint]int, m.limit)
	}
	m.young[key] = n
}
