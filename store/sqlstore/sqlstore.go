// Package sqlstore keeps journals and archives in PostgreSQL, through pgx, and in files of
// SQLite, through a translation of SQLite to Go. It is a driver of package engine:
//
//	import _ "github.com/laconic-go/laconic/store/sqlstore"
//
//	e, err := engine.Open(ctx, "sqlite:laconic.db", engine.Options{})
//	e, err := engine.Open(ctx, "postgres://user:password@host:5432/database", engine.Options{})
//
// A file of SQLite survives restarts, for the processes of one machine; do not put it on a
// network share. It is created if it is missing, and two files with the endings -wal and -shm
// are next to it. The URL may have parameters:
//
//	sqlite:laconic.db?synchronous=normal&mode=rw
//
// synchronous is full (each write is on disk when it returns), normal (the last writes may
// be lost if the machine stops) or off (the file may be damaged then). mode is rwc, rw (the
// file must be there) or ro (nothing is written).
//
// PostgreSQL, 12 or later, is for the replicas of a service. The URL is that of libpq, with its
// parameters, such as sslmode and search_path. A process makes at most 10 connections, or
// as many as pool_max_conns of the URL allows.
//
// Both have the same tables, whose names begin with laconic_. They are created by the first
// process that opens the database; a database whose tables are newer than the program is an
// error.
//
// Connections of the caller's own, with its settings, passwords and tracing, are used by NewPostgres and NewSQLite:
//
//	b, err := sqlstore.NewPostgres(ctx, pool)
//	…
//	e, err := engine.New(b, engine.Options{})
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
	engine.Register("postgres", openPostgresURL)
	engine.Register("postgresql", openPostgresURL)
	engine.Register("sqlite", func(ctx context.Context, url string) (engine.Backend, error) {
		path := strings.TrimPrefix(url, "sqlite:")
		return openSQLite(ctx, strings.TrimPrefix(path, "//"))
	})
}
