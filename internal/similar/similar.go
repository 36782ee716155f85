// Package similar finds the names that a misspelt one may stand for.
package similar

import (
	"cmp"
	"slices"
	"strings"
)

// To returns at most three of the names, the most similar ones first: those that become the name by at most that many letters
// that are inserted, deleted or changed, and by fewer than they have. Case, spaces, "_" and "-" do not count.
func To(name string, most int, names []string) []string {
	far := func(n string) int { return distance(plain(name), plain(n)) }
	near := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return far(n) > most || far(n) >= len(n) })
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(far(a), far(b)) })
	return near[:min(3, len(near))]
}

// plain returns a name in lower case, without separators.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// distance returns how many letters must be inserted, deleted or changed to turn one word into the other.
func distance(a, b string) int {
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
