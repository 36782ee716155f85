package redisstore

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/laconic-go/laconic/message"
)

//go:embed scope.lua
var scopeLua string

//go:embed find.lua
var findLua string

//go:embed put.lua
var putLua string

//go:embed get.lua
var getLua string

//go:embed contents.lua
var contentsLua string

//go:embed delete.lua
var deleteLua string

//go:embed list.lua
var listLua string

//go:embed drop.lua
var dropLua string

//go:embed change.lua
var changeLua string

//go:embed vacuum.lua
var vacuumLua string

var (
	findScript     = redis.NewScript(scopeLua + findLua)
	putScript      = redis.NewScript(scopeLua + putLua)
	getScript      = redis.NewScript(scopeLua + getLua)
	contentsScript = redis.NewScript(scopeLua + contentsLua)
	deleteScript   = redis.NewScript(scopeLua + deleteLua)
	listScript     = redis.NewScript(scopeLua + listLua)
	dropScript     = redis.NewScript(scopeLua + dropLua)
	changeScript   = redis.NewScript(scopeLua + changeLua)
	vacuumScript   = redis.NewScript(scopeLua + vacuumLua)
)

// run runs a script for a scope. The server has it by its hash after the first time.
func (b *backend) run(ctx context.Context, s *redis.Script, scope string, args ...any) (reply, error) {
	got, err := s.Run(ctx, b.client, []string{b.keys(scope)}, args...).Slice()
	if err != nil {
		return reply{}, err
	}
	return reply{rest: got}, nil
}

// reply is what a script has returned. The first value of another type than wanted is an
// error, and all values are zero from then on.
type reply struct {
	rest []any
	err  error
}

var errReply = errors.New("the reply has another form than expected: another program may use the keys")

func (r *reply) done() bool { return r.err != nil || len(r.rest) == 0 }

func (r *reply) next() (v any) {
	if r.done() {
		r.err = errReply
		return nil
	}
	v, r.rest = r.rest[0], r.rest[1:]
	return v
}

func (r *reply) number() int64 {
	n, ok := r.next().(int64)
	if !ok {
		r.err = errReply
	}
	return n
}

func (r *reply) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.err = errReply
	}
	return s
}

// bytes reads a text that fills to.
func (r *reply) bytes(to []byte) {
	if s := r.text(); r.err == nil && len(s) != len(to) {
		r.err = fmt.Errorf("%w: %d bytes instead of %d", errReply, len(s), len(to))
	} else {
		copy(to, s)
	}
}

func (r *reply) id() (id message.ID) {
	r.bytes(id[:])
	return id
}
