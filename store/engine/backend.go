package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
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
// removed: Find and Get do not return it, and Put writes over it. When more
// than half of the TTL has passed since the last use, Find sets it again for the entries that
// it returns and for all contents of their conversation, and Get for its content; an error of
// this is ignored. Put and PutContents set the last use of what they write and of what is kept
// already, and Put also that of the contents of the conversation, unless it is less than TTL/32 ago:
// edits do not outlive what they removed. An entry is kept as long as an entry that builds on it.
//
// # Loss
//
// A backend may have a method Lost(err error) error, which is called before each call with
// nil, and after one that failed with its error. It asks no server. If it returns an error,
// all that was kept is lost: a file was removed, or tables. The engine opens the URL again,
// closes this backend, and returns the error.
//
// A backend may have a method Interrupted(err error) bool, which is called after a call that failed. If a
// server has ended a connection that worked before, it is true, and the engine makes the call once more:
// all calls may be repeated.
//
// # Round trips
//
// Find, Put, Get and PutContents make one round trip to the database each, whatever the
// number of rows. An exception may be made to renew rows, once in half a TTL; for Put, in TTL/32.
type Backend interface { //nolint:interfacebloat // what a database does for two things; an adapter per thing would be a second layer
	// Find looks for the last of these IDs that has an entry. It returns that entry, followed by
	// the entries that it builds on, newest first, and the index of the ID; -1 if no ID has an
	// entry. It stops at a base that is missing. ids may be empty. first is the First of the
	// writes; a backend may spread rows over servers by it.
	Find(ctx context.Context, scope string, first message.ID, ids []message.ID, b Bounds) (at int, rows []Row, err error)

	// Put stores rows; there is at least one. A row is stored on two conditions: no entry is kept
	// under its ID, or one of revision Over, or this one; and its base is zero or kept. If Head is not zero
	// and its ID does not point at this row yet, a third one is that the ID of Head points at the revision of Head.
	// From then on its ID points at it. If this entry is kept already, its data is replaced, since it may be
	// damaged. If the first row does not meet the conditions, nothing is stored; another row is
	// skipped. For rows with the same First, all of this is one atomic step, and durable when Put
	// returns. Put returns the row that is kept under the first ID afterwards, or the zero Row if
	// no row is kept there. The error is a [FullError] if the scope is full.
	Put(ctx context.Context, scope string, rows []Write, b Bounds) (winner Row, err error)

	// Entries returns all entries of a conversation that are kept, the oldest first, in
	// any number of round trips.
	Entries(ctx context.Context, scope string, conversation message.ID) ([]Row, error)

	// Get returns a content. The error is store.ErrNotFound if there is none.
	Get(ctx context.Context, scope, handle string, b Bounds) (Content, error)

	// PutContents stores contents for a conversation; the zero ID means no conversation. If a
	// content with this handle and key is kept already, it then belongs to this conversation too,
	// and its data is replaced if it differs: it may be damaged, or sealed with a key that is
	// missing. A content without Data is not stored: if one is kept under its handle, with any
	// key, that one then belongs to this conversation too. The error is store.ErrConflict if
	// another key is kept under the handle, and a [FullError] if the scope is full. After an
	// error, some contents may be stored.
	PutContents(ctx context.Context, scope string, conversation message.ID, contents []Content, b Bounds) error

	// Delete removes the entries and contents of some conversations of a scope, or without
	// conversations everything of the scope. It keeps contents that belong to other conversations
	// too, or were put for no conversation. Afterwards the database has no row, key or name of
	// what was removed. What is written during the call may be kept.
	Delete(ctx context.Context, scope string, conversations ...message.ID) error

	// List returns what is kept by conversation, for some scopes, or for all; ordered by
	// scope, then by last use, the newest first. A content that belongs to several
	// conversations is counted for each.
	List(ctx context.Context, scopes ...string) ([]Usage, error)

	// Drop removes the entries that still have this data. An ID that pointed at one of them
	// then points at no entry.
	Drop(ctx context.Context, scope string, rows []Row) error

	// Rewrite calls change with the data of each entry and content, for some of them perhaps
	// repeatedly, and replaces the data by the result, unless the result is nil or the row has
	// changed meanwhile. It does not change the last use. It ends with the first error of change.
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

// interrupted is a [Backend] that knows when a call has lost its connection; see there.
type interrupted interface{ Interrupted(err error) bool }

// Bounds limits how long and how much a backend keeps.
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

// Write is a row to store, with the ID to store it under.
type Write struct {
	ID    message.ID // will point at the row
	First message.ID // of the first message of the history that ID is of
	Over  message.ID // revision that ID may point at before; zero: it must have none
	Row   Row
	Head  journal.Head // what another ID of the same history must point at; zero: nothing
}

// Content is a content of the archive.
type Content struct {
	Handle string   // twelve letters, unique in the scope
	Key    [32]byte // shows whether two contents with this handle are equal
	Data   []byte   // at least one byte; see PutContents
}

// Usage is what a scope keeps of one conversation.
type Usage struct {
	Scope        string
	Conversation message.ID // zero: contents that were put for no conversation
	Entries      int        // of the journal
	Contents     int        // of the archive
	Bytes        int64      // of the data of both, compressed, and 200 for each
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
