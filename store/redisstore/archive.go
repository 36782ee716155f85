package redisstore

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// Get implements [engine.Backend].
func (b *backend) Get(ctx context.Context, scope, handle string, bounds engine.Bounds) (engine.Content, error) {
	c := engine.Content{Handle: handle}
	r, err := b.run(ctx, getScript, scope, bounds.TTL.Milliseconds(), handle)
	if err == nil && r.done() {
		err = fmt.Errorf("%s: %w", handle, store.ErrNotFound)
	}
	if err != nil {
		return engine.Content{}, named(ctx, "get", err)
	}
	r.bytes(c.Key[:])
	c.Data = []byte(r.text())
	if r.err != nil {
		return engine.Content{}, named(ctx, "get", r.err)
	}
	return c, nil
}

// PutContents implements [engine.Backend].
func (b *backend) PutContents(
	ctx context.Context, scope string, conversation message.ID, contents []engine.Content, bounds engine.Bounds,
) error {
	if len(contents) == 0 {
		return nil
	}
	args := make([]any, 0, 4+3*len(contents))
	args = append(args, bounds.TTL.Milliseconds(), bounds.Limit, engine.Overhead, conversation[:])
	for i := range contents {
		c := &contents[i]
		args = append(args, c.Handle, c.Key[:], c.Data)
	}
	r, err := b.run(ctx, contentsScript, scope, args...)
	if err == nil && !r.done() {
		if handle, ok := r.rest[0].(string); ok {
			err = fmt.Errorf("%s: %w", handle, store.ErrConflict)
		} else {
			err = full(scope, &r, bounds)
		}
	}
	return named(ctx, "put contents", err)
}
