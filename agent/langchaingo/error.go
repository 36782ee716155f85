package langchaingo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

func invalid(err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: op, Err: err}
}

// sorted gives an error of a model its kind. It keeps text and identity.
func sorted(ctx context.Context, err error) error {
	if done := ctx.Err(); done != nil {
		if errors.Is(err, done) {
			return err
		}
		return fmt.Errorf("%w: %w", done, err) // some providers say it in words alone
	}
	if _, ok := errors.AsType[*middleware.Error](err); ok {
		return err
	}
	if kind := kindOfError(err); kind != middleware.Unknown {
		return &middleware.Error{Kind: kind, Err: err}
	}
	return err
}

// byCode says what the codes of langchaingo mean. Its providers return most
// errors without one.
var byCode = map[llms.ErrorCode]middleware.Kind{
	llms.ErrCodeAuthentication:      middleware.Denied,
	llms.ErrCodeRateLimit:           middleware.RateLimited,
	llms.ErrCodeInvalidRequest:      middleware.Invalid,
	llms.ErrCodeResourceNotFound:    middleware.Invalid,
	llms.ErrCodeTimeout:             middleware.Unavailable, // that of the call is told by its context
	llms.ErrCodeQuotaExceeded:       middleware.Denied,
	llms.ErrCodeTokenLimit:          middleware.Overflow,
	llms.ErrCodeProviderUnavailable: middleware.Unavailable,
	llms.ErrCodeNotImplemented:      middleware.Invalid,
}

// kindOfError sorts by the code, where there is one, by what all clients tell,
// and by what those of langchaingo write in words. A code is made from the text
// of the error; that of a wrong request leaves open whether it is too long.
func kindOfError(err error) middleware.Kind {
	coded := middleware.Unknown
	if e, ok := errors.AsType[*llms.Error](err); ok {
		coded = byCode[e.Code]
	}
	if coded != middleware.Unknown && coded != middleware.Invalid {
		return coded
	}
	if kind := foreign.KindOf(err); kind != middleware.Unknown {
		return kind
	}
	text := strings.ToLower(err.Error())
	if strings.HasPrefix(text, "network error:") || strings.HasPrefix(text, "request timeout:") {
		return middleware.Unavailable
	}
	return coded
}
