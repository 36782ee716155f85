package middlewaretest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Scripted is a model with prepared answers, one for each call. It is safe for concurrent
// use.
type Scripted struct {
	Model middleware.Model // gives one answer after the other; set by [Script]

	mu       sync.Mutex
	answers  []middleware.Model
	requests []*middleware.Request
}

// Script returns a model with these answers. An answer is a model that is called once:
// the result of [Say], [Call], [Fail], or any other. If there are no more
// answers, calls return an error.
func Script(answers ...middleware.Model) *Scripted {
	s := &Scripted{answers: slices.Clone(answers)}
	s.Model = s.answer
	return s
}

func (s *Scripted) answer(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, testkit.CloneRequest(req))
	s.mu.Unlock()
	if n >= len(s.answers) {
		err := fmt.Errorf("call %d, and the script has %d answers", n+1, len(s.answers))
		return nil, &middleware.Error{Op: "middlewaretest", Err: err}
	}
	return s.answers[n](ctx, req, emit)
}

// Requests returns deep copies of all requests so far. The caller owns them.
func (s *Scripted) Requests() []*middleware.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Say answers with a text. A caller that streams receives these pieces.
func Say(pieces ...string) middleware.Model {
	return testkit.Give(middleware.Response{
		Message: message.Assistant(message.Text{Text: strings.Join(pieces, "")}),
		Stop:    middleware.StopEnd,
	}, texts(pieces)...)
}

// Call answers with one tool call. The arguments are a JSON object. The ID of the call
// depends on the length of the history only, and is new in it.
func Call(tool, arguments string) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		length := len(req.Messages)
		if v := req.View(); v != nil {
			length = len(v.History())
		}
		c := message.ToolCall{ID: fmt.Sprintf("call-%d", length), Name: tool, Arguments: arguments}
		piece := middleware.Delta{Call: &middleware.CallDelta{ID: c.ID, Name: c.Name, Arguments: c.Arguments}}
		return testkit.Give(middleware.Response{Message: message.Assistant(c), Stop: middleware.StopTools}, piece)(ctx, req, emit)
	}
}

// Fail returns an error. A caller that streams receives these pieces of text before.
func Fail(err error, pieces ...string) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if _, stop := Say(pieces...)(ctx, req, emit); stop != nil {
			return nil, stop
		}
		return nil, err
	}
}

func texts(pieces []string) []middleware.Delta {
	var out []middleware.Delta
	for _, p := range pieces {
		out = append(out, middleware.Delta{Text: p})
	}
	return out
}
