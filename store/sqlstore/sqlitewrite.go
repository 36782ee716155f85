package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// Put implements [engine.Backend].
func (s *sqlite) Put(ctx context.Context, scope string, writes []engine.Write, b engine.Bounds) (winner engine.Row, err error) {
	err = s.write(ctx, func(tx queryer) error {
		p := sqlitePut{tx: tx, now: time.Now(), ttl: b.TTL}
		var use, size int64
		if p.scope, use, err = sqliteScope(ctx, tx, scope); err != nil {
			return err
		}
		for i := range writes {
			size += int64(len(writes[i].Row.Data)) + overhead
		}
		if b.Limit > 0 && use+size > b.Limit {
			return &engine.FullError{Scope: scope, Use: use, Limit: b.Limit}
		}
		for i := range writes {
			kept, err := p.put(ctx, &writes[i])
			switch {
			case err != nil:
				return err
			case i > 0 || kept == writes[i].Row.Rev:
				continue
			case kept.IsZero(): // the base is missing
				return nil
			}
			winner, err = p.entry(ctx, kept)
			return err
		}
		winner = writes[0].Row
		return p.count(ctx)
	})
	if err != nil {
		return engine.Row{}, fmt.Errorf("sqlstore: put: %w", err)
	}
	return winner, nil
}

// sqlitePut writes entries in a transaction.
type sqlitePut struct {
	tx    queryer
	scope int64
	now   time.Time
	ttl   time.Duration
	bytes int64 // added
}

