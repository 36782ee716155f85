package adversary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/steps"
)

// What persons do between two calls: they undo, redo, pin, correct a draft, and let the model ask for an edit; a second process with
// other settings takes over for a call.

// refused is what no person may do with a draft.
var refused = regexp.MustCompile("no model has seen the newest round yet|the view would not become shorter")

// pins are the messages that persons have pinned, by ID.
type pins map[message.ID]bool

// mark gives the hint to the messages of a history that persons have pinned.
func (p pins) mark(history []message.Message) {
	lead, msgs := (&request{msgs: history}).conversation()
	for i, id := range message.IDs(msgs) {
		if p[id] {
			history[lead+i].Hints.Pinned = true
		}
	}
}

// quietly runs a step of a person and reports whether it was done, and whether no fault has struck in it.
func (w *world) quietly(what string, do func() error) (done, quiet bool) {
	struck := w.plan.count()
	err := do()
	quiet = w.plan.count() == struck
	switch {
	case err == nil:
		w.tally["persons: "+what]++
	case errors.Is(err, steps.ErrNothing):
		w.tally["persons: nothing to "+what]++
	case quiet:
		w.log[len(w.log)-1].wrongf("%s: %v", what, err)
	}
	return err == nil, quiet
}

// decide lets a person do one thing after a call, and returns the newest call.
func (w *world) decide(now *verdict) *verdict {
	history := slices.Clip(w.history)
	if _, msgs := (&request{msgs: history}).conversation(); len(msgs) == 0 {
		return now
	}
	switch w.IntN(5) {
	case 0, 1:
		return w.undo(now)
	case 2:
		w.pin(history)
		return w.call(history, w.window)
	case 3:
		w.asked = []string{pick(w.writer, "*", "contextedit", "microcompact", "trim", "summarize")}
		defer func() { w.asked = nil }()
		w.tally["persons: the model asks for an edit"]++
		return w.call(history, w.window)
	}
	own, chain := w.process, w.chain
	w.start(w.Uint64())
	w.tally["persons: another process with other settings"]++
	w.call(history, w.window)
	w.process, w.chain = own, chain
	return w.call(history, w.window)
}

// undo takes the newest edit back, and perhaps makes it again. It returns the newest call.
func (w *world) undo(now *verdict) *verdict {
	history := slices.Clip(w.history)
	var step steps.Step
	done, _ := w.quietly("undo", func() (err error) {
		step, err = steps.Undo(context.Background(), w.env(), history)
		return err
	})
	after := w.call(history, w.window)
	edited := slices.IndexFunc(after.events, func(e middleware.Event) bool { return e.Kind == middleware.Edited && e.By == step.By })
	if done && after.struck == 0 && step.By != "fit" && edited >= 0 {
		after.wrongf("%s edits again what a person has undone: %s", step.By, after.events[edited])
	}
	if !done || w.oneIn(2) {
		return after
	}
	done, quiet := w.quietly("redo", func() error {
		_, err := steps.Redo(context.Background(), w.env(), history)
		return err
	})
	again := w.call(history, w.window)
	settled := func(v *verdict) bool {
		edits := func(e middleware.Event) bool { return e.Kind == middleware.Edited }
		return v.struck == 0 && v.err == nil && !slices.ContainsFunc(v.events, edits)
	}
	if done && quiet && w.modelFaults == 0 && now.err == nil && now.struck == 0 && settled(after) && settled(again) && len(now.history) == len(history) {
		again.equals(now, "after undo and redo")
	}
	return again
}

// pin pins a message for good, or takes a pin back.
func (w *world) pin(history []message.Message) {
	_, msgs := (&request{msgs: history}).conversation()
	ids := message.IDs(msgs)
	id, do, what := ids[w.IntN(len(ids))], steps.Pin, "pin"
	if pinned := slices.IndexFunc(ids, func(id message.ID) bool { return w.pins[id] }); pinned >= 0 && w.oneIn(2) {
		id, do, what = ids[pinned], steps.Unpin, "unpin"
	}
	done, _ := w.quietly(what, func() error { return do(context.Background(), w.env(), history, id) })
	w.pins[id] = done == (what == "pin")
	for range 9 {
		if done {
			return
		}
		there, err := steps.Pinned(context.Background(), w.env(), history) // a write may be done although it returns an error
		w.pins[id] = slices.Contains(there, id)
		done = err == nil
	}
}

// correct makes a draft, changes an edit of it and commits it: the next call sends the text of the person.
func (w *world) correct() {
	history := slices.Clip(w.history)
	text := fmt.Sprintf("corrected by a person, %d times so far", w.tally["persons: correct"])
	changed := false
	done, quiet := w.quietly("correct", func() error {
		d, err := middleware.Draft(context.Background(), w.chain, w.request(history, w.window))
		if middleware.KindOf(err) == middleware.Irreducible {
			return steps.ErrNothing
		}
		if err != nil || len(d.Edits) == 0 {
			return errors.Join(err, steps.ErrNothing)
		}
		k := w.IntN(len(d.Edits))
		parts := slices.Clone(d.Edits[k].Parts)
		at := slices.IndexFunc(parts, func(p message.Part) bool { // an edited one
			r, ok := p.(message.ToolResult)
			return ok && !marked.MatchString(r.Text)
		})
		switch {
		case w.oneIn(3):
			d, err = d.Without(k)
		case at < 0:
			return steps.ErrNothing
		default:
			r, _ := parts[at].(message.ToolResult)
			r.Text = text
			parts[at] = r
			changed = true
			d, err = d.Rewrite(k, parts...)
			if err != nil && refused.MatchString(err.Error()) {
				return steps.ErrNothing
			}
		}
		if err != nil {
			return err
		}
		return d.Commit(context.Background())
	})
	v := w.call(history, w.window)
	edited := slices.ContainsFunc(v.events, func(e middleware.Event) bool { return e.Kind == middleware.Edited })
	if done && quiet && changed && !v.hostile && v.struck == 0 && v.err == nil && !edited && !strings.Contains(lines(v.sent), text) {
		v.wrongf("the text of a person is not sent: %q", text)
	}
}

// env returns the environment of all processes.
func (w *world) env() middleware.Env {
	env := middleware.Env{Journal: w.diary, Counter: scale{w.plan}}
	if w.attic != nil {
		env.Archive = w.attic
	}
	return env
}

// start makes a new process, with the settings of a seed, the one of the world.
func (w *world) start(options uint64) {
	observe := middleware.Observe(func(_ context.Context, e middleware.Event) { w.events = append(w.events, e) })
	w.chain = nest(w.nesting, w.env(), observe, layers(&writer{Rand: rand.New(rand.NewPCG(options, 3))}, w.provider.rules))
	w.process = w.chain(w.server.model)
}

func (w *world) request(history []message.Message, window int) *middleware.Request {
	return &middleware.Request{
		Messages: history, Model: "a model", Budget: &middleware.Budget{Window: window}, Force: w.asked, Asked: len(w.asked) > 0,
	}
}
