package middleware

import (
	"context"

	"github.com/laconic-go/laconic/message"
)

// overlay is a journal on top of another one, which it only reads.
type overlay struct {
	below Journal
	top   *Memory
}

// Latest implements [Journal].
func (o *overlay) Latest(ctx context.Context, scope string, ids []message.ID) (at int, e Entry, ok bool, err error) {
	at, e, ok, err = o.top.Latest(ctx, scope, ids)
	if err != nil {
		return 0, Entry{}, false, err
	}
	from := 0
	if ok {
		from = at + 1
	}
	if from == len(ids) {
		return at, e, ok, nil
	}
	k, below, found, err := o.below.Latest(ctx, scope, ids[from:])
	if err != nil {
		return 0, Entry{}, false, err
	}
	if found {
		return from + k, below, true, nil
	}
	return at, e, ok, nil
}

// Put implements [Journal].
func (o *overlay) Put(ctx context.Context, scope string, id message.ID, over Rev, e Entry) (Entry, error) {
	_, there, ok, err := o.Latest(ctx, scope, []message.ID{id})
	if err != nil || ok && there.Rev != over {
		return there, err
	}
	_, mine, _, err := o.top.Latest(ctx, scope, []message.ID{id})
	if err != nil {
		return Entry{}, err
	}
	return o.top.Put(ctx, scope, id, mine.Rev, e)
}

// Delete implements [Journal]. What lies below stays.
func (o *overlay) Delete(ctx context.Context, scope string) error {
	return o.top.Delete(ctx, scope)
}
