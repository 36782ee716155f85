package langchaingo

import (
	"context"

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
func generate(
	ctx context.Context, inner llms.Model, msgs []llms.MessageContent, options []llms.CallOption, s *source,
) (*llms.ContentResponse, error) {
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
