// Package journal keeps the edits of conversations, so that every later call sends
// the same edited messages.
//
//	shared := journal.NewMemory(0) // or a Journal that several processes share
//	chain := middleware.With(middleware.Env{Journal: shared, Scope: "acme"}, …)
//
// # How entries are found
//
// Each message of a history has an ID that also covers all messages before it; see
// [message.IDs]. An [Entry] is kept under the ID of the last message it was made for.
// A history with the same ID is the same conversation up to there, so no session id
// is needed: a grown history finds its entries by its own IDs, and a fork finds the
// entries made before it forked.
//
// An entry holds only what it adds to the entry that it builds on (its base). Every 32
// entries, one holds all edits. Without its base, an entry is not used.
package journal

import (
	"context"

	"github.com/laconic-go/laconic/message"
)

// MaxDepth is how many entries an entry builds on at most, one on top of the other.
const MaxDepth = 32

// Journal keeps entries. The zero Env of a chain has one in memory. With a store that
// several processes share, edits survive restarts and replicas send equal views.
//
// A Journal is safe for concurrent use. It may drop entries at any time; the edits are
// then planned again. It must never return an entry of another scope: a scope, which is
// any string, is the border between tenants. Entries contain text of the conversation,
// not encrypted. Neither the journal nor its callers modify an entry. Package
// middlewaretest has a conformance test.
type Journal interface {
	// Latest returns the entry of the last of these IDs that has one, and its index
	// in ids. The IDs are in the order of the history. ok is false if there is none.
	Latest(ctx context.Context, scope string, ids []message.ID) (at int, e Entry, ok bool, err error)

	// Put stores what one model call writes; there is at least one write. A write is
	// stored if nothing is kept under its ID, or if the entry there has the revision
	// Over. If that is not so for the first write, nothing is stored; another one is
	// skipped. Put returns the entry that is kept under the first ID afterwards.
	Put(ctx context.Context, scope string, writes []Write) (winner Entry, err error)

	// Delete removes all entries of a scope. Chains that have used them still have
	// them in memory.
	Delete(ctx context.Context, scope string) error
}

// Write is one entry to store.
type Write struct {
	ID    message.ID // where to store it
	Over  message.ID // revision of the entry that it replaces; zero: none
	Entry Entry
}

// Entry is what a journal keeps under one ID: edits, on top of those of its base. It
// is plain data; [encoding/json] reads and writes it without loss.
type Entry struct {
	Rev     message.ID `json:"rev"`               // revision: a hash of the content; never zero
	Base    message.ID `json:"base,omitzero"`     // ID under which the base is kept; zero: no base
	BaseRev message.ID `json:"base_rev,omitzero"` // revision of the base; a base that was replaced is kept under this ID
	Depth   int        `json:"depth,omitempty"`   // how many entries it builds on
	Edits   []*Record  `json:"edits"`             // in the order of their positions; they replace edits of the base at the same positions
}
