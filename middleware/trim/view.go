package trim

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/internal/units"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// survey is a view with what may be removed from it.
type survey struct {
	snapshot

	view  *middleware.View
	runs  []message.Unit // the same units as those of the snapshot
	text  string         // of the note in place of what is removed; "": there is no note
	note  int            // tokens of the note
	added int            // tokens that the new note has more than those it replaces
	notes []message.Run  // earlier notes, which the new one replaces
}

// survey looks at a view that has more tokens than the target.
func (t *trimmer) survey(ctx context.Context, v *middleware.View, target int) *survey {
	s := &survey{snapshot: snapshot{Options: t.Options}, view: v, runs: units.Of(v), text: t.Note}
	h := store.Handle{}
	if v.Env().Archive != nil {
		s.text, h = cmp.Or(t.Note, defaultNote), shorten.Likely
	}
	if s.text != "" {
		s.note = v.Meter().Message(s.noteFor(h))
		s.added = s.note
	}
	s.units = make([]unit, len(s.runs))
	sizes := make([]int, v.Len())
	for k, u := range s.runs {
		if ctx.Err() != nil {
			return s
		}
		s.units[k] = s.unit(u, sizes[u.First:u.Last+1])
	}
	if n := len(s.units); n > 0 {
		s.units[n-1].held = true // the model continues from it
	}
	s.tokens = v.Size().Counted
	need := sort.Search(s.tokens, func(n int) bool { return v.Without(n).Size().Tokens <= target })
	s.target = s.tokens - need - s.added
	scoreOf, known := t.Score, map[int]float64{}
	if scoreOf == nil {
		scoreOf = func(v *middleware.View) func(message.Unit) float64 { return byUse(ctx, v) }
	}
	score, recalledLast := scoreOf(v), s.recalledLast()
	s.score = func(i int) float64 { // computed once
		if _, ok := known[i]; !ok && ctx.Err() == nil {
			known[i] = score(s.runs[i])
			if recalledLast && s.isRecall(i) {
				known[i] = math.Inf(1)
			}
		}
		return known[i]
	}
	return s
}

// isRecall reports whether a unit is a round that has read the archive, and what it has
// read is as it was.
func (s *survey) isRecall(i int) bool {
	u := s.runs[i]
	return s.view.Env().Archive != nil && shorten.ReadsArchive(s.view.At(u.First)) && s.view.Span(u.Last).Edit == nil
}

// recalledLast reports whether what was read from the archive is removed after the rest of
// its priority, since the model needs it and would read it again. The rest must have at
// least as many tokens.
func (s *survey) recalledLast() bool {
	recalled, rest := 0, 0
	for i := range s.units {
		u := &s.units[i]
		switch {
		case u.held || u.priority == message.PriorityCritical:
		case s.isRecall(i):
			recalled += u.total()
		default:
			rest += u.total()
		}
	}
	return recalled > 0 && rest >= recalled
}

// unit describes a unit of the view. Its tokens are written to sizes.
func (s *survey) unit(run message.Unit, sizes []int) unit {
	u := unit{tokens: sizes, special: run.Round}
	for i := run.First; i <= run.Last; i++ {
		m, n := s.view.At(i), s.view.TokensOf(i)
		sizes[i-run.First] = n
		u.priority = max(u.priority, priorityOf(m, i, s.view.Len(), n))
		u.special = u.special || m.Role == message.RoleTool || m.Role == message.RoleSystem
		if p := s.view.Protected(i); p.Whole {
			u.priority = message.PriorityCritical
		} else if p != (middleware.Protection{}) {
			u.held = true
		}
		if e := s.view.Span(i).Edit; e != nil && e.Kind == journal.Fold && (e.Middleware != layerName || s.text != "") {
			u.priority = message.PriorityCritical // a summary replaces many messages; an earlier note is replaced
			if e.Middleware == layerName {
				s.notes = append(s.notes, message.Run{First: i, Last: i})
				s.added -= n
			}
		}
	}
	return u
}

// priorityOf returns the priority of message at of n. The first rule that fits decides.
func priorityOf(m message.Message, at, n, tokens int) message.Priority {
	switch {
	case m.Hints.Pinned:
		return message.PriorityCritical
	case m.Hints.Priority != 0:
		return m.Hints.Priority
	case m.Role == message.RoleSystem:
		return message.PriorityCritical
	case m.Role == message.RoleTool, at < 2, at >= n-2, tokens > 800:
		return message.PriorityHigh
	case tokens < 20 && !asks(m):
		return message.PriorityLow
	case m.HasCalls():
		return message.PriorityHigh
	}
	return message.PriorityNormal
}

// asks reports whether a text has a question mark, also a Chinese one.
func asks(m message.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		t, ok := p.(message.Text)
		return ok && strings.ContainsAny(t.Text, "?？")
	})
}

// freed returns by how many tokens a selection makes the view shorter.
func (s *survey) freed(out selection) int {
	if out.messages == 0 {
		return 0
	}
	return s.tokens - out.tokens - s.added
}

// remove returns what the strategy selects, and the edits that remove it. How long
// the note is depends on the handle in it, and the handle on what is selected, so the
// strategy runs again if the note is longer than expected and the target is missed.
func (s *survey) remove() (out selection, d decision, edits []middleware.Edit) {
	for {
		out, d = s.choose()
		if s.freed(out) <= 0 {
			return out, d, nil
		}
		edits = s.edits(out)
		if s.text == "" {
			return out, d, edits
		}
		longer := s.view.Meter().Message(edits[0].Messages[0]) - s.note
		s.note += longer
		s.added += longer
		if longer <= 0 || !out.meets(s.target) || out.meets(s.target-longer) {
			return out, d, edits
		}
		s.target -= longer
	}
}

// edits returns the edits that remove a selection: one for all of it if there is a
// note, otherwise one for each run of adjacent messages.
func (s *survey) edits(out selection) []middleware.Edit {
	var removed []message.Run
	for _, k := range out.units {
		removed = append(removed, s.runs[k].Run)
	}
	runs := merged(append(removed, s.notes...))
	if s.text != "" {
		h, contents := s.view.ArchiveRuns(runs)
		return []middleware.Edit{{Kind: journal.Fold, Runs: runs, Messages: []message.Message{s.noteFor(h)}, Archive: contents}}
	}
	edits := make([]middleware.Edit, len(runs))
	for i := range runs {
		edits[i] = middleware.Edit{Kind: journal.Fold, Runs: runs[i : i+1 : i+1]}
	}
	return edits
}

// noteFor returns the note for messages that are archived under a handle.
func (s *survey) noteFor(h store.Handle) message.Message {
	return message.User(store.Placeholder(s.text, h))
}

// merged sorts runs and joins adjacent ones.
func merged(runs []message.Run) []message.Run {
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
