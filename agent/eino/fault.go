package eino

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

func invalid(err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: "eino", Err: err}
}

// fault gives an error of a model its kind, so that middlewares know what to
// do about it. The error stays in the tree of what is returned. If the context
// is done, its error is in the tree, too.
func fault(ctx context.Context, err error) error {
	switch gone := ctx.Err(); {
	case gone != nil && !errors.Is(err, gone):
		return &middleware.Error{Kind: middleware.Canceled, Op: "eino", Err: fmt.Errorf("%w: %w", gone, err)}
	case middleware.KindOf(err) != middleware.Unknown:
		return err
	}
	if kind := foreign.KindOf(err); kind != middleware.Unknown {
		return &middleware.Error{Kind: kind, Op: "eino", Err: err}
	}
	return err
}
