package entries

import (
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// The kinds of a [journal.Step].
const (
	StepEdit  = "edit"  // a middleware has edited, once
	StepUndo  = "undo"  // an edit was taken back
	StepRedo  = "redo"  // an edit that was taken back was made again
	StepPin   = "pin"   // messages were pinned
	StepUnpin = "unpin" // messages were pinned no longer
)

// The actors of a [journal.Step].
const (
	ByTrigger = "trigger" // of the middleware
	ByUser    = "user"    // or the program: it has forced an edit, committed a draft, undone, or pinned
	ByModel   = "model"   // by a tool
	ByRefusal = "refusal" // of the provider, which has refused the request as too long
)

// keptSteps is how many steps, and how many edits, an entry without a base has at least.
const keptSteps = 10

// named returns steps with the IDs that they have on top of an entry.
func named(made []journal.Step, base message.ID) []journal.Step {
	made = slices.Clone(made)
	for i := range made {
		base = made[i].NewID(base)
		made[i].ID = base
	}
	return made
}

// upTo returns the steps with what they have changed at positions up to one.
func upTo(at int, made []journal.Step) []journal.Step {
	var out []journal.Step
	for _, s := range made {
		s.Change.Made = idsOf(recordsUpTo(at, s.Records))
		s.Records = nil
		s.Change.Removed = recordsUpTo(at, s.Change.Removed)
		if len(s.Change.Made) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// made reports whether a record is one that an edit has made.
func made(step *journal.Step, r *journal.Record) bool {
	return r.Middleware == step.By && r.HistoryLen == step.Change.Len && slices.Contains(step.Change.Made, r.ID)
}

func idsOf(records []*journal.Record) []message.ID {
	out := make([]message.ID, len(records))
	for i, r := range records {
		out[i] = r.ID
	}
	return out
}

func recordsUpTo(at int, records []*journal.Record) []*journal.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *journal.Record) bool { return edit.Last(r) > at })
}

