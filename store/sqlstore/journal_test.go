package sqlstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// engine opens the database as an engine; it is closed after the test.
func (d *database) engine(tb testing.TB, o engine.Options) *engine.Engine {
	tb.Helper()
	e, err := engine.Open(tb.Context(), d.url, o)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	return e
}

// patient is for tests of what is done, on machines that are slow.
var patient = store.Limits{Timeout: time.Minute}

func TestJournal(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *database{"sqlite": sqliteDatabase, "postgres": postgresDatabase} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Journal(t, func(t *testing.T) journal.Journal {
				t.Helper()
				return open(t).engine(t, engine.Options{Limits: patient}).Journal()
			})
		})
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *database{"sqlite": sqliteDatabase, "postgres": postgresDatabase} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Archive(t, func(t *testing.T) store.Store {
				t.Helper()
				return open(t).engine(t, engine.Options{Secret: []byte("secret"), Limits: patient}).Archive("s")
			})
		})
	}
}