// put writes an entry if it may, and returns the revision that is kept under its ID then.
func (p *sqlitePut) put(ctx context.Context, w *engine.Write) (kept message.ID, err error) {
	var rev []byte
	err = p.tx.QueryRowContext(ctx, `select h.rev from laconic_heads h join laconic_entries e using (scope, rev)
where h.scope = ? and h.id = ? and e.used >= ?`, p.scope, w.ID[:], cutoff(p.now, p.ttl)).Scan(&rev)
	switch kept = id(rev); {
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
	was, err := p.size(ctx, "laconic_entries", "rev", w.Row.Rev[:])
	if err != nil {
		return message.ID{}, err
	}
	written, err := p.exec(ctx, `insert into laconic_entries (scope, rev, base, conversation, used, data) select ?1, ?2, ?3, ?4, ?5, ?6
where ?3 is null or exists (select 1 from laconic_entries where scope = ?1 and rev in (?2, ?3))
on conflict (scope, rev) do update set used = excluded.used, data = excluded.data`,
		p.scope, w.Row.Rev[:], orNull(w.Row.Base), w.Row.Conversation[:], p.now.UnixMilli(), w.Row.Data)
	if err != nil || !written { // the base is missing
		return kept, err
	}
	p.bytes += int64(len(w.Row.Data)) + overhead - was
	_, err = p.exec(ctx, `insert into laconic_heads (scope, id, rev, conversation) values (?, ?, ?, ?)
on conflict (scope, id) do update set rev = excluded.rev, conversation = excluded.conversation`,
		p.scope, w.ID[:], w.Row.Rev[:], w.Row.Conversation[:])
	if err == nil && p.ttl > 0 {
		_, err = p.exec(ctx, sqliteRenew, p.scope, w.Row.Conversation[:], p.now.UnixMilli(),
			cutoff(p.now, p.ttl/2), cutoff(p.now, p.ttl))
	}
	return w.Row.Rev, err
}

// size returns the bytes of a row; 0: it is not there.
func (p *sqlitePut) size(ctx context.Context, table, key string, is any) (n int64, err error) {
	err = p.tx.QueryRowContext(ctx, "select coalesce(sum(length(data) + 200), 0) from "+table+" where scope = ? and "+key+" = ?",
		p.scope, is).Scan(&n)
	return n, err
}

// exec reports whether a statement has changed a row.
func (p *sqlitePut) exec(ctx context.Context, statement string, args ...any) (bool, error) {
	r, err := p.tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

func (p *sqlitePut) entry(ctx context.Context, rev message.ID) (engine.Row, error) {
	var r row
	err := p.tx.QueryRowContext(ctx, `select rev, base, conversation, data from laconic_entries where scope = ? and rev = ?`,
		p.scope, rev[:]).Scan(&r.rev, &r.base, &r.conversation, &r.data)
	return r.row(), err
}

// count adds what was written to the bytes of the scope.
func (p *sqlitePut) count(ctx context.Context) error {
	_, err := p.tx.ExecContext(ctx, `update laconic_scopes set bytes = bytes + ? where id = ?`, p.bytes, p.scope)
	return err
}

// PutContents implements [engine.Backend].
func (s *sqlite) PutContents(
	ctx context.Context, scope string, conversation message.ID, contents []engine.Content, b engine.Bounds,
) error {
	err := s.write(ctx, func(tx queryer) error {
		p := sqlitePut{tx: tx, now: time.Now(), ttl: b.TTL}
		var use int64
		var err error
		if p.scope, use, err = sqliteScope(ctx, tx, scope); err != nil {
			return err
		}
		for i := range contents {
			if err := p.keep(ctx, conversation, &contents[i]); err != nil {
				return err
			}
			if b.Limit > 0 && p.bytes > 0 && use+p.bytes > b.Limit {
				return &engine.FullError{Scope: scope, Use: use, Limit: b.Limit}
			}
		}
		return p.count(ctx)
	})
	if err != nil {
		return fmt.Errorf("sqlstore: put: %w", err)
	}
	return nil
}

// keep writes one content.
func (p *sqlitePut) keep(ctx context.Context, conversation message.ID, c *engine.Content) error {
	if len(c.Data) == 0 {
		_, err := p.exec(ctx, `insert into laconic_links (scope, conversation, handle)
select scope, ?, handle from laconic_contents where scope = ? and handle = ? on conflict do nothing`, conversation[:], p.scope, c.Handle)
		return err
	}
	was, err := p.size(ctx, "laconic_contents", "handle", c.Handle)
	if err != nil {
		return err
	}
	written, err := p.exec(ctx, `insert into laconic_contents (scope, handle, key, used, data) values (?, ?, ?, ?, ?)
on conflict (scope, handle) do update set used = excluded.used, data = excluded.data where key = excluded.key`,
		p.scope, c.Handle, c.Key[:], p.now.UnixMilli(), c.Data)
	if err == nil && !written {
		err = fmt.Errorf("%s: %w", c.Handle, store.ErrConflict)
	}
	if err != nil {
		return err
	}
	p.bytes += int64(len(c.Data)) + overhead - was
	_, err = p.exec(ctx, `insert into laconic_links (scope, conversation, handle) values (?, ?, ?) on conflict do nothing`,
		p.scope, conversation[:], c.Handle)
	return err
}

// write is transaction with statements that are prepared for the next time. Their texts must
// be constant.
func (s *sqlite) write(ctx context.Context, do func(tx queryer) error) error {
	q := preparing{s: s}
	err := s.transaction(ctx, func(tx *sql.Tx) error {
		q.Tx = tx
		return do(&q)
	})
	for _, text := range q.fresh {
		if stmt, err := s.writer.PrepareContext(ctx, text); err == nil { // else the next call tries again
			if _, there := s.prepared.LoadOrStore(text, stmt); there {
				_ = stmt.Close() //nolint:sqlclosecheck // not at the end of the function
			}
		}
	}
	return err
}

// preparing is a transaction that notes which statements are not prepared yet.
type preparing struct {
	*sql.Tx

	s     *sqlite
	fresh []string
}

func (q *preparing) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if stmt, ok := q.s.prepared.Load(text); ok {
		return q.StmtContext(ctx, stmt.(*sql.Stmt)). //nolint:sqlclosecheck,errcheck,forcetypeassert // Tx closes it
								ExecContext(ctx, args...)
	}
	q.fresh = append(q.fresh, text)
	return q.Tx.ExecContext(ctx, text, args...)
}

func (q *preparing) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if stmt, ok := q.s.prepared.Load(text); ok {
		return q.StmtContext(ctx, stmt.(*sql.Stmt)). //nolint:sqlclosecheck,errcheck,forcetypeassert // Tx closes it
								QueryRowContext(ctx, args...)
	}
	q.fresh = append(q.fresh, text)
	return q.Tx.QueryRowContext(ctx, text, args...)
}
