package middlewaretest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
//
// One more rule is tested if the journal has this method; it may have it in the test only:
//
//	Damage(scope string, rev message.ID) error // changes a stored byte of an entry
func Journal(t *testing.T, open func(t *testing.T) journal.Journal) {
	t.Helper()
	for _, c := range journalCases {
		c.test(t, open)
	}
}

type damagedJournal interface {
	Damage(scope string, rev message.ID) error
}

// storageCase is one rule of journals, or of archives. check calls sawf if one breaks it, and lacks if it has not what the
// rule is about.
type storageCase[S any] struct {
	name, rule string
	check      func(ctx context.Context, s S)
}

// The panics that end a case.
type (
	seen    string // what was seen of a broken rule
	missing string // method that the storage does not have
)

func sawf(format string, args ...any) { panic(seen(fmt.Sprintf(format, args...))) }

func (c storageCase[S]) test(t *testing.T, open func(t *testing.T) S) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		t.Parallel()
		switch saw := c.observe(t.Context(), open(t)).(type) {
		case seen:
			t.Errorf("middlewaretest: %s: %s\n\tseen: %s", c.name, c.rule, saw)
		case missing:
			t.Skip("there is no method " + saw)
		}
	})
}

// observe returns what was seen if the rule is broken or the storage panics, or the method that is missing; nil: all is well.
func (c storageCase[S]) observe(ctx context.Context, s S) (saw any) {
	defer func() {
		switch p := recover().(type) {
		case nil, seen, missing:
			saw = p
		default:
			saw = seen(fmt.Sprintf("panicked: %v\n%s", p, debug.Stack()))
		}
	}()
	c.check(ctx, s)
	return nil
}

type journalStep = func(ctx context.Context, j journal.Journal)

