// Package sqlstore keeps journals and archives in PostgreSQL, through pgx, and in files of
// SQLite, through a translation of SQLite to Go. It is a driver of package engine:
//
//	import _ "github.com/laconic-go/laconic/store/sqlstore"
//
//	e, err := engine.Open(ctx, "sqlite:laconic.db", engine.Options{})
//	e, err := engine.Open(ctx, "postgres://user:password@host:5432/database", engine.Options{})
//
// [SQLite] is one file that survives restarts, for the processes of one machine. [Postgres]
// is for the replicas of a service. Both have the same tables, whose names begin with
// laconic_. They are created by the first process that opens the database; a database whose
// tables are newer than the program is an error.
//
// Compare-and-swap is done by transactions. A find is one statement, and in PostgreSQL each
// write is one, too: a call of a function of the schema.
package sqlstore

import (
	"context"
	"strings"

	"github.com/laconic-go/laconic/store/engine"
)

func init() { //nolint:gochecknoinits // a driver is registered by its import, as in database/sql
	engine.Register("postgres", Postgres)
	engine.Register("postgresql", Postgres)
	engine.Register("sqlite", func(ctx context.Context, url string) (engine.Backend, error) {
		path := strings.TrimPrefix(url, "sqlite:")
		return SQLite(ctx, strings.TrimPrefix(path, "//"))
	})
}
