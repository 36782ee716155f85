package redisstore

import (
	"context"
	"encoding/base64"
	"errors"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/laconic-go/laconic/store/engine"
)

// The keys of a part begin with a tag in braces, which chooses the slot.

// allOf is what the keys of all parts of a scope begin with.
func (b *backend) allOf(scope string) string {
	end := "}:"
	if b.parts > 1 {
		end = ":"
	}
	return b.prefix + ":{s:" + base64.RawURLEncoding.EncodeToString([]byte(scope)) + end
}

// keys returns what the keys of each part of a scope begin with.
func (b *backend) keys(scope string) []string {
	if b.parts == 1 {
		return []string{b.allOf(scope)}
	}
	parts := make([]string, b.parts)
	for i := range parts {
		parts[i] = b.allOf(scope) + strconv.Itoa(i) + "}:"
	}
	return parts
}

// part returns what the keys of the part begin with that has a history, by its first ID, or a content, by its handle.
func (b *backend) part(scope string, of []byte) string {
	if b.parts == 1 {
		return b.allOf(scope)
	}
	return b.allOf(scope) + strconv.Itoa(int(crc32.ChecksumIEEE(of)%b.parts)) + "}:"
}

// filled returns the parts of all scopes that have something, in their order.
func (b *backend) filled(ctx context.Context) (map[string][]string, error) {
	of := map[string][]string{}
	err := b.scan(ctx, b.prefix+":{s:*}:x", func(keys []string) error {
		for _, key := range keys {
			_, tag, _ := strings.Cut(key, ":{s:")
			tag, _, ok := strings.Cut(tag, "}:")
			tag, _, _ = strings.Cut(tag, ":")
			if scope, err := base64.RawURLEncoding.DecodeString(tag); ok && err == nil {
				of[string(scope)] = append(of[string(scope)], strings.TrimSuffix(key, "x"))
			}
		}
		return nil
	})
	for scope, parts := range of { // a scan may return a key twice
		slices.Sort(parts)
		of[scope] = slices.Compact(parts)
	}
	return of, err
}

// maxWait is how long a call waits for parts on other nodes, without which it works too.
const maxWait = 200 * time.Millisecond

// renew marks conversations as used in the other parts of a scope, where their contents are. It does so once in half a
// time to live, or in a 32nd if there are writes. A node that does not answer keeps the times that it has.
func (b *backend) renew(ctx context.Context, scope, part string, r reply, bounds engine.Bounds) {
	if len(r.renewed) == 0 || b.parts == 1 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	args := append([]any{bounds.TTL.Milliseconds()}, r.renewed...)
	var calls []partCall
	for _, other := range b.keys(scope) {
		if other != part {
			calls = append(calls, partCall{other, args})
		}
	}
	_, _ = b.runAll(ctx, renewScript, calls)
}

// within makes a write. left returns how many bytes the limit of the scope leaves to a part, which counts its own ones
// only. A node that does not answer counts as empty. If the scope is full, what has expired in other parts is removed.
func (b *backend) within(
	ctx context.Context, scope string, bounds engine.Bounds, write func(left func(part string) int64) error,
) error {
	if bounds.Limit == 0 || b.parts == 1 {
		return write(func(string) int64 { return bounds.Limit })
	}
	for again := bounds.TTL > 0; ; again = false {
		used, sum := b.used(ctx, scope)
		err := write(func(part string) int64 { return bounds.Limit - sum + used[part] })
		if _, full := errors.AsType[*engine.FullError](err); !full || !again {
			return err
		}
		if _, err := b.vacuum(ctx, b.keys(scope), bounds.TTL); err != nil {
			return err
		}
	}
}

// used returns how many bytes the parts of a scope have.
func (b *backend) used(ctx context.Context, scope string) (by map[string]int64, sum int64) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	parts, p := b.keys(scope), b.client.Pipeline()
	cmds := make([]*redis.StringCmd, len(parts))
	for i, part := range parts {
		cmds[i] = p.HGet(ctx, part+"n", "")
	}
	_, _ = p.Exec(ctx)
	by = map[string]int64{}
	for i, part := range parts {
		by[part], _ = cmds[i].Int64()
		sum += by[part]
	}
	return by, sum
}
