package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

func id(n byte) message.ID { return message.ID{n} }

func entry(rev byte) journal.Entry {
	return journal.Entry{Rev: id(rev), Edits: []*journal.Record{{
		Middleware: "test", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 2}},
		Messages: []message.Message{message.User("summary")},
	}}}
}

func TestMemoryForgetsWhatWasNotAskedForLongest(t *testing.T) {
	t.Parallel()
	const limit = 4000
	m, ctx := journal.NewMemory(limit), t.Context()
	find := func(n byte) int {
		found, err := m.Find(ctx, "", message.ID{}, []message.ID{id(n)})
		require.NoError(t, err)
		return len(found.Entries)
	}
	for n := byte(1); n <= 50; n++ {
		e := entry(n)
		if n > 1 {
			e.Base = id(1)
		}
		_, err := m.Put(ctx, "", []journal.Write{{ID: id(n), Entry: e}})
		require.NoError(t, err)
		bytes, _ := journal.InMemory(m)
		require.LessOrEqual(t, bytes, limit)
		require.Equal(t, min(2, int(n)), find(n), "the newest entry stays, with its base")
	}
	require.Equal(t, 1, find(1), "an entry that all others build on")
	require.Zero(t, find(2), "the oldest goes")
}

// No entry goes before those that build on it.
func TestMemoryForgetsBasesLast(t *testing.T) {
	t.Parallel()
	const conversations, depth = 3, 4
	m, ctx := journal.NewMemory(16_000), t.Context()
	put := func(rev, base byte) {
		e := entry(rev)
		e.Base = id(base)
		_, err := m.Put(ctx, "", []journal.Write{{ID: e.Rev, Entry: e}})
		require.NoError(t, err)
	}
	for n := range byte(depth) {
		for c := byte(10); c <= 10*conversations; c += 10 {
			put(c+n, (c+n-1)*min(n, 1))
		}
	}
	gone := 0
	for other := range byte(20) {
		put(200+other, 0)
		gone = 0
		for c := byte(10); c <= 10*conversations; c += 10 {
			for n := range byte(depth) {
				if (n+other)%2 > 0 {
					continue
				}
				found, err := m.Find(ctx, "", message.ID{}, []message.ID{id(c + n)})
				require.NoError(t, err)
				if found.At < 0 {
					gone++
					continue
				}
				require.Len(t, found.Entries, int(n)+1, "an entry is found with all that it builds on")
			}
		}
	}
	require.Positive(t, gone, "some were dropped")
	small := journal.NewMemory(1)
	for n := range byte(3) {
		e := entry(n + 1)
		e.Base = id(n)
		_, err := small.Put(ctx, "", []journal.Write{{ID: id(1), Over: id(n), Entry: e}})
		require.NoError(t, err)
		found, err := small.Find(ctx, "", message.ID{}, []message.ID{id(1)})
		require.NoError(t, err)
		require.Len(t, found.Entries, int(n)+1, "the newest entry stays even if it is too large")
	}
}

func TestMemoryCountsThinking(t *testing.T) {
	t.Parallel()
	m := journal.NewMemory(0)
	e := journal.Entry{Rev: id(1), Thinking: &journal.Thinking{Kept: make([]journal.Bound, 1000)}}
	_, err := m.Put(t.Context(), "", []journal.Write{{ID: id(1), Entry: e}})
	require.NoError(t, err)
	bytes, _ := journal.InMemory(m)
	require.GreaterOrEqual(t, bytes, 16_000)
}

func TestConversationOf(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.System("now: 12:00"), message.User("hello"), message.Assistant(message.Text{Text: "hi"})}
	require.Equal(t, message.IDs(h)[1], journal.ConversationOf(h))
	require.Equal(t, journal.ConversationOf(h[1:2]), journal.ConversationOf(h))
	require.Zero(t, journal.ConversationOf(h[:1]))
	require.Zero(t, journal.ConversationOf(nil))
}

func TestMemoryPanicsOnANegativeLimit(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "journal: NewMemory: limit is negative, want bytes, or 0 for 64 MiB",
		func() { journal.NewMemory(-1) })
}

func TestEntryJSONLosesNothing(t *testing.T) {
	t.Parallel()
	inner := &journal.Record{
		Middleware: "clear", Kind: journal.Rewrite, Runs: []message.Run{{First: 2, Last: 2}}, ID: id(7), HistoryLen: 4,
		Parts: []message.Part{message.ToolResult{CallID: "c\xff", Name: "read", Text: "[cleared]", Error: true}},
	}
	outer := &journal.Record{
		Middleware: "fold", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 1}, {First: 2, Last: 3}}, ID: id(8), HistoryLen: 9,
		Messages: []message.Message{message.User("summary"), message.Assistant(message.Thinking{Text: "t", Signature: "s"})},
		Covered:  []*journal.Record{inner}, Earlier: []string{"kqvmzhtwrcxa"},
		Window: 8000, Once: true,
	}
	in := journal.Entry{
		Rev: id(1), Base: id(2), Depth: 4,
		Edits: []*journal.Record{inner, outer},
	}
	data, err := json.Marshal(in)
	require.NoError(t, err)
	var out journal.Entry
	require.NoError(t, json.Unmarshal(data, &out))
	require.Equal(t, in, out)
}

func ExampleNewMemory() {
	shared := journal.NewMemory(1 << 20)
	first := middleware.With(middleware.Env{Journal: shared, Scope: "tenant 1"} /* middlewares */)
	second := middleware.With(middleware.Env{Journal: shared, Scope: "tenant 1"} /* the same ones */)
	_, _ = first, second // what one of them has edited, the other one sends in the same way
	found, err := shared.Find(context.Background(), "tenant 1", message.ID{}, nil)
	fmt.Println(len(found.Entries), "entries", err)
	// Output: 0 entries <nil>
}

// TestRevisionsOfWhereEditsHold has edits that differ only in the requests for which they hold.
func TestRevisionsOfWhereEditsHold(t *testing.T) {
	t.Parallel()
	record := journal.Record{Middleware: "fit", Kind: journal.Rewrite, Runs: []message.Run{{First: 1, Last: 1}}, HistoryLen: 3, Window: 8000}
	sum := func(change func(r *journal.Record)) message.ID {
		second := record
		change(&second)
		return (&journal.Entry{Edits: []*journal.Record{&record, &second}}).Revision()
	}
	same := sum(func(*journal.Record) {})
	for name, change := range map[string]func(r *journal.Record){
		"window":             func(r *journal.Record) { r.Window = 4000 },
		"no window":          func(r *journal.Record) { r.Window = 0 },
		"one request":        func(r *journal.Record) { r.Once = true },
		"length":             func(r *journal.Record) { r.HistoryLen = 5 },
		"name of the editor": func(r *journal.Record) { r.Middleware = "trim" },
	} {
		require.NotEqual(t, same, sum(change), name)
	}
}
