package tests

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// testContext is for helpers that have no test at hand.
var testContext = context.Background()

// texts is a journal that keeps entries as text, as a store does: what is read
// shares nothing with what was written.
type texts struct {
	mu      sync.Mutex
	entries map[string]string     // by scope and revision
	heads   map[string]message.ID // revisions, by scope and ID
	owners  map[string]message.ID // conversations, by scope and revision
	written int                   // bytes
}

func newTexts() *texts {
	return &texts{entries: map[string]string{}, heads: map[string]message.ID{}, owners: map[string]message.ID{}}
}

func (j *texts) Find(_ context.Context, scope string, _ message.ID, ids []message.ID) (journal.Found, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, id := range slices.Backward(ids) {
		if chain, err := j.read(scope, j.heads[place(scope, id)]); len(chain) > 0 || err != nil {
			return journal.Found{At: i, Entries: chain}, err
		}
	}
	return journal.Found{At: -1}, nil
}

// read returns an entry with those that it builds on.
func (j *texts) read(scope string, rev message.ID) (chain []journal.Entry, err error) {
	for {
		text, ok := j.entries[place(scope, rev)]
		if !ok {
			return chain, nil
		}
		var e journal.Entry
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return nil, err
		}
		chain, rev = append(chain, e), e.Base
	}
}

func (j *texts) Put(_ context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, w := range writes {
		if there := j.heads[place(scope, w.ID)]; there != w.Over && !there.IsZero() {
			if i == 0 && there != w.Entry.Rev {
				chain, err := j.read(scope, there)
				return chain[0], err
			}
			continue
		}
		text, err := json.Marshal(w.Entry)
		if err != nil {
			return w.Entry, err
		}
		rev := place(scope, w.Entry.Rev)
		j.entries[rev], j.heads[place(scope, w.ID)], j.owners[rev] = string(text), w.Entry.Rev, w.Conversation
		j.written += len(text)
	}
	return writes[0].Entry, nil
}

func (j *texts) Delete(_ context.Context, scope string, conversations ...message.ID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	gone := func(rev string) bool {
		return strings.HasPrefix(rev, strconv.Quote(scope)+"/") && (len(conversations) == 0 || slices.Contains(conversations, j.owners[rev]))
	}
	maps.DeleteFunc(j.heads, func(k string, rev message.ID) bool {
		return strings.HasPrefix(k, strconv.Quote(scope)+"/") && gone(place(scope, rev))
	})
	maps.DeleteFunc(j.entries, func(rev, _ string) bool { return gone(rev) })
	maps.DeleteFunc(j.owners, func(rev string, _ message.ID) bool { return gone(rev) })
	return nil
}

func place(scope string, id message.ID) string { return fmt.Sprintf("%q/%s", scope, id) }

// moody is a journal that fails, forgets and lies at random.
type moody struct {
	journal.Journal
	dice   dice
	on     bool
	failed int // how often it did something wrong
}

var errMood = errors.New("not in the mood")

func (j *moody) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	found, err := j.Journal.Find(ctx, scope, first, ids)
	if !j.on || found.At < 0 {
		return found, err
	}
	mood := j.dice.roll("mood of Find", 24)
	if mood < 12 {
		j.failed++
	}
	e := &found.Entries[j.dice.roll("entry", len(found.Entries))]
	switch mood {
	case 0:
		return journal.Found{}, errMood
	case 1: // has forgotten the newest
		return j.Journal.Find(ctx, scope, first, ids[:found.At])
	case 2:
		found.At = len(ids) + j.dice.roll("index", 3)
	case 3:
		found.At = -1
	case 4: // the entry of another place
		*e = journal.Entry{}
	case 5:
		e.Edits = e.Edits[:len(e.Edits)/2]
	case 6:
		*e = corrupt(j.dice, *e)
	case 7:
		e.Rev[0]++
	case 8:
		e.Base = message.ID{}
	case 9: // has forgotten what others build on
		found.Entries = found.Entries[:j.dice.roll("kept", len(found.Entries))]
	case 10:
		found.Entries = append(found.Entries, found.Entries...)
	case 11:
		slices.Reverse(found.Entries)
	}
	return found, err
}

func (j *moody) Put(ctx context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	if !j.on {
		return j.Journal.Put(ctx, scope, writes)
	}
	mood := j.dice.roll("mood of Put", 24)
	if mood < 5 {
		j.failed++
	}
	switch mood {
	case 0:
		return journal.Entry{}, errMood
	case 1: // has kept it and says that it has not
		_, _ = j.Journal.Put(ctx, scope, writes)
		return journal.Entry{}, errMood
	case 2: // has not kept it and says that it has
		return writes[0].Entry, nil
	case 3:
		return corrupt(j.dice, writes[0].Entry), nil
	case 4:
		return journal.Entry{}, nil
	}
	return j.Journal.Put(ctx, scope, writes)
}

