package middlewaretest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Journal tests that a journal keeps the contract of [journal.Journal]. open returns an
// empty journal; it is called once for each case. Each failure names the rule that is
// broken and what was seen.
//
//	func TestJournal(t *testing.T) {
//		middlewaretest.Journal(t, func(t *testing.T) journal.Journal { return journal.NewMemory(0) })
//	}
func Journal(t *testing.T, open func(t *testing.T) journal.Journal) {
	t.Helper()
	for _, c := range journalCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if seen := c.broken(t.Context(), open(t)); seen != "" {
				t.Errorf("middlewaretest: %s: %s\n\tseen: %s", c.name, c.rule, seen)
			}
		})
	}
}

// journalCase is one rule of journals. broken returns what was seen if the rule is broken.
type journalCase struct {
	name, rule string
	broken     func(ctx context.Context, j journal.Journal) (seen string)
}

var journalCases = []journalCase{
	{"empty", "Latest of an empty journal returns ok false and no error", func(ctx context.Context, j journal.Journal) string {
		return latest(ctx, j, "s", []byte{1, 2}, -1, 0)
	}},
	{
		"newest", "Latest returns the entry of the last of the IDs that has one, and its index in ids",
		func(ctx context.Context, j journal.Journal) string {
			return first(
				put(ctx, j, "s", 11, write(1, 0, 11)), put(ctx, j, "s", 12, write(2, 0, 12)),
				latest(ctx, j, "s", []byte{1, 2, 9}, 1, 12), latest(ctx, j, "s", []byte{9, 1}, 1, 11),
				latest(ctx, j, "s", []byte{8, 9}, -1, 0), latest(ctx, j, "s", nil, -1, 0))
		},
	},
	{
		"content", "an entry is returned as it was put: all its edits, their parts and messages, and its base",
		func(ctx context.Context, j journal.Journal) string {
			e := journal.Entry{Base: message.ID{7}, BaseRev: message.ID{8}, Depth: 3, Edits: []*journal.Record{
				{
					Middleware: "a", Kind: journal.Rewrite, Runs: []message.Run{{First: 1, Last: 1}}, ID: message.ID{4}, HistoryLen: 9,
					Parts: []message.Part{message.ToolResult{
						CallID: "c", Name: "图", Text: "ünïcode \x00", Content: message.Media{Type: "image/png", Data: "\xff\x00"},
					}},
				},
				{
					Middleware: "b", Kind: journal.Fold, Runs: []message.Run{{First: 2, Last: 3}, {First: 5, Last: 6}}, ID: message.ID{5},
					HistoryLen: 9, Messages: []message.Message{message.User("summary")},
					Covered: []*journal.Record{{
						Middleware: "a", Kind: journal.Rewrite, Runs: []message.Run{{First: 3, Last: 3}},
						Parts: []message.Part{message.Text{Text: "x"}},
					}},
				},
			}}
			e.Rev = e.Sum()
			if _, err := j.Put(ctx, "s", []journal.Write{{ID: message.ID{1}, Entry: e}}); err != nil {
				return fmt.Sprintf("Put: %v", err)
			}
			_, got, ok, err := j.Latest(ctx, "s", []message.ID{{1}})
			if err != nil || !ok {
				return fmt.Sprintf("Latest: ok %t, error %v", ok, err)
			}
			want, _ := json.Marshal(e)   //nolint:errchkjson // plain data
			have, _ := json.Marshal(got) //nolint:errchkjson // plain data
			if !bytes.Equal(want, have) || got.Sum() != e.Rev {
				return fmt.Sprintf("put %s, got %s", want, have)
			}
			return ""
		},
	},
	{
		"compare-and-swap", "the first write is stored only if nothing is kept under its ID, or an entry of revision Over; " +
			"Put returns what is kept afterwards",
		func(ctx context.Context, j journal.Journal) string {
			return first(
				put(ctx, j, "s", 10, write(1, 0, 10)), put(ctx, j, "s", 10, write(1, 0, 11)), put(ctx, j, "s", 10, write(1, 9, 11)),
				latest(ctx, j, "s", []byte{1}, 0, 10),
				put(ctx, j, "s", 12, write(1, 10, 12)), put(ctx, j, "s", 12, write(1, 10, 13)), latest(ctx, j, "s", []byte{1}, 0, 12))
		},
	},
	{
		"batch", "the other writes of a call are stored if the first one is, each by its own condition, and none of them otherwise",
		func(ctx context.Context, j journal.Journal) string {
			return first(
				put(ctx, j, "s", 20, write(2, 0, 20)),
				put(ctx, j, "s", 10, write(1, 0, 10), write(2, 0, 21), write(3, 0, 30), write(4, 7, 40)),
				latest(ctx, j, "s", []byte{2}, 0, 20), latest(ctx, j, "s", []byte{3}, 0, 30), latest(ctx, j, "s", []byte{4}, 0, 40),
				put(ctx, j, "s", 10, write(1, 9, 11), write(5, 0, 50), write(2, 20, 22)),
				latest(ctx, j, "s", []byte{5}, -1, 0), latest(ctx, j, "s", []byte{2}, 0, 20),
				put(ctx, j, "s", 12, write(1, 10, 12), write(2, 20, 22)), latest(ctx, j, "s", []byte{2}, 0, 22))
		},
	},
	{
		"scopes", "an entry is never found from another scope, whatever the names of the scopes are",
		func(ctx context.Context, j journal.Journal) string {
			scopes := []string{"", "a", "a/b", "a\x00b", "A", "ä", "a%", "a_", "*", "a:1"}
			for i, s := range scopes {
				if seen := put(ctx, j, s, byte(i+1), write(1, 0, byte(i+1))); seen != "" {
					return seen
				}
			}
			for i, s := range scopes {
				if seen := latest(ctx, j, s, []byte{1}, 0, byte(i+1)); seen != "" {
					return seen
				}
			}
			return ""
		},
	},
	{"delete", "Delete removes all entries of a scope, and those of no other scope", func(ctx context.Context, j journal.Journal) string {
		seen := first(put(ctx, j, "a", 1, write(1, 0, 1), write(2, 0, 2)),
			put(ctx, j, "ab", 3, write(1, 0, 3)), put(ctx, j, "", 4, write(1, 0, 4)))
		if err := j.Delete(ctx, "a"); err != nil {
			return fmt.Sprintf("Delete: %v", err)
		}
		return first(seen, latest(ctx, j, "a", []byte{1, 2}, -1, 0), latest(ctx, j, "ab", []byte{1}, 0, 3),
			latest(ctx, j, "", []byte{1}, 0, 4), put(ctx, j, "a", 5, write(1, 0, 5)))
	}},
	{
		"concurrent", "of several calls that write at the same time, exactly one is stored, and all get its entry",
		func(ctx context.Context, j journal.Journal) string {
			const writers = 16
			var wg sync.WaitGroup
			winners := make([]journal.Rev, writers)
			errs := make([]error, writers)
			for i := range writers {
				wg.Go(func() {
					e, err := j.Put(ctx, "s", []journal.Write{write(1, 0, byte(10+i)), write(byte(100+i), 0, 1)})
					winners[i], errs[i] = e.Rev, err
				})
			}
			wg.Wait()
			stored := 0
			for i := range writers {
				if errs[i] != nil || winners[i] != winners[0] {
					return fmt.Sprintf("writer 0 got entry %x, writer %d got %x, error %v", winners[0], i, winners[i], errs[i])
				}
				if _, _, ok, err := j.Latest(ctx, "s", []message.ID{{byte(100 + i)}}); ok && err == nil {
					stored++
				}
			}
			if stored != 1 {
				return fmt.Sprintf("the further writes of %d calls were stored", stored)
			}
			return ""
		},
	},
}

