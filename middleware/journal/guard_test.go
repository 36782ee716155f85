package journal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
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

// stuck is a journal that hangs.
type stuck struct{ journal.Journal }

func (stuck) Find(context.Context, string, message.ID, []message.ID) (journal.Found, error) {
	<-time.After(time.Hour)
	return journal.Found{}, nil
}

func TestGuardGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := journal.Guard(stuck{journal.NewMemory(0)}, store.Limits{})
		start := time.Now()
		for range 10 {
			_, err := j.Find(t.Context(), "", message.ID{}, []message.ID{{1}})
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.Equal(t, 3*time.Second, time.Since(start), "three calls wait for a second each")
		_, err := j.Put(t.Context(), "", []journal.Write{{ID: id(1), Entry: entry(1)}})
		require.ErrorContains(t, err, "not called for 1s, since 3 calls in a row have failed; the last one: no answer within 1s")
		require.NoError(t, j.Delete(t.Context(), ""))
		<-time.After(2 * time.Hour) // until the calls have returned
	})
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
