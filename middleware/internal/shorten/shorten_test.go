package shorten_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text       string
		head, tail int
		want       string
	}{
		"at line ends":               {strings.Repeat("abc\n", 12), 18, 17, strings.Repeat("abc\n", 4) + "[16]\n" + strings.Repeat("abc\n", 4)},
		"a line end costs too much":  {"one two three\nfour five\n", 6, 6, "one tw\n[12]\n five\n"},
		"between characters":         {"äöüß", 3, 3, "ä\n[4]\nß"},
		"invalid UTF-8":              {strings.Repeat("\x80", 20), 8, 7, strings.Repeat("\x80", 8) + "\n[5]\n" + strings.Repeat("\x80", 7)},
		"no head":                    {"abcdef", 0, 2, "[4]\nef"},
		"no tail":                    {"abcdef", 2, 0, "ab\n[4]\n"},
		"neither":                    {"abcdef", 0, 0, "[6]\n"},
		"less than nothing":          {"abcdef", -5, -5, "[6]\n"},
		"all":                        {"abcdef", 3, 3, "abcdef"},
		"more than all":              {"abcdef", 9, 9, "abcdef"},
		"nothing":                    {"", 3, 3, ""},
		"a line end next to the cut": {"ab\n\ncd", 3, 1, "ab\n[2]\nd"},
		"a line end is left out":     {"word \n\n", 5, 1, "word \n[1]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, shorten.Ends(c.text, c.head, c.tail, mark))
		})
	}
}

// mark contains the number of bytes that are left out.
func mark(left string) string { return fmt.Sprintf("[%d]", len(left)) }

// TestShares asks for shares of a room, as whole numbers of tokens.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		share       float64
		room        int
		least, most int
	}{
		{0.9, 1000, 900, 900},
		{0.55, 100, 55, 55},
		{0.8, 999, 800, 799},
		{1, 128_000, 128_000, 128_000},
		{1.0 / 3, 10, 4, 3},
	} {
		require.Equal(t, tt.least, shorten.AtLeast(tt.share, tt.room), "%v of %d or more", tt.share, tt.room)
		require.Equal(t, tt.most, shorten.AtMost(tt.share, tt.room), "%v of %d or less", tt.share, tt.room)
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes         []int
		allowed, want int
	}{
		{[]int{10, 10}, 20, 20},
		{[]int{30, 30}, 8, 4},
		{[]int{50, 2}, 20, 18},
		{[]int{50, 40, 3}, 43, 20},
		{[]int{1600, 1600}, 1740, 870},
		{[]int{100, 10}, 0, 0},
		{[]int{100, 10}, -50, 0},
		{nil, 5, 0},
		{[]int{100}, 40, 40},
		{[]int{10, 100}, 60, 50},
		{[]int{100, 10, 100}, 110, 50},
		{[]int{50, 50}, 60, 30},
		{[]int{1, 2, 1000}, 500, 497},
	} {
		require.Equal(t, c.want, shorten.Level(c.sizes, c.allowed), "%v to %d", c.sizes, c.allowed)
	}
}
