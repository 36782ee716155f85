package tests

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// testContext is for helpers that have no test at hand.
var testContext = context.Background()

// texts is a journal that keeps entries as text, as a store does: what is read
// shares nothing with what was written.
type texts struct {
	journal.Journal

	mu      sync.Mutex
	entries map[message.ID]string // by revision
}

func newTexts() *texts {
	return &texts{Journal: journal.NewMemory(0), entries: map[message.ID]string{}}
}

func (j *texts) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	found, err := j.Journal.Find(ctx, scope, first, ids)
	found.Entries = slices.Clone(found.Entries)
	for i, e := range found.Entries {
		found.Entries[i] = journal.Entry{}
		if _, err := reread(e, &found.Entries[i]); err != nil {
			return journal.Found{}, err
		}
	}
	return found, err
}

func (j *texts) Put(ctx context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	own := slices.Clone(writes)
	for i, w := range writes {
		own[i].Entry = journal.Entry{}
		text, err := reread(w.Entry, &own[i].Entry)
		if err != nil {
			return w.Entry, err
		}
		j.entries[w.Entry.Rev] = text
	}
	return j.Journal.Put(ctx, scope, own)
}

// reread writes an entry as text, and reads it.
func reread(e journal.Entry, into *journal.Entry) (string, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	return string(text), json.Unmarshal(text, into)
}

var errMood = errors.New("not in the mood")

// TestForgedEntry puts entries into the journal that have the right revision,
// but are nonsense.
func TestForgedEntry(t *testing.T) {
	t.Parallel()
	history := long("forged", 6)
	ids := message.IDs(history)
	fold := func(first, last, id int) *journal.Record {
		return &journal.Record{Middleware: "x", Kind: journal.Fold, Runs: []message.Run{{First: first, Last: last}}, ID: ids[id]}
	}
	rewrite := func(at, id int, parts ...message.Part) *journal.Record {
		return &journal.Record{Middleware: "x", Kind: journal.Rewrite, Runs: []message.Run{{First: at, Last: at}}, ID: ids[id], Parts: parts}
	}
	for name, edits := range map[string][]*journal.Record{
		"overlapping folds":      {fold(1, 6, 6), fold(3, 8, 8)},
		"fold inside a fold":     {fold(3, 4, 4), fold(1, 8, 8)},
		"rewrite inside a fold":  {rewrite(2, 2, message.Text{Text: "x"}), fold(1, 4, 4)},
		"the same place twice":   {rewrite(2, 2, message.Text{Text: "x"}), rewrite(2, 2, message.Text{Text: "y"})},
		"interleaved runs":       {{Middleware: "x", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 2}, {First: 5, Last: 6}}, ID: ids[6]}, {Middleware: "x", Kind: journal.Fold, Runs: []message.Run{{First: 2, Last: 5}, {First: 7, Last: 8}}, ID: ids[8]}},
		"behind the history":     {fold(1, 500, 12)},
		"overflow":               {fold(1, math.MaxInt, 12)},
		"a pointer part":         {rewrite(2, 2, &message.Text{Text: "x"})},
		"under it overlaps":      {{Middleware: "x", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 8}}, ID: ids[9], Covered: []*journal.Record{fold(1, 6, 6), fold(3, 8, 8)}}},
		"under it is nothing":    {{Middleware: "x", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 8}}, ID: ids[9], Covered: []*journal.Record{nil}}},
		"nothing":                {nil},
		"made before all":        {{Middleware: "none", Kind: journal.Rewrite, HistoryLen: math.MinInt, Runs: []message.Run{{First: 2, Last: 2}}, ID: ids[2], Parts: history[2].Parts}},
		"made in the far future": {{Middleware: "none", Kind: journal.Rewrite, HistoryLen: math.MaxInt, Runs: []message.Run{{First: 2, Last: 2}}, ID: ids[2], Parts: history[2].Parts}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := journal.Entry{Edits: edits}
			require.NotPanics(t, func() {
				e.Rev = revision(&e)
				j := &planted{Journal: journal.NewMemory(0), id: ids[len(ids)-1], entry: e}
				mw := middleware.With(middleware.Env{Journal: j}, layers(
					editor{name: "none", plan: func(look) []middleware.Edit { return nil }, minCalls: 1}, editor{name: "clear", plan: clears(1)}, editor{name: "fold", plan: folds(2)})...)
				req, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history})
				require.NoError(t, err, "the call goes on")
				requireNoWorse(t, history, req.Messages, name)
			})
		})
	}
}

// planted is a journal that has one entry from somebody else.
type planted struct {
	journal.Journal
	id    message.ID
	entry journal.Entry
}

func (j *planted) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if k := slices.Index(ids, j.id); k >= 0 {
		return journal.Found{At: k, Entries: []journal.Entry{j.entry}}, nil
	}
	return j.Journal.Find(ctx, scope, first, ids)
}

// revision is the hash that an entry must have to be believed; of what has none, zeros.
func revision(e *journal.Entry) (rev message.ID) {
	defer func() {
		if recover() != nil {
			rev = message.ID{}
		}
	}()
	return e.Revision()
}
