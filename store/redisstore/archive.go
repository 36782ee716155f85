package redisstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// Get implements [engine.Backend].
func (b *backend) Get(ctx context.Context, scope, handle string, bounds engine.Bounds) (engine.Content, error) {
	c := engine.Content{Handle: handle}
	part := b.part(scope, []byte(handle))
	r, err := b.run(ctx, getScript, part, bounds.TTL.Milliseconds(), handle)
	if err == nil && r.done() {
		err = fmt.Errorf("%s: %w", handle, store.ErrNotFound)
	}
	if err != nil {
		return engine.Content{}, err
	}
	r.bytes(c.Key[:])
	c.Data = []byte(r.text())
	if r.err != nil {
		return engine.Content{}, r.err
	}
	b.renew(ctx, scope, part, r, bounds)
	return c, nil
}

// PutContents implements [engine.Backend].
func (b *backend) PutContents(
	ctx context.Context, scope string, conversation message.ID, contents []engine.Content, bounds engine.Bounds,
) error {
	if len(contents) == 0 {
		return nil
	}
	err := b.within(ctx, scope, bounds, func(left func(part string) int64) error {
		var calls []partCall
		for i := range contents {
			c := &contents[i]
			part := b.part(scope, []byte(c.Handle))
			k := slices.IndexFunc(calls, func(p partCall) bool { return p.part == part })
			if k < 0 {
				k = len(calls)
				calls = append(calls, partCall{part, []any{
					bounds.TTL.Milliseconds(), atLeastOne(left(part), bounds), overhead, conversation[:],
				}})
			}
			calls[k].args = append(calls[k].args, c.Handle, c.Key[:], c.Data)
		}
		replies, err := b.runAll(ctx, contentsScript, calls)
		for i := range replies {
			r := &replies[i]
			if err != nil || r.done() {
				continue
			}
			if handle, ok := r.rest[0].(string); ok {
				return fmt.Errorf("%s: %w", handle, store.ErrConflict)
			}
			return full(scope, r, bounds, left(calls[i].part))
		}
		return err
	})
	return err
}
