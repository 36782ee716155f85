package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	of := func(k middleware.ErrorKind, err error) error { return &middleware.Error{Kind: k, Op: "op", Err: err} }
	plain := errors.New("plain")
	cases := []struct {
		name string
		err  error
		want middleware.ErrorKind
	}{
		{"nil", nil, middleware.Unknown},
		{"plain", plain, middleware.Unknown},
		{"of a kind", of(middleware.Overflow, plain), middleware.Overflow},
		{"wrapped", fmt.Errorf("call: %w", of(middleware.RateLimited, plain)), middleware.RateLimited},
		{"joined", errors.Join(plain, of(middleware.Denied, nil)), middleware.Denied},
		{"the outermost counts", of(middleware.Irreducible, of(middleware.Overflow, nil)), middleware.Irreducible},
		{"no kind anywhere", of(middleware.Unknown, plain), middleware.Unknown},
		{"canceled", context.Canceled, middleware.Canceled},
		{"too late", fmt.Errorf("call: %w", context.DeadlineExceeded), middleware.Canceled},
		{"canceled, inside one of no kind", of(middleware.Unknown, context.Canceled), middleware.Canceled},
		{"a kind around a context error", of(middleware.Unavailable, context.DeadlineExceeded), middleware.Unavailable},
	}
	for _, c := range cases {
		require.Equal(t, c.want, middleware.KindOf(c.err), c.name)
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	inside := errors.New("window is 8000 tokens")
	cases := map[string]*middleware.Error{
		"fit: window is 8000 tokens": {Kind: middleware.Overflow, Op: "fit", Err: inside},
		"window is 8000 tokens":      {Kind: middleware.Overflow, Err: inside},
		"fit: overflow":              {Kind: middleware.Overflow, Op: "fit"},
		"fit: unknown":               {Op: "fit"},
	}
	for want, err := range cases {
		require.EqualError(t, err, want)
	}
	require.ErrorIs(t, cases["window is 8000 tokens"], inside)
	require.ErrorIs(t, fmt.Errorf("call: %w", cases["fit: overflow"]), middleware.Overflow)
	require.NotErrorIs(t, cases["fit: overflow"], middleware.Unknown)
	require.NotErrorIs(t, inside, middleware.Overflow)
}
