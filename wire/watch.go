package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/internal/codec"
)

// watcher is the body of an answer. It reads what passes, and passes the end on after the chain has learned from it.
type watcher struct {
	body io.ReadCloser
	call *call
	read bool          // the answer can be read
	done chan struct{} // closed when the answer has ended; then answer and err are set

	mu     sync.Mutex
	over   bool // done is closed
	left   int64
	answer codec.Answer
	err    error
}

// errClosed is an answer that the client has not read to its end.
var errClosed = errors.New("wire: the client has closed the answer before its end")

// newWatcher puts a watcher into an answer.
func newWatcher(resp *http.Response, c *call) *watcher {
	kind := strings.ToLower(resp.Header.Get("Content-Type"))
	w := &watcher{body: resp.Body, call: c, done: make(chan struct{}), left: resp.ContentLength}
	w.answer.Stream = strings.HasPrefix(kind, "text/event-stream") || strings.HasPrefix(kind, "application/x-ndjson")
	w.read = (w.answer.Stream || strings.Contains(kind, "json")) && resp.Header.Get("Content-Encoding") == ""
	resp.Body = w
	return w
}

// Read implements [io.Reader].
func (w *watcher) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.see(p[:n], err)
	return n, err
}

// see reads what passes. At the end it waits for the chain.
func (w *watcher) see(p []byte, err error) {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return
	}
	if w.read {
		w.answer.Write(p)
	}
	w.left -= int64(len(p))
	over := w.answer.Ended() || w.left == 0 || err != nil
	if over {
		if err != nil && !errors.Is(err, io.EOF) && !w.answer.Ended() {
			w.err = err
		}
		w.end()
	}
	w.mu.Unlock()
	if over {
		w.settle()
	}
}

// end ends the answer. The lock is held.
func (w *watcher) end() {
	if w.answer.Refused != "" {
		w.err = &refusal{text: w.answer.Refused}
	}
	w.over = true
	close(w.done)
}

// settle waits until the chain has returned.
func (w *watcher) settle() {
	select {
	case <-w.call.settled:
	case <-w.call.req.Context().Done():
	}
}

// Close implements [io.Closer].
func (w *watcher) Close() error {
	w.mu.Lock()
	if !w.over {
		w.err = errClosed
		w.end()
	}
	w.mu.Unlock()
	w.settle()
	return w.body.Close()
}
