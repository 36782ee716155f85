package redisstore

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/laconic-go/laconic/message"
)

//go:embed *.lua
var files embed.FS

var (
	findScript     = script("find")
	putScript      = script("put")
	getScript      = script("get")
	contentsScript = script("contents")
	renewScript    = script("renew")
	deleteScript   = script("delete")
	listScript     = script("list")
	dropScript     = script("drop")
	changeScript   = script("change")
	vacuumScript   = script("vacuum")
)

// script returns a script with what all of them share. It returns its result, and the conversations that it has renewed.
func script(name string) *redis.Script {
	text := func(name string) string {
		data, _ := files.ReadFile(name + ".lua") // it is embedded
		return string(data)
	}
	return redis.NewScript(text("scope") + "local function main()\n" + text(name) + "\nend\nreturn {main(), renewed}\n")
}

// run runs a script for a part of a scope. The server has it by its hash after the first time.
func (b *backend) run(ctx context.Context, s *redis.Script, part string, args ...any) (reply, error) {
	return newReply(s.Run(ctx, b.client, []string{part}, args...))
}

// partCall is a call of a script for a part.
type partCall struct {
	part string
	args []any
}

// runAll runs a script for several parts, with one round trip to each node.
func (b *backend) runAll(ctx context.Context, s *redis.Script, calls []partCall) ([]reply, error) {
	p := b.client.Pipeline()
	cmds, replies, errs := make([]*redis.Cmd, len(calls)), make([]reply, len(calls)), make([]error, len(calls))
	for i, c := range calls {
		cmds[i] = s.EvalSha(ctx, p, []string{c.part}, c.args...)
	}
	_, _ = p.Exec(ctx) // each command has its error
	for i, c := range calls {
		if redis.HasErrorPrefix(cmds[i].Err(), "NOSCRIPT") {
			cmds[i] = s.Eval(ctx, b.client, []string{c.part}, c.args...)
		}
		replies[i], errs[i] = newReply(cmds[i])
	}
	return replies, errors.Join(errs...)
}

func newReply(cmd *redis.Cmd) (reply, error) {
	got, err := cmd.Slice()
	if err != nil {
		return reply{}, err
	}
	if len(got) != 2 {
		return reply{}, errReply
	}
	rest, ok := got[0].([]any)
	renewed, also := got[1].([]any)
	if !ok || !also {
		return reply{}, errReply
	}
	return reply{rest: rest, renewed: renewed}, nil
}

// reply is what a script has returned. The first value of another type than wanted is an
// error, and all values are zero from then on.
type reply struct {
	rest    []any
	renewed []any // conversations, by name
	err     error
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