// latest returns the steps that an entry without a base has: the last ones, the last edits and which of them are undone, and
// those that hold a middleware off. What was taken back and cannot be made again is left out.
func (l Log) latest(steps []journal.Step) []journal.Step {
	turn := l.Turn()
	_, again := taken(steps)
	out := make([]journal.Step, 0, keptSteps+1)
	edits, decided := 0, map[message.ID]bool{} // edits of which a newer step says whether they are undone
	for i, s := range slices.Backward(steps) {
		stays := i >= len(steps)-keptSteps
		switch s.Kind {
		case StepEdit:
			edits++
			stays = stays || edits <= keptSteps
		case StepUndo:
			stays = stays || s.Change.Turn == turn || !decided[s.Of] && edits < keptSteps
			decided[s.Of] = true
			if !slices.Contains(again, i) {
				s.Change.Removed = nil
			}
		case StepRedo:
			decided[s.Of] = true
		case StepPin, StepUnpin:
		}
		if stays {
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// Turn returns the ID of the message before the newest one of the user, since hosts insert text into that which differs from call
// to call; zero: there is none.
func (l Log) Turn() message.ID {
	if l.LastUser < 1 {
		return message.ID{}
	}
	return l.IDs[l.LastUser-1]
}

// taken returns the edits that are not in force, and the indexes of the steps that have taken back what can be made again, oldest
// first: there is no edit after them.
func taken(steps []journal.Step) (undone map[message.ID]bool, again []int) {
	undone = map[message.ID]bool{}
	for i, s := range steps {
		switch s.Kind {
		case StepEdit:
			again = nil
		case StepUndo:
			undone[s.Of] = true
			again = append(again, i)
		case StepRedo:
			delete(undone, s.Of)
			again = slices.DeleteFunc(again, func(k int) bool { return steps[k].Of == s.Of })
		case StepPin, StepUnpin:
		}
	}
	return undone, again
}

// Undone returns the edits that are not in force.
func (s Stored) Undone() map[message.ID]bool {
	undone, _ := taken(s.Steps)
	return undone
}

// HasUndone reports whether an edit of a list that was stored is stored no longer.
func (s Stored) HasUndone(then Stored, l edit.List) bool {
	return s.At >= 0 && slices.ContainsFunc(l, func(it edit.Item) bool { return then.All.Has(it) && !s.All.Has(it) })
}

// withoutUndone returns the edits of a list, to which steps have led, except those that were undone here.
func (s Stored) withoutUndone(l edit.List, led []journal.Step) edit.List {
	undone := s.Undone()
	return slices.DeleteFunc(l, func(it edit.Item) bool {
		for _, step := range slices.Backward(led) {
			if made(&step, it.Record) {
				return undone[step.ID]
			}
		}
		return false
	})
}

// Waiting returns the names of the middlewares whose edits were undone in a turn, and that have not edited since.
func (s Stored) Waiting(turn message.ID) (names []string) {
	var of []message.ID
	for _, step := range s.Steps {
		for k := range slices.Backward(of) {
			if step.Kind == StepRedo && of[k] == step.Of || step.Kind == StepEdit && names[k] == step.By {
				of, names = slices.Delete(of, k, k+1), slices.Delete(names, k, k+1)
			}
		}
		if step.Kind == StepUndo && step.Change.Turn == turn {
			of, names = append(of, step.Of), append(names, step.By)
		}
	}
	return names
}

// ByPerson returns the newest step if it is one of a person, other than an edit; else nil.
func (s Stored) ByPerson() *journal.Step {
	if n := len(s.Steps); n > 0 && s.Steps[n-1].Kind != StepEdit {
		return &s.Steps[n-1]
	}
	return nil
}

// Undoable returns the newest edit that is in force, or nil: those that no longer have a record are not.
func (s Stored) Undoable() *journal.Step {
	undone := s.Undone()
	for i := range slices.Backward(s.Steps) {
		step := &s.Steps[i]
		if step.Kind == StepEdit && !undone[step.ID] &&
			slices.ContainsFunc(s.All, func(it edit.Item) bool { return made(step, it.Record) }) {
			return step
		}
	}
	return nil
}

// Redoable returns the newest step that has taken an edit back which can be made again, or nil.
func (s Stored) Redoable() *journal.Step {
	if _, again := taken(s.Steps); len(again) > 0 {
		return &s.Steps[again[len(again)-1]]
	}
	return nil
}

// WithoutStep returns the edits as they were before one was made, and what that has removed.
func (l Log) WithoutStep(s Stored, undone *journal.Step, at int) (all edit.List, removed []*journal.Record) {
	back := recordsUpTo(at, undone.Change.Removed)
	var runs []message.Run
	for _, r := range back {
		runs = append(runs, r.Runs...)
	}
	edit.SortRuns(runs)
	for _, it := range s.All {
		if !made(undone, it.Record) {
			all = append(all, it)
			continue
		}
		removed = append(removed, it.Record)
		for _, c := range it.Covered {
			if _, overlaps := edit.Cover(runs, c.Runs); !overlaps {
				all = append(all, l.Weigh(c))
			}
		}
	}
	if len(removed) > 0 {
		all = append(all, l.WeighAll(back)...)
	}
	all.Sort()
	return all, removed
}

// WithRecords returns the edits with records that were removed, up to a position, and the IDs of these. Newer edits stay.
func (l Log) WithRecords(s Stored, removed []*journal.Record, at int) (all edit.List, made []message.ID) {
	back := recordsUpTo(at, removed)
	all, err := s.All.Over(l.WeighAll(back))
	if err != nil {
		return s.All, nil
	}
	return all, idsOf(back)
}

// InForce returns the edits that hold for the history: a pin, for example, ends those that have changed its message. Positions in
// a round whose results a client has sent in another order are those of the client, so edits there count as they are.
func (l Log) InForce(s Stored) edit.List {
	all := l.Pinned(s.Pins).Holding(s.All, edit.Terms{LeftOut: edit.Positions{{Last: math.MaxInt32}}})
	for _, it := range s.All {
		if at := edit.Last(it.Record); at < len(l.IDs) && l.IDs[at] != it.ID {
			all = append(all, it)
		}
	}
	all.Sort()
	return all
}

// Final returns the steps for the entry of a view that its caller passes back as the history: none of them can be undone
// there, since the messages before it are gone.
func (l Log) Final(known Known, made []journal.Step) []journal.Step {
	steps := append(slices.Clip(known.Steps), upTo(len(l.IDs)-1, named(made, known.Entry.Rev))...)
	steps = l.latest(steps)
	for i := range steps {
		c := &steps[i].Change
		c.Final = true
		c.Made = nil
		c.Removed = nil
	}
	return steps
}
