package foreign

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// How much a memo remembers of the histories that it saw.
const (
	maxTracks   = 64
	maxBytes    = 64 << 20 // beyond this only the newest is kept
	maxCompared = 8        // tracks that a history is compared with as a whole
)

// Memo imports histories, and imports no message twice that it has seen in the
// same place in a call before. It is safe for concurrent use, and locks nothing
// while histories are compared.
type Memo[F any] struct {
	op     string
	codec  Codec[F]
	tracks atomic.Pointer[[]*track] // newest first
	mu     sync.Mutex               // held by whoever replaces tracks
}

// track is one history as it was imported. It is immutable. Its messages grow
// like those of append, into memory that several tracks share: claim counts how
// much of it is taken, and only who moves it may write there.
type track struct {
	msgs  []message.Message
	bytes int
	claim *atomic.Int64
}

// NewMemo returns a memo that has seen nothing. Its errors begin with op.
func NewMemo[F any](op string, codec Codec[F]) *Memo[F] {
	return &Memo[F]{op: op, codec: codec}
}

// Import returns the history in our words. The conversation keeps the slice,
// which must not be written to while the conversation is in use. An error is of
// kind [middleware.Invalid] and says which message is meant.
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
		msg, err := m.codec.Import(history[i], t.msgs[:i:i])
		if err != nil {
			return nil, m.invalid(i, err)
		}
		t.msgs = append(t.msgs, msg)
		t.bytes += msg.Size()
	}
	if parent != nil && common < len(parent.msgs) {
		parent = nil // a fork: both go on
	}
	m.publish(t, parent)
	return &Conversation[F]{Messages: slices.Clip(t.msgs), memo: m, foreign: history}, nil
}

func (m *Memo[F]) invalid(i int, err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: m.op, Err: fmt.Errorf("message %d: %w", i, err)}
}

// match returns the track that has the longest beginning in common with a
// history, and its length; nil if there is none. Probes say which tracks are
// likely; the likeliest are compared.
func (m *Memo[F]) match(history []F) (best *track, common int) {
	tracks := m.tracks.Load()
	if tracks == nil {
		return nil, 0
	}
	type likely struct {
		track *track
		reach int
	}
	var candidates []likely
	for _, t := range *tracks {
		if r := m.reach(t, history); r > 0 {
			candidates = append(candidates, likely{t, r})
		}
	}
	slices.SortStableFunc(candidates, func(a, b likely) int { return b.reach - a.reach })
	for _, c := range candidates[:min(len(candidates), maxCompared)] {
		if c.reach <= common {
			break
		}
		if n := m.common(c.track, history); n > common {
			best, common = c.track, n
		}
	}
	return best, common
}

// reach guesses, from a few probes, how much of a history the track has.
func (m *Memo[F]) reach(t *track, history []F) int {
	n := min(len(history), len(t.msgs))
	if n > 0 && !m.codec.Same(history[0], &t.msgs[0]) {
		return 0
	}
	for back := 1; back <= n; back *= 2 {
		if m.codec.Same(history[n-back], &t.msgs[n-back]) {
			return n - back + 1
		}
	}
	return 0
}

// common returns how many first messages the track and a history share.
func (m *Memo[F]) common(t *track, history []F) int {
	n := min(len(history), len(t.msgs))
	for i := range n {
		if !m.codec.Same(history[i], &t.msgs[i]) {
			return i
		}
	}
	return n
}

// publish makes a track the newest, in place of the one that it grew from.
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
