package middleware

import (
	"context"

	"github.com/laconic-go/laconic/message"
)

// Journal keeps the edits of conversations. The zero [Env] has one in memory;
// a store shared by several processes makes edits survive restarts.
//
// An entry is kept under the ID of the last message that it was made for.
// Whoever has the same scope and ID had the same conversation so far, so no
// session id is needed. An entry that gives way to a newer one is kept under
// its revision, since others may build on it. The scope is a border: an entry
// must never be found from another scope. Entries hold text of the conversation
// in the clear.
//
// An implementation must be safe for concurrent use and may forget entries at
// any time. Entries are read-only for all.
type Journal interface {
	// Latest returns the entry of the last of these IDs that has one, and its
	// index in ids. The IDs are in the order of the history.
	Latest(ctx context.Context, scope string, ids []message.ID) (at int, e Entry, ok bool, err error)

	// Put keeps e under id if what is there now has the revision over, or if
	// nothing is there, and returns what is there afterwards: e, or the entry
	// that was quicker.
	Put(ctx context.Context, scope string, id message.ID, over Rev, e Entry) (winner Entry, err error)

	// Delete forgets all entries of a scope. Chains that have used them still
	// have them in memory.
	Delete(ctx context.Context, scope string) error
}

// Rev is the revision of an entry: a hash of what is in it. Zero: no entry.
type Rev = message.ID

// Entry is what a journal keeps under one ID: the edits made there, on top of
// those of an entry before. It is plain data, and its JSON loses nothing.
type Entry struct {
	Rev     Rev        `json:"rev"`
	Base    message.ID `json:"base,omitzero"`     // where the entry before is; zero: there is none
	BaseRev Rev        `json:"base_rev,omitzero"` // and its revision
	Depth   int        `json:"depth,omitempty"`   // how many entries lie before this one
	Edits   []*Record  `json:"edits"`             // by position; they replace edits of Base at the same place
}

// Record is an edit as it is remembered. Its positions count from the first
// message behind the leading system messages, so that these may change in
// number. Records are shared and read-only.
type Record struct {
	By       string            `json:"by"`
	Kind     EditKind          `json:"kind"`
	Runs     []message.Run     `json:"runs"`               // in order and apart
	ID       message.ID        `json:"id"`                 // of the last position: the edit holds where it is the same
	Parts    []message.Part    `json:"-"`                  // of a rewrite
	Messages []message.Message `json:"messages,omitempty"` // of a fold
	Under    []*Record         `json:"under,omitempty"`    // the edits that a fold covers
	Made     int               `json:"made"`               // length of the history at that time
}

// first and last are the outermost positions.
func (r *Record) first() int { return r.Runs[0].First }
func (r *Record) last() int  { return r.Runs[len(r.Runs)-1].Last }

// madeBy returns the length of the history when the named middleware made this
// edit, or one that it covers; -1: it made none.
func (r *Record) madeBy(name string) int {
	made := -1
	if r.By == name {
		made = r.Made
	}
	for _, u := range r.Under {
		made = max(made, u.madeBy(name))
	}
	return made
}
