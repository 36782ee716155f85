package tests

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tests/guarantee"
	"github.com/laconic-go/laconic/tests/lineup"
)

// FuzzApply reads its input as a conversation and what happens to it, and
// compares with the reference.
func FuzzApply(f *testing.F) {
	for seed := range 12 {
		d := &fixedDice{state: uint64(seed)}
		b := make([]byte, 60+40*seed)
		for i := range b {
			b[i] = byte(d.roll("", 256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &byteDice{left: data[:min(len(data), 2000)]}
		var journal journal.Journal = journal.NewMemory(0)
		if d.roll("store", 2) == 1 {
			journal = newTexts()
		}
		w := newWorld(d, journal)
		for range 40 {
			if len(d.left) == 0 {
				break
			}
			w.step(t)
		}
	})
}

// FuzzEntry reads its input as an entry of a journal. What can be read comes
// back as it was written, and whatever it says, a call goes on.
func FuzzEntry(f *testing.F) {
	history, _ := turns(3, 4)
	ids := message.IDs(history)
	for _, editors := range [][]editor{
		{{name: "clear", plan: clears(3)}},
		{{name: "fold", plan: folds(2)}, {name: "retell", plan: retells}},
		{{name: "pairs", plan: foldsInPairs}, {name: "remove", plan: removes(2, true)}, {name: "fold and clear", plan: foldsAndClears}},
	} {
		j := newTexts()
		for _, n := range []int{8, 14, len(history)} {
			_, _, err := middleware.Apply(f.Context(), middleware.With(middleware.Env{Journal: j}, layers(editors...)...), &middleware.Request{Messages: history[:n]})
			require.NoError(f, err)
		}
		for _, text := range j.entries {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte(`{"edits":[null]}`))
	f.Add([]byte(`{"edits":[{"runs":[{"First":1,"Last":3},{"First":2,"Last":5}],"kind":"fold"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e journal.Entry
		if json.Unmarshal(data, &e) != nil {
			return
		}
		requireRoundTrip(t, e)
		shown := requireGoesOn(t, history, ids, e)
		if e.Rev != revision(&e) {
			requireSame(t, history, shown, "an entry that does not have the revision of its content is not used")
		}
		for i, r := range e.Edits { // as if it had been made for this history
			if r != nil && len(r.Runs) > 0 {
				if last := r.Runs[len(r.Runs)-1].Last; last >= 0 && last < len(ids) {
					c := *r
					c.ID = ids[last]
					e.Edits[i] = &c
				}
			}
		}
		e.Base = message.ID{}
		e.Rev = revision(&e)
		requireGoesOn(t, history, ids, e)
	})
}

func requireRoundTrip(t *testing.T, e journal.Entry) {
	t.Helper()
	if !sensible(e.Edits) {
		return
	}
	text, err := json.Marshal(e)
	require.NoError(t, err, "what was read can be written")
	var again journal.Entry
	require.NoError(t, json.Unmarshal(text, &again), "what was written can be read: %s", text)
	require.Equal(t, revision(&e), revision(&again), "nothing is lost: %s", text)
	twice, err := json.Marshal(again)
	require.NoError(t, err)
	require.Equal(t, string(text), string(twice), "written again it is the same")
}

// sensible reports whether all records are of a kind that there is, and have
// nothing but what their kind has.
func sensible(records []*journal.Record) bool {
	return !slices.ContainsFunc(records, func(r *journal.Record) bool {
		return r == nil || !sensible(r.Covered) || r.Kind != journal.Rewrite && (r.Kind != journal.Fold || len(r.Parts) > 0)
	})
}

func requireGoesOn(t *testing.T, history []message.Message, ids []message.ID, e journal.Entry) []message.Message {
	t.Helper()
	j := &planted{Journal: journal.NewMemory(0), id: ids[len(ids)-3], entry: e}
	idle := editor{name: "none", plan: func(look) []middleware.Edit { return nil }}
	req, _, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: j}, layers(idle)...), &middleware.Request{Messages: history})
	require.NoError(t, err, "the call goes on")
	_, _, err = middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: j, HistoryIsView: true}, layers(
		editor{name: "clear", plan: clears(1)}, editor{name: "fold", plan: folds(2)}, editor{name: "retell", plan: retells})...), &middleware.Request{Messages: history})
	require.NoError(t, err, "and can edit on top of it")
	requireFitsOn(t, history, &planted{Journal: journal.NewMemory(0), id: j.id, entry: e})
	return req.Messages
}

// requireFitsOn fails unless a chain with fit makes what a journal says of a
// history valid, and fit.
func requireFitsOn(t *testing.T, history []message.Message, j journal.Journal) {
	t.Helper()
	const window = 150 // about a third of the history
	for _, chain := range lineup.Chains() {
		call := guarantee.Call{Rules: message.Portable, Room: window}
		req, _, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: j}, chain.New(call.Rules)...),
			&middleware.Request{Messages: history, Budget: &middleware.Budget{Window: window}})
		if err != nil { // what is folded together with what must stay cannot go alone
			require.Equal(t, middleware.Irreducible, middleware.KindOf(err), "%v", err)
			continue
		}
		require.NoError(t, call.Rules.Check(req.Messages), "what is sent is valid")
		require.LessOrEqual(t, req.View().Size().Tokens, window, "what is sent fits")
	}
}
