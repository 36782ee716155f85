package middleware

import (
	"slices"

	"github.com/laconic-go/laconic/message"
)

// DraftEdit is one edit of a [DraftResult]. An edit made of another one of the
// same draft, as a fold over results just cleared, stands alone for both.
type DraftEdit struct {
	By       string
	Kind     EditKind
	Runs     []message.Run     // history positions that it covers
	Parts    []message.Part    // of a rewrite: what the message would have
	Messages []message.Message // of a fold: what would stand where the last of the runs stood
	Freed    int               // tokens by which it makes After shorter than Before
	Why      string            // as in the event

	run    int // index of the view whose edit it is
	record *Record
}

// draftEdit describes one edit of the view.
func (v *View) draftEdit(run int, it item, events []Event) DraftEdit {
	e := DraftEdit{
		By: it.By, Kind: it.Kind, Parts: it.Parts, Messages: it.Messages,
		Freed: v.freed(it), run: run, record: it.Record,
	}
	for _, r := range it.Runs {
		e.Runs = append(e.Runs, message.Run{First: v.call.lead + r.First, Last: v.call.lead + r.Last})
	}
	inPlace := func(r *Record) bool { return r.Kind == it.Kind && slices.Equal(r.Runs, it.Runs) }
	for _, ev := range slices.Backward(events) {
		if ev.By == it.By && slices.ContainsFunc(ev.Edits, inPlace) {
			e.Why = ev.Why
			break
		}
	}
	return e
}

// alone returns the view as carried by a request that is outside of any chain.
func (v *View) alone() *View {
	r, w := *v.req, *v
	r.owner, r.left, r.observers, r.probe = nil, false, nil, nil
	w.req = &r
	r.see(&w)
	return &w
}

// opened returns the view as it was before any editor worked on it.
func (v *View) opened() *View {
	w := *v
	w.list = v.call.track.found.list
	w.shape = w.list.apply(v.call)
	return &w
}

// fresh returns the edits that the view did not open with.
func (v *View) fresh() list {
	opened := v.call.track.found.list
	return slices.DeleteFunc(slices.Clone(v.list), opened.has)
}

// freed returns the tokens by which one of the edits makes the view shorter.
func (v *View) freed(it item) int {
	c, n := v.call, -it.tokens
	plain := func(runs []message.Run) (n int) {
		for _, r := range runs {
			for _, t := range c.toks[r.First : r.Last+1] {
				n += t
			}
		}
		return n
	}
	n += plain(it.Runs)
	for _, o := range c.track.found.list {
		if covered, _ := cover(it.Runs, o.Runs); covered {
			n += o.tokens - plain(o.Runs)
		}
	}
	return n
}