var journalCases = []storageCase[journal.Journal]{
	{"empty", "Find in an empty journal returns At -1 and no error", find("s", []byte{1, 2}, -1)},
	{"newest", "Find returns the entry of the last of the IDs that has one, and its index in ids", steps(
		put("s", 11, write(1, 0, 11)), put("s", 12, write(2, 0, 12)),
		find("s", []byte{1, 2, 9}, 1, 12), find("s", []byte{9, 1}, 1, 11), find("s", []byte{8, 9}, -1), find("s", nil, -1),
	)},
	{"long", "Find takes the IDs of a history of 70,000 messages", findsInLong},
	{"content", "an entry is returned as it was put: all its edits, their parts and messages, and its base", keepsContent},
	{"bases", "Find also returns the entries that the entry builds on, in order, up to 32", findsBases},
	{"base", "a write is stored only if the base of its entry is kept, or stored by an earlier write of the call; Put returns " +
		"what is kept under the ID of the first write then, which may be nothing", steps(
		put("s", 0, on(99, write(1, 0, 10)), write(2, 0, 20)), find("s", []byte{1, 2}, -1),
		put("s", 30, write(3, 0, 30), on(99, write(4, 0, 40)), write(5, 0, 50)),
		find("s", []byte{3}, 0, 30), find("s", []byte{4}, -1), find("s", []byte{5}, 0, 50),
		put("s", 30, on(99, write(3, 30, 31))), find("s", []byte{3, 4}, 0, 30),
		put("s", 80, write(8, 0, 80), on(80, write(9, 0, 90))), find("s", []byte{9}, 0, 90, 80),
		put("s", 60, of(101, write(6, 0, 60))), remove("s", 101),
		put("s", 0, of(101, on(60, write(6, 60, 61)))), put("s", 0, of(101, on(60, write(7, 0, 70)))), find("s", []byte{6, 7}, -1),
		put("s", 62, of(101, write(6, 60, 62))), find("s", []byte{6}, 0, 62),
	)},
	{"replaced", "an entry whose ID has got another one is still found where it is built on", steps(
		put("s", 10, write(1, 0, 10)), put("s", 20, on(10, write(2, 0, 20))), put("s", 11, write(1, 10, 11)),
		find("s", []byte{1, 2}, 1, 20, 10), find("s", []byte{1}, 0, 11),
		put("s", 21, on(20, write(2, 20, 21))), find("s", []byte{2}, 0, 21, 20, 10),
	)},
	{"compare-and-swap", "the first write is stored only if nothing is kept under its ID, or an entry of revision Over; " +
		"Put returns what is kept afterwards", steps(
		put("s", 10, write(1, 0, 10)), put("s", 10, write(1, 0, 11)), put("s", 10, write(1, 9, 11)),
		find("s", []byte{1}, 0, 10),
		put("s", 12, write(1, 10, 12)), put("s", 12, write(1, 10, 13)), find("s", []byte{1}, 0, 12),
	)},
	{"head", "a write with a head is stored only if the ID of the head points at its revision, or if the write is stored already", steps(
		put("s", 10, write(1, 0, 10)), put("s", 0, behind(1, 9, write(2, 0, 20))), put("s", 0, behind(7, 10, write(2, 0, 20))),
		find("s", []byte{2}, -1), put("s", 20, behind(1, 10, on(10, write(2, 0, 20)))), find("s", []byte{2}, 0, 20, 10),
		put("s", 20, behind(1, 9, write(2, 20, 21))), put("s", 20, behind(1, 10, write(2, 9, 21))), find("s", []byte{1, 2}, 1, 20, 10),
		put("s", 30, behind(1, 10, write(3, 0, 30)), write(1, 10, 30)), find("s", []byte{1}, 0, 30),
		put("s", 30, behind(1, 10, write(3, 0, 30)), write(1, 9, 30)), put("s", 0, behind(1, 10, on(10, write(4, 0, 40)))),
		put("s", 50, write(5, 0, 50), behind(1, 10, write(6, 0, 60)), behind(1, 30, write(7, 0, 70))),
		find("s", []byte{6}, -1), find("s", []byte{7}, 0, 70),
	)},
	{"batch", "the other writes of a call are stored if the first one is, each by its own condition, and none of them " +
		"otherwise", steps(
		put("s", 20, write(2, 0, 20)),
		put("s", 10, write(1, 0, 10), write(2, 0, 21), write(3, 0, 30), write(4, 7, 40)),
		find("s", []byte{2}, 0, 20), find("s", []byte{3}, 0, 30), find("s", []byte{4}, 0, 40),
		put("s", 10, write(1, 9, 11), write(5, 0, 50), write(2, 20, 22)),
		find("s", []byte{2, 5}, 0, 20),
		put("s", 12, write(1, 10, 12), write(2, 20, 22)), find("s", []byte{2}, 0, 22),
	)},
	{"two histories", "the writes of a call may be of histories with different first messages, and each is found with its own", steps(
		put("s", 10, write(1, 0, 10), under(60, write(2, 0, 20)), under(61, write(3, 0, 30)), write(4, 0, 40)),
		find("s", []byte{1}, 0, 10), find("s", []byte{4}, 0, 40), findUnder(60, "s", []byte{2}, 0, 20),
		findUnder(61, "s", []byte{3}, 0, 30),
		put("s", 10, write(1, 9, 11), under(60, write(5, 0, 50))), findUnder(60, "s", []byte{5}, -1),
		remove("s", 255), find("s", []byte{1, 4}, -1), findUnder(60, "s", []byte{2}, -1), findUnder(61, "s", []byte{3}, -1),
	)},
	{"same entry", "one entry may be stored under several IDs, also by one call", steps(
		put("s", 10, write(1, 0, 10), write(2, 0, 10)), put("s", 10, write(3, 0, 10)),
		find("s", []byte{1}, 0, 10), find("s", []byte{2}, 0, 10), find("s", []byte{3}, 0, 10),
		put("s", 11, write(2, 10, 11)), find("s", []byte{1, 9}, 0, 10), find("s", []byte{2, 9}, 0, 11),
	)},
	{"again", "a Put that is repeated, since its answer was lost, stores what is missing and changes nothing else", steps(
		put("s", 10, write(1, 0, 10), write(2, 0, 20)), put("s", 10, write(1, 0, 10), write(2, 0, 20), write(3, 0, 30)),
		find("s", []byte{1}, 0, 10), find("s", []byte{2}, 0, 20), find("s", []byte{3}, 0, 30),
		put("s", 11, write(1, 10, 11)), put("s", 11, write(1, 10, 11), write(4, 0, 40)), find("s", []byte{1, 3}, 1, 30),
		find("s", []byte{9, 1}, 1, 11), find("s", []byte{4}, 0, 40),
	)},
	{"scopes", "an entry is never found from another scope, whatever the names of the scopes are", keepsScopes()},
	{"delete", "Delete removes all entries of a scope, and those of no other scope", steps(
		put("a", 1, write(1, 0, 1), write(2, 0, 2)), put("ab", 3, write(1, 0, 3)), put("", 4, write(1, 0, 4)),
		remove("a"), remove("never used"),
		find("a", []byte{1, 2}, -1), find("ab", []byte{1}, 0, 3), find("", []byte{1}, 0, 4), put("a", 5, write(1, 0, 5)),
		find("a", []byte{1, 2}, 0, 5),
	)},
	{"delete conversations", "Delete of some conversations removes all their entries in the scope, those too that their IDs no " +
		"longer point at, and no others", steps(
		put("a", 10, of(101, write(1, 0, 10))), put("a", 20, of(102, write(2, 0, 20))), put("b", 10, of(101, write(1, 0, 10))),
		put("a", 30, of(103, write(3, 0, 30)), of(102, write(4, 0, 40))), put("a", 11, of(101, on(10, write(1, 10, 11)))),
		remove("a", 101, 102, 109), find("a", []byte{1}, -1), find("a", []byte{2, 4}, -1),
		find("a", []byte{3}, 0, 30), find("b", []byte{1}, 0, 10), put("a", 0, of(101, on(10, write(5, 0, 50)))),
	)},
	{"damaged", "of an entry of which a byte was changed, Find returns none and none that builds on it, but older ones, and says so " +
		"in Skipped once; Put stores over it", steps(
		put("s", 10, write(1, 0, 10)), put("s", 20, on(10, write(2, 0, 20))), damages(20),
		skips("s", 1, 2), find("s", []byte{1, 2}, 0, 10), put("s", 21, write(2, 0, 21)), find("s", []byte{1, 2}, 1, 21),
		put("s", 30, on(21, write(3, 0, 30))), put("s", 40, on(30, write(4, 0, 40))), damages(21),
		skips("s", 3, 4), find("s", []byte{1, 2, 3, 4}, 0, 10), put("s", 41, write(4, 0, 41)), find("s", []byte{4}, 0, 41),
		put("s", 50, write(5, 0, 50)), damages(50), put("s", 50, write(5, 50, 50)), find("s", []byte{5}, 0, 50),
		put("s", 60, write(6, 0, 60)), damages(60), put("s", 61, write(6, 0, 61)), find("s", []byte{6}, 0, 61),
	)},
	{"concurrent", "of several calls that write at the same time, exactly one is stored, and all get its entry", storesOne},
	{"concurrent swaps", "no entry is lost if several writers replace the one that they have found", losesNone},
	{"cancelled", "a call whose context ends returns the error of the context or does its work; of a Put, all is stored or " +
		"nothing", storesAllOrNothing},
}

