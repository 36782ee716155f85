package summarize

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// source knows where the messages of a view come from.
type source struct {
	view  *middleware.View
	lead  int
	known []message.ID // IDs of the history; nil: nobody has asked for them
	shown []int        // by position of the history: the message of the view that stands for it; -1: none
}

func newSource(v *middleware.View) *source {
	s := &source{view: v, lead: message.Leading(v.History()), shown: make([]int, len(v.History()))}
	for i := range s.shown {
		s.shown[i] = -1
	}
	for i := range v.Len() {
		for _, r := range s.runs(i) {
			for k := r.First; k <= r.Last; k++ {
				s.shown[k] = i
			}
		}
	}
	return s
}

// ids returns those of the history. To make them takes time, so that is done once,
// and only if they are asked for.
func (s *source) ids() []message.ID {
	if s.known == nil {
		s.known = message.IDs(s.view.History())
	}
	return s.known
}

// runs returns the positions of the history that message i of the view stands
// for.
func (s *source) runs(i int) []message.Run {
	span := s.view.Span(i)
	if span.Edit == nil || span.Edit.Kind != middleware.Fold {
		return []message.Run{span.Run}
	}
	runs := slices.Clone(span.Edit.Runs) // they count from behind the leading system messages
	for k := range runs {
		runs[k].First += s.lead
		runs[k].Last += s.lead
	}
	return runs
}

// behind returns the positions of the history that pieces stand for, in order:
// with those between them that others have removed, which a fold covers as well.
func (s *source) behind(pieces []piece) []int {
	in := make([]bool, len(s.shown))
	for _, r := range neighbours(pieces) {
		from, to := -1, -1
		for i := r.First; i <= r.Last; i++ {
			runs := s.runs(i)
			for _, h := range runs {
				for k := h.First; k <= h.Last; k++ {
					in[k] = true
				}
			}
			last := runs[len(runs)-1]
			if from < 0 {
				from = last.First
			}
			to = last.Last
		}
		for k := from; k <= to; k++ {
			in[k] = in[k] || s.shown[k] < 0
		}
	}
	var out []int
	for k, yes := range in {
		if yes {
			out = append(out, k)
		}
	}
	return out
}

// positions returns those of the history that the messages of one piece stand for,
// by themselves.
func (s *source) positions(p piece) []int {
	var out []int
	for i := p.First; i <= p.Last; i++ {
		for _, r := range s.runs(i) {
			for k := r.First; k <= r.Last; k++ {
				out = append(out, k)
			}
		}
	}
	return out
}

// mark marks the positions of a piece, and returns how many there are.
func (s *source) mark(p piece, marks []bool) int {
	all := s.positions(p)
	for _, k := range all {
		marks[k] = true
	}
	return len(all)
}

// messages returns the messages of the history at some positions.
func (s *source) messages(positions []int) []message.Message {
	out := make([]message.Message, len(positions))
	for i, k := range positions {
		out[i] = s.view.History()[k]
	}
	return out
}

// neighbours joins pieces that stand side by side.
func neighbours(pieces []piece) []message.Run {
	var out []message.Run
	for _, p := range pieces {
		if n := len(out); n > 0 && out[n-1].Last == p.First-1 {
			out[n-1].Last = p.Last
			continue
		}
		out = append(out, p.Run)
	}
	return out
}
