package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/native"
)

// op is the name of this package in errors and events.
const op = "wire"

// call is a request that passes through the chain.
type call struct {
	*engine

	req   *http.Request
	next  func(*http.Request) (*http.Response, error)
	body  *codec.Body
	text  string
	start time.Time
	force []string // the values of ForceHeader

	clock     atomic.Bool // the first message has changed in its digits
	past      bool        // the middlewares are left out
	removed   bool        // text is without lines that the client has written
	compacted atomic.Bool // the request has a compaction block

	outcome chan outcome  // gets the answer for the client, if there is one, and then the end of the chain
	settled chan struct{} // closed when the chain has returned

	mu        sync.Mutex // middlewares may ask concurrently
	decision  Decision
	trips     int
	provider  time.Duration  // in the provider
	refused   *http.Response // the last one, with its body
	broken    error          // the last one of the connection
	delivered *watcher       // the answer that the client has; nil: none
}

type callKey struct{}

// outcome is an answer, or the end of a chain and its error.
type outcome struct {
	resp *http.Response
	err  error
}

// answer runs the chain, in a goroutine that lives until the client has read or closed the answer.
func (c *call) answer() (*http.Response, error) {
	ctx := context.WithValue(c.body.Context(c.req.Context()), callKey{}, c)
	if f := c.body.Format; (f == codec.Messages || f == codec.Responses) && c.body.Native == (middleware.Native{}) && !isCloud(c.req) {
		ctx = native.With(ctx, compactor{c})
	}
	go func() {
		defer close(c.settled)
		c.outcome <- outcome{err: c.runPast(ctx)}
	}()
	first := <-c.outcome
	if first.resp != nil {
		return c.deliver(first.resp)
	}
	err := first.err
	done := c.req.Context().Err()
	switch {
	case done != nil:
		err = done
	case c.refused != nil: // the provider's own words
		return c.deliver(c.refused)
	case c.broken != nil:
		err = c.broken
	case c.opts.Strict:
		err = fmt.Errorf("wire: %w", cmp.Or(err, errNotAsked))
	default:
		c.decision.BytesOut, c.decision.Edited = int64(len(c.text)), c.removed
		return c.pass(withBody(c.req, c.text), c.next, c.decision, "the chain failed: "+cmp.Or(err, errNotAsked).Error())
	}
	if c.refused != nil {
		_ = c.refused.Body.Close()
	}
	_, _ = c.deliver(nil) // there is no answer, but what was done is reported
	return nil, err
}

var (
	errPanic    = errors.New("panic")
	errNotAsked = errors.New("it has not asked the model")
)

// deliver reports what was done, and returns the answer for the client.
func (c *call) deliver(resp *http.Response) (*http.Response, error) {
	c.mu.Lock()
	d := c.decision
	d.Retried = c.trips > 1
	d.Added = time.Since(c.start) - c.provider
	c.mu.Unlock()
	c.observe(c.req.Context(), d)
	return resp, nil
}

// run asks the chain. A panic is an error.
func (c *call) run(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, r, debug.Stack())
		}
	}()
	scope := c.opts.Env.Scope
	if c.opts.Scope != nil {
		scope = c.opts.Scope(c.req)
	}
	req := c.body.Request()
	req.Budget, req.Server = c.budget(c.body), c.req.URL.Host
	if c.past {
		req.Past = true
	} else {
		req.Lenient = !c.opts.Strict
	}
	for name := range strings.SplitSeq(strings.Join(c.force, ","), ",") {
		name = strings.TrimSpace(name)
		if name != "" {
			req.Force = append(req.Force, name)
		}
	}
	if c.clocks.changes(scope, req.Messages) {
		c.clock.Store(true)
	}
	_, err = c.chain(scope)(ctx, req, func(middleware.Delta) error { return nil })
	return err
}

// runPast asks the chain, and if that has failed before it has asked the model, once more past its middlewares.
func (c *call) runPast(ctx context.Context) error {
	err := c.run(ctx)
	if c.past || c.opts.Strict || c.asked() || ctx.Err() != nil {
		return err
	}
	err = cmp.Or(err, errNotAsked)
	c.mu.Lock()
	c.decision.Failed = "chain"
	if errors.Is(err, errPanic) {
		c.decision.Failed = "panic"
	}
	c.decision.Reason = "the chain failed: " + err.Error()
	c.mu.Unlock()
	c.past = true
	if c.run(ctx) == nil || c.asked() {
		return nil
	}
	return err
}

