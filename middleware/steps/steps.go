// Package steps lists the edits of a conversation, takes them back, and pins messages, for a person in front of an agent.
//
//	env := middleware.Env{Journal: shared, Scope: "acme"} // that of the chain
//	done, err := steps.History(ctx, env, history)         // what was edited, by whom and why, the newest first
//	step, err := steps.Undo(ctx, env, history)            // takes the newest edit back
//	err = steps.Pin(ctx, env, history, id)                // keeps a message as it is
//
// A step is what one middleware has edited in one call: all results that it has cleared, or one summary. The journal keeps
// it, so all of this works after a restart, in another process and while the chain is in use. The chain must have the
// journal in its Env. It sees a change in its next call: chains read a shared journal once in each call.
//
// Pass the whole history, as in a call of the chain. A change holds for this history, for those that continue it, and for
// those that fork from it after the newest edit. All functions are safe for concurrent use.
package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Step is an edit, or what a person has done about edits.
type Step = journal.Step

// ErrNothing is the error of [Undo] and [Redo] if there is no step to take back, or to make again.
var ErrNothing = errors.New("steps: there is nothing to take back or to make again")

// ErrGone is the error of [Undo] for an edit whose messages are not in the history any more: the caller passes views back as
// its history; see middleware.Env.
var ErrGone = errors.New("steps: the messages before the edit are gone from the history")

// History returns the steps of a conversation, the newest first. Edits that were undone are marked. The last ten steps are
// kept, or more: some drop out when the journal writes all edits again, as it does with every 32nd entry. It must not be modified.
func History(ctx context.Context, env middleware.Env, history []message.Message) ([]Step, error) {
	s, err := read(ctx, env, history)
	if err != nil {
		return nil, err
	}
	out, undone := slices.Clone(s.Steps), s.Undone()
	slices.Reverse(out)
	for i := range out {
		out[i].Undone = out[i].Kind == entries.StepEdit && undone[out[i].ID]
	}
	return out, nil
}

// Undo takes the newest edit that is in force back, and returns the step that does so. The next call sends what it would
// have sent without the edit, byte for byte. Thinking that a model binds to what precedes it remains left out, and that
// written since the edit is left out, too.
//
// Nothing is deleted, so that [Redo] can make the edit again. The middleware that has made it waits for the
// next message of the user; middleware.Request.Force makes it edit before. Package fit does not wait: if a request would
// not fit, it edits, and its event names who waits.
//
// If two processes undo at the same time, each takes an edit back, the newest first. The error is [ErrNothing] or [ErrGone], or of kind
// [middleware.Outdated] if others have written to the journal four times meanwhile.
func Undo(ctx context.Context, env middleware.Env, history []message.Message) (Step, error) {
	return amend(ctx, env, history, func(l entries.Log) entries.Amendment {
		var edited Step
		return entries.Amendment{
			Choose: func(s entries.Stored) (Step, error) {
				s.All = l.InForce(s)
				e, err := newest(s)
				if err != nil {
					return Step{}, err
				}
				edited = *e
				return Step{
					Kind: entries.StepUndo, By: e.By, Of: e.ID, Before: e.After, After: e.Before,
					Why: "takes back: " + e.Why, Change: journal.Change{Turn: l.Turn()},
				}, nil
			},
			Apply: func(s entries.Stored, step *Step, at int) (edit.List, bool) {
				s.All = l.InForce(s)
				all, removed := l.WithoutStep(s, &edited, at)
				step.Change.Removed = removed
				return all, len(removed) > 0
			},
		}
	})
}

// newest returns the newest edit that is in force.
func newest(s entries.Stored) (*Step, error) {
	if e := s.Undoable(); e != nil {
		return e, nil
	}
	undone := s.Undone()
	for _, step := range slices.Backward(s.Steps) {
		if step.Kind == entries.StepEdit && !undone[step.ID] && step.Change.Final {
			return nil, ErrGone
		}
	}
	return nil, ErrNothing
}

