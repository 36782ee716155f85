package fit

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("a line of the log\n", 100)
	for name, c := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"fits":          {"short", 10, "short"},
		"at line ends":  {lines, 60, strings.Repeat("a line of the log\n", 6) + "[… 1602 characters left out …]\n" + strings.Repeat("a line of the log\n", 5)},
		"no lines":      {strings.Repeat("0123456789", 100), 50, strings.Repeat("0123456789", 8) + "01\n[… 836 characters left out …]\n89" + strings.Repeat("0123456789", 8)},
		"almost none":   {strings.Repeat("word ", 100), 3, "wor…"},
		"none":          {strings.Repeat("上下文", 100), 0, "上…"},
		"it is small":   {"ab", 0, "ab"},
		"no characters": {strings.Repeat("\x80", 100), 2, "\x80\x80\x80…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, shortened(tokens.Chars4, c.text, c.limit, store.Handle{}, ""))
		})
	}
}

func TestShortenedTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		unit := rapid.SampledFrom([]string{"word ", "line\n", "上下文", "🙂", "\n", "x", "\x80", "e\u0301 ", "a longer sentence, with marks. "}).Draw(r, "unit")
		text := strings.Repeat(unit, rapid.IntRange(0, 400).Draw(r, "times")) + rapid.String().Draw(r, "end")
		limit := rapid.IntRange(0, 300).Draw(r, "limit")
		got := shortened(tokens.Chars4, text, limit, store.Handle{}, "")
		size := tokens.Chars4.Count
		if size(text) <= limit {
			require.Equal(r, text, got, "what fits is kept")
			return
		}
		require.LessOrEqual(r, len(got), len(text))
		if got == text || strings.HasSuffix(got, "…") {
			require.LessOrEqual(r, len(got), 9, "if it cannot fit, almost nothing is left: %q", got)
			return
		}
		require.LessOrEqual(r, size(got), limit, "it fits")
		head, tail, ok := strings.Cut(got, "[… ")
		require.True(r, ok, "a mark has the number of missing characters: %q", got)
		_, tail, _ = strings.Cut(tail, " …]")
		head, tail = strings.TrimSuffix(head, "\n"), strings.TrimPrefix(tail, "\n")
		require.True(r, strings.HasPrefix(text, head) && strings.HasSuffix(text, tail), "head and tail are kept: %q of %q", got, text)
		require.GreaterOrEqual(r, 2*(len(head)+len(tail)), len(got)-2, "at least half is head and tail")
		require.Equal(r, utf8.ValidString(text), utf8.ValidString(got), "it is cut between runes")
	})
}
