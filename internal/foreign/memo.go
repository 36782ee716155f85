package foreign

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
)

// Limits of what a memo remembers.
const (
	maxTracks = 64
	maxBytes  = 64 << 20 // of all tracks; a larger one is kept alone
)

// Memo imports histories. It does not convert a message again that had the same place
// in an earlier call. It is safe for concurrent use, and holds no lock while it
// compares histories.
type Memo[F any] struct {
	op       string
	importer Importer[F]
	tracks   atomic.Pointer[[]*track] // newest first
	mu       sync.Mutex               // held while tracks are replaced
}

// track is one imported history. It is immutable. Its messages are in an array that
// longer tracks of the same history share. claim is the number of messages in use
// there: only the call that has raised it may write the messages in between.
type track struct {
	msgs  []message.Message
	bytes int
	claim *atomic.Int64
}

// NewMemo returns an empty memo. Its errors begin with op.
func NewMemo[F any](op string, importer Importer[F]) *Memo[F] {
	return &Memo[F]{op: op, importer: importer}
}

// Import returns the history as messages of ours. The conversation keeps the slice,
// which must not be written to while the conversation is in use. An error is of
// kind [middleware.Invalid] and has the position of the message.
func (m *Memo[F]) Import(history []F) (*Conversation[F], error) {
	parent, common := m.match(history)
	t := &track{claim: new(atomic.Int64)}
	if parent != nil && common == len(parent.msgs) && parent.claim.CompareAndSwap(int64(common), int64(len(history))) {
		*t = *parent
	} else {
		t.claim.Store(int64(len(history)))
		t.msgs = make([]message.Message, common, len(history)+len(history)/4+16)
		if parent != nil {
			copy(t.msgs, parent.msgs)
		}
		for i := range t.msgs {
			t.bytes += t.msgs[i].Size()
		}
	}
	for i := common; i < len(history); i++ {
		msg, err := m.importer.Import(history[i], t.msgs[:i:i])
		if err != nil {
			return nil, Invalid(m.op, fmt.Errorf("message %d: %w", i, err))
		}
		t.msgs = append(t.msgs, msg)
		t.bytes += msg.Size()
	}
	if parent != nil && common < len(parent.msgs) {
		parent = nil // a fork: both tracks are kept
	}
	m.publish(t, parent)
	return &Conversation[F]{Messages: slices.Clip(t.msgs), op: m.op, foreign: history}, nil
}

// match returns the track with the longest beginning in common with a history, and
// the length of that; nil if there is none.
func (m *Memo[F]) match(history []F) (best *track, common int) {
	tracks := m.tracks.Load()
	if tracks == nil {
		return nil, 0
	}
	for _, t := range *tracks {
		// A longer beginning would have the next message as well.
		if common < min(len(t.msgs), len(history)) && m.importer.Same(history[common], &t.msgs[common]) {
			if n := m.common(t, history); n > common {
				best, common = t, n
			}
		}
	}
	return best, common
}

// common returns how many first messages the track and a history share.
func (m *Memo[F]) common(t *track, history []F) int {
	n := min(len(history), len(t.msgs))
	for i := range n {
		if !m.importer.Same(history[i], &t.msgs[i]) {
			return i
		}
	}
	return n
}

// publish makes a track the newest one and removes the one that it extends.
func (m *Memo[F]) publish(t, parent *track) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, bytes := []*track{t}, t.bytes
	if old := m.tracks.Load(); old != nil {
		for _, o := range *old {
			if o == parent {
				continue
			}
			if bytes += o.bytes; len(kept) == maxTracks || bytes > maxBytes {
				break
			}
			kept = append(kept, o)
		}
	}
	m.tracks.Store(&kept)
}

// matching maps the messages of a list to those of another list that they were made
// from.
type matching struct {
	same bool // both are the same list
	to   []target
}

type target struct {
	at     int // -1: the message is new
	edited bool
}

func (m matching) of(i int) (at int, edited bool) {
	if m.same {
		return i, false
	}
	return m.to[i].at, m.to[i].edited
}

// match finds the messages of one list in another, in order: an equal one, or else
// one with the same calls or results. Middlewares that are not editors may have
// inserted or removed messages.
func match(list, in []message.Message) matching {
	if len(list) == len(in) && (len(list) == 0 || &list[0] == &in[0]) {
		return matching{same: true}
	}
	m := matching{to: make([]target, len(list))}
	var where index
	next := 0
	for i := range list {
		if next < len(in) && list[i].Equal(in[next]) {
			m.to[i] = target{at: next}
			next++
			continue
		}
		if where == nil {
			where = newIndex(in, next)
		}
		m.to[i] = where.find(&list[i], next)
		next = max(next, m.to[i].at+1)
	}
	return m
}

// index has the positions of messages by their content, and by the IDs of their calls
// and results.
type index map[string][]int

func newIndex(msgs []message.Message, from int) index {
	x := index{}
	for i := from; i < len(msgs); i++ {
		for _, key := range keys(&msgs[i]) {
			x[key] = append(x[key], i)
		}
	}
	return x
}

func (x index) find(m *message.Message, from int) target {
	for k, key := range keys(m) {
		for _, at := range x[key] {
			if at >= from {
				return target{at: at, edited: k > 0}
			}
		}
	}
	return target{at: -1}
}

// keys returns the keys of a message in an index, the best first.
func keys(m *message.Message) []string {
	all := []string{"=" + string(m.AppendContent(nil))}
	var ids strings.Builder
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolCall:
			ids.WriteString("\x00c" + p.ID)
		case message.ToolResult:
			ids.WriteString("\x00r" + p.CallID)
		case message.Text, message.Thinking, message.Media, message.Opaque:
		}
	}
	if ids.Len() > 0 {
		all = append(all, string(m.Role)+ids.String())
	}
	return all
}
