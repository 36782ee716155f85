package eino

import (
	"context"

	"github.com/laconic-go/laconic/internal/foreign"
)

const op = "eino" // at the beginning of our errors

func invalid(err error) error { return foreign.Invalid(op, err) }

// modelError is an error of a model. Middlewares get it with its kind; the caller of
// [Wrap] gets what the model returned.
type modelError struct {
	error // with its kind

	returned error
}

func newModelError(ctx context.Context, err error) error {
	return &modelError{error: foreign.Classify(ctx, err, foreign.KindOf), returned: err}
}

// Unwrap returns the error with its kind.
func (e *modelError) Unwrap() error { return e.error }

// asReturned returns the error that the model returned, unless a middleware has wrapped
// it.
func asReturned(err error) error {
	if of, ok := err.(*modelError); ok { //nolint:errorlint // not a wrapped one
		return of.returned
	}
	return err
}
