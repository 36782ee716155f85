package middleware

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// translate turns the edits of a plan, in positions of the view, into records, in
// positions of the history after the leading system messages. If window is not 0, they do
// not hold in a larger one.
func translate(v *View, name string, p *Plan, window int) ([]*journal.Record, error) {
	edits := p.Edits
	var err error
	if p.First, err = wellFormed(v, edits); err != nil {
		return nil, err
	}
	t := translation{
		view: v, name: name, window: window,
		records: make([]journal.Record, len(edits)),
		runs:    make([]message.Run, 0, len(edits)),
		folds:   map[*journal.Record]*journal.Record{},
	}
	out := make([]*journal.Record, 0, len(edits))
	for i := range edits {
		e := &edits[i]
		var r *journal.Record
		if e.Kind == journal.Fold {
			if r, err = t.fold(e.Runs); err != nil {
				return nil, err
			}
			r.Messages, r.Once = e.Messages, e.Once
		} else {
			r = t.rewrite(e)
		}
		if r != nil {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *journal.Record) int { return cmp.Compare(a.Runs[0].First, b.Runs[0].First) })
	return out, nil
}

// wellFormed checks what does not depend on the content of the view, and returns the first
// message that is edited.
func wellFormed(v *View, edits []Edit) (first int, err error) {
	runs, n := make([]message.Run, 0, len(edits)), len(v.result.Messages)
	for i := range edits {
		switch e := &edits[i]; {
		case e.Kind == journal.Rewrite && (e.At < 0 || e.At >= n):
			return 0, fmt.Errorf("edit %d rewrites message %d of %d", i, e.At, n)
		case e.Kind == journal.Rewrite:
			runs = append(runs, message.Run{First: e.At, Last: e.At})
			continue
		case e.Kind != journal.Fold:
			return 0, fmt.Errorf("edit %d has kind %q, want %q or %q", i, e.Kind, journal.Rewrite, journal.Fold)
		case len(e.Runs) == 0:
			return 0, fmt.Errorf("edit %d folds no message", i)
		}
		end := -1
		for _, r := range edits[i].Runs {
			if r.First <= end || r.Last < r.First || r.Last >= n {
				return 0, fmt.Errorf("edit %d folds messages %d to %d of %d", i, r.First, r.Last, n)
			}
			end = r.Last
		}
		runs = append(runs, edits[i].Runs...)
	}
	slices.SortFunc(runs, func(a, b message.Run) int { return cmp.Compare(a.First, b.First) })
	for i := 1; i < len(runs); i++ {
		if runs[i].First <= runs[i-1].Last {
			return 0, fmt.Errorf("two edits cover message %d", runs[i].First)
		}
	}
	if runs[0].First < len(v.session.Lead) {
		return 0, fmt.Errorf("message %d is a leading system message, which must stay", runs[0].First)
	}
	return runs[0].First, nil
}

// translation turns edits into records, with few allocations for many edits.
type translation struct {
	view    *View
	name    string
	window  int
	records []journal.Record // as many as there are edits to come
	runs    []message.Run
	folds   map[*journal.Record]*journal.Record // folds whose messages are rewritten, and their replacements
}

// add returns a new record.
func (t *translation) add(kind journal.Kind, runs []message.Run) *journal.Record {
	s := t.view.session
	r := &t.records[0]
	t.records = t.records[1:]
	r.Middleware, r.Kind, r.Runs, r.Window = t.name, kind, runs, t.window
	r.HistoryLen, r.ID = len(s.Body), s.IDs[runs[len(runs)-1].Last]
	return r
}

// rewrite returns the record of a rewrite. If it rewrites a message of a fold, that is the
// same fold with other messages; nil if an earlier edit has made its record.
func (t *translation) rewrite(e *Edit) *journal.Record {
	s := t.view.span(e.At)
	if s.Record == nil || s.Record.Kind != journal.Fold {
		t.runs = append(t.runs, message.Run{First: s.First, Last: s.Last})
		n := len(t.runs)
		r := t.add(journal.Rewrite, t.runs[n-1:n:n])
		r.Parts, r.Once = e.Parts, e.Once
		if s.Record != nil && s.Record.Kind == journal.Rewrite {
			r.Covered = edit.Outlasting(r, s.Record)
		}
		return r
	}
	if changed := t.folds[s.Record]; changed != nil {
		changed.Messages[s.Nth].Parts, changed.Once = e.Parts, changed.Once || e.Once
		return nil
	}
	r := t.add(journal.Fold, s.Record.Runs)
	r.Messages = slices.Clone(s.Record.Messages)
	r.Messages[s.Nth].Parts, r.Once = e.Parts, e.Once
	cover(r, []*journal.Record{s.Record})
	t.folds[s.Record] = r
	return r
}

// fold returns the record of a fold, without its messages: it covers the positions of the
// messages in its runs, and with them the earlier folds among these.
func (t *translation) fold(viewRuns []message.Run) (*journal.Record, error) {
	v := t.view
	var runs []message.Run
	for _, run := range viewRuns {
		whole := message.Run{First: -1, Last: -1}
		for i := run.First; i <= run.Last; i++ {
			s := v.span(i)
			if s.Record != nil && s.Record.Kind == journal.Fold {
				first := i - s.Nth
				if first < run.First || first+len(s.Record.Messages)-1 > run.Last {
					return nil, edit.ErrPartial
				}
				runs = append(runs, s.Record.Runs[:len(s.Record.Runs)-1]...)
				s.First = s.Record.Runs[len(s.Record.Runs)-1].First
			}
			if whole.First < 0 {
				whole.First = s.First
			}
			whole.Last = s.Last
		}
		runs = append(runs, whole)
	}
	edit.SortRuns(runs)
	joined := runs[:0]
	for _, r := range runs {
		if n := len(joined); n == 0 || r.First > joined[n-1].Last { // else all of it is inside: no edit covers a part of another
			joined = append(joined, r)
		}
	}
	covered := v.list.ExcludePartialFolds(slices.Clip(joined))
	r := t.add(journal.Fold, covered)
	cover(r, v.list.Inside(covered))
	return r, nil
}

// cover makes a fold cover earlier edits. These are only kept to a depth, so the handles of
// all folds among them are kept beside them.
func cover(r *journal.Record, inside []*journal.Record) {
	r.Earlier = earlierHandles(inside)
	r.Covered = edit.Undoable(inside)
}
