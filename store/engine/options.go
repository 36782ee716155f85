package engine

import (
	"time"

	"github.com/laconic-go/laconic/store"
)

// Options is what an [Engine] does in addition to keeping rows. All replicas that share a database
// must have equal options.
type Options struct {
	// TTL is the time after which data that was neither written nor found is removed. Finding the
	// edits of a conversation counts for all contents of that conversation too. An entry is kept as
	// long as an entry that builds on it. 0: data is kept until it is deleted. The space is
	// reclaimed by [Engine.Vacuum], or by the database itself.
	TTL time.Duration

	// Limit is about how many bytes a scope may keep: compressed data, and 200 bytes for
	// each row. A write that would exceed it fails with a [FullError]; reads still work. 0: no limit.
	Limit int64

	// Secret is used to make the keys and handles of the archive's contents. Without it, someone
	// who reads the database could see from them whether two tenants have equal contents, or
	// whether a known text is kept. Use 32 random bytes. Contents that were put with another
	// secret cannot be read. nil: keys depend on the content and the scope's name only.
	Secret []byte

	// Ciphers encrypt the data of each row: the first one seals, and all of them are tried in
	// their order to open. To change the key, put the new one first, and drop the old one after
	// [Engine.Reseal]. IDs, revisions and names of scopes are not encrypted, nor are the sizes
	// of rows. nil: not encrypted.
	Ciphers []Cipher

	// Limits are the time limit of the calls of journal and archives for one model call, 1 s, and
	// the rule for a database that fails: after 3 failures in a row it is not asked for 1 s.
	Limits store.Limits

	// Lazy lets [Open] return at once. The engine then connects in the background, and tries again until it succeeds. Until
	// then it keeps edits and up to 64 MB of archived contents in memory, it does not know the edits of other processes, and
	// an event of each call reports that the journal is missing. After it has connected, it writes everything to the
	// database. If the process ends before, these edits and contents are lost.
	Lazy bool
}
