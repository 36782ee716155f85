package langchaingo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/middleware"
)

// chunk is one call of a streaming function.
type chunk struct {
	ctx       context.Context //nolint:containedctx // it is an argument of the function
	thinks    bool            // of StreamingReasoningFunc, else of StreamingFunc
	reasoning []byte
	text      []byte
}

// source takes the chunks of one call of the inner model and emits them.
type source struct {
	user  llms.CallOptions // with the streaming functions of the caller
	tape  *tape            // nil: the chunks themselves are of no interest
	emit  middleware.Emit  // nil: no pieces are wanted
	calls callReader
	gone  error // what emit returned
}

// generate asks the inner model. Emit is called in the goroutine of the caller.
func generate(ctx context.Context, inner llms.Model, msgs []llms.MessageContent, options []llms.CallOption, s *source) (*llms.ContentResponse, error) {
	streams := s.user.StreamingFunc != nil || s.user.StreamingReasoningFunc != nil
	var raw *llms.ContentResponse
	var err error
	switch {
	case s.emit != nil:
		raw, err = relay(func(send func(chunk) error) (*llms.ContentResponse, error) {
			return inner.GenerateContent(ctx, msgs, append(options, s.option(send))...)
		}, s.take)
	case streams: // a middleware wants the whole
		raw, err = inner.GenerateContent(ctx, msgs, append(options, streaming(nil, nil))...)
	default:
		raw, err = inner.GenerateContent(ctx, msgs, options...)
	}
	if s.gone != nil { // some providers say nothing of it
		return nil, s.gone
	}
	if err != nil {
		return nil, sorted(ctx, err)
	}
	return raw, nil
}

// option sets the functions that the caller set, or both if it set none.
func (s *source) option(send func(chunk) error) llms.CallOption {
	text := func(ctx context.Context, text []byte) error {
		return send(chunk{ctx: ctx, text: text})
	}
	thinking := func(ctx context.Context, reasoning, text []byte) error {
		return send(chunk{ctx: ctx, thinks: true, reasoning: reasoning, text: text})
	}
	switch {
	case s.user.StreamingFunc != nil && s.user.StreamingReasoningFunc == nil:
		return streaming(text, nil)
	case s.user.StreamingFunc == nil && s.user.StreamingReasoningFunc != nil:
		return streaming(nil, thinking)
	}
	return streaming(text, thinking)
}

func streaming(text func(context.Context, []byte) error, thinking func(context.Context, []byte, []byte) error) llms.CallOption {
	return func(o *llms.CallOptions) {
		o.StreamingFunc, o.StreamingReasoningFunc = text, thinking
	}
}

// take emits the pieces of a chunk.
func (s *source) take(c chunk) error {
	if s.gone != nil {
		return s.gone
	}
	pieces := s.pieces(c)
	if s.tape != nil {
		if len(pieces) == 0 {
			pieces = []middleware.Delta{{}} // so that the chunk arrives
		}
		s.tape.record(c, pieces)
	}
	for _, d := range pieces {
		if s.gone = s.emit(d); s.gone != nil {
			break
		}
	}
	return s.gone
}

// pieces returns what a chunk says.
func (s *source) pieces(c chunk) []middleware.Delta {
	var all []middleware.Delta
	if len(c.reasoning) > 0 {
		all = append(all, middleware.Delta{Thinking: string(c.reasoning)})
	}
	onlyThinking := s.user.StreamingFunc == nil && s.user.StreamingReasoningFunc != nil
	if len(c.text) == 0 || c.thinks && !onlyThinking { // StreamingFunc gets the text as well
		return all
	}
	if calls := s.calls.read(c.text); calls != nil {
		for i := range calls {
			all = append(all, middleware.Delta{Call: &calls[i]})
		}
		return all
	}
	return append(all, middleware.Delta{Text: string(c.text)})
}

// callReader reads the tool calls that the client for OpenAI streams as if they
// were text: each chunk is what encoding/json makes of the pieces in it.
type callReader struct {
	tools bool // the model may call some
	calls int  // begun so far
}

type callPiece struct {
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type"`
	Function functionPiece `json:"function"`
}

type functionPiece struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// read returns the pieces of calls that a chunk consists of, nil if it is text.
func (r *callReader) read(text []byte) []middleware.CallDelta {
	if !r.tools || !bytes.HasPrefix(text, []byte(`[{"`)) {
		return nil
	}
	var pieces []callPiece
	if json.Unmarshal(text, &pieces) != nil {
		return nil
	}
	if again, err := json.Marshal(pieces); err != nil || !bytes.Equal(again, text) {
		return nil
	}
	all := make([]middleware.CallDelta, 0, len(pieces))
	for _, p := range pieces {
		// As the client itself tells a call that goes on from a new one.
		goesOn := p.Type == "" && p.Function.Arguments != ""
		if goesOn && r.calls == 0 {
			continue
		}
		if !goesOn {
			r.calls++
		}
		all = append(all, middleware.CallDelta{Index: r.calls - 1, ID: p.ID, Name: p.Function.Name, Arguments: p.Function.Arguments})
	}
	return all
}

// tape gives the caller's functions what comes out of the chain: the very chunk
// for pieces that went through untouched.
type tape struct {
	ctx  context.Context //nolint:containedctx // for pieces that no chunk was
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
	c.tape.ctx, c.tape.user = ctx, c.options
	return c.tape.play
}

func (t *tape) record(c chunk, pieces []middleware.Delta) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chunk, t.pieces = c, pieces
}

// play takes what the chain emits.
func (t *tape) play(d middleware.Delta) error {
	c, complete := t.match(d)
	switch {
	case !complete:
		return nil
	case c == nil:
		return t.tell(d)
	case !c.thinks:
		return t.user.StreamingFunc(c.ctx, c.text)
	}
	return t.user.StreamingReasoningFunc(c.ctx, c.reasoning, c.text)
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
func (t *tape) tell(d middleware.Delta) error {
	if d == (middleware.Delta{}) {
		return nil
	}
	text := []byte(d.Text)
	if d.Call != nil {
		var err error
		if text, err = json.Marshal([]callPiece{{ID: d.Call.ID, Type: typeOfPiece(d.Call), Function: functionPiece{d.Call.Name, d.Call.Arguments}}}); err != nil {
			return err
		}
	}
	if t.user.StreamingFunc != nil && (d.Thinking == "" || len(text) > 0) {
		if err := t.user.StreamingFunc(t.ctx, text); err != nil {
			return err
		}
	}
	if t.user.StreamingReasoningFunc != nil && (d.Thinking != "" || t.user.StreamingFunc == nil) {
		return t.user.StreamingReasoningFunc(t.ctx, []byte(d.Thinking), text)
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

// errOver is what a streaming function returns to a model that calls it when
// nobody listens any more.
var errOver = errors.New("langchaingo: the call is over")
