package middleware

import (
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Refold returns the draft with other messages, or none, as the product of fold
// i of Edits. They are copied. The same rules hold as for a plan; an error of
// kind [Invalid] says which one the change would break.
func (d *DraftResult) Refold(i int, msgs ...message.Message) (*DraftResult, error) {
	return d.change(i, Fold, func(r *Record) { r.Messages = appendOwn(nil, msgs) })
}

// Rewrite returns the draft with other parts for the message of rewrite i of
// Edits. They are copied. Errors are those of [DraftResult.Refold].
func (d *DraftResult) Rewrite(i int, parts ...message.Part) (*DraftResult, error) {
	return d.change(i, Rewrite, func(r *Record) { r.Parts = slices.Clone(parts) })
}

// Without returns the draft without edit i of Edits. What the edit covers comes
// back as it was before, edits of the same draft among it. Errors are those of
// [DraftResult.Refold]. If the draft is committed and the trigger is met by
// then, the middleware will want to make the edit again.
func (d *DraftResult) Without(i int) (*DraftResult, error) {
	v, e, err := d.edit(i)
	if err != nil {
		return nil, err
	}
	under := e.Under
	if e.Kind == Rewrite {
		under = v.call.track.found.list.inside(e.Runs)
	}
	l := slices.DeleteFunc(slices.Clone(v.list), func(it item) bool { return it.Record == e })
	for _, r := range under {
		l = append(l, v.call.chain.weigh(r, v.call))
	}
	l.sort()
	return d.with(i, l)
}

func (d *DraftResult) change(i int, kind EditKind, do func(r *Record)) (*DraftResult, error) {
	v, e, err := d.edit(i)
	if err != nil {
		return nil, err
	}
	if e.Kind != kind {
		return nil, misdrafted(i, fmt.Errorf("is a %s, want a %s", e.Kind, kind))
	}
	r := *e
	do(&r)
	l := slices.Clone(v.list)
	k := slices.IndexFunc(l, func(it item) bool { return it.Record == e })
	l[k] = v.call.chain.weigh(&r, v.call)
	return d.with(i, l)
}

// edit returns edit i with the view that it can be changed in.
func (d *DraftResult) edit(i int) (*View, *Record, error) {
	if i < 0 || i >= len(d.Edits) {
		return nil, nil, misdrafted(i, fmt.Errorf("is none of the %d of the draft", len(d.Edits)))
	}
	e := d.Edits[i]
	if e.run != len(d.runs)-1 {
		return nil, nil, misdrafted(i, errors.New("lies before a middleware that changed the messages; change those behind it"))
	}
	return d.After, e.record, nil
}

// with returns the draft with other edits in its last view.
func (d *DraftResult) with(i int, l list) (*DraftResult, error) {
	last := len(d.runs) - 1
	v := *d.runs[last]
	v.list, v.shape = l, l.apply(v.call)
	if fresh := v.fresh(); len(fresh) > 0 {
		if err := verify(v.opened(), &v, fresh.records(), false); err != nil {
			return nil, misdrafted(i, err)
		}
	}
	return newDraft(append(slices.Clone(d.runs[:last]), &v), d.Events), nil
}

func misdrafted(i int, err error) error {
	return &Error{Kind: Invalid, Op: "middleware", Err: fmt.Errorf("draft: edit %d: %w", i, err)}
}