// asked reports whether the provider was asked.
func (c *call) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trips > 0
}

// warn notes an event for the decision, if it comes before the answer.
func warn(ctx context.Context, e middleware.Event) {
	if c, ok := ctx.Value(callKey{}).(*call); ok && e.Warning() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.Kind == middleware.Failed {
			c.decision.Failed = cmp.Or(e.Reason, c.decision.Failed)
		}
		c.decision.Warnings = append(c.decision.Warnings, e.String())
	}
}

// ask is the model at the end of the chain: the provider.
func ask(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil, &middleware.Error{Kind: middleware.Invalid, Op: op, Err: errors.New("the context is not that of the request")}
	}
	if c.clock.CompareAndSwap(true, false) {
		req.Report(ctx, middleware.Event{Kind: middleware.Notice, By: op, Why: clockNotes})
	}
	text, err := c.body.Encode(req)
	if err != nil {
		return nil, &middleware.Error{Kind: middleware.Invalid, Op: op, Err: err}
	}
	if c.opts.Audit {
		return c.answered(text)
	}
	c.compacted.Store(c.body.Format == codec.Messages && slices.ContainsFunc(req.Messages, message.Internals(inside.Key{}).IsCompaction))
	resp, err := c.send(text) //nolint:bodyclose // the client closes it
	if err != nil {
		return nil, foreign.Classify(ctx, req, err, foreign.KindOf)
	}
	w := newWatcher(resp, c)
	if !c.hand(resp, w) {
		_ = w.body.Close()
		return nil, &middleware.Error{Kind: middleware.Invalid, Op: op, Err: errors.New("the client has another answer already")}
	}
	select {
	case <-w.begun:
	case <-w.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if emit != nil && isClosed(w.begun) { // from here on there is no other attempt
		if err := emit(middleware.Delta{}); err != nil {
			return nil, err
		}
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if len(w.answer.Dropped) > 0 {
		req.Report(ctx, middleware.Event{
			Kind: middleware.Notice, By: op,
			Why: "the provider has left thinking out of the request: " + strings.Join(w.answer.Dropped, ", "),
		})
	}
	if w.err != nil {
		return nil, foreign.Classify(ctx, req, w.err, foreign.KindOf)
	}
	return w.response(), nil
}

// send sends a body. An answer with the status of an error is an error, and is kept for the client.
func (c *call) send(text string) (*http.Response, error) {
	start := time.Now()
	out := c.readable(text)
	if c.compacted.Load() {
		addBeta(out)
	}
	resp, err := c.next(out)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.provider += time.Since(start)
	c.trips++
	c.decision.BytesOut, c.decision.Edited = int64(len(text)), c.removed || text != c.text
	if c.refused != nil {
		_ = c.refused.Body.Close()
		c.refused = nil
	}
	c.broken = err
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	const longest = 1 << 20
	data, err := io.ReadAll(io.LimitReader(resp.Body, longest))
	rest := resp.Body
	resp.Body = joined{io.MultiReader(strings.NewReader(string(data)), rest), rest}
	c.refused = resp
	return nil, &refusal{status: resp.StatusCode, text: string(data), err: err}
}

// hand gives an answer to the client, if it has none, or only the beginning of one that was an error.
func (c *call) hand(resp *http.Response, w *watcher) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.delivered == nil:
		c.outcome <- outcome{resp: resp}
	case c.delivered.isRefused():
		c.delivered.next <- w
	default:
		return false
	}
	c.delivered = w
	return true
}

// refusal is an error that the provider has sent.
type refusal struct {
	status int // 0: in a stream
	text   string
	err    error // while it was read
}

func (r *refusal) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s", http.StatusText(r.status), r.text))
}

func (r *refusal) HTTPStatusCode() int { return r.status }

func (r *refusal) Unwrap() error { return r.err }
