package foreign_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

func TestKindOfStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]middleware.ErrorKind{
		400: middleware.Invalid, 404: middleware.Invalid, 409: middleware.Invalid, 413: middleware.Invalid, 422: middleware.Invalid,
		401: middleware.Denied, 402: middleware.Denied, 403: middleware.Denied,
		429: middleware.RateLimited,
		408: middleware.Unavailable, 500: middleware.Unavailable, 503: middleware.Unavailable, 529: middleware.Unavailable,
	} {
		require.Equal(t, want, foreign.KindOf(&middleware.Request{}, fmt.Errorf("error, status code: %d", status)), "%d", status)
	}
}