// steps makes one step of several.
func steps(all ...journalStep) journalStep {
	return func(ctx context.Context, j journal.Journal) {
		for _, step := range all {
			step(ctx, j)
		}
	}
}

func keepsScopes() journalStep {
	var puts, reads []journalStep
	for i, scope := range []string{"", "a", "a/b", "a\x00b", "A", "ä", "a%", "a_", "*", "a:1"} {
		puts = append(puts, put(scope, byte(i+1), write(1, 0, byte(i+1))))
		reads = append(reads, find(scope, []byte{1}, 0, byte(i+1)))
	}
	return steps(append(puts, reads...)...)
}

func keepsContent(ctx context.Context, j journal.Journal) {
	e := journal.Entry{Base: message.ID{7}, Depth: 3, Edits: []*journal.Record{
		{
			Middleware: "a", Kind: journal.Rewrite, Runs: []message.Run{{First: 1, Last: 1}}, ID: message.ID{4}, HistoryLen: 9,
			Parts: []message.Part{message.ToolResult{
				CallID: "c\xff", Name: "图", Text: "ünï \x00, no UTF-8 \xe9", Content: message.Media{Type: "image/png", Data: "\xff\x00"},
			}},
		},
		{
			Middleware: "b", Kind: journal.Fold, Runs: []message.Run{{First: 2, Last: 3}, {First: 5, Last: 6}}, ID: message.ID{5},
			HistoryLen: 9, Earlier: []string{"kqvmzhtwrcxa"}, Corrected: []string{"Deploy on Friday."},
			Messages: []message.Message{message.User(strings.Repeat("a long summary ", 20_000) + "\xe9")},
			Covered: []*journal.Record{{
				Middleware: "a", Kind: journal.Rewrite, Runs: []message.Run{{First: 3, Last: 3}},
				Parts: []message.Part{message.Text{Text: "x"}},
			}},
		},
	}, Thinking: &journal.Thinking{
		Len: 9, Head: message.ID{6}, Sum: message.ID{7}, Kept: []journal.Bound{{At: 4, Sum: 8}}, Again: true,
	}, Pins: []message.ID{{9}}, Steps: []journal.Step{{
		ID: message.ID{1}, Kind: "undo", By: "a", Of: message.ID{2}, Actor: "user", Why: "why", Before: 3, After: 2,
		Time: time.Date(2026, 7, 1, 12, 0, 0, 5, time.UTC), Cost: journal.Cost{Spent: 7, Known: true},
		Change: journal.Change{Turn: message.ID{3}, Made: []message.ID{{4}}, Removed: []*journal.Record{{
			Middleware: "a", Kind: journal.Rewrite, Runs: []message.Run{{First: 3, Last: 3}},
			Parts: []message.Part{message.Text{Text: "x"}},
		}}},
	}}}
	e.Rev = e.Revision()
	put("s", 7, write(2, 0, 7))(ctx, j)
	if _, err := j.Put(ctx, "s", []journal.Write{{ID: message.ID{1}, First: root, Conversation: message.ID{255}, Entry: e}}); err != nil {
		sawf("Put: %v", err)
	}
	found, err := j.Find(ctx, "s", root, []message.ID{{1}})
	if err != nil || len(found.Entries) != 2 {
		sawf("Find returned %d entries and error %v, want 2 entries", len(found.Entries), err)
	}
	got := found.Entries[0]
	want, _ := json.Marshal(e)   //nolint:errchkjson // plain data
	have, _ := json.Marshal(got) //nolint:errchkjson // plain data
	if !bytes.Equal(want, have) || got.Revision() != e.Rev {
		sawf("put %.2000s, got %.2000s", want, have)
	}
}

