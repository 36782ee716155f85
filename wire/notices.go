package wire

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// What a transport notices about conversations, and tells once: what makes each request a new one.

var hashSeed = maphash.MakeSeed()

// clocks notices conversations whose first message changes from request to request in its digits alone: a date, a time or a
// counter. It is safe for concurrent use.
type clocks struct {
	mu    sync.Mutex
	known map[uint64]clock // by the first two messages, without the digits of the first one
}

type clock struct {
	first uint64 // hash of the first message
	told  bool
}

const (
	maxClocks  = 1000
	clockNotes = "the first message of the conversation has changed, in digits alone: a date, a time or a counter. So each request is " +
		"a new conversation, here and in the provider's prompt cache: move it into the newest message"
)

// changes reports whether the first message is another one than in an earlier request of the same conversation. It does so once.
func (c *clocks) changes(scope string, msgs []message.Message) bool {
	lead := message.Leading(msgs)
	if len(msgs) < lead+2 {
		return false
	}
	in := message.Internals(inside.Key{})
	first := in.AppendContent(nil, &msgs[lead])
	now := clock{first: maphash.Bytes(hashSeed, first)}
	key := []byte(scope + "\x00")
	for _, b := range first {
		if b < '0' || b > '9' {
			key = append(key, b)
		}
	}
	id := maphash.Bytes(hashSeed, in.AppendContent(append(key, 0), &msgs[lead+1]))
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.known[id]
	if ok && (was.told || was.first == now.first) {
		return false
	}
	if c.known == nil || len(c.known) >= maxClocks {
		c.known = map[uint64]clock{}
	}
	now.told = ok
	c.known[id] = now
	return ok
}

const madeAnew = "wire: this transport is new, and another one of this process has seen the beginning of the conversation: " +
	"make one for all requests, or set Env.Journal, since each remembers only what it has edited itself"

// begun has the beginnings of the first conversation of each transport.
var begun struct {
	sync.Mutex

	known map[uint64]bool
}

// isAnew reports, once for a conversation, that the first request of a transport goes on with a conversation that another one has begun.
func isAnew(host string, msgs []message.Message) bool {
	const most = 1000
	first := slices.IndexFunc(msgs, func(m message.Message) bool { return m.Role == message.RoleUser })
	if first < 0 {
		return false
	}
	key := maphash.String(hashSeed, host+" "+msgs[first].Text())
	middle := slices.ContainsFunc(msgs, func(m message.Message) bool { return m.Role == message.RoleAssistant })
	begun.Lock()
	defer begun.Unlock()
	if middle {
		told := begun.known[key]
		delete(begun.known, key)
		return told
	}
	if begun.known == nil || len(begun.known) >= most {
		begun.known = map[uint64]bool{}
	}
	begun.known[key] = true
	return false
}
