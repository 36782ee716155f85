package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/laconic-go/laconic/message"
)

// Backend keeps rows in a database. It neither reads nor changes their data: coding,
// compression, encryption and checks are done by [Engine].
//
// A scope is a string of at most 1,024 bytes of any value, and is the border between
// tenants: no row is found from another scope. All methods are safe for concurrent use,
// by several processes too. Times come from the clock of the database, if it has one.
// Errors never contain a password. A backend may start no goroutine that outlives Close.
//
// # Age
//
// A row has a time of its last use. Find, Put, Get and PutContents get the rules in
// [Bounds]. If its TTL is not 0, a row that was not used for longer than that counts as
// removed: Find and Get do not return it, and Put writes over it. Find sets the last use
// of the entries that it returns and of all contents of their conversation, and Get that
// of its content, if half of the TTL has gone since. A failure to do so is no failure of
// the call. Put and PutContents set the last use of what they write and of what is there
// already; Put that of the contents of the conversation too, as Find does. An entry that
// others build on is kept as long as they do.
//
// # Loss
//
// A backend may have a method Lost(err error) error, which is called before each call with
// nil, and after one that failed with its error. It asks no server. If it returns an error,
// all that was kept is lost: a file was removed, or tables. The engine opens the URL again,
// closes this backend, and returns the error as an [ErrLost].
//
// # Round trips
//
// Find, Put, Get and PutContents make one round trip to the database each, whatever the
// number of rows. An exception may be made to renew rows, once in half a TTL.
type Backend interface { //nolint:interfacebloat // what a database does for two things; an adapter per thing would be a second layer
	// Find returns the entry under the last of these IDs that has one, followed by those
	// that it builds on, newest first, and the index of the ID. It stops at a base that is
	// missing. at is -1 if there is none. ids may be empty. first is what the entries were
	// put with, by which rows may be spread over servers.
	Find(ctx context.Context, scope string, first message.ID, ids []message.ID, b Bounds) (at int, rows []Row, err error)

	// Put stores rows; there is at least one. Each is stored and its ID points at it from
	// then on, if no entry is kept under its ID, or one of revision Over, or already this
	// one, and if its base is zero or kept. An entry that is kept already gets this data: what
	// is there may be damaged. If that is not so for the first, nothing is
	// stored; another one is skipped. All of this is one atomic step for rows with the same First,
	// and durable when Put returns. Put returns the row that is kept under the first ID afterwards, or the zero
	// Row if there is none. The error is a [FullError] if the scope is full.
	Put(ctx context.Context, scope string, rows []Write, b Bounds) (winner Row, err error)

	// Entries returns all entries of a conversation that are kept, the oldest first, in
	// any number of round trips.
	Entries(ctx context.Context, scope string, conversation message.ID) ([]Row, error)

	// Get returns a content. The error is store.ErrNotFound if there is none.
	Get(ctx context.Context, scope, handle string, b Bounds) (Content, error)

	// PutContents stores contents for a conversation; zero: none. A content that is there
	// already under its handle and with its key gets this data, unless it is the same: what
	// is there may be damaged, or sealed with a key that is missing. It belongs to this
	// conversation too; so does one whose Data is empty, if there is one under its handle:
	// its key is not looked at, and nothing is stored. The error is store.ErrConflict if
	// another key is there, and a
	// [FullError] if the scope is full. After an error, some contents may be stored.
	PutContents(ctx context.Context, scope string, conversation message.ID, contents []Content, b Bounds) error

	// Delete removes the entries and contents of some conversations of a scope, except for
	// contents that belong to other conversations too, or were put for none; without
	// conversations, everything of the scope. Afterwards the database has no row, key or
	// name of it. What is written during the call may stay.
	Delete(ctx context.Context, scope string, conversations ...message.ID) error

	// List returns what is kept by conversation, for some scopes, or for all; ordered by
	// scope, then by last use, the newest first. A content that belongs to several
	// conversations is counted for each.
	List(ctx context.Context, scopes ...string) ([]Usage, error)

	// Drop removes entries that still have this data, perhaps none of them. An ID that points
	// at one points at none then.
	Drop(ctx context.Context, scope string, rows []Row) error
	// Rewrite gives the data of all entries and contents to change, some of them perhaps
	// repeatedly, and writes what it returns over them, unless that is nil or the row has
	// changed meanwhile. No last use changes. It ends with the first error of change.
	Rewrite(ctx context.Context, change func(scope string, data []byte) ([]byte, error)) error
	// Vacuum removes rows that were not used for longer than ttl (0: none), and returns
	// unused space, so that no removed byte remains in the files of the database, as far as
	// the database allows. It returns how many entries and contents it has removed.
	Vacuum(ctx context.Context, ttl time.Duration) (removed int, err error)

	// Close closes all connections. No other call runs or begins then.
	Close() error
}

// lossy is a [Backend] that knows when it has lost everything; see there.
type lossy interface{ Lost(err error) error }

// Bounds is how long and how much a backend keeps.
type Bounds struct {
	TTL   time.Duration // since the last use; 0: without end
	Limit int64         // bytes of all rows of a scope, about; 0: no limit
}

// Row is an entry of the journal.
type Row struct {
	Rev          message.ID // its key; never zero
	Base         message.ID // revision of the entry that it builds on, of the same conversation; zero: none
	Conversation message.ID // may be zero
	Data         []byte     // at least one byte
}

// Write is a row to store, and where.
type Write struct {
	ID    message.ID // will point at the row
	First message.ID // of the first message of the history that ID is of
	Over  message.ID // revision that ID may point at before; zero: it must have none
	Row   Row
}

// Content is a content of the archive.
type Content struct {
	Handle string   // twelve letters, unique in the scope
	Key    [32]byte // shows whether two contents with this handle are equal
	Data   []byte   // at least one byte; see PutContents
}

// Overhead is what is counted for each row in addition to its data.
const Overhead = 200 // bytes

// Usage is what a scope keeps of one conversation.
type Usage struct {
	Scope        string
	Conversation message.ID // zero: contents that were put for no conversation
	Entries      int        // of the journal
	Contents     int        // of the archive
	Bytes        int64      // of the data of both, compressed, with Overhead for each
	Used         time.Time  // last use of any of them
}

// FullError is the error of a Put that would exceed the limit of a scope.
type FullError struct {
	Scope string
	Use   int64 // bytes that are kept, about
	Limit int64 // of Bounds
}

// Error names the scope, its use and the limit.
func (e *FullError) Error() string {
	return fmt.Sprintf("the scope is full: scope %q keeps %d bytes of at most %d: delete conversations, vacuum, or set a larger limit",
		e.Scope, e.Use, e.Limit)
}
