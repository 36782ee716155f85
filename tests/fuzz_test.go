package tests

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
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
		journal := journal.NewMemory(0)
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

// FuzzGuarantees reads its input as a conversation, a chain and a provider, and
// judges each call.
func FuzzGuarantees(f *testing.F) {
	for seed := range 12 {
		d := &fixedDice{state: uint64(seed)}
		b := make([]byte, 100+50*seed)
		for i := range b {
			b[i] = byte(d.roll("", 256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var sum tally
		newScenario(&byteDice{left: data[:min(len(data), 4000)]}, &sum).run(t)
	})
}

// jsonSeeds are conversations as they come in, sound ones and others.
var jsonSeeds = []string{
	`[]`,
	`[{"role":"user","content":"hi"}]`,
	`{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"看"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
	`[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"x"}}]},{"role":"tool","tool_call_id":"b","content":"two"},{"role":"user","content":"and?"},{"role":"tool","tool_call_id":"a","content":"one"}]`,
	`[{"role":"tool","tool_call_id":"lost","content":""},{"role":"assistant","reasoning_content":"hm","content":"a"},{"role":"assistant","content":" ","refusal":"no"}]`,
	`[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"","type":"custom","custom":{"name":"f g","input":"é"}}],"audio":{}},{"role":"developer","content":"d"}]`,
}

// FuzzConversation reads its input as a conversation in the JSON of OpenAI and
// leads it through each chain. What comes out is as the provider wants it, and
// can be written again.
func FuzzConversation(f *testing.F) {
	for _, seed := range jsonSeeds {
		f.Add([]byte(seed), uint16(3000))
		f.Add([]byte(seed), uint16(60))
	}
	f.Fuzz(func(t *testing.T, data []byte, window uint16) {
		conv, err := openai.Parse(data)
		if err != nil {
			return
		}
		for _, chain := range lineup.Chains() {
			for _, rules := range []message.Rules{message.OpenAI, message.Portable} {
				sent := requireGuaranteed(t, chain.New(rules), rules, conv.History(), conv.Tools, int(window)+1)
				for _, m := range sent {
					_, _ = openai.New(m) // which may say that it cannot
				}
			}
		}
	})
}

// FuzzMessages reads its input as messages in the library's own JSON and leads
// them through each chain: they hold what no provider's JSON can.
func FuzzMessages(f *testing.F) {
	d := &fixedDice{}
	for seed := range 6 {
		w := &wild{chat: chat{dice: d}, careless: seed%2 == 0}
		h, _ := w.conversation()
		data, err := json.Marshal(h)
		require.NoError(f, err)
		f.Add(data, uint16(100<<seed), uint8(seed))
		for i := range h {
			for k, p := range h[i].Parts {
				switch p := p.(type) {
				case message.ToolResult:
					p.CallID, p.Text = p.CallID+"\xff", p.Text+" caf\xe9"
					h[i].Parts[k] = p
				case message.Text:
					h[i].Parts[k] = message.Text{Text: "caf\xe9 " + p.Text}
				case message.Thinking, message.ToolCall, message.Media, message.Opaque:
				}
			}
		}
		data, err = json.Marshal(h)
		require.NoError(f, err)
		f.Add(data, uint16(1000<<seed), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, window uint16, provider uint8) {
		var h []message.Message
		if json.Unmarshal(data, &h) != nil {
			return
		}
		rules := providers[int(provider)%len(providers)]
		for _, chain := range lineup.Chains() {
			requireGuaranteed(t, chain.New(rules), rules, h, nil, int(window)+1)
		}
	})
}

// requireGuaranteed makes a call without a model, judges what would be sent, and
// returns it; nothing, if it cannot be made to fit.
func requireGuaranteed(t *testing.T, mws []middleware.Middleware, rules message.Rules, h []message.Message, tools []message.ToolDef, window int) []message.Message {
	t.Helper()
	before := testkit.Clone(h)
	call := &guarantee.Call{Rules: rules, Limits: rules.Limits(window), Room: window, History: h, Tools: tools}
	req, events, err := middleware.Apply(t.Context(), middleware.Chain(mws...), &middleware.Request{
		Messages: h, Tools: tools, Budget: &middleware.Budget{Window: window},
	})
	requireSame(t, before, h, "the history stays as it was")
	call.Events = events
	if err != nil {
		require.Empty(t, call.Refused(err), "%v\n%s", err, guarantee.Show(h))
		return nil
	}
	call.Sent, call.Tools, call.View = req.Messages, req.Tools, req.View()
	require.Empty(t, append(call.Broken(), call.BrokenSince(nil)...), "history\n%ssent\n%s%v", guarantee.Show(h), guarantee.Show(call.Sent), events)
	return call.Sent
}

// FuzzChainFile reads its input as a chain file and leads a conversation through
// the chain. If fit is the last in it, it keeps what fit promises.
func FuzzChainFile(f *testing.F) {
	for _, seed := range []string{
		"chain: [{use: fit}]",
		"window: 300\nchain: [{use: contextedit, trigger: {tokens: 100}, keep: 1}, {use: fit}]",
		"window: 300\nreserve: 100\nmodel: claude-sonnet-4-5\ncounter: chars4\nchain:\n- use: contextedit\n  trigger: [{messages: 3}, {fraction: 0.5, rounds: 2}]\n  clear_thinking: true\n- use: fit\n  target: 0.5\n  no_retry: true\n",
		"window: 200\nchain: [{use: fit, rules: [openai, bedrock], limits: {bytes: 2000, images: 1}, placeholder: '-', note: some is missing}]",
		"window: 500\nchain: [{use: fit}, {use: contextedit, strict: true, trigger: {fraction: 0.1}}]",
	} {
		f.Add([]byte(seed))
	}
	w := &wild{chat: chat{dice: &fixedDice{state: 5}}, careless: true}
	history, tools := w.conversation()
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := chainfile.Parse("c", data)
		if err != nil {
			return
		}
		req := &middleware.Request{Messages: history, Tools: tools}
		chain := file.With(middleware.Env{})
		first, _, err := middleware.Apply(t.Context(), chain, req)
		if err != nil {
			require.Contains(t, []middleware.ErrorKind{middleware.Invalid, middleware.Irreducible}, middleware.KindOf(err), "%v", err)
			return
		}
		again, events, err := middleware.Apply(t.Context(), chain, req)
		require.NoError(t, err, "what went well once goes well again")
		if count(events, middleware.Edited) == 0 {
			requireSame(t, first.Messages, again.Messages, "the same input gives the same bytes")
		}
	})
}
