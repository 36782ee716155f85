package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Commit keeps the edits of the draft as a call would have kept them, so that
// the next call with the same history, or a grown one, begins with After, and
// no editor is asked to make them again; what editors have tried in vain counts as
// tried. The chain may be in use meanwhile.
// Observers hear nothing of it: Events has all that there is to tell.
//
// If the conversation has gone on meanwhile, that is no harm. If it has been
// edited since the draft was made, other than inside what the draft folds, the
// error is of kind [Outdated], and the edits made meanwhile stay in force. Edits
// behind the end of the drafted history count if this chain made or found them,
// and not from calls that are still under way. Other chains with the same
// journal find what is committed as they find the edits of a call.
//
// What the edits take out goes into the archive first, and if that fails nothing
// is kept. An error of the journal, or of the context, leaves open what was kept, and
// Commit may be repeated. Once the edits are kept, it does nothing more.
func (d *DraftResult) Commit(ctx context.Context) error {
	for _, v := range d.runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, c := v.call.track.found, v.call.chain.origin
		if f.unkept != nil || !slices.EqualFunc(v.list, f.list, sameEdit) {
			if err := v.keepIn(ctx, c); err != nil {
				return err
			}
		}
		if err := v.noteIn(c); err != nil {
			return err
		}
	}
	return nil
}

// keepIn puts the edits of a view that a fork has made into the journal of the
// chain itself.
func (v *View) keepIn(ctx context.Context, c *chain) error {
	cl, t, w := *v.call, *v.call.track, *v
	cl.chain, cl.track, w.call = c, &t, &cl
	then := t.found
	// What cannot be read now is met again when the edits are written.
	t.found, _ = c.latest(ctx, &cl, found{at: -1}, 0)
	same := t.found.at == then.at && t.found.entry.Rev == then.entry.Rev
	if !same && !v.list.covers(t.found.all.holding(&cl)) || c.memo.editedBehind(cl.body, v.list) {
		return errOutdated()
	}
	if err := w.putOut(ctx); err != nil {
		return err
	}
	kept, _, err := w.write(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("middleware: commit draft: %w", err)
	case !slices.EqualFunc(kept.list, v.list, sameEdit):
		return errOutdated()
	}
	return nil
}

// putOut puts what the edits of a dry run take out into the archive, unless they
// are there already.
func (v *View) putOut(ctx context.Context) error {
	if len(v.unput) == 0 || slices.EqualFunc(v.list, v.call.track.found.all.holding(v.call), sameEdit) {
		return nil
	}
	err := keepAll(ctx, v.unput)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("middleware: commit draft: archive what goes: %w", err)
	}
	return nil
}

func errOutdated() error {
	return &Error{
		Kind: Outdated, Op: "middleware",
		Err: errors.New("commit draft: the conversation has been edited since the draft was made; draft again"),
	}
}

// editedBehind reports whether a history that begins with this body has edits
// of its own, and not all of these.
func (m *memo) editedBehind(body []message.Message, l list) bool {
	tracks := m.tracks.Load()
	if tracks == nil {
		return false
	}
	return slices.ContainsFunc(*tracks, func(t *track) bool {
		if t.found.at < len(body) {
			return false
		}
		n, _ := t.common(body)
		return n == len(body) && slices.ContainsFunc(l, func(it item) bool { return !t.found.list.has(it) })
	})
}
