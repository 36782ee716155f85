package bpe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
)

func TestClasses(t *testing.T) {
	t.Parallel()
	classify()
	for r := range rune(unicode.MaxRune + 1) {
		var want class
		switch {
		case r == '\r' || r == '\n':
			want = newline
		case unicode.IsSpace(r):
			want = space
		case unicode.In(r, unicode.Lu, unicode.Lt):
			want = upper
		case unicode.Is(unicode.Ll, r):
			want = lower
		case unicode.IsLetter(r):
			want = letter
		case unicode.IsMark(r):
			want = mark
		case unicode.IsNumber(r):
			want = number
		default:
			want = other
		}
		if classes[r] != want {
			require.Failf(t, "wrong class", "%U has class %08b, want %08b", r, classes[r], want)
		}
	}
}

func TestClassAt(t *testing.T) {
	t.Parallel()
	classify()
	for r := range rune(unicode.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		text := "x" + string(r) + "y"
		if c, size := classAt(text, 1); c != classes[r] || size != utf8.RuneLen(r) {
			require.Failf(t, "wrong class or size", "%U: class %08b of %d bytes, want %08b of %d", r, c, size, classes[r], utf8.RuneLen(r))
		}
	}
	c, size := classAt("x", 1)
	require.Zero(t, c, "behind the end there is no class")
	require.Zero(t, size)
}

// TestClassesOfThePatterns compares the classes with those of the regular
// expression library, on all characters.
func TestClassesOfThePatterns(t *testing.T) {
	t.Parallel()
	classify()
	var all strings.Builder
	for r := range rune(unicode.MaxRune + 1) {
		if utf8.ValidRune(r) && (!race.Enabled || r < 0x3400) {
			all.WriteRune(r)
		}
	}
	runes := []rune(all.String())
	for pattern, set := range map[string]class{
		`[\p{Lu}\p{Lt}]+`:    upper,
		`\p{Ll}+`:            lower,
		`[\p{Lm}\p{Lo}]+`:    letter,
		`\p{M}+`:             mark,
		`\p{N}+`:             number,
		`[\r\n]+`:            newline,
		`\s+`:                spaces,
		`[^\s\p{L}\p{N}]+`:   symbol,
		`[^\r\n\p{L}\p{N}]+`: lead,
	} {
		in := make([]bool, len(runes))
		m, err := regexp2.MustCompile(pattern, regexp2.None).FindRunesMatch(runes)
		for ; m != nil && err == nil; m, err = regexp2.MustCompile(pattern, regexp2.None).FindNextMatch(m) {
			for i := range m.Length {
				in[m.Index+i] = true
			}
		}
		require.NoError(t, err)
		for i, r := range runes {
			if in[i] != (classes[r]&set != 0) {
				require.Failf(t, "wrong class", "%U has class %08b, and %s matches: %v", r, classes[r], pattern, in[i])
			}
		}
	}
}
