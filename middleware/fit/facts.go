package fit

import (
	"slices"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Placeholders have facts as long as no messages are left out for them. The lines are made
// once the plan is known, since they have only what the rest of the view does not show.
// Until then, each counts as long as it may be.

// isPlaceholder reports whether a result is only a placeholder, perhaps with facts.
func (s *sketch) isPlaceholder(at int, id string) bool {
	for _, r := range s.index.Pieces(s.now[at].Parts, id) {
		return digest.IsPlaceholder(r.Text)
	}
	return false
}

// leaveFact notes that the placeholder of a result is to have facts. Without them, the
// result frees a number of tokens. It returns about how many of these the facts take at most.
func (s *sketch) leaveFact(at int, id string, frees int) load {
	if s.line == 0 || s.isPlaceholder(at, id) {
		return load{}
	}
	r := digest.Result{At: at, CallID: id, Frees: frees}
	s.left = append(s.left, r)
	return s.longest(r)
}

// longest returns the load of the facts of a result, if these are as long as they may be.
func (s *sketch) longest(r digest.Result) load { return load{tokens: min(s.line, r.Frees)} }

// leaveNoFacts removes the facts again.
func (s *sketch) leaveNoFacts() {
	for _, r := range s.left {
		s.loads[r.At], s.total = s.loads[r.At].minus(s.longest(r)), s.total.minus(s.longest(r))
	}
	s.left = nil
}

// leaveFacts adds the facts to the placeholders in the edits of the sketch.
func (s *sketch) leaveFacts(edits []middleware.Edit) {
	if len(s.left) == 0 {
		return
	}
	now := slices.DeleteFunc(slices.Clone(edits), func(e middleware.Edit) bool { return e.Kind == journal.Fold })
	for i, st := range s.state {
		if st == folded {
			now = append(now, middleware.Edit{At: i}) // shows nothing
		}
	}
	digest.Leave(s.view, now, s.left, s.line)
}
