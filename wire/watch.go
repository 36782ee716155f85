package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// watcher is the body of an answer. It reads what passes, and passes the end on after the chain has learned from it.
type watcher struct {
	body io.ReadCloser
	call *call
	read bool          // the answer can be read
	done chan struct{} // closed when the answer has ended; then answer and err are set

	begun chan struct{} // closed when a piece that is no error is passed on
	next  chan *watcher // gets the answer to another attempt, if the first piece is an error

	mu     sync.Mutex
	seen   bool // begun is closed, or the first piece is an error
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
	w := &watcher{
		body: resp.Body, call: c, done: make(chan struct{}), begun: make(chan struct{}), next: make(chan *watcher, 1),
		left: resp.ContentLength,
	}
	w.answer.Stream = strings.HasPrefix(kind, "text/event-stream") || strings.HasPrefix(kind, "application/x-ndjson")
	w.read = (w.answer.Stream || strings.Contains(kind, "json")) && resp.Header.Get("Content-Encoding") == ""
	resp.Body = w
	return w
}

// Read implements [io.Reader]. An error that is the first piece of a stream is kept back until the chain has decided whether to
// ask again: some servers look at a request when they have sent the status. Then the stream goes on with the other answer.
func (w *watcher) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if !w.see(p[:n], err) {
		return n, err
	}
	select {
	case other := <-w.next:
		_ = w.body.Close()
		w.mu.Lock()
		w.body = other
		w.mu.Unlock()
		return other.Read(p)
	case <-w.call.settled:
	case <-w.call.req.Context().Done():
	}
	return n, err
}

// see reads what passes. At the end it waits for the chain, except if the first piece of a stream is an error: then it returns
// true.
func (w *watcher) see(p []byte, err error) (refusedAtOnce bool) {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return false
	}
	if w.read {
		w.answer.Write(p)
	}
	w.left -= int64(len(p))
	over := w.answer.Ended() || w.left == 0 || err != nil
	if !w.seen && (len(p) > 0 || over) {
		w.seen = true
		refusedAtOnce = w.answer.Stream && w.answer.Refused != ""
		if !refusedAtOnce { // before done is closed: then it is known whether a piece was passed on
			close(w.begun)
		}
	}
	if over {
		if err != nil && !errors.Is(err, io.EOF) && !w.answer.Ended() {
			w.err = err
		}
		w.end()
	}
	w.mu.Unlock()
	if over && !refusedAtOnce {
		w.settle()
	}
	return refusedAtOnce
}

// isRefused reports whether the first piece is an error, which the client has not got.
func (w *watcher) isRefused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over && w.answer.Stream && w.answer.Refused != "" && !isClosed(w.begun)
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// end ends the answer. The lock is held.
func (w *watcher) end() {
	if w.answer.Refused != "" {
		w.err = &refusal{text: w.answer.Refused}
	}
	w.over = true
	close(w.done)
	if w.call.opts.Audit && w.err == nil {
		w.call.audits.add(w.call)
	}
}

// response returns what the chain gets of an answer that has ended.
func (w *watcher) response() *middleware.Response {
	a := &w.answer
	return &middleware.Response{
		Message: message.Message{Role: message.RoleAssistant}, Usage: a.Usage, Stop: a.Stop, Model: a.Model, ID: a.ID, Cleared: a.Cleared,
	}
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
	body := w.body
	w.mu.Unlock()
	if _, again := body.(*watcher); !again { // else the chain waits for the end of that one
		w.settle()
	}
	return body.Close()
}
