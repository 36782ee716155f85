package redisstore

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// Find implements [engine.Backend].
func (b *backend) Find(ctx context.Context, scope string, _ message.ID, ids []message.ID, bounds engine.Bounds) (at int, rows []engine.Row, err error) {
	if len(ids) == 0 {
		return -1, nil, nil
	}
	args := make([]any, 1, 1+len(ids))
	args[0] = bounds.TTL.Milliseconds()
	for i := range ids {
		args = append(args, ids[i][:])
	}
	r, err := b.run(ctx, findScript, scope, args...)
	if err != nil || r.done() {
		return -1, nil, named(ctx, "find", err)
	}
	at = int(r.number())
	conversation := r.id()
	for !r.done() {
		rows = append(rows, r.row(conversation))
	}
	if r.err != nil {
		return -1, nil, named(ctx, "find", r.err)
	}
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

// Put implements [engine.Backend].
func (b *backend) Put(ctx context.Context, scope string, writes []engine.Write, bounds engine.Bounds) (winner engine.Row, err error) {
	args := make([]any, 0, 3+6*len(writes))
	args = append(args, bounds.TTL.Milliseconds(), bounds.Limit, engine.Overhead)
	for i := range writes {
		w := &writes[i]
		args = append(args, w.ID[:], w.Over[:], w.Row.Rev[:], w.Row.Conversation[:], w.Row.Base[:], w.Row.Data)
	}
	r, err := b.run(ctx, putScript, scope, args...)
	switch {
	case err != nil:
		return engine.Row{}, named(ctx, "put", err)
	case r.done():
		return writes[0].Row, nil
	case len(r.rest) == 1:
		return engine.Row{}, named(ctx, "put", full(scope, &r, bounds))
	case len(r.rest) == 2: // the base is missing
		return engine.Row{}, nil
	}
	if winner = r.row(r.id()); r.err != nil {
		return engine.Row{}, named(ctx, "put", r.err)
	}
	return winner, nil
}

// full is the error of a full scope.
func full(scope string, r *reply, bounds engine.Bounds) error {
	e := &engine.FullError{Scope: scope, Use: r.number(), Limit: bounds.Limit}
	if r.err != nil {
		return r.err
	}
	return e
}

// Drop implements [engine.Backend].
func (b *backend) Drop(ctx context.Context, scope string, rows []engine.Row) error {
	args := []any{0, engine.Overhead}
	for i := range rows {
		args = append(args, rows[i].Conversation[:], rows[i].Rev[:], rows[i].Data)
	}
	_, err := b.run(ctx, dropScript, scope, args...)
	return named(ctx, "drop", err)
}

// Entries implements [engine.Backend].
func (b *backend) Entries(ctx context.Context, scope string, conversation message.ID) (rows []engine.Row, err error) {
	type numbered struct {
		engine.Row

		number uint32
	}
	var found []numbered
	fields, err := b.client.HGetAll(ctx, b.keys(scope)+"c:"+string(conversation[:])).Result()
	if err != nil {
		return nil, named(ctx, "entries", err)
	}
	for field, value := range fields {
		rev, ok := strings.CutPrefix(field, "e")
		if !ok {
			continue
		}
		r := reply{rest: []any{rev, value}}
		row := r.row(conversation)
		if r.err != nil {
			return nil, named(ctx, "entries", r.err)
		}
		found = append(found, numbered{row, binary.BigEndian.Uint32([]byte(value[16:]))})
	}
	slices.SortFunc(found, func(a, b numbered) int { return int(a.number) - int(b.number) })
	for _, f := range found {
		rows = append(rows, f.Row)
	}
	return rows, nil
}
