package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// entries is the journal.
type entries struct{ *Engine }

// Find implements [journal.Journal].
func (j entries) Find(ctx context.Context, scope string, ids []message.ID) (journal.Found, error) {
	found, err := limited(ctx, j.Engine, j.find, scope, func(ctx context.Context) (journal.Found, error) {
		at, rows, err := j.backend.Find(ctx, scope, ids, j.bounds())
		if err != nil || at < 0 {
			return journal.Found{At: -1}, err
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
	for i, w := range writes {
		data := []byte(nil)
		if same := slices.IndexFunc(writes[:i], func(o journal.Write) bool { return o.Entry.Rev == w.Entry.Rev }); same >= 0 {
			data = rows[same].Row.Data // sealed once, or it would be written twice
		}
		if rows[i], err = j.codec.entry(scope, w, data); err != nil {
			return journal.Entry{}, fmt.Errorf("engine: put: %w", err)
		}
	}
	winner, err = limited(ctx, j.Engine, j.find, scope, func(ctx context.Context) (journal.Entry, error) {
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

// entry returns the row of an entry; nil: its data is made here.
func (c *codec) entry(scope string, w journal.Write, data []byte) (Write, error) {
	if data == nil {
		var err error
		if data, err = json.Marshal(w.Entry); err == nil {
			data, err = c.pack(scope, data)
		}
		if err != nil {
			return Write{}, fmt.Errorf("entry %s: %w", w.Entry.Rev, err)
		}
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
