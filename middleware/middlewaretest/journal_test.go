package middlewaretest_test

import (
	"testing"

	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	middlewaretest.Journal(t, func(*testing.T) journal.Journal { return journal.NewMemory(0) })
}
