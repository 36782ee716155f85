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
	mu       sync.Mutex  // held while tracks are read or replaced
	tracks   []*track[F] // newest first; the slice is never written to
}

// track is one imported history. It is immutable. Its messages are in an array that
// longer tracks of the same history share. claim is the number of messages in use
// there: only the call that has raised it may write the messages in between.
type track[F any] struct {
	msgs  []message.Message
	bytes int
	claim *atomic.Int64
	kept  *kept[F]
}

// NewMemo returns an empty memo. Its errors begin with op.
func NewMemo[F any](op string, importer Importer[F]) *Memo[F] {
	return &Memo[F]{op: op, importer: importer}
}

// Import returns the history as messages of ours. The conversation keeps the slice,
// which must not be written to while the conversation is in use. An error is of
// kind [middleware.Invalid] and has the position of the message.
func (m *Memo[F]) Import(history []F) (*Conversation[F], error) {
	parent, common, partial := m.match(history)
	if parent != nil && common == len(parent.msgs) && common == len(history) {
		m.publish(parent, parent)
		return m.conversation(parent, history, common, partial), nil
	}
	t := &track[F]{kept: new(kept[F]), claim: new(atomic.Int64)}
	if parent != nil && common == len(parent.msgs) && parent.claim.CompareAndSwap(int64(common), int64(len(history))) {
		*t = *parent
	} else {
		t.claim.Store(int64(len(history)))
		t.msgs = make([]message.Message, common, len(history)+len(history)/4+16)
		if parent != nil {
			copy(t.msgs, parent.msgs)
			t.kept.exports = parent.kept.first(common)
		}
		for i := range t.msgs {
			t.bytes += within.Size(&t.msgs[i])
		}
	}
	for i := common; i < len(history); i++ {
		msg, err := m.importer.Import(history[i], t.msgs[:i:i])
		if err != nil {
			return nil, Invalid(m.op, fmt.Errorf("message %d: %w", i, err))
		}
		t.msgs = append(t.msgs, msg)
		t.bytes += within.Size(&msg)
	}
	if parent != nil && common < len(parent.msgs) {
		parent = nil // a fork: both tracks are kept
	}
	m.publish(t, parent)
	return m.conversation(t, history, common, partial), nil
}

func (m *Memo[F]) conversation(t *track[F], history []F, known int, partial []bool) *Conversation[F] {
	return &Conversation[F]{Messages: slices.Clip(t.msgs), op: m.op, foreign: history, known: known, partial: partial, kept: t.kept}
}

// match returns the track with the longest beginning in common with a history, the
// length of that, and the messages in it that cannot be exported as they are. The track
// is nil if there is none.
func (m *Memo[F]) match(history []F) (best *track[F], common int, partial []bool) {
	m.mu.Lock()
	tracks := m.tracks
	m.mu.Unlock()
	for _, t := range tracks {
		// A longer beginning would have the next message as well.
		if common >= min(len(t.msgs), len(history)) {
			continue
		}
		if same, _ := m.importer.Same(history[common], &t.msgs[common]); !same {
			continue
		}
		if n, marks := m.common(t, history); n > common {
			best = t
			common = n
			partial = marks
		}
	}
	return best, common, partial
}

// common returns how many first messages the track and a history share, and those of
// them that cannot be exported as they are.
func (m *Memo[F]) common(t *track[F], history []F) (n int, partial []bool) {
	for n < min(len(history), len(t.msgs)) {
		same, whole := m.importer.Same(history[n], &t.msgs[n])
		if !same {
			break
		}
		if !whole {
			if partial == nil {
				partial = make([]bool, len(history))
			}
			partial[n] = true
		}
		n++
	}
	return n, partial
}

// publish makes a track the newest one and removes the one that it extends.
func (m *Memo[F]) publish(t, parent *track[F]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, bytes := append(make([]*track[F], 0, min(len(m.tracks)+1, maxTracks)), t), t.bytes
	for _, o := range m.tracks {
		if o == parent {
			continue
		}
		bytes += o.bytes
		if len(kept) == maxTracks || bytes > maxBytes {
			break
		}
		kept = append(kept, o)
	}
	m.tracks = kept
}

// target is the message of another list that a message was made from.
type target struct {
	at     int // -1: the message is new
	edited bool
}

// match finds the messages of one list in another, in order: an equal one, or else the next one with the same calls or
// results. Middlewares that are not editors may have inserted or removed messages, and the results of a round may be
// in another order. It returns nil if both are the same list.
func match(list, in []message.Message) []target {
	if len(list) == len(in) && (len(list) == 0 || &list[0] == &in[0]) {
		return nil
	}
	s := search{in: in, taken: make([]bool, len(in))}
	targets := make([]target, len(list))
	for i := range list {
		m := &list[i]
		same := s.find(func(other *message.Message) bool { return m.Equal(*other) })
		at := same
		if ids := idsOf(m); same < 0 && ids != "" {
			at = s.find(func(other *message.Message) bool { return other.Role == m.Role && idsOf(other) == ids })
		}
		targets[i] = target{at: at, edited: same < 0 && at >= 0}
		if at >= 0 {
			s.taken[at], s.next = true, max(s.next, at+1)
		}
	}
	return targets
}

// search is a search in a list, of which some messages are taken.
type search struct {
	in    []message.Message
	taken []bool
	next  int // after the last message that is taken
}

// find returns the position of the first message for which same is true, or -1: from the next one on, or before it in
// the same round.
func (s *search) find(same func(*message.Message) bool) int {
	for i := s.next; i < len(s.in); i++ {
		if same(&s.in[i]) {
			return i
		}
		if i == s.next {
			if at := s.inRound(same); at >= 0 {
				return at
			}
		}
	}
	if s.next == len(s.in) {
		return s.inRound(same)
	}
	return -1
}

// inRound returns the first result before the next message that is not taken and for which same is true, or -1.
func (s *search) inRound(same func(*message.Message) bool) int {
	first := s.next
	for first > 0 && s.in[first-1].Role == message.RoleTool {
		first--
	}
	for i := first; i < s.next; i++ {
		if !s.taken[i] && same(&s.in[i]) {
			return i
		}
	}
	return -1
}

// idsOf returns the IDs of the calls and results of a message.
func idsOf(m *message.Message) string {
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
	return ids.String()
}