func findsInLong(ctx context.Context, j journal.Journal) {
	put("s", 10, write(1, 0, 10))(ctx, j)
	ids := make([]message.ID, 70_000)
	for i := range ids {
		ids[i] = message.ID{1, byte(i), byte(i >> 8), byte(i >> 16)}
	}
	if found, err := j.Find(ctx, "s", root, ids); err != nil || found.At != 0 || len(found.Entries) != 1 {
		sawf("Find returned index %d, %d entries and error %v, want index 0 and 1 entry", found.At, len(found.Entries), err)
	}
}

func findsBases(ctx context.Context, j journal.Journal) {
	var revs []byte // of the entries so far, the newest first
	base := byte(0)
	for n := byte(1); int(n) <= journal.MaxDepth+1; n++ {
		rev := 100 + n
		revs = append([]byte{rev}, revs...)
		steps(put("s", rev, on(base, write(n, 0, rev))), find("s", []byte{n}, 0, revs...))(ctx, j)
		base = rev
	}
}

// together makes calls at the same time, and returns their errors.
func together(n int, call func(i int) error) []error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = caught(func() error { return call(i) }) })
	}
	wg.Wait()
	return errs
}

func storesOne(ctx context.Context, j journal.Journal) {
	const writers = 16
	winners := make([]message.ID, writers)
	errs := together(writers, func(i int) error {
		e, err := j.Put(ctx, "s", []journal.Write{write(1, 0, byte(10+i)), write(byte(100+i), 0, 1)})
		winners[i] = e.Rev
		return err
	})
	stored := 0
	for i := range writers {
		if errs[i] != nil || winners[i] != winners[0] {
			sawf("writer 0 got entry %x, writer %d got %x, error %v", winners[0], i, winners[i], errs[i])
		}
		if found, err := j.Find(ctx, "s", root, []message.ID{{byte(100 + i)}}); err == nil && len(found.Entries) > 0 {
			stored++
		}
	}
	if stored != 1 {
		sawf("the further writes of %d calls were stored", stored)
	}
}

func losesNone(ctx context.Context, j journal.Journal) {
	const writers, tries = 8, 10_000
	each := journal.MaxDepth / writers
	errs := together(writers, func(i int) error {
		for stored, n := 0, 0; stored < each; n++ {
			found, err := j.Find(ctx, "s", root, []message.ID{{1}})
			if err != nil {
				return err
			}
			w := write(1, 0, byte(1+i*each+stored))
			if len(found.Entries) > 0 {
				w.Over, w.Entry.Base = found.Entries[0].Rev, found.Entries[0].Rev
			}
			winner, err := j.Put(ctx, "s", []journal.Write{w})
			switch {
			case err != nil:
				return err
			case winner.Rev == w.Entry.Rev:
				stored++
			case n > tries:
				return fmt.Errorf("%d times another writer was first", tries)
			}
		}
		return nil
	})
	found, err := j.Find(ctx, "s", root, []message.ID{{1}})
	if err := errors.Join(append(errs, err)...); err != nil || len(found.Entries) != writers*each {
		sawf("%d entries are found, and error %v, after %d writes that were stored", len(found.Entries), err, writers*each)
	}
}

