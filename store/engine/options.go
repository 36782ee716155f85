package engine

import (
	"time"

	"github.com/laconic-go/laconic/store"
)

// Options is what an [Engine] does beside keeping rows. All replicas that share a database
// must have equal options.
type Options struct {
	// TTL removes what was neither written nor found for this time. Finding the edits of a
	// conversation counts for all contents of that conversation too. An entry that others
	// build on stays as long as they do. 0: kept until it is deleted. The space is
	// reclaimed by [Engine.Vacuum], or by the database itself.
	TTL time.Duration

	// Limit is how many bytes a scope may keep, about: compressed data, and [Overhead] for
	// each row. Beyond it, a write fails with a [FullError]; reads go on. 0: no limit.
	Limit int64

	// Secret makes the keys and handles of the archive's contents, so that whoever reads
	// the database cannot tell by them whether two tenants have equal contents, or whether
	// a known text is there. Want 32 random bytes. Contents that were put with another
	// secret cannot be read. nil: keys depend on the content and the scope's name only.
	Secret []byte

	// Ciphers encrypt the data of each row: the first one seals, and all of them are tried in
	// their order to open. To change the key, put the new one first, and drop the old one after
	// [Engine.Reseal]. IDs, revisions and names of scopes are not encrypted, nor are the sizes
	// of rows. nil: not encrypted.
	Ciphers []Cipher

	// Limits are when the calls of the journal and of archives for one model call are given up,
	// and when the database is left alone for a while: 1 s, and 1 s after 3 failures in a row.
	Limits store.Limits

	// Lazy lets [Open] return at once and connect in the background, again and again until that works. Until then, edits
	// and up to 64 MB of archived contents are kept in memory, an event of each call says that the journal is not there, and
	// edits that other processes have made are not known. Then everything is written. Both are lost if the process ends before.
	Lazy bool
}
