package bpe_test

import (
	"go/build"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/samples"
)

// sampled returns texts of a megabyte each. Without the source of Go there is nothing to
// sample, and the test is skipped.
func sampled(tb testing.TB) samples.Texts {
	tb.Helper()
	s, err := samples.Read()
	require.NoError(tb, err)
	if s.Code == "" {
		tb.Skipf("no source of Go in %s", build.Default.GOROOT)
	}
	return s
}
