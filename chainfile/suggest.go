package chainfile

import (
	"fmt"
	"strings"
)

// didYouMean returns a hint at the one of the names that is most like name, or
// "" if none is like it.
func didYouMean(name string, names []string) string {
	const far = 3
	best, least := "", far
	given := plain(name)
	for _, n := range names {
		d := distance(given, plain(n))
		if d < least && d < len(n) {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// plain leaves out what people write differently.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// distance returns how many letters must be put in, left out or changed to make
// one word of the other. Of a long word, only the beginning counts.
func distance(a, b string) int {
	const longest = 64
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// list returns the names for a sentence.
func list(names []string) string { return strings.Join(names, ", ") }

// oneOf returns the names for a sentence about one of them.
func oneOf(names []string) string {
	if last := len(names) - 1; last > 0 {
		return list(names[:last]) + " or " + names[last]
	}
	return list(names)
}
