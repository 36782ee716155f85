package langchaingo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

// chunk is one call of a streaming function.
type chunk struct {
	ctx       context.Context //nolint:containedctx // it is an argument of the function
	thinks    bool            // of StreamingReasoningFunc, else of StreamingFunc
	reasoning []byte
	text      []byte
}

// listen returns what the chain emits to: nil if the caller has no streaming function.
func (c *call) listen(ctx context.Context) middleware.Emit {
	c.listens = c.options.StreamingFunc != nil || c.options.StreamingReasoningFunc != nil
	if !c.listens {
		return nil
	}
	c.chunks.Chunk = c.passChunk
	c.chunks.Delta = func(d middleware.Delta) error { return c.passDelta(ctx, d) }
	return c.chunks.Emit
}

// passChunk calls the function of the caller that the model called.
func (c *call) passChunk(k chunk, changed bool) error {
	if !k.thinks {
		return c.options.StreamingFunc(k.ctx, k.text)
	}
	if changed && c.options.StreamingFunc != nil {
		k.text = nil // it repeats what a middleware has changed
	}
	return c.options.StreamingReasoningFunc(k.ctx, k.reasoning, k.text)
}

// passDelta calls the functions of the caller with a piece that is not a chunk.
func (c *call) passDelta(ctx context.Context, d middleware.Delta) error {
	text := []byte(d.Text)
	switch {
	case d == (middleware.Delta{}):
		return nil
	case d.Call != nil:
		piece := callPiece{ID: d.Call.ID, Function: functionPiece{d.Call.Name, d.Call.Arguments}}
		if d.Call.ID != "" || d.Call.Name != "" {
			piece.Type = "function" // of the first piece of a call
		}
		var err error
		if text, err = json.Marshal([]callPiece{piece}); err != nil {
			return err
		}
	}
	user := &c.options
	if user.StreamingFunc != nil && (d.Thinking == "" || len(text) > 0) {
		if err := user.StreamingFunc(ctx, text); err != nil {
			return err
		}
	}
	if user.StreamingReasoningFunc != nil && (d.Thinking != "" || user.StreamingFunc == nil) {
		return user.StreamingReasoningFunc(ctx, []byte(d.Thinking), text)
	}
	return nil
}

// source emits the chunks of one call of the inner model.
type source struct {
	user  llms.CallOptions      // with the streaming functions of the caller
	track *foreign.Track[chunk] // for the chunks themselves; nil: the caller wants none
	emit  middleware.Emit       // nil: no pieces are wanted
	calls callReader
	err   error // of emit; then the stream has ended
}

// generate calls the inner model. Emit is called in the goroutine of the caller.
func generate(
	ctx context.Context, inner llms.Model, msgs []llms.MessageContent, options []llms.CallOption, s *source,
) (*llms.ContentResponse, error) {
	var raw *llms.ContentResponse
	var err error
	switch {
	case s.emit != nil:
		raw, err = inCallersGoroutine(func(send func(chunk) error) (*llms.ContentResponse, error) {
			return inner.GenerateContent(ctx, msgs, append(options, s.option(send))...)
		}, s.take)
	case s.user.StreamingFunc != nil || s.user.StreamingReasoningFunc != nil: // a middleware wants the whole answer
		raw, err = inner.GenerateContent(ctx, msgs, append(options, streaming(nil, nil))...)
	default:
		raw, err = inner.GenerateContent(ctx, msgs, options...)
	}
	switch {
	case s.err != nil: // some providers do not return it
		return nil, s.err
	case err != nil:
		return nil, foreign.Classify(ctx, err, kindOfError)
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
	case s.onlyThinking():
		return streaming(nil, thinking)
	}
	return streaming(text, thinking)
}

// onlyThinking reports whether the caller set StreamingReasoningFunc alone, which then
// gets the text as well.
func (s *source) onlyThinking() bool {
	return s.user.StreamingFunc == nil && s.user.StreamingReasoningFunc != nil
}

func streaming(text func(context.Context, []byte) error, thinking func(context.Context, []byte, []byte) error) llms.CallOption {
	return func(o *llms.CallOptions) {
		o.StreamingFunc, o.StreamingReasoningFunc = text, thinking
	}
}

// take emits the pieces of a chunk.
func (s *source) take(c chunk) error {
	if s.err != nil {
		return s.err
	}
	deltas := s.deltas(c)
	s.err = s.track.Add(c, deltas)
	for i := 0; i < len(deltas) && s.err == nil; i++ {
		s.err = s.emit(deltas[i])
	}
	return s.err
}

func (s *source) deltas(c chunk) []middleware.Delta {
	var all []middleware.Delta
	if len(c.reasoning) > 0 {
		all = append(all, middleware.Delta{Thinking: string(c.reasoning)})
	}
	if len(c.text) == 0 || c.thinks && !s.onlyThinking() {
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
// were text: each chunk is the JSON that encoding/json makes of the pieces in it.
type callReader struct {
	tools bool // the request has tools
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

// read returns the pieces of calls in a chunk, nil if it is text.
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
		continues := p.Type == "" && p.Function.Arguments != "" // the rule of the client itself
		if continues && r.calls == 0 {
			continue
		}
		if !continues {
			r.calls++
		}
		all = append(all, middleware.CallDelta{Index: r.calls - 1, ID: p.ID, Name: p.Function.Name, Arguments: p.Function.Arguments})
	}
	return all
}

// inCallersGoroutine runs generate in a goroutine of its own, and take in that of the
// caller for each chunk that generate sends: the client for Anthropic calls streaming
// functions from another goroutine than the one it was called in. Both wait for
// each other, so that only one of them runs at a time, and no goroutine remains when it
// returns or panics.
func inCallersGoroutine(
	generate func(send func(chunk) error) (*llms.ContentResponse, error), take func(chunk) error,
) (*llms.ContentResponse, error) {
	type result struct {
		resp     *llms.ContentResponse
		err      error
		returned bool
		panicked any
	}
	type sent struct {
		chunk chunk
		reply chan error
	}
	chunks, ended := make(chan sent), make(chan result, 1)
	over := make(chan struct{}) // closed when the caller takes no more
	send := func(c chunk) error {
		s := sent{c, make(chan error, 1)}
		select {
		case chunks <- s:
		case <-over:
			return errOver
		}
		select {
		case err := <-s.reply:
			return err
		case <-over: // take panicked
			return errOver
		}
	}
	go func() {
		var r result
		defer func() {
			if !r.returned {
				r.panicked = recover()
			}
			ended <- r
		}()
		r.resp, r.err = generate(send)
		r.returned = true
	}()
	waiting := true
	defer func() {
		close(over)
		if waiting { // take panicked, or ended the goroutine
			<-ended
		}
	}()
	for {
		select {
		case s := <-chunks:
			s.reply <- take(s.chunk)
		case r := <-ended:
			waiting = false
			switch {
			case r.returned:
				return r.resp, r.err
			case r.panicked != nil:
				panic(r.panicked)
			}
			return nil, &middleware.Error{Op: op, Err: errors.New("the model ended its goroutine")}
		}
	}
}

// errOver is what a streaming function returns after the call has ended.
var errOver = errors.New("langchaingo: the call is over")
