package entries

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/bound"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Amendment is what a person does to the edits of a history.
type Amendment struct {
	// Choose returns the step for what is stored.
	Choose func(s Stored) (journal.Step, error)
	// Apply returns the edits that the step leaves of an entry at a position, and sets its Change. changes is false if the
	// step has no effect there.
	Apply func(s Stored, step *journal.Step, at int) (all edit.List, changes bool)
}

// Amend writes what a person does: one entry without a base under the newest ID and under that of the entry so far, so that a
// call that has begun with that one notices it, and one under the ID before the newest question.
func (l Log) Amend(ctx context.Context, a Amendment) (journal.Step, error) {
	at := len(l.IDs) - 1
	for range tries {
		known, _, err := l.Read(ctx, l.IDs, None, 0)
		if err != nil {
			return journal.Step{}, err
		}
		if known.At >= 0 {
			l = l.own(known.Entry.Conversation)
		}
		step, err := a.Choose(known)
		if err != nil {
			return journal.Step{}, err
		}
		main, _ := l.amended(known, a, &step, at)
		writes := []journal.Write{main}
		switch {
		case known.At == at:
			writes[0].Over = known.Entry.Rev
		case known.At >= 0:
			writes[0].Head = journal.Head{ID: l.IDs[known.At], Rev: known.Entry.Rev}
			main.ID, main.Over = l.IDs[known.At], known.Entry.Rev
			writes = append(writes, main)
		}
		early, changes, err := l.amendedEarly(ctx, known.At, main, a, step)
		if err != nil {
			return journal.Step{}, err
		}
		if changes {
			writes = append(writes, early)
		}
		winner, err := l.put(ctx, writes)
		if err != nil || winner.Rev == writes[0].Entry.Rev {
			return step, err
		}
	}
	return journal.Step{}, ErrFirst
}

// amendedEarly returns the write under the ID before the newest question, if there is one and the step has an effect there. main
// is that of the newest entry so far, which is at a position.
func (l Log) amendedEarly(
	ctx context.Context, at int, main journal.Write, a Amendment, step journal.Step,
) (early journal.Write, changes bool, err error) {
	question := l.LastUser - 1
	if question < 0 || question == at {
		return early, false, nil
	}
	if at < question { // there is the same
		main.ID, main.Over = l.IDs[question], message.ID{}
		return main, true, nil
	}
	there, _, err := l.Read(ctx, l.IDs[:question+1], None, 0)
	if err != nil {
		return early, false, err
	}
	early, changes = l.amended(there, a, &step, question)
	if there.At == question {
		early.Over = there.Entry.Rev
	}
	return early, changes, nil
}

// own returns the journal with the conversation of what is written; zero: one without a name.
func (l Log) own(name message.ID) Log {
	l.Name, l.Conversation = name, name
	if name.IsZero() {
		l.Conversation = l.IDs[0]
	}
	return l
}

// amended returns the write of an amended entry at a position, without a base. The step gets an ID if it has none.
func (l Log) amended(s Stored, a Amendment, step *journal.Step, at int) (w journal.Write, changes bool) {
	all, changes := a.Apply(s, step, at)
	if step.ID.IsZero() { // two persons who do the same at once do two things, unlike two processes that make the same edit
		_, _ = rand.Read(step.ID[:])
	}
	e := journal.Entry{
		Edits: all.Records(), Conversation: l.Name, Thinking: bound.Within(s.Entry.Thinking, s.At),
		Steps: l.latest(append(slices.Clip(s.Steps), *step)),
	}
	e.Rev = e.Revision()
	return journal.Write{ID: l.IDs[at], First: l.IDs[0], Conversation: l.Conversation, Entry: e}, changes
}