func storesAllOrNothing(ctx context.Context, j journal.Journal) {
	for n := byte(1); n <= 60; n++ {
		during, cancel := context.WithCancel(ctx)
		if n <= 20 {
			cancel()
		}
		errs := together(2, func(i int) error {
			if i == 1 {
				cancel()
				return nil
			}
			_, err := j.Put(during, "s", []journal.Write{write(n, 0, 100+n), write(100+n, 0, 100+n)})
			return err
		})
		_, canceled := j.Find(during, "s", root, []message.ID{{n}})
		for _, err := range []error{errs[0], canceled} {
			if err != nil && !errors.Is(err, context.Canceled) {
				sawf("the error is %v, want one for which errors.Is(err, context.Canceled) holds", err)
			}
		}
		found, err := j.Find(ctx, "s", root, []message.ID{{n}, {100 + n}})
		if err != nil || found.At == 0 || errs[0] == nil && found.At < 0 {
			sawf("a Put of two writes returned error %v; index of the last one that is stored: %d, error %v", errs[0], found.At, err)
		}
	}
}

// root is the first ID of the histories.
var root = message.ID{250}

// write returns a write under ID n, over a revision, of an entry with revision rev.
func write(n, over, rev byte) journal.Write {
	w := journal.Write{
		ID: message.ID{n}, First: root, Conversation: message.ID{255},
		Entry: journal.Entry{Rev: message.ID{rev}, Edits: []*journal.Record{}},
	}
	if over > 0 {
		w.Over = message.ID{over}
	}
	return w
}

// on returns a write whose entry builds on a revision; 0: on none.
func on(base byte, w journal.Write) journal.Write {
	w.Entry.Base = message.ID{base}
	return w
}

// behind returns a write that is stored only if an ID points at a revision.
func behind(id, rev byte, w journal.Write) journal.Write {
	w.Head = journal.Head{ID: message.ID{id}, Rev: message.ID{rev}}
	return w
}

// of returns a write for a conversation.
func of(conversation byte, w journal.Write) journal.Write {
	w.Conversation = message.ID{conversation}
	return w
}

// under returns a write for a history that begins with another message.
func under(first byte, w journal.Write) journal.Write {
	w.First = message.ID{first}
	return w
}

// put writes, and wants the entry with revision want as the winner.
func put(scope string, want byte, writes ...journal.Write) journalStep {
	return func(ctx context.Context, j journal.Journal) {
		winner, err := j.Put(ctx, scope, writes)
		if err != nil || winner.Rev != (message.ID{want}) {
			sawf("Put of revision %d over %d under ID %d returned revision %d and error %v, want revision %d",
				writes[0].Entry.Rev[0], writes[0].Over[0], writes[0].ID[0], winner.Rev[0], err, want)
		}
	}
}

// damages changes a byte of an entry of scope "s".
func damages(rev byte) journalStep {
	return func(_ context.Context, j journal.Journal) {
		d, ok := j.(damagedJournal)
		if !ok {
			panic(missing("Damage"))
		}
		if err := d.Damage("s", message.ID{rev}); err != nil {
			sawf("Damage: %v", err)
		}
	}
}

// skips reads, and wants that Find reports that it has left out something.
func skips(scope string, ids ...byte) journalStep {
	return func(ctx context.Context, j journal.Journal) {
		if found, err := j.Find(ctx, scope, root, idsOf(ids)); err != nil || found.Skipped == nil {
			sawf("Find of IDs %d returned error %v, and nothing in Skipped, though an entry is damaged", ids, err)
		}
	}
}

// remove deletes a scope, or conversations of it.
func remove(scope string, conversations ...byte) journalStep {
	return func(ctx context.Context, j journal.Journal) {
		if err := j.Delete(ctx, scope, idsOf(conversations)...); err != nil {
			sawf("Delete: %v", err)
		}
	}
}

// find reads, and wants the entries with these revisions for the ID at an index; -1: none.
func find(scope string, ids []byte, at int, want ...byte) journalStep {
	return findUnder(root[0], scope, ids, at, want...)
}

// findUnder is find in a history that begins with another message.
func findUnder(first byte, scope string, ids []byte, at int, want ...byte) journalStep {
	return func(ctx context.Context, j journal.Journal) {
		found, err := j.Find(ctx, scope, message.ID{first}, idsOf(ids))
		var got []byte
		for _, e := range found.Entries {
			got = append(got, e.Rev[0])
		}
		if err != nil || found.Skipped != nil || found.At != at || !slices.Equal(got, want) {
			sawf("Find in scope %q of IDs %d returned index %d, revisions %d and error %v, want index %d and revisions %d",
				scope, ids, found.At, got, errors.Join(err, found.Skipped), at, want)
		}
	}
}

func idsOf(all []byte) []message.ID {
	ids := make([]message.ID, len(all))
	for i, n := range all {
		ids[i] = message.ID{n}
	}
	return ids
}
