package langchaingo

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/middleware"
)

// tape gives the caller's functions what comes out of the chain: the very chunk
// for pieces that went through untouched.
type tape struct {
	user llms.CallOptions

	mu      sync.Mutex
	chunk   chunk              // the newest
	pieces  []middleware.Delta // of it, and not out yet
	altered bool               // some pieces came out otherwise
}

// listen returns what the chain emits to: nil if the caller has no streaming
// function.
func (c *call) listen(ctx context.Context) middleware.Emit {
	if c.options.StreamingFunc == nil && c.options.StreamingReasoningFunc == nil {
		return nil
	}
	c.tape.user = c.options
	return func(d middleware.Delta) error { return c.tape.play(ctx, d) }
}

func (t *tape) record(c chunk, pieces []middleware.Delta) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chunk, t.pieces = c, pieces
}

// play takes what the chain emits.
func (t *tape) play(ctx context.Context, d middleware.Delta) error {
	c, complete := t.match(d)
	switch {
	case !complete:
		return nil
	case c == nil:
		return t.tell(ctx, d)
	case !c.thinks:
		return t.user.StreamingFunc(c.ctx, c.text) //nolint:contextcheck // the model gave it with the chunk
	}
	return t.user.StreamingReasoningFunc(c.ctx, c.reasoning, c.text) //nolint:contextcheck // as above
}

// match returns the chunk that d is the last piece of; nil if d is not of the
// newest chunk. It is not complete if more of the chunk is to come.
func (t *tape) match(d middleware.Delta) (c *chunk, complete bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pieces) == 0 || t.pieces[0] != d {
		t.altered = true
		return nil, true
	}
	t.pieces = t.pieces[1:]
	if len(t.pieces) > 0 {
		return nil, false
	}
	whole := t.chunk
	if whole.thinks && t.altered && t.user.StreamingFunc != nil {
		whole.text = nil // it would repeat what a middleware has changed
	}
	return &whole, true
}

// tell gives the caller a piece that no chunk was.
func (t *tape) tell(ctx context.Context, d middleware.Delta) error {
	if d == (middleware.Delta{}) {
		return nil
	}
	text := []byte(d.Text)
	if d.Call != nil {
		function := functionPiece{d.Call.Name, d.Call.Arguments}
		var err error
		if text, err = json.Marshal([]callPiece{{ID: d.Call.ID, Type: typeOfPiece(d.Call), Function: function}}); err != nil {
			return err
		}
	}
	if t.user.StreamingFunc != nil && (d.Thinking == "" || len(text) > 0) {
		if err := t.user.StreamingFunc(ctx, text); err != nil {
			return err
		}
	}
	if t.user.StreamingReasoningFunc != nil && (d.Thinking != "" || t.user.StreamingFunc == nil) {
		return t.user.StreamingReasoningFunc(ctx, []byte(d.Thinking), text)
	}
	return nil
}

// typeOfPiece returns the type by which the first piece of a call is known.
func typeOfPiece(d *middleware.CallDelta) string {
	if d.ID != "" || d.Name != "" {
		return "function"
	}
	return ""
}
