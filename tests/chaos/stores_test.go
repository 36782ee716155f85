package chaos

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tests/lineup"
)

// unpredictable is an archive that gives a content another handle each time.
type unpredictable struct{ *store.Memory }

func (u unpredictable) Handle(message.ContentHash) store.Handle {
	return store.HandleIn(nil, "", store.Content{Data: fmt.Sprint(time.Now().UnixNano())}.Hash())
}

// nameless is an archive that gives contents no handles.
type nameless struct{ *store.Memory }

func (nameless) Handle(message.ContentHash) store.Handle { return store.Handle{} }

// badArchives are archives that do something wrong, and whether what they have
// taken can be relied on all the same.
func badArchives() map[string]func() store.Store {
	faulty := func(fault func(uint32) error) func() store.Store {
		return func() store.Store { return lineup.Faulty{Memory: store.NewMemory(0), Fault: fault} }
	}
	errArchive := errors.New("no space left on device")
	return map[string]func() store.Store{
		"works": func() store.Store { return store.NewMemory(0) },
		"fails": faulty(func(uint32) error { return errArchive }),
		"fails at times": faulty(func(n uint32) error {
			if n%2 == 0 {
				return errArchive
			}
			return nil
		}),
		"panics":           faulty(func(uint32) error { panic("no archive") }),
		"cancels itself":   faulty(func(uint32) error { return context.Canceled }),
		"takes no more":    func() store.Store { return store.NewMemory(1) },
		"forgets":          func() store.Store { return store.NewMemory(4000) },
		"is crowded":       lineup.Crowded,
		"is unpredictable": func() store.Store { return unpredictable{store.NewMemory(0)} },
		"has no names":     func() store.Store { return nameless{store.NewMemory(0)} },
	}
}

// TestArchives puts each bad archive under each chain: the calls go on, what is
// sent keeps the guarantees, and each handle in it leads to something that was
// put.
func TestArchives(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for name, archive := range badArchives() {
			a := archive()
			env := middleware.Env{Archive: a, Journal: journal.NewMemory(0), Scope: "test"}
			goOn(t, chain, env, "an archive that "+name, func(sent []message.Message, who string) {
				if name != "forgets" {
					requireKeptUnderHandles(t, a, sent, who)
				}
			})
		}
	})
}

// requireKeptUnderHandles fails unless there is something under each handle that
// was sent.
func requireKeptUnderHandles(t *testing.T, s store.Store, sent []message.Message, who string) {
	t.Helper()
	for _, m := range sent {
		for _, p := range m.Parts {
			var text string
			switch p := p.(type) {
			case message.Text:
				text = p.Text
			case message.ToolCall:
				text = p.Arguments
			case message.ToolResult:
				text = p.Text
			case message.Thinking, message.Media, message.Opaque:
			}
			for _, h := range archived.In(text) {
				_, err := s.Get(t.Context(), h)
				require.NoError(t, err, "%s: %q", who, text)
			}
		}
	}
}

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
