package middlewaretest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// brokenJournal changes what a journal gets or returns.
type brokenJournal struct {
	journal.Journal

	scope  func(string) string
	ids    func([]message.ID) []message.ID
	found  func(*journal.Entry)
	writes func([]journal.Write) [][]journal.Write
	delete string
}

func (j brokenJournal) Latest(ctx context.Context, scope string, ids []message.ID) (int, journal.Entry, bool, error) {
	if j.scope != nil {
		scope = j.scope(scope)
	}
	if j.ids != nil {
		ids = j.ids(ids)
	}
	at, e, ok, err := j.Journal.Latest(ctx, scope, ids)
	if j.found != nil && ok {
		j.found(&e)
	}
	return at, e, ok, err
}

func (j brokenJournal) Put(ctx context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	if j.scope != nil {
		scope = j.scope(scope)
	}
	if j.writes == nil {
		return j.Journal.Put(ctx, scope, writes)
	}
	for i, w := range j.writes(writes) {
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

func (j brokenJournal) Delete(ctx context.Context, scope string) error {
	if j.delete != "" {
		scope = j.delete
	}
	return j.Journal.Delete(ctx, scope)
}

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
	for name, broken := range map[string]brokenJournal{
		"newest":  {ids: func(ids []message.ID) []message.ID { return ids[:min(1, len(ids))] }},
		"content": {found: func(e *journal.Entry) { e.Edits = append([]*journal.Record{}, e.Edits[:len(e.Edits)/2]...) }},
		"compare-and-swap": {writes: func(w []journal.Write) [][]journal.Write {
			free := append([]journal.Write{}, w...)
			if free[0].Over == (message.ID{9}) {
				free[0].Over = message.ID{10}
			}
			return [][]journal.Write{free}
		}},
		"batch":      {writes: one},
		"scopes":     {scope: func(s string) string { return s[:min(1, len(s))] }},
		"delete":     {delete: "ab"},
		"concurrent": {writes: one},
	} {
		broken.Journal = journal.NewMemory(0)
		found := false
		for _, c := range journalCases {
			if c.name == name {
				found = true
				require.NotEmpty(t, c.broken(t.Context(), broken), name)
			}
		}
		require.True(t, found, name)
	}
	for _, c := range journalCases {
		require.Contains(t, c.observe(t.Context(), brokenJournal{}), "panicked: runtime error: invalid memory address", c.name)
	}
}
