package history

import (
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Frameworks that run tools in parallel return the results in the order in which the tools
// finish, and some rebuild the history in another order later. So that IDs, edits and
// what is sent do not depend on it, the results of a round are put into the order of its
// calls. Nothing else is moved.

// arrange returns a body whose rounds from position from on, or reaching there, are in order,
// and the first position of a message that moved. It is the same slice, and its length, if none
// has.
func arrange(body []message.Message, from int) (arranged []message.Message, moved int) {
	arranged, moved = body, len(body)
	for i := roundAt(body, from); i < len(body); i++ {
		if body[i].Role != message.RoleAssistant {
			continue
		}
		first := i + 1
		for i+1 < len(body) && body[i+1].Role == message.RoleTool {
			i++
		}
		if i <= first { // one result at most
			continue
		}
		ranks := ranksOf(&body[first-1], body[first:i+1])
		if ranks == nil || slices.IsSorted(ranks) {
			continue
		}
		if moved == len(body) {
			arranged = slices.Clone(body)
		}
		moved = min(moved, first+sortRound(arranged[first:i+1], ranks))
	}
	return arranged, moved
}

// sortRound puts results into the order of their ranks, and returns the position of the first one that moved.
func sortRound(results []message.Message, ranks []int) int {
	sorted := slices.Sorted(slices.Values(ranks))
	was := slices.Clone(results)
	for i, rank := range ranks {
		at, _ := slices.BinarySearch(sorted, rank)
		results[at] = was[i]
	}
	moved := 0
	for ranks[moved] == sorted[moved] {
		moved++
	}
	return moved
}

// roundAt returns the position of the answer whose results reach to a position, or that position.
func roundAt(body []message.Message, at int) int {
	if at >= len(body) || body[at].Role != message.RoleTool {
		return at
	}
	for at > 0 && body[at].Role == message.RoleTool {
		at--
	}
	return at
}

// ranksOf returns, for each of some messages with results, the index of the call that it answers.
// It is nil if that is not clear: a call without an ID or with that of another, a message
// without a result, or two for one call.
func ranksOf(answer *message.Message, results []message.Message) []int {
	index, n := map[string]int{}, 0
	for c := range answer.Calls() {
		if _, twice := index[c.ID]; twice || c.ID == "" {
			return nil
		}
		index[c.ID] = n
		n++
	}
	ranks := make([]int, len(results))
	for i := range results {
		ranks[i] = -1
		for r := range results[i].Results() {
			if rank, ok := index[r.CallID]; ok && ranks[i] < 0 {
				ranks[i] = rank
			}
			break // the first one decides
		}
		if ranks[i] < 0 || slices.Contains(ranks[:i], ranks[i]) {
			return nil
		}
	}
	return ranks
}

// arranged returns a body with its rounds in order, how many of its first messages the track has
// then, and whether their notes are equal. equal is that number for the body as it was passed.
// It returns nil if the body and that of the track are in order.
func (t *Track[S]) arranged(body []message.Message, equal int) (ordered []message.Message, shared int, notes bool) {
	from := equal
	if t.passed != nil { // the equal messages may be the first of a round that was moved
		from = max(0, from-1)
	}
	tail, moved := arrange(body, from)
	if t.passed == nil && moved == len(body) {
		return nil, equal, true
	}
	from = roundAt(body, from)
	ordered = append(t.AppendMessages(make([]message.Message, 0, len(body)), message.Run{Last: from - 1}), tail[from:]...)
	shared, notes = common(t.Body[from:], ordered[from:])
	return ordered, from + shared, notes
}

// Ordered returns all messages of a caller with the rounds of the body in order: the same slice
// if they are.
func (t *Track[S]) Ordered(all []message.Message) []message.Message {
	if t.passed == nil {
		return all
	}
	lead := all[:len(all)-len(t.Body)]
	return t.AppendMessages(slices.Clone(lead), message.Run{Last: len(t.Body) - 1})
}

// passedAs returns a body to compare with that of the next call.
func passedAs(given Given) []*message.Message {
	if given.Steady {
		return pointers(given.Body)
	}
	return pointers(Own(given.Body))
}

func pointers(msgs []message.Message) []*message.Message {
	p := make([]*message.Message, len(msgs))
	for i := range msgs {
		p[i] = &msgs[i]
	}
	return p
}

// asPassed returns the body as the caller passed it.
func (t *Track[S]) asPassed() []*message.Message {
	if t.passed != nil {
		return t.passed
	}
	return t.Body
}
