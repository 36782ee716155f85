package trim

import (
	"cmp"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// The strategies.
const (
	hybridStrategy = "hybrid" // Middle or Oldest, whichever suits the view
	middleStrategy = "middle" // between the beginning and the end of the conversation
	oldestStrategy = "oldest" // the oldest messages, except those at the end
)

// snapshot is a view as a strategy sees it: numbers only. All tokens are counted
// by the meter of the chain. The strategies do not change it.
type snapshot struct {
	Options // PreserveStart, PreserveEnd, MinMessages and EfficiencyOnly count

	units  []unit // all units of the view, oldest first
	tokens int    // of the request, system prompt and tools included
	target int    // tokens to come down to

	score func(i int) float64 // importance of unit i; nil: 0 for all
}

// unit is one unit of a view.
type unit struct {
	tokens   []int            // of each of its messages
	priority message.Priority // the highest of its messages; critical units are neither removed nor counted at start and end
	held     bool             // not removed, but counted at start and end
	special  bool             // a round, a result or a system message
}

// selection is what a strategy removes, and what is left then.
type selection struct {
	units    []int // indexes of the removed units, ascending
	messages int   // removed
	kept     int   // messages
	tokens   int   // of the request
}

// meets reports whether the target is reached.
func (s selection) meets(target int) bool { return s.tokens <= target }

// efficiency rates a removal from 0 to 1. More removed tokens are better, and
// fewer removed messages: 0.6 · (1 − after/before) + 0.4 · kept/(kept + removed).
func (s selection) efficiency(before int) float64 {
	var e float64
	if before > 0 {
		e += 0.6 * (1 - float64(s.tokens)/float64(before))
	}
	if all := s.kept + s.messages; all > 0 {
		e += 0.4 * float64(s.kept) / float64(all)
	}
	return e
}

// decision is the strategy that is used.
type decision struct {
	strategy   string  // Middle, Oldest, or "" if both are to be tried
	confidence float64 // of Hybrid, from 0 to 1; 0: it tries both, or is not used
}

// choose returns what the strategy removes. Hybrid decides for one, or uses the better
// of both.
func (s *snapshot) choose() (selection, decision) {
	d := decision{strategy: s.Strategy}
	if s.Strategy == hybridStrategy {
		d = s.decide()
	}
	if d.strategy == middleStrategy {
		return s.middle(), d
	}
	if d.strategy == oldestStrategy {
		return s.oldest(), d
	}
	middle, oldest := s.middle(), s.oldest()
	if s.better(middle, oldest) {
		return middle, decision{strategy: middleStrategy}
	}
	return oldest, decision{strategy: oldestStrategy}
}

// middle removes units between the first PreserveStart and the last PreserveEnd
// messages; if that is not enough, those of low priority at the start, then at the end.
func (s *snapshot) middle() selection {
	start, middle, end := s.groups(s.PreserveStart)
	return s.remove(group{middle, message.PriorityHigh}, group{start, message.PriorityLow}, group{end, message.PriorityLow})
}

// oldest removes units before the last PreserveEnd messages.
func (s *snapshot) oldest() selection {
	_, old, _ := s.groups(0)
	return s.remove(group{old, message.PriorityHigh})
}

// group is a list of units of which those up to a priority may be removed.
type group struct {
	units   []int
	highest message.Priority
}

// groups splits the units that are not critical. A unit that is partly in the
// first or the last messages belongs to start or end as a whole; one that could be
// in both belongs to the end.
func (s *snapshot) groups(preserveStart int) (start, middle, end []int) {
	some := make([]int, 0, len(s.units))
	for i := range s.units {
		if s.units[i].priority < message.PriorityCritical {
			some = append(some, i)
		}
	}
	last := len(some)
	for n := 0; last > 0 && n < s.PreserveEnd; {
		last--
		n += len(s.units[some[last]].tokens)
	}
	first := 0
	for n := 0; first < last && n < preserveStart; first++ {
		n += len(s.units[some[first]].tokens)
	}
	return some[:first], some[first:last], some[last:]
}

// remove removes units until the target is reached, of each group the lowest
// priority first.
func (s *snapshot) remove(groups ...group) selection {
	out := selection{tokens: s.tokens}
	for i := range s.units {
		out.kept += len(s.units[i].tokens)
	}
	for _, g := range groups {
		for p := message.Priority(0); p <= g.highest && !out.meets(s.target); p++ {
			class := slices.DeleteFunc(slices.Clone(g.units), func(i int) bool { return s.units[i].priority != p || s.units[i].held })
			s.removeClass(&out, class)
		}
	}
	slices.Sort(out.units)
	return out
}

// removeClass adds units of one priority: lowest score first, and of one score the
// oldest. A score may read the rest of the conversation, so no score is computed if
// all units are removed, or after the target is reached.
func (s *snapshot) removeClass(out *selection, class []int) {
	type scored struct {
		i     int
		score float64
	}
	var important []scored
	score := s.score
	if score == nil || s.needsAll(*out, class) {
		score = func(int) float64 { return 0 }
	}
	for _, i := range class {
		if n := score(i); n > 0 {
			important = append(important, scored{i, n})
		} else if s.removeUnit(out, i) {
			return
		}
	}
	slices.SortStableFunc(important, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	for _, u := range important {
		if s.removeUnit(out, u.i) {
			return
		}
	}
}

// needsAll reports whether the target takes all units of a class, in any order.
func (s *snapshot) needsAll(out selection, class []int) bool {
	for _, i := range class {
		out.tokens -= s.units[i].total()
		out.kept -= len(s.units[i].tokens)
	}
	return out.tokens >= s.target && out.kept >= s.MinMessages
}

// removeUnit adds a unit, unless it has no tokens or too few messages would be left.
// It reports whether the target is reached.
func (s *snapshot) removeUnit(out *selection, i int) bool {
	u := &s.units[i]
	if n := u.total(); n > 0 && out.kept-len(u.tokens) >= s.MinMessages {
		out.units = append(out.units, i)
		out.messages += len(u.tokens)
		out.kept -= len(u.tokens)
		out.tokens -= n
	}
	return out.meets(s.target)
}

// total returns the tokens of all messages of the unit.
func (u *unit) total() int {
	n := 0
	for _, t := range u.tokens {
		n += t
	}
	return n
}

// decide applies the first rule that fits.
func (s *snapshot) decide() decision {
	ratio := 1.0
	if s.tokens > 0 {
		ratio = float64(s.target) / float64(s.tokens)
	}
	special, messages, all, newest, biggest := false, 0, 0, 0, 0
	for i := range slices.Backward(s.units) {
		special = special || s.units[i].special
		for _, n := range slices.Backward(s.units[i].tokens) {
			all += n
			biggest = max(biggest, n)
			if messages < 5 {
				newest += n
			}
			messages++
		}
	}
	switch {
	case ratio > 0.8 && messages < 20:
		return decision{middleStrategy, 0.8}
	case ratio <= 0.6 && messages > 30:
		return decision{oldestStrategy, 0.9}
	case float64(newest) > 0.4*float64(all):
		return decision{middleStrategy, 0.7}
	case ratio <= 0.8 && biggest > 300:
		return decision{oldestStrategy, 0.6}
	case special:
		return decision{middleStrategy, 0.7}
	}
	return decision{}
}

// better reports whether the first of two selections is at least as good as the
// second: one that reaches the target is better than one that does not, unless
// EfficiencyOnly is set; otherwise the more efficient one is better.
func (s *snapshot) better(first, second selection) bool {
	if a, b := first.meets(s.target), second.meets(s.target); a != b && !s.EfficiencyOnly {
		return a
	}
	return first.efficiency(s.tokens) >= second.efficiency(s.tokens)
}
