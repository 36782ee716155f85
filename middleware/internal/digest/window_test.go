package digest_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/middleware/internal/digest"
)

func TestEscapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": "b"}`:                 `{"a": "b"}`,
		`\u5f20\u4e09`:               "张三",
		`{\"a\": \"\\u5f20\"}`:       `{"a": "张"}`,
		`https:\/\/example.com\/a`:   "https://example.com/a",
		`\ud83d\ude00`:               `\ud83d\ude00`,
		`\u0041\u000a\u202e`:         `\u0041\u000a\u202e`,
		`\u12`:                       `\u12`,
		`a\nb\\nc\`:                  "a\nb\nc\\",
		`say \"hi\" \\u5f20`:         `say "hi" 张`,
		`C:\\new\\table.txt and \\d`: `C:\\new\\table.txt and \\d`,
	} {
		require.Equal(t, want, digest.Unescaped(text), "the characters of %s", text)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "line\n", "é", "😀", "\xff", strings.Repeat("long ", 2000) + "\n"}).Draw(t, "unit")
		size := digest.Window + rapid.IntRange(-3, 3).Draw(t, "more")*len(unit) + rapid.IntRange(-9, 9).Draw(t, "bytes")
		text := strings.Repeat(unit, size/len(unit)+1)[:size]
		parts := digest.Read(text)
		if len(text) <= digest.Window {
			require.Equal(t, []string{text}, parts, "all of a short text is read")
			return
		}
		require.Len(t, parts, 2, "both ends of a long text are read")
		require.True(t, strings.HasPrefix(text, parts[0]) && strings.HasSuffix(text, parts[1]))
		require.LessOrEqual(t, len(parts[0])+len(parts[1]), digest.Window)
		require.Greater(t, len(parts[0])+len(parts[1]), digest.Window-2*(4<<10)-2, "little is lost at the ends of lines")
		if utf8.ValidString(unit) && utf8.ValidString(text) {
			require.True(t, utf8.ValidString(parts[0]) && utf8.ValidString(parts[1]), "no character is cut")
		}
	})
}
