package sqlstore

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// own returns an engine over connections of the caller's.
func own(t *testing.T, b engine.Backend, err error) *engine.Engine {
	t.Helper()
	require.NoError(t, err)
	e, err := engine.New(b, engine.Options{Limits: patient})
	require.NoError(t, err)
	return e
}

func ownPostgres(t *testing.T) *engine.Engine {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), postgresDatabase(t).url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	b, err := NewPostgres(t.Context(), pool)
	e := own(t, b, err)
	t.Cleanup(func() {
		require.NoError(t, e.Close())
		require.NoError(t, pool.Ping(context.Background()), "the pool is left open")
	})
	return e
}

func ownSQLite(t *testing.T) *engine.Engine {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "x.db")+
		"?_pragma=foreign_keys(1)&_pragma=secure_delete(1)&_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	b, err := NewSQLite(t.Context(), db)
	e := own(t, b, err)
	t.Cleanup(func() {
		require.NoError(t, e.Close())
		require.NoError(t, db.PingContext(context.Background()), "the database is left open")
	})
	return e
}

func TestOwnConnections(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *engine.Engine{"postgres": ownPostgres, "sqlite": ownSQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Journal(t, func(t *testing.T) journal.Journal { t.Helper(); return open(t).Journal() })
			middlewaretest.Archive(t, func(t *testing.T) store.Store { t.Helper(); return open(t).Archive("s") })
		})
	}
}

// TestOwnSQLiteWithoutSettings names the setting that is missing.
func TestOwnSQLiteWithoutSettings(t *testing.T) {
	t.Parallel()
	all := []string{"foreign_keys", "secure_delete", "busy_timeout"}
	for _, missing := range all {
		pragmas := url.Values{}
		for _, p := range all {
			if p != missing {
				pragmas.Add("_pragma", p+"(1)")
			}
		}
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "x.db")+"?"+pragmas.Encode())
		require.NoError(t, err)
		_, err = NewSQLite(t.Context(), db)
		require.ErrorContains(t, err, "the connections of db have "+missing+" off, so ")
		require.NoError(t, db.Close())
	}
}

func TestPoolSize(t *testing.T) {
	t.Parallel()
	d := postgresDatabase(t)
	b, err := openPostgresURL(t.Context(), d.url+"&pool_max_conns=3")
	require.NoError(t, err)
	require.Equal(t, 3, b.(*postgres).db.Stats().MaxOpenConnections)
	require.NoError(t, b.Close())
	_, err = openPostgresURL(t.Context(), d.url+"&pool_max_conns=many")
	require.ErrorContains(t, err, `pool_max_conns is "many", want a number from 1`)
}

// TestHintForPgBouncer has the errors of statements that were prepared on another connection.
func TestHintForPgBouncer(t *testing.T) {
	t.Parallel()
	for code, hint := range map[string]bool{"26000": true, "42P05": true, "23505": false} {
		err := hinted(&pgconn.PgError{Code: code, Message: "x"})
		if hint {
			require.ErrorContains(t, err, "add default_query_exec_mode=exec to the URL", code)
		} else {
			require.NotContains(t, err.Error(), "PgBouncer", code)
		}
	}
}
