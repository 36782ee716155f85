package trim

import (
	"cmp"
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Order returns the indexes of units in the order in which they go: the lowest
// priority first, of one priority the lowest score, of one score the oldest. A
// score that is not above 0 counts as 0; a nil score is 0 for each.
func Order(units []Unit, score func(i int) float64) []int {
	all := make([]int, len(units))
	for i := range all {
		all[i] = i
	}
	var order []int
	for class := range byPriority(units, all) {
		order = slices.AppendSeq(order, inOrder(class, score))
	}
	return order
}

// byPriority yields the units of each priority, the lowest priority first, and of one
// priority the oldest unit first.
func byPriority(units []Unit, some []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		byAge := func(a, b int) int { return cmp.Compare(units[a].Age, units[b].Age) }
		if !slices.IsSortedFunc(some, byAge) {
			some = slices.SortedStableFunc(slices.Values(some), byAge)
		}
		for _, p := range priorities(units, some) {
			var class []int
			for _, i := range some {
				if units[i].Priority == p {
					class = append(class, i)
				}
			}
			if !yield(class) {
				return
			}
		}
	}
}

// priorities returns the priorities that some units have, the lowest first.
func priorities(units []Unit, some []int) []message.Priority {
	var found []message.Priority
	for _, i := range some {
		if k, known := slices.BinarySearch(found, units[i].Priority); !known {
			found = slices.Insert(found, k, units[i].Priority)
		}
	}
	return found
}

// scored is a unit for which something speaks.
type scored struct {
	i     int
	score float64
}

// inOrder yields the units of a class in the order in which they go. It asks for no
// score before it needs it: a unit for which nothing speaks is yielded as soon as it
// is found, and whoever has enough then stops, which spares reading the rest of a
// conversation.
func inOrder(class []int, score func(i int) float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		var raised []scored
		for _, i := range class {
			if score != nil {
				if s := score(i); s > 0 {
					raised = append(raised, scored{i, s})
					continue
				}
			}
			if !yield(i) {
				return
			}
		}
		slices.SortStableFunc(raised, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
		for _, r := range raised {
			if !yield(r.i) {
				return
			}
		}
	}
}
