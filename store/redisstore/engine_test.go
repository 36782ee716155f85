package redisstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// openEngine returns an engine of its own for a test.
func openEngine(tb testing.TB, o engine.Options) *engine.Engine {
	tb.Helper()
	u := address(tb)
	openURL(tb, u) // removes all keys at the end
	e, err := engine.Open(tb.Context(), u, o)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	return e
}

func TestJournal(t *testing.T) {
	t.Parallel()
	address(t)
	middlewaretest.Journal(t, func(t *testing.T) journal.Journal {
		t.Helper()
		return openEngine(t, engine.Options{}).Journal()
	})
}

func TestArchive(t *testing.T) {
	t.Parallel()
	address(t)
	middlewaretest.Archive(t, func(t *testing.T) store.Store {
		t.Helper()
		return openEngine(t, engine.Options{}).Archive("s")
	})
}
