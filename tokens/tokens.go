// Package tokens counts what a model call will be charged for.
//
//	n := tokens.Meter{}.Request(history, tools)
//
// A [Counter] counts texts: [Estimate] estimates the count of a tokenizer from what
// a text is made of; [Chars4], [CJK15] and [Cautious] are rules of thumb. A [Meter]
// adds what providers charge in addition to the texts: the frame of each message,
// names, call arguments, tool definitions, media. [MeterFor] returns the meter of a
// family of models.
package tokens

import (
	"hash/maphash"
	"sync"
)

// Counter counts the tokens of a text. An implementation must be safe for
// concurrent use, always return the same count for the same text, never a negative
// one, and 0 for "". It must accept every string, including one that is not valid
// UTF-8.
type Counter interface {
	Count(text string) int
}

// Memo returns a counter that remembers the counts of c, so that no text is counted
// twice. It is meant for slow counters, such as exact ones. [Chars4] is faster than
// the lookup and is returned as it is; of [Estimate], [CJK15] and [Cautious] only
// texts of 128 bytes or more are remembered.
//
// The memo stores a hash of each text, with a random seed, and not the text. It
// remembers at least the last 65,536 texts and at most twice as many, at about 40
// bytes each. It is safe for concurrent use; concurrent calls may count the same
// text twice.
func Memo(c Counter) Counter {
	m := &memo{counter: c, seed: maphash.MakeSeed(), limit: memoTexts, young: map[fingerprint]int{}}
	switch c.(type) {
	case chars4, *memo:
		return c
	case Estimate, cjk15, cautious:
		m.from = memoFrom
	}
	return m
}

const (
	memoTexts = 1 << 16
	memoFrom  = 128 // bytes of a text for which a lookup is faster than an estimate
)

// memo keeps two generations. What is looked up moves to the young one; when that is
// full, the old one is dropped.
type memo struct {
	counter Counter
	seed    maphash.Seed
	from    int // shorter texts are not remembered
	limit   int // texts of a generation

	mu         sync.Mutex
	young, old map[fingerprint]int
}

// fingerprint identifies a text.
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
	n, ok = m.young[key]
	if ok {
		return n, true
	}
	n, ok = m.old[key]
	if ok {
		m.keep(key, n)
	}
	return n, ok
}

// keep remembers a count. The caller holds the lock.
func (m *memo) keep(key fingerprint, n int) {
	if len(m.young) >= m.limit {
		m.old, m.young = m.young, make(map[fingerprint]int, m.limit)
	}
	m.young[key] = n
}
