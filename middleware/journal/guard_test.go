package journal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
)

func TestGuardIsAJournal(t *testing.T) {
	t.Parallel()
	middlewaretest.Journal(t, func(*testing.T) journal.Journal {
		return journal.Guard(journal.NewMemory(0), store.Limits{Timeout: time.Minute})
	})
}

func TestGuardPanicsOnANegativeLimit(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "journal: Guard: a limit is negative in {Timeout:-1ns Failures:0 Pause:0s}, want 0 for the default, or more",
		func() { journal.Guard(journal.NewMemory(0), store.Limits{Timeout: -1}) })
}

// down is a journal that cannot be reached.
type down struct{ journal.Journal }

func (down) Find(context.Context, string, message.ID, []message.ID) (journal.Found, error) {
	return journal.Found{}, errors.New("connection refused")
}

func ExampleGuard() {
	shared := journal.Guard(down{}, store.Limits{Timeout: 200 * time.Millisecond, Failures: 2, Pause: time.Hour})
	for range 3 {
		_, err := shared.Find(context.Background(), "acme", message.ID{}, nil)
		fmt.Println(err)
	}
	// Output:
	// connection refused
	// connection refused
	// not called for 1h0m0s, since 2 calls in a row have failed; the last one: connection refused
}
