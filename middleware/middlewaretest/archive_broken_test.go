package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// brokenStore changes what a store in memory gets or returns.
type brokenStore struct {
	*store.Memory

	handle func(message.ContentHash) store.Handle
	put    func(ctx context.Context, m *store.Memory, conversation message.ID, contents []store.Named) error
	get    func(c *store.Content, err *error)
	scope  func(name string) string
	delete func(ctx context.Context, m *store.Memory, scope string, conversations []message.ID) error
	reopen func() store.Store
}

func (s brokenStore) Handle(h message.ContentHash) store.Handle {
	if s.handle != nil {
		return s.handle(h)
	}
	return s.Memory.Handle(h)
}

func (s brokenStore) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	if s.put != nil {
		return s.put(ctx, s.Memory, conversation, contents)
	}
	return s.Memory.Put(ctx, conversation, contents)
}

func (s brokenStore) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	c, err := s.Memory.Get(ctx, h)
	if s.get != nil {
		s.get(&c, &err)
	}
	return c, err
}

func (s brokenStore) Scope(name string) store.Store {
	if s.scope != nil {
		name = s.scope(name)
	}
	return s.Memory.Scope(name)
}

func (s brokenStore) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	if s.delete != nil {
		return s.delete(ctx, s.Memory, scope, conversations)
	}
	return s.Memory.Delete(ctx, scope, conversations...)
}

func (s brokenStore) Reopen() store.Store {
	if s.reopen != nil {
		return s.reopen()
	}
	return s
}

func (brokenStore) Damage(store.Handle) error { return nil }

// TestArchiveFindsFaults has a store for each case that breaks its rule.
func TestArchiveFindsFaults(t *testing.T) {
	t.Parallel()
	n := 0
	for name, broken := range map[string]brokenStore{
		"handles": {handle: func(message.ContentHash) store.Handle {
			n++
			return store.HandleIn(nil, "", store.Content{Data: fmt.Sprint(n)}.Hash())
		}},
		"content": {get: func(c *store.Content, _ *error) { c.Data = strings.ToValidUTF8(c.Data, "\uFFFD") }},
		"all or an error": {put: func(ctx context.Context, m *store.Memory, conversation message.ID, contents []store.Named) error {
			for i := range contents {
				_ = m.Put(ctx, conversation, contents[i:i+1])
			}
			return nil
		}},
		"conflict": {put: func(ctx context.Context, m *store.Memory, conversation message.ID, contents []store.Named) error {
			if err := m.Put(ctx, conversation, contents); !errors.Is(err, store.ErrConflict) {
				return err
			}
			return nil
		}},
		"concurrent": {put: func(context.Context, *store.Memory, message.ID, []store.Named) error {
			return errors.New("deadlock detected")
		}},
		"cancelled": {put: func(_ context.Context, m *store.Memory, conversation message.ID, contents []store.Named) error {
			return m.Put(context.Background(), conversation, contents) //nolint:contextcheck // this is the fault
		}},
		"reopened": {reopen: func() store.Store { return store.NewMemory(0).Scope("another") }},
		"damaged":  {},
		"scopes":   {scope: strings.ToLower},
		"delete": {delete: func(ctx context.Context, m *store.Memory, scope string, _ []message.ID) error {
			return errors.Join(m.Delete(ctx, scope), m.Delete(ctx, scope+"b"))
		}},
		"delete conversations": {delete: func(ctx context.Context, m *store.Memory, scope string, _ []message.ID) error {
			return m.Delete(ctx, scope)
		}},
	} {
		broken.Memory = store.NewMemory(0)
		k := slices.IndexFunc(archiveCases, func(c storageCase[store.Store]) bool { return c.name == name })
		require.GreaterOrEqual(t, k, 0, name)
		require.IsType(t, seen(""), archiveCases[k].observe(t.Context(), broken), name)
	}
	for _, c := range archiveCases {
		require.Contains(t, c.observe(t.Context(), brokenStore{}), "panicked: runtime error: invalid memory address", c.name)
	}
	require.PanicsWithValue(t, missing("Damage"), func() { healsDamage(t.Context(), store.NewMemory(0)) })
}

// brokenJournal changes what a journal gets or returns.
type brokenJournal struct {
	journal.Journal

	scope  func(string) string
	ids    func([]message.ID) []message.ID
	found  func(*journal.Found)
	writes func([]journal.Write) [][]journal.Write
	ctx    func(context.Context) error
	delete func(ctx context.Context, j journal.Journal, scope string, conversations []message.ID) error
}

func (j brokenJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if j.scope != nil {
		scope = j.scope(scope)
	}
	if j.ids != nil {
		ids = j.ids(ids)
	}
	found, err := j.Journal.Find(ctx, scope, first, ids)
	if j.found != nil && found.At >= 0 {
		j.found(&found)
	}
	return found, err
}

