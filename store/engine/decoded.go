package engine

import (
	"hash/maphash"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// decoded has entries that were decoded lately, since a find reads up to 33 of them again. An
// entry stands for its data only: a row that is damaged since is decoded, and its damage is
// found. It is safe for concurrent use.
type decoded struct {
	seed maphash.Seed

	mu       sync.Mutex
	new, old map[decodedKey]decodedEntry // an entry of old that is used is in new then
	size     int                         // of new
}

type decodedKey struct {
	scope string
	rev   message.ID
	sum   uint64 // hash of the data
}

type decodedEntry struct {
	journal.Entry

	size int // of its JSON
}

// decodedSize is the size of the JSON of half of the entries that are kept.
const decodedSize = 8 << 20

func newDecoded() *decoded { return &decoded{seed: maphash.MakeSeed()} }

func (d *decoded) key(scope string, r Row) decodedKey {
	return decodedKey{scope, r.Rev, maphash.Bytes(d.seed, r.Data)}
}

// get returns an entry; false: it is not known.
func (d *decoded) get(k decodedKey) (journal.Entry, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.new[k]
	if !ok {
		if e, ok = d.old[k]; ok {
			d.add(k, e)
		}
	}
	return e.Entry, ok
}

// put keeps an entry whose JSON has a size.
func (d *decoded) put(k decodedKey, e journal.Entry, size int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(k, decodedEntry{e, size})
}

func (d *decoded) add(k decodedKey, e decodedEntry) {
	if d.size += e.size; d.new == nil || d.size > decodedSize {
		d.old, d.new, d.size = d.new, map[decodedKey]decodedEntry{}, e.size
	}
	d.new[k] = e
}
