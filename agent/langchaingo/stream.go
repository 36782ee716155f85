package langchaingo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// emitTo returns a function that passes pieces to the streaming functions of a caller, or
// nil if it has none.
func emitTo(ctx context.Context, user *llms.CallOptions) middleware.Emit {
	if user.StreamingFunc == nil && user.StreamingReasoningFunc == nil {
		return nil
	}
	return func(d middleware.Delta) error {
		text := []byte(d.Text)
		if d.Call != nil {
			piece := callPiece{ID: d.Call.ID, Function: functionPiece{d.Call.Name, d.Call.Arguments}}
			if d.Call.ID != "" || d.Call.Name != "" {
				piece.Type = "function" // of the first piece of a call
			}
			var err error
			text, err = json.Marshal([]callPiece{piece})
			if err != nil {
				return err
			}
		}
		if user.StreamingFunc != nil && len(text) > 0 {
			if err := user.StreamingFunc(ctx, text); err != nil {
				return err
			}
		}
		if user.StreamingReasoningFunc != nil && len(d.Thinking)+len(text) > 0 {
			return user.StreamingReasoningFunc(ctx, []byte(d.Thinking), text)
		}
		return nil
	}
}

// stream emits the pieces of one call of the inner model. A client may call its streaming
// functions from another goroutine, as that for Anthropic does.
type stream struct {
	user  *llms.CallOptions // with the streaming functions of the caller
	req   *middleware.Request
	emit  middleware.Emit // nil: no pieces are wanted
	calls callReader

	ends *foreign.Ends // of the model's streams

	mu  sync.Mutex // held while a piece is emitted
	err error      // of emit, or errOver; nothing is emitted after it
}

// errOver is what a streaming function returns after the call has ended.
var errOver = errors.New("langchaingo: the call is over")

func newStream(user *llms.CallOptions, req *middleware.Request, emit middleware.Emit, ends *foreign.Ends) *stream {
	return &stream{user: user, req: req, emit: emit, calls: callReader{tools: len(req.Tools) > 0}, ends: ends}
}

// generate calls the inner model.
func generate(
	ctx context.Context, inner llms.Model, msgs []llms.MessageContent, options []llms.CallOption, s *stream,
) (*llms.ContentResponse, error) {
	if s.emit != nil || s.user.StreamingFunc != nil || s.user.StreamingReasoningFunc != nil {
		options = append(options, s.set)
	}
	raw, err := inner.GenerateContent(ctx, msgs, options...)
	ended := s.end()
	switch {
	case ended != nil: // some clients do not return it
		return nil, ended
	case err != nil:
		return nil, foreign.Classify(ctx, s.req, err, kindOfError)
	case s.emit != nil && raw != nil:
		if err := s.ends.Check(ctx, s.req, op, finished(raw)); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// finished reports whether an answer has a stop reason or a usage, which come at the end of
// a stream.
func finished(raw *llms.ContentResponse) bool {
	return slices.ContainsFunc(raw.Choices, func(c *llms.ContentChoice) bool {
		return c == nil || c.StopReason != "" || usageOf(c.GenerationInfo) != (message.Usage{})
	})
}

// set is a call option that sets the functions, or none if no pieces are wanted.
func (s *stream) set(o *llms.CallOptions) {
	o.StreamingFunc, o.StreamingReasoningFunc = nil, nil
	if s.emit == nil {
		return
	}
	o.StreamingFunc = func(_ context.Context, text []byte) error { return s.take(text, nil) }
	if s.user.StreamingFunc == nil || s.user.StreamingReasoningFunc != nil {
		o.StreamingReasoningFunc = func(_ context.Context, thinking, _ []byte) error { return s.take(nil, thinking) }
	}
}

// take emits the pieces of a chunk.
func (s *stream) take(text, thinking []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.deltas(text, thinking) {
		if s.err == nil {
			s.err = s.emit(d)
		}
	}
	return s.err
}

// end ends the stream and returns the error of emit.
func (s *stream) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	s.err = errOver
	return err
}

func (s *stream) deltas(text, thinking []byte) []middleware.Delta {
	var all []middleware.Delta
	if len(thinking) > 0 {
		all = append(all, middleware.Delta{Thinking: string(thinking)})
	}
	calls := s.calls.read(text)
	for i := range calls {
		all = append(all, middleware.Delta{Call: &calls[i]})
	}
	if calls == nil && len(text) > 0 {
		all = append(all, middleware.Delta{Text: string(text)})
	}
	return all
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