// corrupt changes one thing in an entry.
func corrupt(d dice, e journal.Entry) journal.Entry {
	if len(e.Edits) == 0 {
		e.Edits = []*journal.Record{nil}
		return e
	}
	at := d.roll("corrupt edit", len(e.Edits))
	e.Edits = slices.Clone(e.Edits)
	r := *e.Edits[at]
	e.Edits[at] = &r
	switch d.roll("corruption", 9) {
	case 0:
		e.Edits[at] = nil
	case 1:
		r.Runs = nil
	case 2:
		r.Runs = []message.Run{{First: -3, Last: 5}}
	case 3:
		r.Runs = []message.Run{{First: 5, Last: 3}}
	case 4:
		r.Runs = append(slices.Clone(r.Runs), message.Run{First: 1 << 40, Last: 1 << 41})
	case 5:
		r.Kind = "mend"
	case 6:
		r.Parts = append(slices.Clone(r.Parts), nil)
	case 7:
		r.Messages = append(slices.Clone(r.Messages), message.User("an attacker's words"))
	default:
		slices.Reverse(e.Edits)
		e.Edits = append(e.Edits, &r)
	}
	return e
}

// TestJournalFails lets every call of the journal fail: the chain goes on with
// what it has in memory, and says so.
func TestJournalFails(t *testing.T) {
	t.Parallel()
	history, calls := turns(5, 4)
	chain := middleware.With(middleware.Env{Journal: broken{}},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1200), Keep: 2}), (&summarizer{limit: 900, reach: 2}).middleware())
	var before []message.Message
	for _, n := range calls {
		shown, events := view(t, chain, history[:n])
		require.NoError(t, message.Check(shown))
		require.Positive(t, count(events, middleware.Failed), "each call says that the journal fails, at %d", n)
		for _, e := range events {
			if e.Kind == middleware.Failed {
				require.ErrorIs(t, e.Err, errMood, "the event carries the journal's error")
			}
		}
		if count(events, middleware.Edited) == 0 && before != nil {
			requireExtension(t, before, shown, "edits are kept in memory as long as the chain lives, at %d", n)
		}
		before = shown
	}
}

// broken is a journal that always fails.
type broken struct{}

func (broken) Find(context.Context, string, message.ID, []message.ID) (journal.Found, error) {
	return journal.Found{}, errMood
}

func (broken) Put(context.Context, string, []journal.Write) (winner journal.Entry, err error) {
	return winner, errMood
}

func (broken) Delete(context.Context, string, ...message.ID) error { return errMood }

// TestMoodyJournal checks that whatever the journal does, the call goes on
// with a view that is sound, and begins with edits that belong together: those
// that some earlier call had.
func TestMoodyJournal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkMoody)
}

func checkMoody(t *rapid.T) {
	d := rapidDice{t}
	var inner journal.Journal = newTexts()
	if d.roll("memory", 2) == 0 {
		inner = journal.NewMemory([]int{0, 2000, 20_000}[d.roll("bytes", 3)])
	}
	j := &moody{Journal: inner, dice: d, on: true}
	checkStates(t, d, j)
}

// TestEvictions does the same with a journal that only forgets.
func TestEvictions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkEvictions)
}

func checkEvictions(t *rapid.T) {
	d := rapidDice{t}
	checkStates(t, d, journal.NewMemory([]int{1, 3000, 10_000}[d.roll("bytes", 3)]))
}

// checkStates runs a conversation and checks where each call begins: with the
// edits with which an earlier call on the same conversation has ended, as far
// as they hold, or with none.
func checkStates(t *rapid.T, d dice, journal journal.Journal) {
	c := chat{dice: d}
	pool := []editor{
		{name: "clear", plan: clears(3)},
		{name: "fold", plan: folds(3)},
		{name: "pairs", plan: foldsInPairs},
		{name: "scattered", plan: foldsScattered(2)},
		{name: "shorten", plan: shortens(40)},
		{name: "retell", plan: retells},
	}
	var editing []editor
	for range 1 + d.roll("editors", 3) {
		e := pool[d.roll("editor", len(pool))]
		k := 1 + d.roll("every", 4)
		e.when = func(l look) bool { return len(l.msgs)%k == 0 }
		editing = append(editing, e)
	}
	var opened *middleware.View
	spy := middleware.Editing("spy", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		opened = v
		return nil, nil
	}, middleware.Options{})
	start := func() middleware.Middleware {
		return middleware.With(middleware.Env{Journal: journal}, append([]middleware.Middleware{spy}, layers(editing...)...)...)
	}
	chain := start()
	var history []message.Message
	var story []string
	var endings []ending
	for range d.roll("calls", 30) + 1 {
		switch d.roll("action", 8) {
		case 0:
			chain = start()
		case 1:
			history = slices.Clone(history[:d.roll("fork", len(history)+1)])
		}
		for range 1 + d.roll("messages", 3) {
			history = c.grow(history)
		}
		before := testkit.Clone(history)
		req, _, err := middleware.Apply(testContext, chain, &middleware.Request{Messages: history})
		require.NoError(t, err, "a journal that fails does not fail the call")
		require.Equal(t, before, history, "the history stays as it was")
		requireNoWorse(t, history, req.Messages, "moody")
		requireNoWorse(t, history, messages(opened), "moody, as opened")
		begun := state(edited(opened))
		story = append(story, fmt.Sprintf("call with %d\nbegins with\n%s\nends with\n%s", len(history), begun, state(edited(req.View()))))
		known := begun == "" || slices.ContainsFunc(endings, func(e ending) bool { return e.allows(history, begun) })
		require.True(t, known, "a call begins with the edits of an earlier call, all of them, or with none\n%s", strings.Join(story, "\n"))
		endings = append(endings, endingOf(history, req.View()))
		requireTextsOfEditors(t, history, req.Messages)
	}
}

