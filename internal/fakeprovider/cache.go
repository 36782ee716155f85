package fakeprovider

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"sync"
)

// The provider caches prompts from 1,024 tokens on, in steps of 128.
const (
	leastCached  = 1024
	cacheStep    = 128
	keptPrefixes = 1 << 16 // 32 bytes each, and their place in a map
)

type prefix [sha256.Size]byte

// promptCache knows the beginnings of the requests that were answered, by hash:
// of the model and the declarations, and then of each message more. It keeps
// the newest 65,536. Safe for concurrent use.
type promptCache struct {
	mu    sync.Mutex
	known map[prefix]struct{}
	ring  []prefix
	next  int
}

// prompt is one request as the cache sees it.
type prompt struct {
	prefixes []prefix
	tokens   []int // up to the end of each prefix
}

// newPrompt renders a request in whole messages: one that differs in its last
// byte counts as wholly different.
func newPrompt(r *Request) prompt {
	t := r.Tokens()
	h := sha256.New()
	write(h, r.Model, r.declarations())
	p := prompt{tokens: []int{t.Tools}}
	p.prefixes = append(p.prefixes, prefix(h.Sum(nil)))
	sum := t.Tools
	for _, m := range r.Messages {
		write(h, m.Role, m.Name, m.CallID, m.Reasoning)
		for _, part := range m.Parts {
			write(h, part.Type, part.Text, part.Data)
		}
		for _, c := range m.Calls {
			write(h, "call", c.ID, c.Name, c.Arguments)
		}
		write(h, "end")
		sum += m.Tokens()
		p.prefixes = append(p.prefixes, prefix(h.Sum(nil)))
		p.tokens = append(p.tokens, sum)
	}
	return p
}

// write adds texts so that no two lists of texts give the same bytes.
func write(h hash.Hash, texts ...string) {
	var n [8]byte
	for _, s := range texts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
}

// hit returns the tokens of the longest beginning that an earlier request had.
func (c *promptCache) hit(p prompt) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, x := range slices.Backward(p.prefixes) {
		if _, ok := c.known[x]; !ok {
			continue
		}
		if p.tokens[i] < leastCached {
			return 0
		}
		return p.tokens[i] / cacheStep * cacheStep
	}
	return 0
}

func (c *promptCache) add(p prompt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = make(map[prefix]struct{})
	}
	for _, x := range p.prefixes {
		if _, ok := c.known[x]; ok {
			continue
		}
		if len(c.ring) < keptPrefixes {
			c.ring = append(c.ring, x)
		} else {
			delete(c.known, c.ring[c.next])
			c.ring[c.next] = x
			c.next = (c.next + 1) % keptPrefixes
		}
		c.known[x] = struct{}{}
	}
}
