package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// entries is the journal.
type entries struct{ *Engine }

// Find implements [journal.Journal].
func (j entries) Find(ctx context.Context, scope string, ids []message.ID) (journal.Found, error) {
	found, err := limited(ctx, j.Engine, j.find, "find", scope, func(ctx context.Context) (journal.Found, error) {
		at, rows, err := j.backend.Find(ctx, scope, ids, j.bounds())
		if err != nil || at < 0 {
			return journal.Found{At: -1}, err
		}
		for i := range rows {
			count(ctx, len(rows[i].Data))
		}
		found, err := j.codec.toEntries(scope, rows)
		return journal.Found{At: at, Entries: found}, err
	})
	if err != nil {
		return journal.Found{At: -1}, fmt.Errorf("engine: find: %w", err)
	}
	return found, nil
}

// Put implements [journal.Journal].
func (j entries) Put(ctx context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	rows := make([]Write, len(writes))
	for i := range writes {
		if rows[i], err = j.codec.entry(scope, writes[i]); err != nil {
			return journal.Entry{}, fmt.Errorf("engine: put: %w", err)
		}
	}
	winner, err = limited(ctx, j.Engine, j.find, "put", scope, func(ctx context.Context) (journal.Entry, error) {
		for i := range rows {
			count(ctx, len(rows[i].Row.Data))
		}
		row, err := j.backend.Put(ctx, scope, rows, j.bounds())
		switch {
		case err != nil || row.Rev.IsZero():
			return journal.Entry{}, err
		case row.Rev == writes[0].Entry.Rev:
			return writes[0].Entry, nil
		}
		return j.codec.toEntry(scope, row)
	})
	if err != nil {
		return journal.Entry{}, fmt.Errorf("engine: put: %w", err)
	}
	return winner, nil
}

// Delete implements [journal.Journal]. It removes the contents of the archive too.
func (j entries) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	return j.Engine.Delete(ctx, scope, conversations...)
}

// histories returns how many histories entries without a name are of: those that have an edit or an entry in common are of
// one. What cannot be read says nothing.
func (c *codec) histories(scope string, rows []Row) int {
	type place struct {
		at int // -1: id is a revision
		id message.ID
	}
	of := map[place]int{} // → index of the first entry of its history
	var sets []int        // by entry: another one of the same history, or itself
	root := func(i int) int {
		for sets[i] != i {
			i = sets[i]
		}
		return i
	}
	for _, r := range rows {
		e, err := c.toEntry(scope, r)
		if err != nil || e.Check() != nil || !e.Conversation.IsZero() || len(e.Edits) == 0 {
			continue
		}
		i := len(sets)
		sets = append(sets, i)
		places := []place{{-1, e.Rev}, {-1, e.Base}}
		for _, edit := range e.Edits {
			places = append(places, place{edit.Runs[len(edit.Runs)-1].Last, edit.ID})
		}
		for _, p := range places {
			if k, there := of[p]; there {
				sets[root(k)] = root(i)
			} else if !p.id.IsZero() {
				of[p] = i
			}
		}
	}
	n := 0
	for i := range sets {
		if sets[i] == i {
			n++
		}
	}
	return n
}

// entry returns the row of an entry.
func (c *codec) entry(scope string, w journal.Write) (Write, error) {
	data, err := json.Marshal(w.Entry)
	if err == nil {
		data, err = c.pack(scope, data)
	}
	if err != nil {
		return Write{}, fmt.Errorf("entry %s: %w", w.Entry.Rev, err)
	}
	return Write{ID: w.ID, Over: w.Over, Row: Row{Rev: w.Entry.Rev, Base: w.Entry.Base, Conversation: w.Conversation, Data: data}}, nil
}

// toEntry returns the entry of a row. Its content is checked by those who use it, by its
// revision.
func (c *codec) toEntry(scope string, r Row) (journal.Entry, error) {
	var e journal.Entry
	data, err := c.unpack(scope, r.Data)
	if err == nil {
		if err = json.Unmarshal(data, &e); err != nil {
			err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
		} else if e.Rev != r.Rev || e.Base != r.Base {
			err = fmt.Errorf("%w: it is that of entry %s", store.ErrDamaged, e.Rev)
		}
	}
	if err != nil {
		return journal.Entry{}, fmt.Errorf("entry %s: %w", r.Rev, err)
	}
	return e, nil
}

// toEntries returns the entries of rows.
func (c *codec) toEntries(scope string, rows []Row) ([]journal.Entry, error) {
	all := make([]journal.Entry, len(rows))
	for i, r := range rows {
		var err error
		if all[i], err = c.toEntry(scope, r); err != nil {
			return nil, err
		}
	}
	return all, nil
}
