package trim

import (
	"cmp"
	"slices"
	"sort"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// survey is what a view has to remove, in tokens by the meter.
type survey struct {
	Case

	view  *middleware.View
	units []message.Unit // the same as those of the case
	text  string         // of the note that shall stand in place of what is removed; "": nothing shall
	note  int            // tokens of that note
	spent int            // tokens by which notes become more; less than 0: fewer
	notes []message.Run  // notes that stand there already, and give way to the new one
}

// likely is a handle as good as any to tell how long a note will be.
var likely = store.HandleOf("", store.Content{})

// survey looks at a view that has more tokens than the target.
func (t *trimmer) survey(v *middleware.View, target int) *survey {
	s := &survey{
		Case: Case{
			PreserveStart: t.PreserveStart, PreserveEnd: t.PreserveEnd, MinMessages: t.MinMessages,
			EfficiencyOnly: t.EfficiencyOnly,
		},
		view:  v,
		units: message.Units(v.Messages()),
	}
	h := store.Handle{}
	if s.text = t.Note; v.Env().Archive != nil {
		s.text, h = cmp.Or(t.Note, DefaultNote), likely
	}
	if s.text != "" {
		s.note = v.Meter().Message(s.noteUnder(h))
		s.spent = s.note
	}
	s.Units = make([]Unit, len(s.units))
	sizes := make([]int, v.Len())
	for k, u := range s.units {
		s.Units[k] = s.look(u, sizes[u.First:u.Last+1])
		s.Units[k].Age = k
	}
	if n := len(s.units); n > 0 {
		s.Units[n-1].Held = true // it is what the model is asked about
	}
	s.holdOrphans()
	s.Tokens = v.Size().Counted
	need := sort.Search(s.Tokens, func(n int) bool { return v.Without(n).Size().Tokens <= target })
	s.Target = s.Tokens - need - s.spent
	score := t.Score(v)
	s.Score = func(i int) float64 { return score(s.units[i]) }
	return s
}

// look returns what there is to know of a unit.
func (s *survey) look(unit message.Unit, sizes []int) Unit {
	u := Unit{Tokens: sizes, Aside: unit.Round}
	for i := unit.First; i <= unit.Last; i++ {
		m, n := s.view.At(i), s.view.TokensOf(i)
		sizes[i-unit.First] = n
		u.Priority = max(u.Priority, PriorityOf(m, i, s.view.Len(), n))
		u.Aside = u.Aside || m.Role == message.RoleTool || m.Role == message.RoleSystem
		if p := s.view.Protected(i); p&middleware.Whole != 0 {
			u.Priority = message.PriorityCritical
		} else if p != 0 {
			u.Held = true
		}
		e := s.view.Span(i).Edit
		switch {
		case e == nil || e.Kind != middleware.Fold:
		case e.By != Name: // a summary stands for many messages
			u.Priority = message.PriorityCritical
		case s.text != "":
			u.Priority = message.PriorityCritical
			s.notes = append(s.notes, message.Run{First: i, Last: i})
			s.spent -= n
		}
	}
	return u
}

// holdOrphans holds results that have no call, and all from the last message of the
// assistant before each of them: if that went, the result might be taken for one of
// a round before it.
func (s *survey) holdOrphans() {
	orphan := false
	for k, u := range slices.Backward(s.units) {
		role := s.view.At(u.First).Role
		orphan = orphan || role == message.RoleTool
		s.Units[k].Held = s.Units[k].Held || orphan
		if role == message.RoleAssistant {
			orphan = false
		}
	}
}

// freed returns by how many tokens the view becomes shorter.
func (s *survey) freed(o Outcome) int {
	if o.Gone == 0 {
		return 0
	}
	return s.Tokens - o.Tokens - s.spent
}

// noteUnder returns the note for what is kept under a handle.
func (s *survey) noteUnder(h store.Handle) message.Message {
	return message.User(store.Placeholder(s.text, h))
}

// longer takes in how long the note of edits is, and returns by how many tokens it
// is longer than was thought.
func (s *survey) longer(edits []middleware.Edit) int {
	if s.text == "" {
		return 0
	}
	n := s.view.Meter().Message(edits[0].Messages[0])
	longer := n - s.note
	s.note += longer
	s.spent += longer
	return longer
}

// edits returns the edits that remove what has been chosen: one for each run of
// neighbours, or, if a note shall stand for all of it, one for everything.
func (s *survey) edits(o Outcome) []middleware.Edit {
	var runs []message.Run
	for _, k := range o.Removed {
		runs = append(runs, s.units[k].Run)
	}
	runs = joined(append(runs, s.notes...))
	if s.text != "" {
		h, contents := s.view.ArchiveRuns(runs)
		return []middleware.Edit{{Kind: middleware.Fold, Runs: runs, Messages: []message.Message{s.noteUnder(h)}, Archive: contents}}
	}
	edits := make([]middleware.Edit, len(runs))
	for i := range runs {
		edits[i] = middleware.Edit{Kind: middleware.Fold, Runs: runs[i : i+1 : i+1]}
	}
	return edits
}

// joined puts runs in order and makes one of neighbours.
func joined(runs []message.Run) []message.Run {
	slices.SortFunc(runs, func(a, b message.Run) int { return a.First - b.First })
	out := runs[:0]
	for _, r := range runs {
		if n := len(out); n > 0 && out[n-1].Last+1 == r.First {
			out[n-1].Last = r.Last
			continue
		}
		out = append(out, r)
	}
	return out
}
