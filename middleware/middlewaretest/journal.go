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
			if seen := c.observe(t.Context(), open(t)); seen != "" {
				t.Errorf("middlewaretest: %s: %s\n\tseen: %s", c.name, c.rule, seen)
			}
		})
	}
}

// journalCase is one rule of journals.
type journalCase struct {
	name, rule string
	broken     journalStep
}

// observe returns what was seen if the rule is broken, or if the journal panics.
func (c journalCase) observe(ctx context.Context, j journal.Journal) (seen string) {
	if err := caught(func() error { seen = c.broken(ctx, j); return nil }); err != nil {
		return err.Error()
	}
	return seen
}

// journalStep uses a journal and returns what was seen if the rule is broken.
type journalStep func(ctx context.Context, j journal.Journal) (seen string)

var journalCases = []journalCase{
	{"empty", "Latest of an empty journal returns ok false and no error", latest("s", []byte{1, 2}, -1, 0)},
	{"newest", "Latest returns the entry of the last of the IDs that has one, and its index in ids", steps(
		put("s", 11, write(1, 0, 11)), put("s", 12, write(2, 0, 12)),
		latest("s", []byte{1, 2, 9}, 1, 12), latest("s", []byte{9, 1}, 1, 11),
		latest("s", []byte{8, 9}, -1, 0), latest("s", nil, -1, 0),
	)},
	{"content", "an entry is returned as it was put: all its edits, their parts and messages, and its base", keepsContent},
	{"compare-and-swap", "the first write is stored only if nothing is kept under its ID, or an entry of revision Over; " +
		"Put returns what is kept afterwards", steps(
		put("s", 10, write(1, 0, 10)), put("s", 10, write(1, 0, 11)), put("s", 10, write(1, 9, 11)),
		latest("s", []byte{1}, 0, 10),
		put("s", 12, write(1, 10, 12)), put("s", 12, write(1, 10, 13)), latest("s", []byte{1}, 0, 12),
	)},
	{"batch", "the other writes of a call are stored if the first one is, each by its own condition, and none of them " +
		"otherwise", steps(
		put("s", 20, write(2, 0, 20)),
		put("s", 10, write(1, 0, 10), write(2, 0, 21), write(3, 0, 30), write(4, 7, 40)),
		latest("s", []byte{2}, 0, 20), latest("s", []byte{3}, 0, 30), latest("s", []byte{4}, 0, 40),
		put("s", 10, write(1, 9, 11), write(5, 0, 50), write(2, 20, 22)),
		latest("s", []byte{2, 5}, 0, 20),
		put("s", 12, write(1, 10, 12), write(2, 20, 22)), latest("s", []byte{2}, 0, 22),
	)},
	{"scopes", "an entry is never found from another scope, whatever the names of the scopes are", keepsScopes()},
	{"delete", "Delete removes all entries of a scope, and those of no other scope", steps(
		put("a", 1, write(1, 0, 1), write(2, 0, 2)), put("ab", 3, write(1, 0, 3)), put("", 4, write(1, 0, 4)),
		func(ctx context.Context, j journal.Journal) string {
			if err := j.Delete(ctx, "a"); err != nil {
				return fmt.Sprintf("Delete: %v", err)
			}
			return ""
		},
		latest("a", []byte{1, 2}, -1, 0), latest("ab", []byte{1}, 0, 3), latest("", []byte{1}, 0, 4), put("a", 5, write(1, 0, 5)),
	)},
	{"concurrent", "of several calls that write at the same time, exactly one is stored, and all get its entry", storesOne},
}

// steps makes one step of several.
func steps(all ...journalStep) journalStep {
	return func(ctx context.Context, j journal.Journal) string {
		for _, step := range all {
			if seen := step(ctx, j); seen != "" {
				return seen
			}
		}
		return ""
	}
}

func keepsScopes() journalStep {
	var puts, reads []journalStep
	for i, scope := range []string{"", "a", "a/b", "a\x00b", "A", "ä", "a%", "a_", "*", "a:1"} {
		puts = append(puts, put(scope, byte(i+1), write(1, 0, byte(i+1))))
		reads = append(reads, latest(scope, []byte{1}, 0, byte(i+1)))
	}
	return steps(append(puts, reads...)...)
}

func keepsContent(ctx context.Context, j journal.Journal) string {
	e := journal.Entry{Base: message.ID{7}, BaseRev: message.ID{8}, Depth: 3, Edits: []*journal.Record{
		{
			Middleware: "a", Kind: journal.Rewrite, Runs: []message.Run{{First: 1, Last: 1}}, ID: message.ID{4}, HistoryLen: 9,
			Parts: []message.Part{message.ToolResult{
				CallID: "c", Name: "图", Text: "ünïcode \x00", Content: message.Media{Type: "image/png", Data: "\xff\x00"},
			}},
		},
		{
			Middleware: "b", Kind: journal.Fold, Runs: []message.Run{{First: 2, Last: 3}, {First: 5, Last: 6}}, ID: message.ID{5},
			HistoryLen: 9, Messages: []message.Message{message.User("summary")}, Earlier: []string{"kqvmzhtwrcxa"},
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
}

func storesOne(ctx context.Context, j journal.Journal) string {
	const writers = 16
	var wg sync.WaitGroup
	winners := make([]message.ID, writers)
	errs := make([]error, writers)
	for i := range writers {
		wg.Go(func() {
			errs[i] = caught(func() error {
				e, err := j.Put(ctx, "s", []journal.Write{write(1, 0, byte(10+i)), write(byte(100+i), 0, 1)})
				winners[i] = e.Rev
				return err
			})
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
}

// write returns a write under ID n, over a revision, of an entry with revision rev.
func write(n, over, rev byte) journal.Write {
	w := journal.Write{ID: message.ID{n}, Entry: journal.Entry{Rev: message.ID{rev}, Edits: []*journal.Record{}}}
	if over > 0 {
		w.Over = message.ID{over}
	}
	return w
}

// put writes, and wants the entry with revision want as the winner.
func put(scope string, want byte, writes ...journal.Write) journalStep {
	return func(ctx context.Context, j journal.Journal) string {
		winner, err := j.Put(ctx, scope, writes)
		if err != nil || winner.Rev != (message.ID{want}) {
			return fmt.Sprintf("Put over revision %x under ID %x returned revision %x and error %v, want revision %x",
				writes[0].Over[0], writes[0].ID[0], winner.Rev[0], err, want)
		}
		return ""
	}
}

// latest reads, and wants the entry with revision want at an index; -1: none.
func latest(scope string, ids []byte, at int, want byte) journalStep {
	all := make([]message.ID, len(ids))
	for i, id := range ids {
		all[i] = message.ID{id}
	}
	return func(ctx context.Context, j journal.Journal) string {
		got, e, ok, err := j.Latest(ctx, scope, all)
		switch {
		case err != nil || ok != (at >= 0):
			return fmt.Sprintf("Latest in scope %q of IDs %x returned ok %t and error %v, want ok %t", scope, ids, ok, err, at >= 0)
		case ok && (got != at || e.Rev != (message.ID{want})):
			return fmt.Sprintf("Latest in scope %q of IDs %x returned index %d and revision %x, want %d and %x",
				scope, ids, got, e.Rev[0], at, want)
		}
		return ""
	}
}