func messages(v *middleware.View) []message.Message {
	return slices.Clone(v.Messages())
}

// edited returns the edits that can be seen in a view.
func edited(v *middleware.View) []*journal.Record {
	var out []*journal.Record
	for i := range v.Len() {
		if e := v.Span(i).Edit; e != nil && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// upTo returns the edits that hold for a history that has the first n messages
// in common with the one that they were made for; of a fold that does not,
// those that it covered. Of the round that nobody has answered yet, results may
// be shortened, and nothing else.
func upTo(edits []*journal.Record, history []message.Message, n int) []*journal.Record {
	question, unread := -1, len(history)
	for i, m := range history {
		switch m.Role {
		case message.RoleUser:
			question = i
		case message.RoleAssistant:
			if unread = len(history); m.HasCalls() {
				unread = i
			}
		case message.RoleSystem, message.RoleTool:
		}
	}
	var out []*journal.Record
	for _, e := range edits {
		covers := slices.ContainsFunc(e.Runs, func(r message.Run) bool { return r.First <= question && question <= r.Last })
		loses := covers && !slices.ContainsFunc(e.Messages, history[max(question, 0)].Equal)
		for i := unread; i < min(n, len(history)); i++ {
			unanswered := i == unread || history[i].Role == message.RoleTool
			within := slices.ContainsFunc(e.Runs, func(r message.Run) bool { return r.First <= i && i <= r.Last })
			loses = loses || unanswered && within && !slices.ContainsFunc(e.Messages, history[i].Equal)
		}
		if e.Kind == journal.Rewrite {
			loses = covers && (message.Message{Parts: e.Parts}).Text() != history[max(question, 0)].Text()
			if at := e.Runs[0].First; at < n && unread <= at {
				kept := history[at].Role != message.RoleTool || strings.Contains(fmt.Sprint(e.Parts), "…")
				loses = loses || at == unread || !kept
			}
		}
		if e.Runs[len(e.Runs)-1].Last < n && !loses {
			out = append(out, e)
			continue
		}
		out = append(out, upTo(e.Covered, history, n)...)
	}
	return out
}

// state writes what edits do.
func state(edits []*journal.Record) string {
	var out []string
	for _, e := range edits {
		text := fmt.Sprintf("%s %s %v", e.Kind, e.ID, e.Runs)
		for _, m := range append([]message.Message{{Parts: e.Parts}}, e.Messages...) {
			text += fmt.Sprintf(" %x", contents.AppendContent(nil, &m))
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// ending is how a call has ended.
type ending struct {
	ids   []message.ID
	edits []*journal.Record
	asked int // where its newest question stood; -1: nowhere
}

func endingOf(history []message.Message, v *middleware.View) ending {
	e := ending{ids: message.IDs(history), edits: edited(v), asked: -1}
	for i, m := range history {
		if m.Role == message.RoleUser {
			e.asked = i
		}
	}
	return e
}

// allows reports whether a call on another history may begin with these edits:
// those of this call as far as they hold there, or those before its question.
func (e ending) allows(history []message.Message, begun string) bool {
	ids, common := message.IDs(history), 0
	for common < min(len(ids), len(e.ids)) && ids[common] == e.ids[common] {
		common++
	}
	early := earlier(e.edits, e.asked)
	return state(upTo(e.edits, history, common)) == begun || common >= e.asked && state(upTo(early, history, common)) == begun
}

// earlier returns the edits that end before a position; in place of one that
// goes on behind it, those that it covered.
func earlier(edits []*journal.Record, position int) []*journal.Record {
	var out []*journal.Record
	for _, r := range edits {
		if r.Runs[len(r.Runs)-1].Last < position {
			out = append(out, r)
			continue
		}
		out = append(out, earlier(r.Covered, position)...)
	}
	return out
}

// requireTextsOfEditors fails if a view shows what neither the caller nor one
// of the editors of these tests has written.
func requireTextsOfEditors(t require.TestingT, history, shown []message.Message) {
	own := map[string]bool{}
	for _, m := range history {
		own[string(contents.AppendContent(nil, &m))] = true
	}
	for i, m := range shown {
		text := m.Text()
		known := own[string(contents.AppendContent(nil, &m))] || m.Role == message.RoleTool || strings.HasPrefix(text, "[") || text == "so be it" || strings.Contains(text, "…")
		require.True(t, known, "message %d of the view is nobody's: %v", i, m)
	}
}

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

// revision is the hash that an entry must have to be believed.
func revision(e *journal.Entry) message.ID {
	b := appendRecords(e.Base[:], e.Edits)
	ids := func(ids []message.ID) {
		b = binary.AppendUvarint(b, uint64(len(ids)))
		for _, id := range ids {
			b = append(b, id[:]...)
		}
	}
	for _, s := range e.Steps {
		b = append(append(b, '~'), s.ID[:]...)
		for _, text := range []string{s.Kind, s.By} {
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
		b = append(append(b, s.Of[:]...), s.Change.Turn[:]...)
		ids(s.Change.Made)
		ids(s.Change.Pins)
		if b = appendRecords(b, s.Change.Removed); s.Change.Final {
			b = append(b, '!')
		}
	}
	if len(e.Pins) > 0 {
		b = append(b, '^')
		ids(e.Pins)
	}
	sum := sha256.Sum256(b)
	return message.ID(sum[:16])
}

func appendRecords(b []byte, records []*journal.Record) []byte {
	var before journal.Record
	for _, r := range records {
		if r != nil {
			b = appendRecord(b, r, &before)
			before = *r
		}
	}
	return b
}

func appendRecord(b []byte, r, before *journal.Record) []byte {
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	number := func(n int) { b = binary.AppendVarint(b, int64(n)) }
	same := *before
	same.Runs, same.ID, same.Parts, same.Messages, same.Covered, same.Earlier = r.Runs, r.ID, r.Parts, r.Messages, r.Covered, r.Earlier
	if reflect.DeepEqual(*r, same) {
		b = append(b, '=')
	} else {
		b = append(b, '#')
		text(r.Middleware)
		text(string(r.Kind))
		number(r.HistoryLen)
		number(r.Window)
		b = strconv.AppendBool(b, r.Once)
	}
	b = append(b, r.ID[:]...)
	if len(r.Runs) == 1 && r.Runs[0].First == r.Runs[0].Last && len(r.Messages)+len(r.Covered)+len(r.Earlier) == 0 {
		b = append(b, '=')
		number(r.Runs[0].First)
	} else {
		b = append(b, '#')
		number(len(r.Runs))
		number(len(r.Messages))
		number(len(r.Covered))
		number(len(r.Earlier))
		for _, run := range r.Runs {
			number(run.First)
			number(run.Last)
		}
		for _, m := range r.Messages {
			b = contentOf(b, m)
		}
		b = appendRecords(b, r.Covered)
		for _, h := range r.Earlier {
			text(h)
		}
	}
	if len(r.Parts) == 1 && len(before.Parts) == 1 {
		was, ok1 := before.Parts[0].(message.ToolResult)
		is, ok2 := r.Parts[0].(message.ToolResult)
		was.CallID = is.CallID
		if ok1 && ok2 && was == is && is.Content == nil {
			b = append(b, '=')
			text(is.CallID)
			return b
		}
	}
	return contentOf(append(b, '#'), message.Message{Parts: r.Parts})
}

// contentOf appends what can be hashed.
func contentOf(b []byte, m message.Message) (out []byte) {
	defer func() {
		if recover() != nil {
			out = b
		}
	}()
	return contents.AppendContent(b, &m)
}

// TestRevision keeps the copy of the hash above honest.
func TestRevision(t *testing.T) {
	t.Parallel()
	j := newTexts()
	history, _ := turns(2, 4)
	view(t, middleware.With(middleware.Env{Journal: j}, layers(editor{name: "clear", plan: clears(2)}, editor{name: "fold", plan: folds(2)})...), history)
	found, err := j.Find(t.Context(), "", journal.ConversationOf(history), message.IDs(history))
	require.NoError(t, err)
	require.NotEmpty(t, found.Entries)
	for _, e := range found.Entries {
		require.Equal(t, e.Rev, revision(&e), "an entry has the revision that its content gives")
	}
}
