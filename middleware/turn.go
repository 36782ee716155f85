package middleware

import (
	"slices"

	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/store"
)

// turn is the log of a call up to a view: what editors have done, and what is to be written of it. It is a value: each layer
// passes a new one on, since a layer may make a call twice.
type turn struct {
	reported  int               // first position of the history whose change an event has reported
	steps     []journal.Step    // that have led from what the journal has to the edits of the view
	attempts  []attempt         // of editors
	economics report.Economics  // of the edits that were reported
	removed   []store.Named     // in a dry run: what its edits remove
	thinking  *journal.Thinking // what the journal is to have of the thinking in the request; nil: what it has
}

// tried returns the log with an attempt more.
func (t turn) tried(a attempt) turn {
	t.attempts = append(slices.Clip(t.attempts), a)
	return t
}

// changed returns the log if an event reports, or has reported, what changes from a position on.
func (t turn) changed(position int) turn {
	t.reported = min(t.reported, position)
	return t
}

// written returns the log when all of it is remembered, but for attempts. In a dry run, it is still to be written by a commit.
func (t turn) written(dry bool) turn {
	t.thinking = nil
	if !dry {
		t.steps = nil
	}
	return t
}

// unsaved reports whether the journal has other edits than the view, or is to have them in another place.
func (v *View) unsaved() bool {
	s := v.session
	st := &s.track.State
	edited := len(v.list)+len(st.list) > 0 && !v.list.Equal(st.list)
	return edited || st.pending != nil || s.log.Shared && s.log.Borrows(st.Known)
}

// edits returns the edits that were made since the view was opened.
func (v *View) edits() edit.List {
	return slices.DeleteFunc(slices.Clone(v.list), v.session.opened.State.list.Has)
}
