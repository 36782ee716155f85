package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// sqlitePut writes rows of a scope in a transaction.
type sqlitePut struct {
	*sqlite

	tx     *sql.Tx
	scope  int64
	name   []byte
	bounds engine.Bounds
}

// put makes a write, and undoes it if the scope is full then.
func (s *sqlite) put(ctx context.Context, scope string, b engine.Bounds, write func(p sqlitePut) error) error {
	return s.transaction(ctx, func(tx *sql.Tx) error {
		p := sqlitePut{sqlite: s, tx: tx, name: []byte(scope), bounds: b}
		_, err := tx.ExecContext(ctx, `insert into laconic_scopes (name) values (?) on conflict do nothing`, p.name)
		if err != nil {
			return err
		}
		var before, after int64
		const use = `select id, bytes from laconic_scopes where name = ?`
		if err := tx.QueryRowContext(ctx, use, p.name).Scan(&p.scope, &before); err != nil {
			return err
		}
		if err := write(p); err != nil || b.Limit == 0 {
			return err
		}
		if err := tx.QueryRowContext(ctx, use, p.name).Scan(&p.scope, &after); err != nil {
			return err
		}
		if after > before && after > b.Limit {
			return &engine.FullError{Scope: scope, Use: before, Limit: b.Limit}
		}
		return nil
	})
}

// exec reports whether a statement has changed a row.
func (p sqlitePut) exec(ctx context.Context, statement string, args ...any) (bool, error) {
	r, err := p.tx.ExecContext(ctx, p.dialect.Replace(statement), args...)
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

// Put implements [engine.Backend].
func (s *sqlite) Put(ctx context.Context, scope string, writes []engine.Write, b engine.Bounds) (winner engine.Row, err error) {
	err = s.put(ctx, scope, b, func(p sqlitePut) error {
		for i := range writes {
			kept, err := p.entry(ctx, &writes[i])
			switch {
			case err != nil:
				return err
			case i > 0 || kept == writes[i].Row.Rev:
				continue
			case kept.IsZero(): // the base is missing
				return nil
			}
			var r row
			err = p.tx.QueryRowContext(ctx, `select rev, base, conversation, data from laconic_entries where scope = ? and rev = ?`,
				p.scope, kept[:]).Scan(&r.rev, &r.base, &r.conversation, &r.data)
			winner = r.row()
			return err
		}
		winner = writes[0].Row
		return nil
	})
	if err != nil {
		return engine.Row{}, err
	}
	return winner, nil
}

// entry writes an entry if it may, and returns the revision that is kept under its ID then.
func (p sqlitePut) entry(ctx context.Context, w *engine.Write) (kept message.ID, err error) {
	var rev []byte
	err = p.tx.QueryRowContext(ctx, p.dialect.Replace(`select h.rev from laconic_heads h join laconic_entries e using (scope, rev)
where h.scope = ?1 and h.id = ?2 and (?3 is null or e.used >= NOW - ?3)`), p.scope, w.ID[:], millis(p.bounds.TTL)).Scan(&rev)
	kept = id(rev)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil || kept != w.Row.Rev && kept != w.Over:
		return kept, err
	}
	if h := w.Head; !h.ID.IsZero() && kept != w.Row.Rev {
		var there bool
		err := p.tx.QueryRowContext(ctx, `select exists (select 1 from laconic_heads where scope = ? and id = ? and rev = ?)`,
			p.scope, h.ID[:], h.Rev[:]).Scan(&there)
		if err != nil || !there {
			return kept, err
		}
	}
	written, err := p.exec(ctx, `insert into laconic_entries (scope, rev, base, conversation, used, data) select ?1, ?2, ?3, ?4, NOW, ?5
where ?3 is null or exists (select 1 from laconic_entries where scope = ?1 and rev in (?2, ?3))
on conflict (scope, rev) do update set used = excluded.used, data = excluded.data`,
		p.scope, w.Row.Rev[:], orNull(w.Row.Base), w.Row.Conversation[:], w.Row.Data)
	if err != nil || !written { // the base is missing
		return kept, err
	}
	_, err = p.exec(ctx, `insert into laconic_heads (scope, id, rev, conversation) values (?, ?, ?, ?)
on conflict (scope, id) do update set rev = excluded.rev, conversation = excluded.conversation`,
		p.scope, w.ID[:], w.Row.Rev[:], w.Row.Conversation[:])
	if err == nil && p.bounds.TTL > 0 {
		_, err = p.exec(ctx, renewContents, p.name, w.Row.Conversation[:], millis(p.bounds.TTL))
	}
	return w.Row.Rev, err
}

// PutContents implements [engine.Backend].
func (s *sqlite) PutContents(
	ctx context.Context, scope string, conversation message.ID, contents []engine.Content, b engine.Bounds,
) error {
	return s.put(ctx, scope, b, func(p sqlitePut) error {
		for i := range contents {
			if err := p.content(ctx, conversation, &contents[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// content writes one content, and links what is there then to the conversation.
func (p sqlitePut) content(ctx context.Context, conversation message.ID, c *engine.Content) error {
	if len(c.Data) > 0 {
		written, err := p.exec(ctx, `insert into laconic_contents (scope, handle, key, used, data) values (?, ?, ?, NOW, ?)
on conflict (scope, handle) do update set used = excluded.used, data = excluded.data where key = excluded.key`,
			p.scope, c.Handle, c.Key[:], c.Data)
		if err == nil && !written {
			err = fmt.Errorf("%s: %w", c.Handle, store.ErrConflict)
		}
		if err != nil {
			return err
		}
	}
	_, err := p.exec(ctx, `insert into laconic_links (scope, conversation, handle)
select scope, ?, handle from laconic_contents where scope = ? and handle = ? on conflict do nothing`, conversation[:], p.scope, c.Handle)
	return err
}
