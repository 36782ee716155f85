package entries

import (
	"context"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Overlay is a journal on top of another one, which it only reads. What is written to it
// builds on nothing in the other one.
type Overlay struct {
	Below journal.Journal
	Top   journal.Journal

	mu sync.Mutex // between the reads and the write of a Put
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

// Put implements [journal.Journal].
func (o *Overlay) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	own := make([]journal.Write, 0, len(writes))
	for i, w := range writes {
		there, err := o.at(ctx, scope, w.First, w.ID)
		if err != nil {
			return journal.Entry{}, err
		}
		free := there.Rev.IsZero() || there.Rev == w.Over
		if w.Head != (journal.Head{}) && there.Rev != w.Entry.Rev {
			head, err := o.at(ctx, scope, w.First, w.Head.ID)
			if err != nil {
				return journal.Entry{}, err
			}
			free = free && head.Rev == w.Head.Rev
		}
		if !free && there.Rev != w.Entry.Rev {
			if i == 0 {
				return there, nil
			}
			continue
		}
		w.Head = journal.Head{}
		if mine, _ := o.Top.Find(ctx, scope, w.First, []message.ID{w.ID}); mine.At >= 0 {
			w.Over = mine.Entries[0].Rev
		}
		own = append(own, w)
	}
	return o.Top.Put(ctx, scope, own)
}

// at returns the entry under an ID, or the zero Entry.
func (o *Overlay) at(ctx context.Context, scope string, first, id message.ID) (journal.Entry, error) {
	found, err := o.Find(ctx, scope, first, []message.ID{id})
	if err != nil || found.At < 0 {
		return journal.Entry{}, err
	}
	return found.Entries[0], nil
}

// Delete implements [journal.Journal]. The journal below keeps its entries.
func (o *Overlay) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	return o.Top.Delete(ctx, scope, conversations...)
}