// write returns a write under ID n, over a revision, of an entry with revision rev.
func write(n, over, rev byte) journal.Write {
	w := journal.Write{ID: message.ID{n}, Entry: journal.Entry{Rev: journal.Rev{rev}, Edits: []*journal.Record{}}}
	if over > 0 {
		w.Over = journal.Rev{over}
	}
	return w
}

// put writes, and wants the entry with revision want as the winner.
func put(ctx context.Context, j journal.Journal, scope string, want byte, writes ...journal.Write) (seen string) {
	winner, err := j.Put(ctx, scope, writes)
	if err != nil || winner.Rev != (journal.Rev{want}) {
		return fmt.Sprintf("Put over revision %x under ID %x returned revision %x and error %v, want revision %x",
			writes[0].Over[0], writes[0].ID[0], winner.Rev[0], err, want)
	}
	return ""
}

// latest reads, and wants the entry with revision want at an index; -1: none.
func latest(ctx context.Context, j journal.Journal, scope string, ids []byte, at int, want byte) (seen string) {
	all := make([]message.ID, len(ids))
	for i, id := range ids {
		all[i] = message.ID{id}
	}
	got, e, ok, err := j.Latest(ctx, scope, all)
	switch {
	case err != nil || ok != (at >= 0):
		return fmt.Sprintf("Latest in scope %q of IDs %x returned ok %t and error %v, want ok %t", scope, ids, ok, err, at >= 0)
	case ok && (got != at || e.Rev != (journal.Rev{want})):
		return fmt.Sprintf("Latest in scope %q of IDs %x returned index %d and revision %x, want %d and %x",
			scope, ids, got, e.Rev[0], at, want)
	}
	return ""
}

// first returns the first text that is not empty.
func first(seen ...string) string {
	for _, s := range seen {
		if s != "" {
			return s
		}
	}
	return ""
}
