// Package shorten contains what several middlewares need to shorten messages: head and tail of a text, the pieces of a tool result, a
// placeholder in their place, the removal of thinking, a list of what was shortened, and a check of options.
//
//	shorten.Ends(log, 2000, 2000, func(left string) string {
//		return fmt.Sprintf("[%d bytes left out]", len(left))
//	})
//
// Nothing here counts tokens or changes its arguments.
package shorten

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Ends returns the head and the tail of a text, of at most so many bytes, with a mark on a separate line between them. mark receives the
// text that is left out. Both ends are cut between lines if that costs less than a quarter of their bytes, otherwise between characters. If
// nothing would be left out, Ends returns the text.
func Ends(text string, head, tail int, mark func(left string) string) string {
	first, last := Head(text, head), Tail(text, tail)
	if k := strings.LastIndexByte(first, '\n') + 1; k > head-head/4 {
		first = first[:k]
	}
	if k := strings.IndexByte(last, '\n') + 1; k < tail/4 {
		last = last[k:]
	}
	if len(first)+len(last) >= len(text) {
		return text
	}
	between := mark(text[len(first) : len(text)-len(last)])
	if first != "" && !strings.HasSuffix(first, "\n") {
		between = "\n" + between
	}
	if !strings.HasPrefix(last, "\n") {
		between += "\n"
	}
	return first + between + last
}

// Within returns the text if it is no larger than the limit, or else head and tail as [Ends] does, no larger than the limit. It returns
// false if these would have fewer than least bytes, or would not be shorter than the text.
func Within(text string, limit, least int, size func(string) int, mark func(left string) string) (string, bool) {
	now := size(text)
	if now <= limit {
		return text, true
	}
	for keep := len(text); ; {
		keep = min(keep-1, int(float64(max(limit, 0))/float64(max(now, 1))*float64(keep)))
		if keep < least {
			return "", false
		}
		s := Ends(text, keep/2, keep/2, mark)
		now = size(s)
		if now <= limit && len(s) < len(text) {
			return s, true
		}
	}
}

// Level returns the size to which the largest sizes have to be reduced so that their sum
// is at most allowed, or the sum if it is. It is never negative.
func Level(sizes []int, allowed int) int {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	if sum <= allowed {
		return sum
	}
	for k, n := range slices.Sorted(slices.Values(sizes)) {
		if share := allowed / (len(sizes) - k); n > share {
			return max(0, share)
		}
		allowed -= n
	}
	return 0
}

// Head returns at most the first n bytes of a text, without a part of a character at the end.
func Head(text string, n int) string { return text[:Border(text, n, -1)] }

// Tail returns at most the last n bytes of a text, without a part of a character at the beginning.
func Tail(text string, n int) string { return text[Border(text, len(text)-n, 1):] }

// Border returns the position nearest to at, in the direction of step (1 or -1), that is between two UTF-8 characters. In invalid UTF-8 it
// may return at. The result is always between 0 and len(text).
func Border(text string, at, step int) int {
	at = min(max(at, 0), len(text))
	for k := range utf8.UTFMax {
		if i := at + k*step; i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
			return min(max(i, 0), len(text))
		}
	}
	return at
}

// Amount is a number of things, with the words for it.
type Amount struct {
	N         int
	One, Many string // as "1 result" and "%d results"
}

// List returns all amounts above 0, as "2 results, the arguments of 1 call and 3 texts".
func List(amounts ...Amount) string {
	var all []string
	for _, a := range amounts {
		switch {
		case a.N == 1:
			all = append(all, a.One)
		case a.N > 1:
			all = append(all, fmt.Sprintf(a.Many, a.N))
		}
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}

// Option is an option that is a whole number.
type Option struct {
	Name, Unit string // Unit in the plural
	Value      int
}

// NonNegative returns an error for each option below 0.
func NonNegative(options ...Option) []error {
	var errs []error
	for _, o := range options {
		if o.Value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d %s, want 0 or more", o.Name, o.Value, o.Unit))
		}
	}
	return errs
}

// AtLeast returns the fewest tokens that are at least this share of a room.
func AtLeast(share float64, room int) int {
	return int(math.Ceil(share * float64(room) * (1 - rounding)))
}

// AtMost returns the most tokens that are at most this share of a room.
func AtMost(share float64, room int) int {
	return int(math.Floor(share * float64(room) * (1 + rounding)))
}

// rounding is what floating point may add to a whole product, such as 0.55 of 100, or take from it.
const rounding = 1e-12
