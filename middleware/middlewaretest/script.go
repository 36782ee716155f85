package middlewaretest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Scripted is a model that gives prepared answers, one a call, and remembers
// what it was asked. It is safe for concurrent use; calls at the same time get
// the answers in the order in which they come.
type Scripted struct {
	mu      sync.Mutex
	answers []middleware.Model
	asked   []*middleware.Request
}

// Script returns a model that gives these answers. An answer is a model that is
// asked once: one of [Say], [Call], [Calls], [Fail], [Give] and [Wait], or any
// other. Once they are used up, a call fails and says so.
func Script(answers ...middleware.Model) *Scripted {
	return &Scripted{answers: slices.Clone(answers)}
}

// Model returns the model.
func (s *Scripted) Model() middleware.Model { return s.call }

func (s *Scripted) call(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, CloneRequest(req))
	s.mu.Unlock()
	if n >= len(s.answers) {
		return nil, &middleware.Error{
			Op:  "middlewaretest",
			Err: fmt.Errorf("call %d, and the script has %d answers", n+1, len(s.answers)),
		}
	}
	return s.answers[n](ctx, req, emit)
}

// Requests returns deep copies of the requests so far, in the order in which
// they came. The requests themselves belong to the caller, the slice too.
func (s *Scripted) Requests() []*middleware.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Left returns how many answers have not been given.
func (s *Scripted) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, len(s.answers)-len(s.asked))
}

// Say answers with text. If the caller wants pieces, it gets these.
func Say(pieces ...string) middleware.Model {
	return Give(middleware.Response{
		Message: message.Assistant(message.Text{Text: strings.Join(pieces, "")}),
		Stop:    middleware.StopEnd,
	}, texts(pieces)...)
}

// Call answers with one tool call. Its arguments are a JSON object. Its id is
// one that the conversation does not have yet, the same for the same length of
// the history.
func Call(tool, arguments string) middleware.Model {
	return Calls(message.ToolCall{Name: tool, Arguments: arguments})
}

// Calls answers with parallel tool calls. A call without an id gets one, as by
// [Call].
func Calls(calls ...message.ToolCall) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		length := len(req.Messages)
		if v := req.View(); v != nil {
			length = len(v.History())
		}
		resp := middleware.Response{Message: message.Assistant(), Stop: middleware.StopTools}
		var pieces []middleware.Delta
		for i, c := range calls {
			if c.ID == "" {
				c.ID = fmt.Sprintf("call-%d-%d", length, i+1)
			}
			resp.Message.Parts = append(resp.Message.Parts, c)
			pieces = append(pieces, middleware.Delta{Call: &middleware.CallDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments}})
		}
		return Give(resp, pieces...)(ctx, req, emit)
	}
}

// Fail fails with this error, after pieces of text if the caller wants pieces.
func Fail(err error, pieces ...string) middleware.Model {
	return func(ctx context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if stop := send(ctx, emit, texts(pieces)); stop != nil {
			return nil, stop
		}
		return nil, err
	}
}

// Give answers with any response. If the caller wants pieces, it gets these.
func Give(resp middleware.Response, pieces ...middleware.Delta) middleware.Model {
	return func(ctx context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if err := send(ctx, emit, pieces); err != nil {
			return nil, err
		}
		r := resp
		r.Message = Clone([]message.Message{resp.Message})[0]
		return &r, nil
	}
}

// Wait answers nothing, and returns the error of the context when that is done.
func Wait() middleware.Model {
	return func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func texts(pieces []string) []middleware.Delta {
	var out []middleware.Delta
	for _, p := range pieces {
		out = append(out, middleware.Delta{Text: p})
	}
	return out
}

// send emits pieces as a model does that keeps its contract.
func send(ctx context.Context, emit middleware.Emit, pieces []middleware.Delta) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if emit == nil {
		return nil
	}
	for _, p := range pieces {
		if err := emit(p); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
