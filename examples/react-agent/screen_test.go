package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Where the output does not go to a terminal there are no colours, and no
// characters but those of ASCII.
func TestPlain(t *testing.T) {
	t.Parallel()
	status, plain, stderr := exec(t, "-window", "8000")
	require.Zero(t, status, stderr)
	require.Contains(t, plain, "stand-in model, no network")
	require.Contains(t, plain, "contextedit cleared")
	require.NotContains(t, plain, "\x1b")
	for line := range strings.Lines(plain) {
		require.Equal(t, len(line), utf8.RuneCountInString(line), line)
		require.LessOrEqual(t, len(line), len("\n")+80, line)
	}
}
