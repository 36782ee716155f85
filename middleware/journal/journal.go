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
// An entry holds only what it adds to the entry that it builds on, its base. Every 32
// entries, one holds all edits. Entries are kept by their revision, and an ID points at
// one: if an ID gets another entry, the one before can still be built on.
package journal

import (
	"context"
	"crypto/sha256"

	"github.com/laconic-go/laconic/message"
)

// MaxDepth is how many entries an entry builds on at most, one on top of the other.
const MaxDepth = 32

// Journal keeps entries. The zero Env of a chain has one in memory. With a store that
// several processes share, edits survive restarts and replicas send equal views.
//
// A Journal is safe for concurrent use. It may drop entries at any time, but an entry not
// before those that build on it; the edits are then planned again. It must never return an
// entry of another scope: a scope, which is any string, is the border between tenants.
// Entries contain text of the conversation, not encrypted. Neither the journal nor its
// callers modify an entry. Package middlewaretest has a conformance test.
type Journal interface {
	// Find returns the entry of the last of these IDs that has one, with those that it
	// builds on. The IDs are in the order of the history, and first is the ID of its first
	// message, by which a journal may choose where to look. Entries that are damaged, and those
	// that build on them, count as dropped.
	Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (Found, error)

	// Put stores what one model call writes; there is at least one write. A write is
	// stored if nothing is kept under its ID, or if the entry there has the revision
	// Over, and if the base of its entry is kept: it may have expired, and if the entry under Head
	// has the revision that is named there, unless Head is zero. If that is not so
	// for the first write, nothing is stored; another one is skipped. Writes whose First is
	// another one than that of the first write may be stored a moment later. An entry that is
	// there already counts as stored, so a Put may be repeated. An entry that is
	// damaged is replaced. Put returns the entry that is kept under the first ID afterwards,
	// or the zero Entry if nothing is kept.
	Put(ctx context.Context, scope string, writes []Write) (winner Entry, err error)

	// Delete removes all entries of a scope, or only those that were written for some
	// conversations; see [NameOf] and [ConversationOf]. Chains that have used them still have them in
	// memory.
	Delete(ctx context.Context, scope string, conversations ...message.ID) error
}

// Found is what a journal has for a history.
type Found struct {
	At      int     // index of the ID that has the first entry; -1 if none has one
	Entries []Entry // each one builds on the next; ends early if one is missing
	Skipped error   // entries that are damaged or cannot be read, which were left out; nil: none
}

// Write is one entry to store.
type Write struct {
	ID           message.ID // where to store it
	First        message.ID // of the first message of the history that ID is of
	Over         message.ID // revision of the entry that it replaces; zero: none
	Head         Head       // another entry that must still be there
	Conversation message.ID // as [NameOf] or else [ConversationOf] returns it
	Entry        Entry
}

// Head is an ID of the same history with the entry that it points at, from which a writer starts. The zero Head is none. If
// a person has undone an edit meanwhile, the ID points at another entry.
type Head struct {
	ID  message.ID
	Rev message.ID
}

// Entry is what a journal keeps under one ID: edits, on top of those of its base. It
// is plain data; [encoding/json] reads and writes it without loss.
type Entry struct {
	Rev   message.ID `json:"rev"`             // revision: a hash of the content; never zero
	Base  message.ID `json:"base,omitzero"`   // revision of the entry that it builds on, of the same conversation; zero: none
	Depth int        `json:"depth,omitempty"` // how many entries it builds on
	Edits []*Record  `json:"edits"`           // in the order of their positions; they replace edits of the base at the same positions

	// Conversation is the ID of the named conversation that has written the entry, and is part of its content: an entry
	// belongs to one conversation, builds on entries of that one only, and is removed with it. Zero: one without a name.
	Conversation message.ID `json:"conversation,omitzero"`

	// Thinking is what was sent of a conversation with a model that binds its thinking to what precedes it. nil:
	// nothing is known; that of the base does not count.
	Thinking *Thinking `json:"thinking,omitempty"`

	Steps []Step       `json:"steps,omitempty"` // that have led to it from its base, oldest first; without a base, the last ten or more
	Pins  []message.ID `json:"pins,omitempty"`  // of messages that a person has pinned, in an entry of their own

	// Usage is what the provider has reported for a prompt, in an entry of its own: the bodies of clients do not have it, and another
	// process counts on from there. nil: none.
	Usage *message.Usage `json:"usage,omitempty"`
}

// Thinking is which thinking of a conversation its model still accepts after a request: that of the answers in Kept, and that of
// answers after the request. The hashes cover messages as they were sent, without thinking.
type Thinking struct {
	Len  int        `json:"len"`            // number of messages after the leading system messages in the history of the request
	Head message.ID `json:"head"`           // hash of the leading system messages and of the tools, as they were sent
	Sum  message.ID `json:"sum"`            // hash of the other messages
	Kept []Bound    `json:"kept,omitempty"` // answers whose thinking was sent, in order

	// Again means that the model may have answered another request with the same history. So the answers after it may be to
	// either, and their thinking is not accepted for sure.
	Again bool `json:"again,omitempty"`
}

// Bound is an answer, and what it was made behind.
type Bound struct {
	At  int    `json:"at"`  // position
	Sum uint32 `json:"sum"` // hash of what was in front of its thinking
}

// NameOf returns the ID in journals and archives of a conversation that has a name, as in
// middleware.Request: a hash, so that the name cannot be read there.
func NameOf(name string) message.ID {
	sum := sha256.Sum256([]byte("laconic conversation\x00" + name))
	return message.ID(sum[:len(message.ID{})])
}

// ConversationOf returns the ID in journals and archives of a conversation without a name: the
// ID of its first message after the leading system messages. Conversations that begin with the
// same message have the same one. It is zero if there are only system messages.
func ConversationOf(msgs []message.Message) message.ID {
	first := message.Leading(msgs)
	if first == len(msgs) {
		return message.ID{}
	}
	return message.IDs(msgs[first : first+1])[0]
}
