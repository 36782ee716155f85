package bpe

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
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
