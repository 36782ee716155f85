package chaos

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tests/lineup"
)

// badJournal is a journal that does something wrong on the way to one that works.
type badJournal struct {
	journal.Journal

	read  func(e journal.Entry) (journal.Entry, error) // nil: as it is
	write func(ctx context.Context, e journal.Entry) (keep bool, err error)
}

func (s *badJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	found, err := s.Journal.Find(ctx, scope, first, ids)
	if s.read != nil && err == nil {
		if len(found.Entries) == 0 {
			found = journal.Found{Entries: make([]journal.Entry, 1)}
		}
		found.Entries[0], err = s.read(found.Entries[0])
	}
	return found, err
}

func (s *badJournal) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if s.write != nil {
		if keep, err := s.write(ctx, writes[0].Entry); !keep || err != nil {
			return writes[0].Entry, err
		}
	}
	return s.Journal.Put(ctx, scope, writes)
}

var errStore = errors.New("the store is down")

// badStores are journals that do something wrong.
func badStores() map[string]func() journal.Journal {
	of := func(s badJournal) func() journal.Journal {
		return func() journal.Journal {
			c := s
			c.Journal = journal.NewMemory(0)
			return &c
		}
	}
	broken := func(journal.Entry) (journal.Entry, error) { return journal.Entry{}, errStore }
	down := func(context.Context, journal.Entry) (bool, error) { return false, errStore }
	changed := func(change func(*journal.Entry)) func(journal.Entry) (journal.Entry, error) {
		return func(e journal.Entry) (journal.Entry, error) {
			e.Edits = append([]*journal.Record(nil), e.Edits...)
			change(&e)
			return e, nil
		}
	}
	calls := 0
	return map[string]func() journal.Journal{
		"fails":          of(badJournal{read: broken, write: down}),
		"cannot read":    of(badJournal{read: broken}),
		"cannot write":   of(badJournal{write: down}),
		"loses all":      of(badJournal{write: func(context.Context, journal.Entry) (bool, error) { return false, nil }}),
		"loses some":     of(badJournal{write: func(context.Context, journal.Entry) (bool, error) { calls++; return calls%2 == 0, nil }}),
		"remembers none": of(badJournal{read: changed(func(e *journal.Entry) { e.Edits = nil })}),
		"gives nothing":  of(badJournal{read: changed(func(e *journal.Entry) { e.Edits = append(e.Edits, nil) })}),
		"gives garbage": of(badJournal{read: changed(func(e *journal.Entry) {
			e.Edits = append(e.Edits, &journal.Record{Kind: "garbage", Runs: []message.Run{{First: -3, Last: 1 << 40}}})
		})}),
		"gives another's edits": of(badJournal{read: changed(func(e *journal.Entry) {
			e.Edits = append(e.Edits, &journal.Record{Middleware: "x", Kind: journal.Fold, Runs: []message.Run{{First: 0, Last: 0}}})
		})}),
		"changes revisions": of(badJournal{read: changed(func(e *journal.Entry) { e.Rev[0]++ })}),
		"is tiny":           func() journal.Journal { return journal.NewMemory(1) },
	}
}

// TestJournals puts each bad journal under each chain: the calls go on, what is
// sent keeps the guarantees, and nothing is asked of the model twice.
func TestJournals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for name, journal := range badStores() {
			goOn(t, chain, middleware.Env{Journal: journal()}, "a journal that "+name, func([]message.Message, string) {})
		}
	})
}

// TestSlowJournal lets a journal take its time: it is waited for, but no longer
// than the caller waits.
func TestSlowJournal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for took, patience := range map[time.Duration]time.Duration{time.Second: time.Hour, time.Hour: time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				slow := &badJournal{Journal: journal.NewMemory(0), write: func(ctx context.Context, _ journal.Entry) (bool, error) {
					select {
					case <-time.After(took):
						return true, nil
					case <-ctx.Done():
						return false, ctx.Err()
					}
				}}
				p := &provider{}
				o := ask(ctx, put(chain, middleware.Env{Journal: slow}, p), &middleware.Request{Messages: history(), Tools: tools(), Budget: budget()}, false)
				if took < patience {
					require.NoError(t, o.err, "a journal that takes %v", took)
					require.Equal(t, 1, p.calls)
					return
				}
				require.Equal(t, middleware.Canceled, middleware.KindOf(o.err), "a journal that takes %v, and a caller who waits %v: %v", took, patience, o.err)
				require.Nil(t, o.resp)
				require.Zero(t, p.calls, "nobody is asked when the caller has gone")
			})
		}
	})
}
