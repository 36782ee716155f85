package foreign

import (
	"slices"
	"sync"

	"github.com/laconic-go/laconic/middleware"
)

// Stream passes the chunks of a model's stream on to a caller. The chain gets the
// deltas of each chunk and can change, delay, drop or add deltas. A chunk whose deltas
// leave the chain unchanged and in order is passed on as the model sent it, when the
// last of its deltas arrives. From the first other delta on, the caller gets deltas.
//
// It is safe for concurrent use. Its functions are called one at a time.
type Stream[C any] struct {
	// Chunk passes on a chunk of the model.
	Chunk func(chunk C) error

	// Delta passes on a delta that differs from those of the chunks.
	Delta func(middleware.Delta) error

	mu      sync.Mutex
	begun   int          // streams of the model
	queue   []waiting[C] // chunks of the newest stream that were not passed on
	arrived bool         // a delta of the queue left the chain
	changed bool         // another delta did
	lost    bool         // a chunk will not be passed on
}

// waiting is a chunk of which the first next deltas have left the chain.
type waiting[C any] struct {
	chunk  C
	deltas []middleware.Delta
	next   int
}

// Track adds the chunks of one stream of the model. A nil Track adds nothing.
type Track[C any] struct {
	stream *Stream[C]
	number int
}

// Begin is called when the model opens a stream. If nothing of an earlier stream has
// arrived, as before a retry, its chunks are dropped.
func (s *Stream[C]) Begin() *Track[C] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	if !s.arrived {
		s.queue = nil
	}
	return &Track[C]{stream: s, number: s.begun}
}

// Add adds a chunk before its deltas enter the chain. A chunk without deltas waits for
// those before it.
func (t *Track[C]) Add(chunk C, deltas []middleware.Delta) error {
	if t == nil {
		return nil
	}
	s := t.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed || t.number != s.begun {
		s.lost = true
		return nil
	}
	w := waiting[C]{chunk: chunk, deltas: slices.Clone(deltas)}
	for i := range w.deltas {
		if c := w.deltas[i].Call; c != nil { // a middleware may change it
			call := *c
			w.deltas[i].Call = &call
		}
	}
	s.queue = append(s.queue, w)
	if !s.arrived {
		return nil
	}
	return s.flush()
}

// Emit takes a delta that leaves the chain.
func (s *Stream[C]) Emit(d middleware.Delta) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed {
		if i := s.head(); i < len(s.queue) && sameDelta(s.queue[i].deltas[s.queue[i].next], d) {
			s.queue[i].next++
			s.arrived = true
			return s.flush()
		}
		if err := s.change(); err != nil {
			return err
		}
	}
	return s.Delta(d)
}

// Silent reports whether nothing was passed on, and whether then all deltas of the
// newest stream have arrived because it has none.
func (s *Stream[C]) Silent() (silent, complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.arrived && !s.changed, s.begun > 0 && s.head() == len(s.queue)
}

// Finish passes on the rest when the chain has returned: chunks without deltas at the
// end, or the deltas that arrived of an incomplete chunk. It reports whether any chunk
// was not passed on.
func (s *Stream[C]) Finish() (lost bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed {
		return s.lost, nil
	}
	if err := s.flush(); err != nil || len(s.queue) == 0 {
		return s.lost, err
	}
	err = s.change()
	return s.lost, err
}

// head returns the index of the first chunk with deltas that have not arrived.
func (s *Stream[C]) head() int {
	i := slices.IndexFunc(s.queue, func(w waiting[C]) bool { return w.next < len(w.deltas) })
	if i < 0 {
		return len(s.queue)
	}
	return i
}

// flush passes on the chunks whose deltas have all arrived.
func (s *Stream[C]) flush() error {
	n := s.head()
	for _, w := range s.queue[:n] {
		if err := s.Chunk(w.chunk); err != nil {
			return err
		}
	}
	s.queue = slices.Delete(s.queue, 0, n)
	return nil
}

// change drops the chunks, and passes on the deltas that have arrived of the first one.
func (s *Stream[C]) change() error {
	s.changed = true
	s.lost = s.lost || !s.arrived || len(s.queue) > 0
	if len(s.queue) == 0 {
		return nil
	}
	first := s.queue[0]
	s.queue = nil
	for _, d := range first.deltas[:first.next] {
		if err := s.Delta(d); err != nil {
			return err
		}
	}
	return nil
}

func sameDelta(a, b middleware.Delta) bool {
	if a.Text != b.Text || a.Thinking != b.Thinking || a.Response != b.Response || (a.Call == nil) != (b.Call == nil) {
		return false
	}
	return a.Call == nil || *a.Call == *b.Call
}
