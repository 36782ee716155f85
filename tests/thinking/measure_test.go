package thinking

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
)

// result is what was counted in conversations.
type result struct {
	conversations int
	requests      int // that were answered, or refused
	refused       int // by the provider, of which the chain may have saved the conversation
	stuck         int // conversations that ended with a refused request
	lost          int // answers that never came for that reason
	failed        int // requests that the chain did not send, since they cannot fit
	thought       int // tokens of thinking in the histories, over all answered requests
	read          int // of these, in what was sent
	written       int // tokens that were written to the cache
	cost          int // in fifths of the price of a token that is read
	plain         int // cost without editing
	why           []string
}

func (r *result) add(o *result) {
	r.conversations += o.conversations
	r.requests += o.requests
	r.refused += o.refused
	r.stuck += o.stuck
	r.lost += o.lost
	r.failed += o.failed
	r.thought += o.thought
	r.read += o.read
	r.written += o.written
	r.cost += o.cost
	r.plain += o.plain
	r.why = append(r.why, o.why...)
}

// share returns the part of the thinking that the model still read.
func (r *result) share() float64 { return float64(r.read) / float64(max(r.thought, 1)) }

// price returns the cost relative to no editing.
func (r *result) price() float64 { return float64(r.cost) / float64(max(r.plain, 1)) }

// meter follows what is sent of one conversation, as the provider's cache does.
type meter struct {
	last []message.Message
	tool string
}

// sent returns the tokens of a request that are written to the cache, and those that are read from it.
func (m *meter) sent(msgs []message.Message, tools []message.ToolDef) (written, read int) {
	declared := fmt.Sprint(tools)
	same := m.tool == declared
	for i, msg := range msgs {
		same = same && i < len(m.last) && msg.Equal(m.last[i])
		if n := size(msg); same {
			read += n
		} else {
			written += n
		}
	}
	if m.tool == declared {
		read += len(declared) / 4
	} else {
		written += len(declared) / 4
	}
	m.last, m.tool = msgs, declared
	return written, read
}

// The prices of Claude Opus 5.5 in fifths of a dollar: five to write a million tokens to the cache, a fifth to read them.
const writes, reads = 25, 1

// size counts a message by a rule of its own: four, and a token for four bytes of thinking and of all else.
func size(m message.Message) int {
	n := 0
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			n += len(p.Text)
		case message.Thinking:
			n += len(p.Text) + len(p.Signature)
		case message.ToolCall:
			n += len(p.ID) + len(p.Name) + len(p.Arguments)
		case message.ToolResult:
			n += len(p.CallID) + len(p.Text)
		case message.Opaque:
			n += len(p.Data)
		case message.Media:
			n += len(p.Data)
		}
	}
	return 4 + n/4
}

// thoughts counts the tokens of thinking.
func thoughts(msgs []message.Message) (n int) {
	for _, m := range msgs {
		for _, p := range m.Parts {
			if t, ok := p.(message.Thinking); ok {
				n += (len(t.Text) + len(t.Signature)) / 4
			}
		}
	}
	return n
}

// table has a row for each chain of a variant. It is safe for concurrent use.
type table struct {
	mu   sync.Mutex
	rows map[int]string
}

func (t *table) add(at int, name string, r *result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		t.rows = map[int]string{}
	}
	t.rows[at] = "\n" + fmt.Sprintf("%-28s %8d %7d %5d %6d %6d %6.1f %5.2f %6.2f", name,
		r.requests, r.refused, r.stuck, r.lost, r.failed, 100*r.share(), r.price(), float64(r.written)/1e6)
}

func (t *table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	head := fmt.Sprintf("%-28s %8s %7s %5s %6s %6s %6s %5s %6s", "chain", "requests", "refused", "stuck", "lost", "failed", "read %", "cost", "M writ")
	all := "\n" + head
	for _, at := range slices.Sorted(maps.Keys(t.rows)) {
		all += t.rows[at]
	}
	return all
}
