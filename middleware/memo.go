package middleware

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
)

// How much a chain remembers of the histories that it saw.
const (
	maxTracks     = 64
	maxTrackBytes = 64 << 20 // beyond this only the newest is kept
	maxPuts       = 64
	maxPrompts    = 256
	maxCompared   = 8  // tracks that a history is compared with as a whole
	maxSaid       = 64 // different events that a conversation has once
	maxTallies    = 64 // editors of a conversation whose attempts are counted
	maxSlides     = 8  // tracks that are searched for a history without its beginning
)

// memo holds what a chain knows of the histories of its last calls, so that a
// call on a grown history costs a comparison with the one before. Nothing is
// locked while histories are compared: tracks are immutable, and their list is
// replaced as a whole.
type memo struct {
	tracks atomic.Pointer[[]*track] // newest first

	mu      sync.Mutex
	puts    []put  // the last entries that this chain has put, newest last
	made    uint64 // how many it has put in all
	prompts map[message.ID]prompt
	asked   []message.ID // the prompts in the order in which they were asked
}

// prompt is what a model call has told about the prompt for a history.
type prompt struct {
	charged int // tokens that the provider has reported
	counted int // the same by the meter
	made    int // length of the body when it was last edited
}

// put is where an entry was put.
type put struct {
	at int // position behind the leading system messages
	id message.ID
}

// match returns the track of a body, grown from the one that has the longest
// beginning in common with it, and the length of that beginning. Probes say
// which tracks are likely; the likeliest are compared.
func (m *memo) match(body []message.Message) (t *track, common int) {
	type likely struct {
		track *track
		reach int
	}
	var candidates []likely
	if tracks := m.tracks.Load(); tracks != nil {
		for _, t := range *tracks {
			if r := t.reach(body); r > 0 {
				candidates = append(candidates, likely{t, r})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b likely) int { return b.reach - a.reach })
	best, remarks := &track{claim: new(atomic.Int64), conversation: new(conversation), guard: newGuard(), found: found{at: -1}}, true
	for _, c := range candidates[:min(len(candidates), maxCompared)] {
		if c.reach <= common {
			break
		}
		if n, r := c.track.common(body); n > common {
			best, common, remarks = c.track, n, r
		}
	}
	return best.grow(body, common, remarks), common
}

// slides returns how many times in a row a body was an earlier one without its
// first messages.
func (m *memo) slides(body []message.Message) int {
	tracks := m.tracks.Load()
	if tracks == nil || len(body) < 2 {
		return 0
	}
	for _, t := range (*tracks)[:min(len(*tracks), maxSlides)] {
		for k := 1; k+1 < len(t.body); k++ {
			if same(&t.body[k], &body[0]) && same(&t.body[k+1], &body[1]) {
				return t.slides + 1
			}
		}
	}
	return 0
}

// publish makes a track the newest, in place of the one it grew from.
func (m *memo) publish(t *track) {
	parent := t.parent
	t.parent = nil
	for {
		old := m.tracks.Load()
		kept := []*track{t}
		bytes := t.bytes
		if old != nil {
			for _, o := range *old {
				bytes += o.bytes
				if o == parent {
					bytes -= o.bytes
				} else if len(kept) < maxTracks && bytes <= maxTrackBytes {
					kept = append(kept, o)
				}
			}
		}
		if m.tracks.CompareAndSwap(old, &kept) {
			return
		}
	}
}

// note remembers that an entry was put.
func (m *memo) note(at int, id message.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.puts) == maxPuts {
		m.puts = slices.Delete(m.puts, 0, 1)
	}
	m.puts = append(m.puts, put{at: at, id: id})
	m.made++
}

// tell remembers what the prompt for the history that ends here was charged.
func (m *memo) tell(id message.ID, p prompt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.prompts == nil {
		m.prompts = map[message.ID]prompt{}
	}
	if _, known := m.prompts[id]; !known {
		if len(m.asked) == maxPrompts {
			delete(m.prompts, m.asked[0])
			m.asked = slices.Delete(m.asked, 0, 1)
		}
		m.asked = append(m.asked, id)
	}
	m.prompts[id] = p
}

// told returns what the prompt for the history that ends here was charged.
func (m *memo) told(id message.ID) (p prompt, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok = m.prompts[id]
	return p, ok
}

// since returns the smallest position at which an entry has been put since the
// memo had made that many, if the position has the same ID here, and how many
// have been made by now.
func (m *memo) since(seen uint64, ids []message.ID) (from int, made uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from = len(ids)
	fresh := m.made - seen
	if fresh > uint64(len(m.puts)) {
		return 0, m.made
	}
	for _, p := range m.puts[len(m.puts)-int(fresh):] {
		if p.at < from && ids[p.at] == p.id {
			from = p.at
		}
	}
	return from, m.made
}
