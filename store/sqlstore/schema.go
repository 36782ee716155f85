package sqlstore

import (
	"context"
	"database/sql"
	_ "embed" // the schemas
	"fmt"
)

// schema is how tables are made. Each step makes the tables of its version from those of the
// version before; the first one makes them from nothing. A step is never changed. It keeps
// all that a program of the version before uses: that works with the tables, too.
type schema struct {
	steps     []string
	functions string // are made again after the steps
}

var (
	//go:embed schema/postgres1.sql
	postgres1 string
	//go:embed schema/postgres2.sql
	postgres2 string
	//go:embed schema/postgres_functions.sql
	postgresFunctions string
	//go:embed schema/sqlite1.sql
	sqlite1 string

	postgresSchema = schema{[]string{postgres1, postgres2}, postgresFunctions}
	sqliteSchema   = schema{[]string{sqlite1}, ""}
)

// queryer is a database or a transaction.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the tables, which are there.
func version(ctx context.Context, q queryer) (n int, err error) {
	if err = q.QueryRowContext(ctx, `select max(version) from laconic_schema`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read laconic_schema: %w", err)
	}
	if n < 1 {
		return 0, fmt.Errorf("laconic_schema has version %d, want at least 1", n)
	}
	return n, nil
}

// check returns an error if this program does not work with tables of a version.
func (s schema) check(version int) error {
	switch own := len(s.steps); {
	case version > own+1:
		return fmt.Errorf("the tables have version %d, this program knows versions %d and %d: use a newer program, or another database",
			version, own, own+1)
	case version < own:
		return fmt.Errorf("the tables have version %d, this program needs version %d: open them once with the right to alter them",
			version, own)
	}
	return nil
}

// upgrade makes the steps that tables of a version do not have, and the functions; 0: there are no tables.
func (s schema) upgrade(ctx context.Context, q queryer, version int) error {
	if version > len(s.steps) {
		return nil
	}
	for _, statements := range append(s.steps[version:len(s.steps):len(s.steps)], s.functions,
		fmt.Sprintf("update laconic_schema set version = %d", len(s.steps))) {
		if _, err := q.ExecContext(ctx, statements); err != nil && s.check(version) != nil && version > 0 {
			return fmt.Errorf("%w: %w", s.check(version), err)
		} else if err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
	}
	return nil
}
