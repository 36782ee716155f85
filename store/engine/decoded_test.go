package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// folds returns the rows of a chain of entries, the newest first.
func folds(tb testing.TB, e *Engine, n int) (rows []Row) {
	tb.Helper()
	var base message.ID
	for i := range n {
		en := journal.Entry{Base: base, Depth: i, Edits: []*journal.Record{{
			Middleware: "m", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 2 + i}},
			Messages: []message.Message{message.User(fmt.Sprintf("What has happened before message %d, in a sentence.", i))},
		}}}
		en.Rev = journal.Internals(inside.Key{}).RevisionOf(&en)
		base = en.Rev
		data, err := json.Marshal(en)
		require.NoError(tb, err)
		packed, err := e.codec.pack("s", data)
		require.NoError(tb, err)
		rows = append(rows, Row{Rev: en.Rev, Base: en.Base, Data: packed})
	}
	slices.Reverse(rows)
	return rows
}

func TestDecodedOnce(t *testing.T) {
	t.Parallel()
	e, err := New(nil, Options{})
	require.NoError(t, err)
	defer e.codec.close() //nolint:errcheck // of a test
	rows := folds(t, e, 2)
	first, err := e.codec.toEntries("s", rows)
	require.NoError(t, err)
	again, err := e.codec.toEntries("s", rows)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Same(t, first[0].Edits[0], again[0].Edits[0], "it was decoded once")
	other, err := e.codec.toEntries("t", rows)
	require.NoError(t, err)
	require.NotSame(t, first[0].Edits[0], other[0].Edits[0], "nothing goes from one scope to another")

	altered := rows[0]
	altered.Base = message.ID{1}
	_, err = e.codec.toEntry("s", altered)
	require.ErrorIs(t, err, store.ErrDamaged, "another base than the entry has")
	altered = rows[0]
	altered.Data = slices.Clone(rows[0].Data)
	altered.Data[len(altered.Data)-1]++
	_, err = e.codec.toEntry("s", altered)
	require.ErrorIs(t, err, store.ErrDamaged, "data that was damaged since it was read")
}

func TestDecodedIsBounded(t *testing.T) {
	t.Parallel()
	d := newDecoded()
	for n := range 1000 {
		k := decodedKey{sum: uint64(n)}
		d.put(k, journal.Entry{Depth: n}, decodedSize/100)
		e, ok := d.get(k)
		require.True(t, ok)
		require.Equal(t, n, e.Depth)
		require.LessOrEqual(t, len(d.entries), 100)
	}
}

