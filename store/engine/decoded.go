package engine

import (
	"hash/maphash"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// decoded has entries that were decoded lately, since a find reads up to 33 of them again. An
// entry is valid for its data only: a row that is damaged since is decoded, and its damage is
// found. It is safe for concurrent use.
type decoded struct {
	seed maphash.Seed

	mu      sync.Mutex
	entries map[decodedKey]journal.Entry
	size    int // of their JSON
}

type decodedKey struct {
	scope string
	rev   message.ID
	sum   uint64 // hash of the data
}

// decodedSize is how much JSON may have been decoded until all entries are dropped.
const decodedSize = 16 << 20

func newDecoded() *decoded {
	return &decoded{seed: maphash.MakeSeed(), entries: map[decodedKey]journal.Entry{}}
}

func (d *decoded) key(scope string, r Row) decodedKey {
	return decodedKey{scope, r.Rev, maphash.Bytes(d.seed, r.Data)}
}

// get returns an entry; false: it is not known.
func (d *decoded) get(k decodedKey) (journal.Entry, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.entries[k]
	return e, ok
}

// put keeps an entry whose JSON has a size.
func (d *decoded) put(k decodedKey, e journal.Entry, size int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.size += size; d.size > decodedSize {
		clear(d.entries)
		d.size = size
	}
	d.entries[k] = e
}
