package trim

import (
	"context"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// ByUse is the default of Options.Score.
func ByUse(ctx context.Context, v *middleware.View) func(u message.Unit) float64 {
	return byUse(v, new(shorten.NewWatch(ctx)))
}
