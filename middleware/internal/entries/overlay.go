package entries

import (
	"context"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Overlay is a journal on top of another one, which it only reads.
type Overlay struct {
	Below journal.Journal
	Top   *journal.Memory
}

// Latest implements [journal.Journal].
func (o *Overlay) Latest(ctx context.Context, scope string, ids []message.ID) (at int, e journal.Entry, ok bool, err error) {
	at, e, ok, err = o.Top.Latest(ctx, scope, ids)
	if err != nil {
		return 0, journal.Entry{}, false, err
	}
	from := 0
	if ok {
		from = at + 1
	}
	if from == len(ids) {
		return at, e, ok, nil
	}
	k, below, found, err := o.Below.Latest(ctx, scope, ids[from:])
	if err != nil || !found {
		return at, e, ok && err == nil, err
	}
	return from + k, below, true, nil
}

// Put implements [journal.Journal].
func (o *Overlay) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	own := make([]journal.Write, 0, len(writes))
	for i, w := range writes {
		_, there, ok, err := o.Latest(ctx, scope, []message.ID{w.ID})
		switch {
		case err != nil, i == 0 && ok && there.Rev != w.Over:
			return there, err
		case ok && there.Rev != w.Over:
			continue
		}
		_, mine, _, _ := o.Top.Latest(ctx, scope, []message.ID{w.ID})
		w.Over = mine.Rev
		own = append(own, w)
	}
	return o.Top.Put(ctx, scope, own)
}

// Delete implements [journal.Journal]. The journal below keeps its entries.
func (o *Overlay) Delete(ctx context.Context, scope string) error { return o.Top.Delete(ctx, scope) }
