package history

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/tokens"
)

// How much a cache remembers.
const (
	maxTracks   = 64
	maxBytes    = 64 << 20 // of all tracks that are kept, except for the newest; one that is too large is dropped alone
	maxCompared = 8        // tracks that a history is compared with as a whole
	maxSlides   = 8        // tracks that are searched for a history without its beginning
)

// Cache holds the tracks of the last calls. Nothing is locked while histories are
// compared: tracks are immutable, and their list is replaced as a whole.
type Cache[S any] struct {
	tracks atomic.Pointer[[]*Track[S]] // newest first
}

// Given is a history as a caller passes it.
type Given struct {
	Lead, Body []message.Message // the leading system messages; the others
	Steady     bool              // the messages never change in their memory
	AsIs       bool              // results stay in the order in which they are passed, as in the body of a client
}

// Follow returns the track of a history, not published yet, and how it differs from the
// track that it continues. start gives the state of a history that continues none. The
// error names a message with a part that is nil or of an unknown type.
func (c *Cache[S]) Follow(given Given, meter tokens.Meter, start func() S) (*Track[S], Change, error) {
	lead, body := given.Lead, given.Body
	var (
		best   *Track[S]
		equal  int
		notes  = true
		tracks = c.All()
	)
	for _, x := range similar(tracks, given) {
		if x.reach <= equal {
			break
		}
		n, same := x.reach, true
		if x.known != nil {
			n, same = common(x.known, body)
		}
		if n > equal {
			best = x.track
			equal = n
			notes = same
		}
	}
	if err := checkParts(lead, body, equal); err != nil {
		return nil, Change{}, err
	}
	sorted := given.AsIs
	switch {
	case best != nil && sorted:
	case best != nil:
		best, equal, notes, sorted = best.orLonger(tracks, body, equal, notes)
	default:
		best = &Track[S]{State: start(), claim: new(atomic.Int64), Slides: slides(tracks, body)}
		best.Meter, best.Bounded = meter, edit.Bounded{FirstUser: -1, LastUser: -1, Plan: -1}
	}
	t, ch := best.grow(given, equal, notes, sorted)
	ch.Moved = t.passed != nil
	ch.NewLead = !Same(lead, t.Lead)
	if ch.NewLead {
		t.setLead(lead)
	}
	return t, ch, nil
}

// candidate is a track that may have the beginning of a history.
type candidate[S any] struct {
	track *Track[S]
	known []*message.Message // its body, as it is or as it was passed; nil: the same memory as the new one
	reach int
	age   int // the newest track has 0
}

// similar returns the tracks that seem to have the most in common with a history.
func similar[S any](tracks []*Track[S], given Given) []candidate[S] {
	var found []candidate[S]
	body := given.Body
	for age, t := range tracks {
		if given.Steady && t.isIn(given) {
			found = append(found, candidate[S]{t, nil, min(len(body), len(t.Body)), age})
			if len(t.Body) >= len(body) && len(found) == 1 {
				return found // no other has more
			}
			continue
		}
		if r := reach(t.Body, body); r > 0 {
			found = append(found, candidate[S]{t, t.Body, r, age})
		}
		if t.passed != nil {
			found = append(found, candidate[S]{t, t.passed, reach(t.passed, body), age})
		}
	}
	if len(found) > maxCompared {
		// Many branches of a history seem equal to it. Those of its length are compared, so
		// that a history which is sent again is found.
		gap := func(x candidate[S]) int { return max(len(x.track.Body)-len(body), len(body)-len(x.track.Body)) }
		slices.SortStableFunc(found, func(a, b candidate[S]) int { return cmp.Or(b.reach-a.reach, gap(a)-gap(b)) })
		found = found[:maxCompared]
	}
	slices.SortStableFunc(found, func(a, b candidate[S]) int { return cmp.Or(b.reach-a.reach, a.age-b.age) })
	return found
}

// slides returns in how many calls in a row the caller has dropped its first messages.
func slides[S any](tracks []*Track[S], body []message.Message) int {
	if len(body) < 2 {
		return 0
	}
	for _, t := range tracks[:min(len(tracks), maxSlides)] {
		known := t.asPassed()
		for k := 1; k+1 < len(known); k++ {
			if same(known[k], &body[0]) && same(known[k+1], &body[1]) {
				return t.Slides + 1
			}
		}
	}
	return 0
}

// Publish makes a track the newest, in place of the one that it continues.
func (c *Cache[S]) Publish(t *Track[S]) {
	parent := t.parent
	t.parent = nil
	for {
		old := c.tracks.Load()
		var tracks []*Track[S]
		if old != nil {
			tracks = *old
		}
		kept := append(make([]*Track[S], 0, min(len(tracks)+1, maxTracks)), t)
		bytes := 0
		for _, o := range tracks {
			if o != parent && len(kept) < maxTracks && bytes+o.bytes <= maxBytes {
				kept = append(kept, o)
				bytes += o.bytes
			}
		}
		if c.tracks.CompareAndSwap(old, &kept) {
			return
		}
	}
}

// All returns the published tracks, the newest first.
func (c *Cache[S]) All() []*Track[S] {
	if tracks := c.tracks.Load(); tracks != nil {
		return *tracks
	}
	return nil
}

// With returns a copy of the track with another state, to be published in its place.
func (t *Track[S]) With(s S) *Track[S] {
	w := *t
	w.State, w.parent = s, t
	return &w
}

// Fork makes a cache know the histories of this one, with states made by of. The
// tracks of the fork never write into memory of this cache.
func (c *Cache[S]) Fork(to *Cache[S], of func(S) S) {
	var forked []*Track[S]
	for _, t := range c.All() {
		g := *t
		g.State = of(t.State)
		g.claim = new(atomic.Int64)
		g.claim.Store(-1) // never met
		forked = append(forked, &g)
	}
	to.tracks.Store(&forked)
}
