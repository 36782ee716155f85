package sqlstore

import (
	"context"
	"database/sql"
	_ "embed" // the tables
	"fmt"
)

// tablesVersion is the version of the tables that this package makes. It works with those of the next one, too, which keep
// all that it uses.
const tablesVersion = 1

var (
	//go:embed schema/postgres.sql
	postgresTables string
	//go:embed schema/sqlite.sql
	sqliteTables string
)

// queryer is a database or a transaction.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the tables; 0: there are none. there is a statement that says whether there are any.
func version(ctx context.Context, q queryer, there string) (n int, err error) {
	var is bool
	if err := q.QueryRowContext(ctx, there).Scan(&is); err != nil || !is {
		return 0, err
	}
	err = q.QueryRowContext(ctx, `select max(version) from laconic_schema`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read laconic_schema: %w", err)
	}
	if n < 1 || n > tablesVersion+1 {
		return 0, fmt.Errorf("the tables have version %d, this program knows versions %d and %d: use a newer program, or another database",
			n, tablesVersion, tablesVersion+1)
	}
	return n, nil
}

// create makes tables unless they are there, in a transaction that nobody else can make at the same time.
func create(ctx context.Context, tx *sql.Tx, there, tables string) error {
	n, err := version(ctx, tx, there)
	if err != nil || n > 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	return nil
}
