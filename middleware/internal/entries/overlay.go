package entries

import (
	"context"
	"slices"
	"sync"

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

// Recent has the places where a chain has written lately, which must be read again. It
// is safe for concurrent use.
type Recent struct {
	mu     sync.Mutex
	recent []written // the newest last
	count  uint64    // of all writes
}

type written struct {
	at int // position
	id message.ID
}

// add notes writes at positions of a history; negative ones are ignored.
func (r *Recent) add(ids []message.ID, positions ...int) {
	const most = 64
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range positions {
		if at < 0 {
			continue
		}
		if len(r.recent) == most {
			r.recent = slices.Delete(r.recent, 0, 1)
		}
		r.recent = append(r.recent, written{at, ids[at]})
		r.count++
	}
}

// Fork makes another one know the same.
func (r *Recent) Fork(to *Recent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	to.recent, to.count = slices.Clone(r.recent), r.count
}

// Since returns the smallest position of the history under which the chain has written
// after the first seen writes, or the length of the history, and the number of all writes.
func (r *Recent) Since(seen uint64, ids []message.ID) (from int, count uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.count - seen
	if fresh > uint64(len(r.recent)) {
		return 0, r.count
	}
	from = len(ids)
	for _, p := range r.recent[len(r.recent)-int(fresh):] {
		if p.at < from && ids[p.at] == p.id {
			from = p.at
		}
	}
	return from, r.count
}