// Redo makes the newest edit again that was undone, and returns the step that does so. It is possible until a middleware
// edits. Errors are those of [Undo].
func Redo(ctx context.Context, env middleware.Env, history []message.Message) (Step, error) {
	return amend(ctx, env, history, func(l entries.Log) entries.Amendment {
		var undo Step
		return entries.Amendment{
			Choose: func(s entries.Stored) (Step, error) {
				u := s.Redoable()
				if u == nil {
					return Step{}, ErrNothing
				}
				undo = *u
				s.All, _ = l.WithRecords(s, undo.Change.Removed, len(l.IDs)-1)
				s.All = l.InForce(s)
				if !slices.ContainsFunc(s.All, func(it edit.Item) bool { return slices.Contains(undo.Change.Removed, it.Record) }) {
					return Step{}, ErrNothing
				}
				why := "makes again: " + strings.TrimPrefix(u.Why, "takes back: ")
				return Step{Kind: entries.StepRedo, By: u.By, Of: u.Of, Before: u.After, After: u.Before, Why: why}, nil
			},
			Apply: func(s entries.Stored, step *Step, at int) (edit.List, bool) {
				all, made := l.WithRecords(s, undo.Change.Removed, at)
				step.Change.Made = made
				return all, len(made) > 0
			},
		}
	})
}

// Pin pins messages by their IDs, which message.IDs returns for the messages after the leading system messages. The next call
// and all later ones send them as they are, also those of other histories that have the messages; an edit that has changed one
// ends. It has no effect on messages that are pinned.
// The error is of kind [middleware.Invalid] if the history does not have one of them.
func Pin(ctx context.Context, env middleware.Env, history []message.Message, ids ...message.ID) error {
	return pin(ctx, env, history, entries.StepPin, ids)
}

// Unpin takes pins of [Pin] back. Messages with message.Hints.Pinned remain pinned. Errors are those of [Pin].
func Unpin(ctx context.Context, env middleware.Env, history []message.Message, ids ...message.ID) error {
	return pin(ctx, env, history, entries.StepUnpin, ids)
}

// Pinned returns the IDs of the messages of a history that [Pin] has pinned, in the order of the history.
func Pinned(ctx context.Context, env middleware.Env, history []message.Message) ([]message.ID, error) {
	s, err := read(ctx, env, history)
	return s.Pins, err
}

func pin(ctx context.Context, env middleware.Env, history []message.Message, kind string, ids []message.ID) error {
	l, err := open(env, history)
	if err != nil {
		return err
	}
	if k := slices.IndexFunc(ids, func(id message.ID) bool { return !slices.Contains(l.IDs, id) }); k >= 0 {
		err := fmt.Errorf("the history has no message with the ID %s", ids[k])
		return &middleware.Error{Kind: middleware.Invalid, Op: "steps", Err: err}
	}
	changes, err := l.Pin(ctx, ids, kind == entries.StepPin)
	if err != nil || !changes {
		return outdated(err)
	}
	_, err = amend(ctx, env, history, func(entries.Log) entries.Amendment { // so that a call that runs now notices it
		return entries.Amendment{
			Choose: func(entries.Stored) (Step, error) {
				return Step{Kind: kind, Why: fmt.Sprintf("%d messages", len(ids)), Change: journal.Change{Pins: ids}}, nil
			},
			Apply: func(s entries.Stored, _ *Step, _ int) (edit.List, bool) { return s.All, true },
		}
	})
	return err
}

// amend makes a step.
func amend(
	ctx context.Context, env middleware.Env, history []message.Message, with func(l entries.Log) entries.Amendment,
) (Step, error) {
	l, err := open(env, history)
	if err != nil {
		return Step{}, err
	}
	a := with(l)
	choose := a.Choose
	now := time.Now
	if env.Clock != nil {
		now = env.Clock
	}
	a.Choose = func(s entries.Stored) (Step, error) {
		step, err := choose(s)
		step.Actor, step.Time = entries.ByUser, now().Round(0).UTC()
		return step, err
	}
	step, err := l.Amend(ctx, a)
	if err != nil {
		return Step{}, outdated(err)
	}
	return step, nil
}

// outdated returns an error with the kind of one that others were first.
func outdated(err error) error {
	if errors.Is(err, entries.ErrFirst) {
		return &middleware.Error{Kind: middleware.Outdated, Op: "steps", Err: err}
	}
	return err
}

func open(env middleware.Env, history []message.Message) (entries.Log, error) {
	l, err := entries.Open(env.Journal, env.Scope, history)
	if err != nil {
		return l, &middleware.Error{Kind: middleware.Invalid, Op: "steps", Err: err}
	}
	return l, nil
}

func stored(ctx context.Context, l entries.Log) (entries.Stored, error) {
	s, skipped, err := l.Read(ctx, l.IDs, entries.None, 0)
	return s, errors.Join(err, skipped)
}

func read(ctx context.Context, env middleware.Env, history []message.Message) (entries.Stored, error) {
	l, err := open(env, history)
	if err != nil {
		return entries.Stored{}, err
	}
	return stored(ctx, l)
}
