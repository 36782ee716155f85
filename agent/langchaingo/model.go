package langchaingo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

// Model returns a middleware.Model that calls a model of langchaingo, for
// package react and for your own chains. It is as safe for concurrent use as
// inner is. It panics if inner is nil.
//
// Each call has these options, then those of Request.Params, of type
// []llms.CallOption. The request's tools are declared, and if it names a model
// and the options do not, that one is called. Messages are converted by [Export].
// For the client of Anthropic, which sends only the first part of a message,
// each part of an answer becomes a message.
//
// If several choices come back, and not several were asked for, they are parts
// of one answer. Otherwise the first one is the answer. A call without an id is returned
// without one; package react gives it one.
//
// If the context is done, the error wraps that of the context. Other errors wrap that
// of the client and have a kind. A stream whose answer has neither a stop reason nor a usage
// is one of kind [middleware.Unavailable] if the model has sent one before; the first of the
// others is reported by an event of kind [middleware.Notice].
func Model(inner llms.Model, options ...llms.CallOption) middleware.Model {
	if inner == nil {
		panic("langchaingo: Model: inner model is nil")
	}
	options = slices.Clone(options)
	forAnthropic, ends := isAnthropic(inner), new(foreign.Ends)
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		own, err := params(req)
		if err != nil {
			return nil, err
		}
		msgs, err := export(req.Messages, forAnthropic)
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
		raw, err := generate(ctx, inner, msgs, all, newStream(&llms.CallOptions{}, req, emit, ends))
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

// isAnthropic reports whether a model is the client for Anthropic, which sends only the first part of a message, and has
// marks for the cache.
func isAnthropic(inner llms.Model) bool {
	switch m := inner.(type) {
	case *anthropic.LLM:
		return true
	case *wrapped:
		return isAnthropic(m.inner)
	case *reasoning:
		return isAnthropic(m.inner)
	}
	return false
}

// params returns the call options that a request carries.
func params(req *middleware.Request) ([]llms.CallOption, error) {
	switch p := req.Params.(type) {
	case nil:
		return nil, nil
	case []llms.CallOption:
		return slices.Clip(p), nil
	}
	return nil, invalid(fmt.Errorf("Request.Params is of type %T, want []llms.CallOption", req.Params))
}

const op = "langchaingo" // at the beginning of our errors

func invalid(err error) error { return foreign.Invalid(op, err) }

// errorCodes are the kinds of langchaingo's codes. Its providers return most errors
// without a code.
var errorCodes = map[llms.ErrorCode]middleware.ErrorKind{
	llms.ErrCodeAuthentication:      middleware.Denied,
	llms.ErrCodeRateLimit:           middleware.RateLimited,
	llms.ErrCodeInvalidRequest:      middleware.Invalid,
	llms.ErrCodeResourceNotFound:    middleware.Invalid,
	llms.ErrCodeTimeout:             middleware.Unavailable, // if the call itself timed out, its context is done
	llms.ErrCodeQuotaExceeded:       middleware.Denied,
	llms.ErrCodeTokenLimit:          middleware.Overflow,
	llms.ErrCodeProviderUnavailable: middleware.Unavailable,
	llms.ErrCodeNotImplemented:      middleware.Invalid,
}

// kindOfError returns the kind of an error by its code, else as [foreign.KindOf] does,
// else by the text of langchaingo's clients. The code is made from the text of the
// error, and a prompt that is too long has that of an invalid request.
func kindOfError(req *middleware.Request, err error) middleware.ErrorKind {
	coded := middleware.Unknown
	if e, ok := errors.AsType[*llms.Error](err); ok {
		coded = errorCodes[e.Code]
	}
	if coded != middleware.Unknown && coded != middleware.Invalid {
		return coded
	}
	if kind := foreign.KindOf(req, err); kind != middleware.Unknown {
		return kind
	}
	text := strings.ToLower(err.Error())
	if strings.HasPrefix(text, "network error:") || strings.HasPrefix(text, "request timeout:") ||
		errors.Is(err, anthropic.ErrEmptyResponse) { // also of a stream that broke off
		return middleware.Unavailable
	}
	return coded
}
