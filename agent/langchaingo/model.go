package langchaingo

import (
	"context"
	"errors"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/laconic-go/laconic/middleware"
)

// Model returns a middleware.Model that asks a model of langchaingo: for
// package react and for chains of one's own. It is as safe for concurrent use as
// inner is. It panics if inner is nil.
//
// Each call has these options, then those of Request.Params, of type
// []llms.CallOption. The request's tools are declared, and if it names a model
// and the options do not, that one is asked. Messages go out as [Export] says.
// For the client of Anthropic, which sends only the first part of a message,
// each part of an answer becomes a message, which Anthropic puts together again.
//
// If several choices come back, and not several were asked for, they are parts
// of one answer. Otherwise the first one is the answer. Usage is found for
// every provider that tells it. A call without an id stays so; package react
// gives it one.
//
// The error of a done context keeps its identity even where the client has put
// words in its place. Others keep what they wrap and have a kind: by the code of
// an [llms.Error], else by status and words of the provider.
func Model(inner llms.Model, options ...llms.CallOption) middleware.Model {
	if inner == nil {
		panic("langchaingo: Model: inner model is nil")
	}
	options = slices.Clone(options)
	onePart := sendsOnePart(inner)
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		own, err := params(req)
		if err != nil {
			return nil, err
		}
		msgs, err := export(req.Messages, onePart)
		if err != nil {
			return nil, err
		}
		declared, err := toolset{}.changed(req.Tools)
		if err != nil {
			return nil, err
		}
		all := slices.Concat(declared, options, own)
		resolved := resolve(all)
		if resolved.Model == "" && req.Model != "" {
			all = append(all, llms.WithModel(req.Model))
		}
		s := &source{emit: emit, calls: callReader{tools: len(req.Tools) > 0}}
		raw, err := generate(ctx, inner, msgs, all, s)
		if err != nil {
			return nil, err
		}
		a, err := answerOf(raw, resolved)
		if err != nil {
			return nil, err
		}
		if len(raw.Choices) == 0 {
			return nil, &middleware.Error{Op: op, Err: errors.New("the model returned a response without choices")}
		}
		resp := a.Response
		return &resp, nil
	}
}

// sendsOnePart reports whether a model sends only the first part of a message.
func sendsOnePart(inner llms.Model) bool {
	switch m := inner.(type) {
	case *anthropic.LLM:
		return true
	case *wrapped:
		return sendsOnePart(m.inner)
	case *reasoning:
		return sendsOnePart(m.inner)
	}
	return false
}
