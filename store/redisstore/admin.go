package redisstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// Delete implements [engine.Backend]. The append-only file has what was deleted until its
// next rewrite, which Vacuum starts.
func (b *backend) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	args := []any{0}
	for i := range conversations {
		args = append(args, conversations[i][:])
	}
	for _, part := range b.keys(scope) {
		for more := int64(1); more > 0; {
			r, err := b.run(ctx, deleteScript, part, args...)
			if err == nil {
				more, err = r.number(), r.err
			}
			if err != nil {
				return err
			}
		}
	}
	if len(conversations) > 0 {
		return nil
	}
	// What is in no index: keys that another version or a torn restore has left.
	return b.scan(ctx, b.allOf(scope)+"*", func(keys []string) error {
		p := b.client.Pipeline() // they may be in several slots
		for _, key := range keys {
			p.Unlink(ctx, key)
		}
		_, err := p.Exec(ctx)
		return err
	})
}

// eachNode makes a call for each server that takes writes, in a cluster at the same time.
func (b *backend) eachNode(ctx context.Context, call func(ctx context.Context, c *redis.Client) error) error {
	switch c := b.client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, call)
	case *redis.Client:
		return call(ctx, c)
	}
	return errors.New("unknown kind of client")
}

// scan gives all keys of a pattern to a function, in parts, and some of them repeatedly.
func (b *backend) scan(ctx context.Context, pattern string, found func(keys []string) error) error {
	var mu sync.Mutex // nodes of a cluster are scanned at the same time
	return b.eachNode(ctx, func(ctx context.Context, c *redis.Client) error {
		for cursor := uint64(0); ; {
			keys, next, err := c.Scan(ctx, cursor, pattern, 1000).Result()
			if err != nil {
				return err
			}
			mu.Lock()
			err = found(keys)
			mu.Unlock()
			cursor = next
			if err != nil || cursor == 0 {
				return err
			}
		}
	})
}

// List implements [engine.Backend].
func (b *backend) List(ctx context.Context, scopes ...string) (all []engine.Usage, err error) {
	of := map[string][]string{}
	for _, scope := range scopes {
		of[scope] = b.keys(scope)
	}
	if len(scopes) == 0 {
		of, err = b.filled(ctx)
		if err != nil {
			return nil, err
		}
	}
	for scope, parts := range of {
		some, err := b.list(ctx, scope, parts)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b engine.Usage) int {
		return cmp.Or(strings.Compare(a.Scope, b.Scope), b.Used.Compare(a.Used), bytes.Compare(a.Conversation[:], b.Conversation[:]))
	})
	return all, nil
}

// list returns what parts of a scope have by conversation, in pages, so that no script runs for long.
func (b *backend) list(ctx context.Context, scope string, parts []string) ([]engine.Usage, error) {
	of := map[message.ID]engine.Usage{}
	for _, part := range parts {
		seen := map[message.ID]bool{} // a use during this call puts a conversation on a page again
		for rank := int64(0); ; {
			r, err := b.run(ctx, listScript, part, 0, rank)
			if err != nil {
				return nil, err
			}
			n := r.number()
			for !r.done() {
				u := r.usage(scope)
				if !seen[u.Conversation] {
					of[u.Conversation] = plus(u, of[u.Conversation])
				}
				seen[u.Conversation] = !u.Conversation.IsZero() // its contents come one by one
			}
			if r.err != nil {
				return nil, r.err
			}
			rank += n
			if n == 0 {
				break
			}
		}
	}
	return slices.Collect(maps.Values(of)), nil
}

func (r *reply) usage(scope string) engine.Usage {
	u := engine.Usage{Scope: scope, Conversation: r.id(), Entries: int(r.number()), Contents: int(r.number()), Bytes: r.number()}
	ms, err := strconv.ParseFloat(r.text(), 64)
	if err != nil {
		r.err = errReply
	}
	u.Used = time.UnixMilli(int64(ms))
	return u
}

func plus(a, b engine.Usage) engine.Usage {
	a.Entries += b.Entries
	a.Contents += b.Contents
	a.Bytes += b.Bytes
	if b.Used.After(a.Used) {
		a.Used = b.Used
	}
	return a
}

// Rewrite implements [engine.Backend].
func (b *backend) Rewrite(ctx context.Context, change func(scope string, data []byte) ([]byte, error)) error {
	of, err := b.filled(ctx)
	for scope, parts := range of {
		for _, part := range parts {
			for cursor, more := uint64(0), true; more && err == nil; more = cursor > 0 {
				var members []string // with their scores
				members, cursor, err = b.client.ZScan(ctx, part+"x", cursor, "", 100).Result()
				for i := 0; i < len(members) && err == nil; i += 2 {
					err = b.rewriteMember(ctx, scope, part, members[i], change)
				}
			}
		}
	}
	return err
}

// rewriteMember rewrites a content, or the entries of a conversation.
func (b *backend) rewriteMember(ctx context.Context, scope, part, member string, change func(string, []byte) ([]byte, error)) error {
	fields, err := b.client.HGetAll(ctx, part+member[:1]+":"+member[1:]).Result()
	for field, value := range fields {
		head := 0
		switch {
		case err != nil:
			return err
		case member[0] == 'c' && field[0] == 'e' && len(value) > valueHead:
			head = valueHead
		case member[0] == 'c' || field != "d":
			continue
		}
		var data []byte
		data, err = change(scope, []byte(value[head:]))
		if err == nil && data != nil {
			_, err = b.run(ctx, changeScript, part, 0, member, field, value, value[:head]+string(data))
		}
	}
	return err
}

// Vacuum implements [engine.Backend]. It rewrites the append-only file, if the server has
// one and lets this user do so.
func (b *backend) Vacuum(ctx context.Context, ttl time.Duration) (removed int, err error) {
	of, err := b.filled(ctx)
	for _, parts := range of {
		if err != nil {
			break
		}
		var n int
		n, err = b.vacuum(ctx, parts, ttl)
		removed += n
	}
	if err == nil {
		err = b.rewrite(ctx)
	}
	return removed, err
}

func (b *backend) vacuum(ctx context.Context, parts []string, ttl time.Duration) (removed int, err error) {
	for _, part := range parts {
		rank, cursor := "0", "0"
		for rank != "" || cursor != "" {
			r, err := b.run(ctx, vacuumScript, part, ttl.Milliseconds(), rank, cursor)
			if err != nil {
				return removed, err
			}
			rank, cursor = r.text(), r.text()
			removed += int(r.number())
			if r.err != nil {
				return removed, r.err
			}
		}
	}
	return removed, nil
}

// rewrite has the servers write their append-only files again, without what was deleted, and
// waits for the end. A server that refuses is not asked: hosted ones do it themselves.
func (b *backend) rewrite(ctx context.Context) error {
	return b.eachNode(ctx, func(ctx context.Context, c *redis.Client) error {
		info, err := c.Info(ctx, "persistence").Result()
		if err != nil || !strings.Contains(info, "aof_enabled:1") || c.BgRewriteAOF(ctx).Err() != nil {
			return ctx.Err()
		}
		for {
			info, err = c.Info(ctx, "persistence").Result()
			if err != nil || !strings.Contains(info, "aof_rewrite_in_progress:1") && !strings.Contains(info, "aof_rewrite_scheduled:1") {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}
