package middleware

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// translate turns the edits of a plan, in positions of the view, into records,
// in positions of the body.
func (v *View) translate(by string, p *Plan) ([]*Record, error) {
	edits := p.Edits
	if err := v.wellFormed(edits); err != nil {
		return nil, err
	}
	if !inOrder(edits) {
		edits = slices.SortedFunc(slices.Values(edits), func(a, b Edit) int { return cmp.Compare(a.first(), b.first()) })
	}
	p.First = edits[0].first()
	t := translation{
		view: v, by: by,
		records: make([]Record, len(edits)),
		runs:    make([]message.Run, 0, len(edits)),
		folds:   map[*Record]*Record{},
	}
	out := make([]*Record, 0, len(edits))
	for i := range edits {
		r, err := t.record(&edits[i])
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

func inOrder(edits []Edit) bool {
	for i := 1; i < len(edits); i++ {
		if edits[i].first() < edits[i-1].first() {
			return false
		}
	}
	return true
}

// wellFormed checks what does not depend on the content of the view.
func (v *View) wellFormed(edits []Edit) error {
	runs := make([]message.Run, 0, len(edits))
	for i := range edits {
		var err error
		if runs, err = edits[i].appendRuns(runs, len(v.msgs)); err != nil {
			return fmt.Errorf("edit %d %w", i, err)
		}
	}
	sortRuns(runs)
	for i := 1; i < len(runs); i++ {
		if runs[i].First <= runs[i-1].Last {
			return fmt.Errorf("two edits cover message %d", runs[i].First)
		}
	}
	if len(runs) > 0 && runs[0].First < v.call.lead {
		return fmt.Errorf("message %d is a leading system message, which stays", runs[0].First)
	}
	return nil
}

// appendRuns appends the runs that an edit covers, of a view of n messages.
func (e *Edit) appendRuns(runs []message.Run, n int) ([]message.Run, error) {
	switch e.Kind {
	case Rewrite:
		if e.At < 0 || e.At >= n {
			return nil, fmt.Errorf("rewrites message %d of %d", e.At, n)
		}
		return append(runs, message.Run{First: e.At, Last: e.At}), nil
	case Fold:
		end := -1
		for _, r := range e.Runs {
			if r.First <= end || r.Last < r.First || r.Last >= n {
				return nil, fmt.Errorf("folds messages %d to %d of %d", r.First, r.Last, n)
			}
			end = r.Last
		}
		if len(e.Runs) == 0 {
			return nil, errors.New("folds no message")
		}
		return append(runs, e.Runs...), nil
	default:
		return nil, fmt.Errorf("has kind %q, want %q or %q", e.Kind, Rewrite, Fold)
	}
}

// translation turns edits into records, with few allocations for many edits.
type translation struct {
	view    *View
	by      string
	records []Record // as many as there are edits still to come
	runs    []message.Run
	folds   map[*Record]*Record // folds whose products are rewritten
}

// new returns a new record over runs of the body.
func (t *translation) new(kind EditKind, runs []message.Run) *Record {
	r := &t.records[0]
	t.records = t.records[1:]
	r.By, r.Kind, r.Runs = t.by, kind, runs
	r.Made, r.ID = len(t.view.call.body), t.view.call.ids[r.last()]
	return r
}

// record returns the record of an edit, or nil if it has become part of the
// record of an earlier one.
func (t *translation) record(e *Edit) (*Record, error) {
	if e.Kind == Fold {
		return t.fold(e)
	}
	s := t.view.span(e.At)
	if s.rec != nil && s.rec.Kind == Fold {
		return t.product(s, e.Parts), nil
	}
	t.runs = append(t.runs, message.Run{First: s.first, Last: s.last})
	n := len(t.runs)
	r := t.new(Rewrite, t.runs[n-1:n:n])
	r.Parts = e.Parts
	return r, nil
}

// product returns the fold of s with one message of its product rewritten, on
// top of what it was.
func (t *translation) product(s span, parts []message.Part) *Record {
	old := t.folds[s.rec]
	if old != nil {
		old.Messages[s.nth].Parts = parts
		return nil
	}
	msgs := slices.Clone(s.rec.Messages)
	msgs[s.nth].Parts = parts
	r := t.new(Fold, s.rec.Runs)
	r.Messages, r.Under = msgs, undo([]*Record{s.rec}, maxUndo)
	t.folds[s.rec] = r
	return r
}

// fold returns the record of a fold: it covers what its runs show, and with it
// the earlier folds among that.
func (t *translation) fold(e *Edit) (*Record, error) {
	v := t.view
	var runs []message.Run
	for _, run := range e.Runs {
		whole := message.Run{First: -1, Last: -1}
		for i := run.First; i <= run.Last; i++ {
			s := v.span(i)
			if s.rec != nil && s.rec.Kind == Fold {
				first := i - s.nth
				if first < run.First || first+len(s.rec.Messages)-1 > run.Last {
					return nil, errCut
				}
				runs = append(runs, s.rec.Runs[:len(s.rec.Runs)-1]...)
				s.first = s.rec.Runs[len(s.rec.Runs)-1].First
			}
			if whole.First < 0 {
				whole.First = s.first
			}
			whole.Last = s.last
		}
		runs = append(runs, whole)
	}
	runs = v.list.leave(merged(runs))
	r := t.new(Fold, runs)
	r.Messages, r.Under = e.Messages, undo(v.list.inside(runs), maxUndo)
	return r, nil
}

// merged orders runs and joins those that overlap.
func merged(runs []message.Run) []message.Run {
	sortRuns(runs)
	out := runs[:0]
	for _, r := range runs {
		if n := len(out); n > 0 && r.First <= out[n-1].Last {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return slices.Clip(out)
}

// undo returns records of which folds lie inside one another so many times at
// most.
func undo(records []*Record, levels int) []*Record {
	for i, r := range records {
		if len(r.Under) == 0 {
			continue
		}
		c := *r
		c.Under = nil
		if levels > 1 {
			c.Under = undo(slices.Clone(r.Under), levels-1)
		}
		records[i] = &c
	}
	return records
}
