package eino

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/middleware"
)

// errClosed is what the chain is told once the reader of a stream has closed
// it.
var errClosed = errors.New("eino: the reader has closed the stream")

// relay stands before the chain and passes its answer on to the reader of a
// stream. What comes through the chain are deltas; what the reader gets are
// the chunks that the model inside sent, as long as the deltas of a chunk come
// through as they were. So the chunks that wait are kept beside the chain, and
// each is sent when the last of its deltas has arrived. As soon as a delta
// comes that was not expected, because a middleware changes the pieces or adds
// some, the reader gets chunks that are made from deltas.
type relay struct {
	call  *call
	out   *schema.StreamWriter[*schema.Message]
	begun chan struct{} // closed when the reader can be handed out

	mu     sync.Mutex
	isOpen bool // begun is closed
	closed bool // by the reader
	tracks []*track
	main   *track // whose deltas come through; nil: nothing came yet
	own    bool   // chunks are made from deltas
	lost   bool   // the model inside sent chunks that the reader does not get

	err      error // of a chain that ended before it had begun
	panicked any
}

// track is one stream of the model inside. There are several if a middleware
// asks again.
type track struct {
	relay *relay
	queue []waiting
}

// waiting is a chunk of which not all deltas have come through the chain.
type waiting struct {
	chunk *schema.Message
	says  []middleware.Delta
	next  int
}

func (w *waiting) done() bool { return w.next == len(w.says) }

// run runs the chain.
func (r *relay) run(ctx context.Context, chain middleware.Model, req *middleware.Request) {
	defer r.out.Close()
	defer func() {
		if p := recover(); p != nil {
			r.fail(fmt.Errorf("eino: panic: %v\n%s", p, debug.Stack()))
			r.panicked = p
		}
	}()
	resp, err := chain(ctx, req, r.emit)
	if err == nil {
		err = r.finish(resp)
	}
	if err != nil {
		r.fail(r.call.raw(err))
	}
}

func (r *relay) fail(err error) {
	if !r.isOpen {
		r.err = err
		return
	}
	r.out.Send(nil, err)
}

// opened is called when the model inside has opened a stream. From then on
// errors come out of the reader. It does nothing on nil, as add.
func (t *track) opened() {
	if t == nil {
		return
	}
	r := t.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tracks = append(r.tracks, t)
	r.open()
}

func (r *relay) open() {
	if !r.isOpen {
		r.isOpen = true
		close(r.begun)
	}
}

// add is called with each chunk, before its deltas go into the chain. Chunks
// that say nothing wait with the others, so that they keep their place and
// nothing is sent of a stream that a middleware gives up.
func (t *track) add(chunk *schema.Message, says []middleware.Delta) error {
	if t == nil {
		return nil
	}
	r := t.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own {
		r.lost = true
		return nil
	}
	w := waiting{chunk: chunk, says: slices.Clone(says)}
	for i := range w.says {
		if c := w.says[i].Call; c != nil {
			own := *c
			w.says[i].Call = &own
		}
	}
	t.queue = append(t.queue, w)
	if r.main == t {
		return r.flush(t)
	}
	return nil
}

// emit takes what comes through the chain.
func (r *relay) emit(d middleware.Delta) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.own && r.main == nil {
		for _, t := range slices.Backward(r.tracks) {
			if t.expects(d) {
				r.main = t
				break
			}
		}
	}
	if !r.own && r.main.expects(d) {
		r.main.queue[r.main.head()].next++
		return r.flush(r.main)
	}
	if err := r.part(); err != nil {
		return err
	}
	return r.send(chunkOf(d))
}

// head returns the index of the first chunk of which deltas are awaited, or
// the length of the queue.
func (t *track) head() int {
	i := slices.IndexFunc(t.queue, func(w waiting) bool { return !w.done() })
	if i < 0 {
		return len(t.queue)
	}
	return i
}

func (t *track) expects(d middleware.Delta) bool {
	if t == nil {
		return false
	}
	i := t.head()
	return i < len(t.queue) && sameDelta(t.queue[i].says[t.queue[i].next], d)
}

// flush sends the chunks whose deltas have all come through.
func (r *relay) flush(t *track) error {
	n := t.head()
	for _, w := range t.queue[:n] {
		if err := r.send(w.chunk); err != nil {
			return err
		}
	}
	t.queue = slices.Delete(t.queue, 0, n)
	return nil
}

// part gives up the chunks of the model inside. What has come through of the
// one that waits is sent by itself.
func (r *relay) part() error {
	if r.own {
		return nil
	}
	r.own = true
	if r.main == nil || len(r.main.queue) == 0 {
		r.lost = r.main == nil
		return nil
	}
	r.lost = true
	w := r.main.queue[0]
	for _, d := range w.says[:w.next] {
		if err := r.send(chunkOf(d)); err != nil {
			return err
		}
	}
	return nil
}

func (r *relay) send(chunk *schema.Message) error {
	r.open()
	if !r.closed {
		r.closed = r.out.Send(chunk, nil)
	}
	if r.closed {
		return errClosed
	}
	return nil
}

// finish sends what is left when the chain has answered: the rest of the
// chunks, or the whole answer if no piece of it has come.
func (r *relay) finish(resp *middleware.Response) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.main
	if t == nil && !r.own {
		if len(r.tracks) == 0 || !r.call.unchanged(resp) || r.tracks[len(r.tracks)-1].head() < len(r.tracks[len(r.tracks)-1].queue) {
			whole, err := r.call.answer(resp)
			if err != nil {
				return err
			}
			return r.send(whole)
		}
		t = r.tracks[len(r.tracks)-1] // a stream that said nothing
	}
	if !r.own {
		if err := r.flush(t); err != nil || len(t.queue) == 0 {
			return err
		}
	}
	if err := r.part(); err != nil {
		return err
	}
	if meta := r.call.meta(resp); meta != nil && r.lost {
		return r.send(&schema.Message{Role: schema.Assistant, ResponseMeta: meta})
	}
	return nil
}

func sameDelta(a, b middleware.Delta) bool {
	if a.Text != b.Text || a.Thinking != b.Thinking || a.Response != b.Response || (a.Call == nil) != (b.Call == nil) {
		return false
	}
	return a.Call == nil || *a.Call == *b.Call
}

// chunkOf makes a chunk that says d.
func chunkOf(d middleware.Delta) *schema.Message {
	m := &schema.Message{Role: schema.Assistant, Content: d.Text, ReasoningContent: d.Thinking}
	if c := d.Call; c != nil {
		index := c.Index
		m.ToolCalls = []schema.ToolCall{{
			Index: &index, ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Arguments},
		}}
	}
	return m
}