func (j brokenJournal) Put(ctx context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	if j.scope != nil {
		scope = j.scope(scope)
	}
	if j.writes == nil {
		return j.Journal.Put(ctx, scope, writes)
	}
	for i, w := range j.writes(writes) {
		if i > 0 && j.ctx != nil && j.ctx(ctx) != nil {
			return winner, j.ctx(ctx)
		}
		e, err := j.Journal.Put(ctx, scope, w)
		if err != nil {
			return e, err
		}
		if i == 0 {
			winner = e
		}
	}
	return winner, nil
}

func (j brokenJournal) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	if j.delete != nil {
		return j.delete(ctx, j.Journal, scope, conversations)
	}
	return j.Journal.Delete(ctx, scope, conversations...)
}

func (brokenJournal) Damage(string, message.ID) error { return nil }

// TestJournalFindsFaults has a journal for each case that breaks its rule.
func TestJournalFindsFaults(t *testing.T) {
	t.Parallel()
	one := func(w []journal.Write) [][]journal.Write {
		var all [][]journal.Write
		for i := range w {
			all = append(all, w[i:i+1])
		}
		return all
	}
	changed := func(change func(w []journal.Write) []journal.Write) func([]journal.Write) [][]journal.Write {
		return func(w []journal.Write) [][]journal.Write { return [][]journal.Write{change(slices.Clone(w))} }
	}
	replaced := map[message.ID]bool{}
	for name, broken := range map[string]brokenJournal{
		"empty":   {Journal: zeroJournal{}},
		"newest":  {ids: func(ids []message.ID) []message.ID { return ids[:min(1, len(ids))] }},
		"long":    {ids: func(ids []message.ID) []message.ID { return ids[max(0, len(ids)-65_535):] }},
		"content": {found: func(f *journal.Found) { f.Entries[0].Edits = f.Entries[0].Edits[:1] }},
		"bases":   {found: func(f *journal.Found) { f.Entries = f.Entries[:1] }},
		"base": {writes: changed(func(w []journal.Write) []journal.Write {
			w[0].Entry.Base = message.ID{}
			return w
		})},
		"head": {writes: changed(func(w []journal.Write) []journal.Write {
			w[0].Head = journal.Head{}
			return w
		})},
		"replaced": { // only what an ID points at can be built on
			writes: changed(func(w []journal.Write) []journal.Write {
				replaced[w[0].Over] = true
				return w
			}),
			found: func(f *journal.Found) {
				f.Entries = slices.DeleteFunc(f.Entries, func(e journal.Entry) bool { return replaced[e.Rev] })
			},
		},
		"compare-and-swap": {writes: changed(func(w []journal.Write) []journal.Write {
			if w[0].Over == (message.ID{9}) {
				w[0].Over = message.ID{10}
			}
			return w
		})},
		"batch": {writes: one},
		"two histories": {writes: changed(func(w []journal.Write) []journal.Write {
			return slices.DeleteFunc(w, func(o journal.Write) bool { return o.First != w[0].First })
		})},
		"same entry": {writes: changed(func(w []journal.Write) []journal.Write { return w[:1] })},
		"again": {writes: changed(func(w []journal.Write) []journal.Write {
			if len(w) == 3 {
				return w[:1]
			}
			return w
		})},
		"scopes": {scope: func(s string) string { return s[:min(1, len(s))] }},
		"delete": {delete: func(ctx context.Context, j journal.Journal, _ string, _ []message.ID) error {
			return j.Delete(ctx, "ab")
		}},
		"delete conversations": {delete: func(ctx context.Context, j journal.Journal, scope string, _ []message.ID) error {
			return j.Delete(ctx, scope)
		}},
		"damaged":    {}, // keeps no data that could be damaged
		"concurrent": {writes: one},
		"concurrent swaps": {writes: changed(func(w []journal.Write) []journal.Write {
			w[0].Entry.Base = message.ID{}
			return w
		})},
		"cancelled": {writes: one, ctx: context.Context.Err},
	} {
		if broken.Journal == nil {
			broken.Journal = journal.NewMemory(0)
		}
		k := slices.IndexFunc(journalCases, func(c storageCase[journal.Journal]) bool { return c.name == name })
		require.GreaterOrEqual(t, k, 0, name)
		require.IsType(t, seen(""), journalCases[k].observe(t.Context(), broken), name)
	}
	for _, c := range journalCases {
		require.Contains(t, c.observe(t.Context(), brokenJournal{}), "panicked: runtime error: invalid memory address", c.name)
	}
}

// zeroJournal returns zero values.
type zeroJournal struct{ journal.Journal }

func (zeroJournal) Find(context.Context, string, message.ID, []message.ID) (journal.Found, error) {
	return journal.Found{}, nil
}
