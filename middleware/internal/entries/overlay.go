package entries

import (
	"context"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Overlay is a journal on top of another one, which it only reads. What is written to it
// builds on nothing in the other one.
type Overlay struct {
	Below journal.Journal
	Top   journal.Journal
}

// Find implements [journal.Journal].
func (o *Overlay) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	found, err := o.Top.Find(ctx, scope, first, ids)
	newer := found.At + 1
	if err != nil || newer == len(ids) {
		return found, err
	}
	below, err := o.Below.Find(ctx, scope, first, ids[newer:])
	found.Skipped = below.Skipped
	if err != nil || below.At < 0 {
		return found, err
	}
	below.At += newer
	return below, nil
}

// Put implements [journal.Journal]. Others do not write to it, and what they write below is noticed when the draft is committed.
func (o *Overlay) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	own := slices.Clone(writes)
	for i := range own {
		w := &own[i]
		w.Head = journal.Head{} // it may be below
		w.Over = message.ID{}
		there, err := o.Top.Find(ctx, scope, w.First, []message.ID{w.ID})
		if err != nil {
			return journal.Entry{}, err
		}
		if there.At >= 0 {
			w.Over = there.Entries[0].Rev
		}
	}
	return o.Top.Put(ctx, scope, own)
}

// Delete implements [journal.Journal]. The journal below keeps its entries.
func (o *Overlay) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	return o.Top.Delete(ctx, scope, conversations...)
}
