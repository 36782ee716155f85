package digest_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/middleware/internal/digest"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "line\n", "é", "😀", "\xff", strings.Repeat("long ", 2000) + "\n"}).Draw(t, "unit")
		size := digest.Window + rapid.IntRange(-3, 3).Draw(t, "more")*len(unit) + rapid.IntRange(-9, 9).Draw(t, "bytes")
		text := strings.Repeat(unit, size/len(unit)+1)[:size]
		read := digest.Read(text)
		if len(text) <= digest.Window {
			require.Equal(t, text, read, "all of a short text is read")
			return
		}
		require.LessOrEqual(t, len(read), digest.Window+len("\n\n"))
		require.Greater(t, len(read), digest.Window*3/4, "less than a quarter is lost at the ends of lines")
		require.Equal(t, text[:digest.Window/2], read[:digest.Window/2], "the head is read")
		require.True(t, strings.HasSuffix(text, read[len(read)-digest.Window/10:]), "and the tail")
		if utf8.ValidString(unit) && utf8.ValidString(text) {
			require.True(t, utf8.ValidString(read), "no character is cut")
		}
	})
}
