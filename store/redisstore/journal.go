package redisstore

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// Find implements [engine.Backend].
func (b *backend) Find(ctx context.Context, scope string, first message.ID, ids []message.ID, bounds engine.Bounds) (
	at int, rows []engine.Row, err error,
) {
	if len(ids) == 0 {
		return -1, nil, nil
	}
	args := make([]any, 1, 1+len(ids))
	args[0] = bounds.TTL.Milliseconds()
	for i := range ids {
		args = append(args, ids[i][:])
	}
	part := b.part(scope, first[:])
	r, err := b.run(ctx, findScript, part, args...)
	if err != nil || r.done() {
		return -1, nil, err
	}
	at = int(r.number())
	conversation := r.id()
	for !r.done() {
		rows = append(rows, r.row(conversation))
	}
	if r.err != nil {
		return -1, nil, r.err
	}
	b.renew(ctx, scope, part, r, bounds)
	return at, rows, nil
}

// row reads a revision and its value: 16 bytes of the base, 4 of the number, the data.
func (r *reply) row(conversation message.ID) engine.Row {
	row := engine.Row{Rev: r.id(), Conversation: conversation}
	value := r.text()
	if len(value) <= valueHead {
		r.err = errReply
		return engine.Row{}
	}
	copy(row.Base[:], value)
	row.Data = []byte(value[valueHead:])
	return row
}

// valueHead is the length of what is before the data.
const valueHead = 16 + 4

// Put implements [engine.Backend]. It makes one call for the writes of each history.
func (b *backend) Put(ctx context.Context, scope string, writes []engine.Write, bounds engine.Bounds) (winner engine.Row, err error) {
	err = b.within(ctx, scope, bounds, func(left func(part string) int64) error {
		for rest := writes; len(rest) > 0; {
			var some, others []engine.Write
			part := b.part(scope, rest[0].First[:])
			for _, w := range rest {
				if b.part(scope, w.First[:]) == part {
					some = append(some, w)
				} else {
					others = append(others, w)
				}
			}
			is, err := b.put(ctx, scope, part, some, bounds, left(part))
			first := len(rest) == len(writes)
			if first {
				winner = is
			}
			if err != nil || first && is.Rev != writes[0].Row.Rev {
				return err
			}
			rest = others
		}
		return nil
	})
	return winner, err
}

// put stores rows of one part, which has left bytes.
func (b *backend) put(
	ctx context.Context, scope, part string, writes []engine.Write, bounds engine.Bounds, left int64,
) (winner engine.Row, err error) {
	args := make([]any, 0, 3+8*len(writes))
	args = append(args, bounds.TTL.Milliseconds(), atLeastOne(left, bounds), overhead)
	for i := range writes {
		w := &writes[i]
		args = append(args, w.ID[:], w.Over[:], w.Row.Rev[:], w.Row.Conversation[:], w.Row.Base[:], w.Row.Data, w.Head.ID[:], w.Head.Rev[:])
	}
	r, err := b.run(ctx, putScript, part, args...)
	if err != nil {
		return engine.Row{}, err
	}
	b.renew(ctx, scope, part, r, bounds)
	switch {
	case r.done():
		return writes[0].Row, nil
	case len(r.rest) == 1:
		return engine.Row{}, full(scope, &r, bounds, left)
	case len(r.rest) == 2: // the base is missing
		return engine.Row{}, nil
	}
	winner = r.row(r.id())
	return winner, r.err
}

// atLeastOne returns what a script takes as a limit, where 0 means no limit.
func atLeastOne(left int64, bounds engine.Bounds) int64 { return max(left, min(bounds.Limit, 1)) }

// full is the error of a full scope, of which one part had left bytes.
func full(scope string, r *reply, bounds engine.Bounds, left int64) error {
	e := &engine.FullError{Scope: scope, Use: r.number() + bounds.Limit - left, Limit: bounds.Limit}
	if r.err != nil {
		return r.err
	}
	return e
}

// Drop implements [engine.Backend].
func (b *backend) Drop(ctx context.Context, scope string, rows []engine.Row) error {
	args := []any{0, overhead}
	for i := range rows {
		args = append(args, rows[i].Conversation[:], rows[i].Rev[:], rows[i].Data)
	}
	var calls []partCall
	for _, part := range b.keys(scope) {
		calls = append(calls, partCall{part, args})
	}
	_, err := b.runAll(ctx, dropScript, calls)
	return err
}

// Entries implements [engine.Backend].
func (b *backend) Entries(ctx context.Context, scope string, conversation message.ID) (rows []engine.Row, err error) {
	type numbered struct {
		engine.Row

		number uint32
	}
	var found []numbered
	p := b.client.Pipeline()
	var parts []*redis.MapStringStringCmd
	for _, part := range b.keys(scope) {
		parts = append(parts, p.HGetAll(ctx, part+"c:"+string(conversation[:])))
	}
	if _, err := p.Exec(ctx); err != nil {
		return nil, err
	}
	for _, part := range parts {
		for field, value := range part.Val() {
			rev, ok := strings.CutPrefix(field, "e")
			if !ok {
				continue
			}
			r := reply{rest: []any{rev, value}}
			row := r.row(conversation)
			if r.err != nil {
				return nil, r.err
			}
			found = append(found, numbered{row, binary.BigEndian.Uint32([]byte(value[16:]))})
		}
	}
	slices.SortStableFunc(found, func(a, b numbered) int { return int(a.number) - int(b.number) })
	for _, f := range found {
		rows = append(rows, f.Row)
	}
	return rows, nil
}
