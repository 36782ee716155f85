package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// entries is the journal. Its Delete is that of the engine.
type entries struct{ *Engine }

// Find implements [journal.Journal].
func (j entries) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (found journal.Found, err error) {
	found, lost := j.findOnce(ctx, scope, first, ids)
	if errors.Is(lost, errLost) { // what is there now has nothing, or what others have written since
		found, err = j.findOnce(ctx, scope, first, ids)
		found.Skipped = errors.Join(lost, found.Skipped)
		return found, err
	}
	return found, lost
}

func (j entries) findOnce(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	found, err := call(ctx, j.Engine, j.find, "find", scope, func(ctx context.Context, b Backend) (journal.Found, error) {
		const tries = 8
		var skipped []error
		for range tries {
			at, rows, err := b.Find(ctx, scope, first, ids, j.bounds())
			if err != nil || at < 0 {
				return journal.Found{At: -1, Skipped: errors.Join(skipped...)}, err
			}
			found, err := j.codec.toEntries(scope, rows)
			if last := rows[len(rows)-1]; err == nil && !last.Base.IsZero() && len(rows) <= journal.MaxDepth {
				err = fmt.Errorf("entry %s: %w: %s", last.Rev, errBase, last.Base)
			}
			if err == nil {
				return journal.Found{At: at, Entries: found, Skipped: errors.Join(skipped...)}, nil
			}
			skipped = append(skipped, drop(ctx, b, scope, rows[:min(len(found)+1, len(rows))], err))
			ids = ids[:at]
		}
		return journal.Found{At: -1, Skipped: errors.Join(skipped...)}, nil
	})
	if err != nil {
		found = journal.Found{At: -1}
	}
	return found, err
}

// Put implements [journal.Journal].
func (j entries) Put(ctx context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	rows := make([]Write, len(writes))
	for i, w := range writes {
		data := []byte(nil)
		if same := slices.IndexFunc(writes[:i], func(o journal.Write) bool { return o.Entry.Rev == w.Entry.Rev }); same >= 0 {
			data = rows[same].Row.Data // sealed once, or it would be written twice
		}
		rows[i], err = j.codec.entry(scope, w, data)
		if err != nil {
			return journal.Entry{}, fmt.Errorf("engine: put: %w", err)
		}
	}
	return call(ctx, j.Engine, j.find, "put", scope, func(ctx context.Context, b Backend) (journal.Entry, error) {
		return j.putRows(ctx, b, scope, writes[0].Entry, rows)
	})
}

// putRows writes rows, of which the first one is that of an entry, and returns the entry that is there then. What is there and cannot
// be read is replaced.
func (j entries) putRows(ctx context.Context, b Backend, scope string, first journal.Entry, rows []Write) (journal.Entry, error) {
	const tries = 2
	var err error
	for range tries {
		var row Row
		row, err = b.Put(ctx, scope, rows, j.bounds())
		if err != nil || row.Rev.IsZero() {
			return journal.Entry{}, err
		}
		if row.Rev == first.Rev {
			return first, nil
		}
		var winner journal.Entry
		winner, err = j.codec.toEntry(scope, row)
		if err == nil || errors.Is(err, errNewer) {
			return winner, err
		}
		err = drop(ctx, b, scope, []Row{row}, err)
		rows[0].Over = row.Rev
	}
	return journal.Entry{}, err
}

// histories returns how many histories entries without a name are of: those that have an edit or an entry in common are of
// one. What cannot be read has no effect.
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
		if err != nil || e.Validate() != nil || !e.Conversation.IsZero() || len(e.Edits) == 0 {
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

// entry returns the row of an entry; nil: its data is made here.
func (c *codec) entry(scope string, w journal.Write, data []byte) (Write, error) {
	if data == nil {
		var err error
		data, err = json.Marshal(w.Entry)
		if err == nil {
			err = checkSize(data)
		}
		if err == nil {
			data, err = c.pack(scope, data)
		}
		if err != nil {
			return Write{}, fmt.Errorf("entry %s: %w", w.Entry.Rev, err)
		}
	}
	row := Row{Rev: w.Entry.Rev, Base: w.Entry.Base, Conversation: w.Conversation, Data: data}
	return Write{ID: w.ID, First: w.First, Over: w.Over, Row: row, Head: w.Head}, nil
}

// checkSize returns an error for the JSON of an entry that is larger than all that is kept.
func checkSize(data []byte) error {
	if n := bytes.Count(data, []byte{'{'}); len(data) > maxEntry || n > maxObjects {
		return fmt.Errorf("it has %d bytes and %d braces, want at most %d and %d", len(data), n, maxEntry, maxObjects)
	}
	return nil
}

// toEntry returns the entry of a row. Its content is checked by those who use it, by its
// revision.
func (c *codec) toEntry(scope string, r Row) (e journal.Entry, err error) {
	_, _, data, err := c.unpack(c.entries, scope, r.Data)
	if err == nil {
		err = checkSize(data)
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err == nil && (e.Rev != r.Rev || e.Base != r.Base) {
			err = fmt.Errorf("it is that of entry %s", e.Rev)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	if err != nil {
		return journal.Entry{}, fmt.Errorf("entry %s: %w", r.Rev, err)
	}
	return e, nil
}

// toEntries returns the entries of rows, and an error for the first one that cannot be read,
// with those before it.
func (c *codec) toEntries(scope string, rows []Row) ([]journal.Entry, error) {
	all := make([]journal.Entry, 0, len(rows))
	for _, r := range rows {
		e, err := c.toEntry(scope, r)
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}
