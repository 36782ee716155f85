package entries_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// of returns the log of a history of n messages.
func of(j journal.Journal, n int) entries.Log {
	h := &edit.History{Meter: tokens.Meter{Counter: tokens.Chars4}, Bounded: edit.Bounded{FirstUser: 0}}
	for i := range n {
		m := message.Assistant(message.Text{Text: fmt.Sprintf("message %d", i)})
		h.Body, h.Tokens, h.Whole = append(h.Body, &m), append(h.Tokens, h.Meter.Message(m)), append(h.Whole, false)
	}
	h.IDs = message.IDs(h.AppendMessages(nil, message.Run{Last: n - 1}))
	return entries.Log{History: h, Journal: j}
}

// rewrites returns one rewrite of each of the first n messages.
func rewrites(l entries.Log, n int) edit.List {
	var records []*journal.Record
	for i := range n {
		records = append(records, &journal.Record{
			Middleware: "test", Kind: journal.Rewrite, Runs: []message.Run{{First: i, Last: i}}, ID: l.IDs[i], HistoryLen: len(l.Body),
			Parts: []message.Part{message.Text{Text: "short"}},
		})
	}
	return l.WeighAll(records)
}

// A history grows, and each length adds an edit: another reader finds all of them, however
// many entries they are in.
func TestReadWhatWasWritten(t *testing.T) {
	t.Parallel()
	memory := journal.NewMemory(0)
	known := entries.Known{Stored: entries.None}
	for n := 1; n <= 3*journal.MaxDepth; n++ {
		l := of(memory, n)
		var err error
		known, _, err = l.Write(t.Context(), known, entries.Stored{All: rewrites(l, n)}, nil)
		require.NoError(t, err)
		fresh, _, err := l.Read(t.Context(), l.IDs, entries.None, 0)
		require.NoError(t, err)
		require.Equal(t, n-1, fresh.At)
		require.True(t, fresh.All.Equal(known.All), "%d edits", len(known.All))
		require.LessOrEqual(t, fresh.Entry.Depth, journal.MaxDepth)
	}
}

// What a process knows has expired in the journal meanwhile: what it writes then is found by others.
func TestWriteOnABaseThatHasExpired(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"at the same message": 3, "later": 5} {
		for _, others := range []int{0, 2} { // edits that another process has written since
			memory := journal.NewMemory(0)
			before := of(memory, 3)
			known, _, err := before.Write(t.Context(), entries.Known{Stored: entries.None}, entries.Stored{All: rewrites(before, 2)}, nil)
			require.NoError(t, err)
			require.NoError(t, memory.Delete(t.Context(), ""))
			if others > 0 {
				_, _, err = before.Write(t.Context(), entries.Known{Stored: entries.None}, entries.Stored{All: rewrites(before, others)}, nil)
				require.NoError(t, err)
			}

			l := of(memory, n)
			known, all, err := l.Write(t.Context(), known, entries.Stored{All: rewrites(l, 3)}, nil)
			require.NoError(t, err, name)
			require.Len(t, all, 3, name)
			fresh, _, err := l.Read(t.Context(), l.IDs, entries.None, 0)
			require.NoError(t, err, name)
			require.True(t, fresh.All.Equal(known.All), "%s: %d of %d edits are found", name, len(fresh.All), len(known.All))
		}
	}
}

func TestWriteAfterAnotherWriter(t *testing.T) {
	t.Parallel()
	l := of(journal.NewMemory(0), 4)
	theirs, _, err := l.Write(t.Context(), entries.Known{Stored: entries.None}, entries.Stored{All: rewrites(l, 3)}, nil)
	require.NoError(t, err)
	for _, mine := range []int{2, 4} {
		got, _, err := l.Write(t.Context(), entries.Known{Stored: entries.None}, entries.Stored{All: rewrites(l, mine)}, nil)
		require.NoError(t, err)
		require.True(t, got.All.Equal(theirs.All), "a history has the edits of the first writer, if the other has fewer and if it has more")
	}
}

// Two requests with the same history and the same edits: which of them the model has answered is not known.
func TestWriteOfAnotherRequest(t *testing.T) {
	t.Parallel()
	l := of(journal.NewMemory(0), 4)
	for n, again := range []bool{false, true} {
		thinking := &journal.Thinking{Len: 4, Sum: l.IDs[n]}
		want := entries.Stored{All: rewrites(l, 3), Entry: journal.Entry{Thinking: thinking}}
		got, _, err := l.Write(t.Context(), entries.Known{Stored: entries.None}, want, nil)
		require.NoError(t, err)
		require.Equal(t, again, got.Entry.Thinking.Again)
	}
}

// broken is a journal that fails, never stores, or returns a damaged entry for an ID.
type broken struct {
	journal.Journal

	err     error
	panics  bool
	refuses bool
	damaged message.ID
}

func (b broken) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if b.panics {
		panic("no disk")
	}
	found, err := b.Journal.Find(ctx, scope, first, ids)
	if found.At >= 0 && ids[found.At] == b.damaged {
		found.Entries[0].Rev[0]++
	}
	return found, errors.Join(err, b.err)
}

func (b broken) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if b.refuses {
		return journal.Entry{}, nil
	}
	return b.Journal.Put(ctx, scope, writes)
}

func TestBrokenJournals(t *testing.T) {
	t.Parallel()
	memory := journal.NewMemory(0)
	l := of(memory, 2)
	good, _, err := l.Write(t.Context(), entries.Known{Stored: entries.None}, entries.Stored{All: rewrites(l, 2)}, nil)
	require.NoError(t, err)
	longer := of(memory, 3)
	_, _, err = longer.Write(t.Context(), good, entries.Stored{All: rewrites(longer, 3)}, nil)
	require.NoError(t, err)

	longer.Journal = broken{Journal: memory, damaged: longer.IDs[2]}
	got, broke, err := longer.Read(t.Context(), longer.IDs, entries.None, 0)
	require.NoError(t, err)
	require.ErrorContains(t, broke, "entry of message 2: the content does not belong to the revision")
	require.Equal(t, 1, got.At, "the entry before the damaged one")
	require.True(t, got.All.Equal(good.All))

	longer.Journal = broken{Journal: memory, err: errors.New("no disk")}
	got, _, err = longer.Read(t.Context(), longer.IDs, good.Stored, 0)
	require.ErrorContains(t, err, "read journal: no disk")
	require.Equal(t, good.Stored, got, "what is known")

	longer.Journal = broken{panics: true}
	_, _, err = longer.Read(t.Context(), longer.IDs, good.Stored, 0)
	require.ErrorContains(t, err, "read journal: journal panicked: no disk")

	longer.Journal = broken{Journal: journal.NewMemory(0), refuses: true}
	_, _, err = longer.Write(t.Context(), entries.Known{Stored: entries.None}, entries.Stored{All: rewrites(longer, 3)}, nil)
	require.ErrorContains(t, err, "write journal: another writer was first 4 times")
}
