package tests

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// randomCompacting is a microcompact with any options.
func randomCompacting(d dice, alone bool) microcompact.Options {
	limit := func(what string) int { return 40*d.roll(what, 4) - 40 }
	o := microcompact.Options{
		KeepRounds: d.roll("keep", 4) - 1,
		Limit:      microcompact.Limits{Results: limit("results"), Arguments: limit("arguments") / 8, Text: limit("texts")},
		FreshShare: []float64{0, -1, 0.1, 1}[d.roll("share", 4)],
		MinCalls:   d.roll("calls", 3),
		Digest:     []int{0, 0, 10, 40}[d.roll("digest", 4)],
	}
	if d.roll("with a trigger", 3) == 0 {
		o.Trigger = randomTrigger(d, 2, alone)
	}
	if d.roll("protect", 4) == 0 {
		o.Protect = []string{"tool"}
	}
	if d.roll("in batches", 3) == 0 {
		o.Batch = microcompact.Batch{Results: d.roll("results of a batch", 5), Tokens: 50 * d.roll("tokens of a batch", 4)}
	}
	if o.Validate() != nil {
		o.FreshShare = 0 // the only thing that all that can break
	}
	return o
}

// TestCompactingAnyConversation lets two processes with the same chain, of
// microcompacts and now and then a fold or a clearing between them, take turns in
// a conversation that grows.
func TestCompactingAnyConversation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkCompacting)
}

func checkCompacting(t *rapid.T) {
	d := rapidDice{t}
	compacts, other := 1+d.roll("compacts", 2), d.roll("with another", 3)
	alone := compacts == 1 && other == 0
	var mws []middleware.Middleware
	var all []microcompact.Options
	for range compacts {
		o := randomCompacting(d, alone)
		if compacts > 1 && other == 2 {
			o.MinCalls = 0 // both count the edits of either, and what the third writes over is forgotten
		}
		all = append(all, o)
		mws = append(mws, microcompact.New(o))
	}
	switch other {
	case 1:
		mws = slices.Insert(mws, d.roll("place", len(mws)+1), editor{name: "fold", plan: folds(6)}.middleware())
	case 2:
		mws = slices.Insert(mws, d.roll("place", len(mws)+1), editor{name: "shorten", plan: shortens(30)}.middleware())
	}
	budget := &middleware.Budget{Window: 5000}
	takeTurns(t, "microcompact", mws, budget, (*chat).growBulky, func(now turn) {
		for _, e := range now.events {
			if e.By == "fold" && now.chat.broken {
				continue // it does not look whose results it takes
			}
			require.NoError(t, e.Err, "it proposes nothing that breaks a rule: %v", e)
			require.NotEqual(t, middleware.Refused, e.Kind, "it proposes nothing that is refused: %v", e)
		}
		if other == 0 {
			requireCompacted(t, all, now.history, now.sent.View())
			requireStill(t, now.history, now.before, now.sent.Messages)
		}
		if other != 1 { // a fold goes on
			another, events, err := middleware.Apply(testContext, now.fresh, &middleware.Request{Messages: now.history, Budget: budget})
			require.NoError(t, err)
			requireSame(t, now.sent.Messages, another.Messages, "a process that has seen nothing gives another view: %v", events)
		}
	})
}

// growBulky grows a conversation by some messages. Some results are large, some
// arguments long, and some messages pinned.
func (c *chat) growBulky(h []message.Message) []message.Message {
	grown := len(h)
	h = slices.Clone(growSome(c, h))
	for i := grown; i < len(h); i++ {
		parts := slices.Clone(h[i].Parts)
		for k, p := range parts {
			switch p := p.(type) {
			case message.ToolResult:
				if p.Content == nil && c.dice.roll("large", 8) == 0 {
					p.Text += strings.Repeat("\n"+p.Text, 2000/(len(p.Text)+1))
					p.Text += strings.Repeat("0123456789\n", 100*c.dice.roll("size", 12))
					parts[k] = p
				}
			case message.ToolCall:
				if p.Arguments != "" && c.dice.roll("long", 4) == 0 {
					p.Arguments = fmt.Sprintf(`{"path": "a.go", "n": %d, "path": %q}`, c.serial, strings.Repeat("好 ", 20*c.dice.roll("size", 5)))
					parts[k] = p
				}
			case message.Text, message.Thinking, message.Media, message.Opaque:
			}
		}
		h[i].Parts = parts
		h[i].Hints.Pinned = c.dice.roll("pinned", 20) == 0
	}
	return h
}

// requireCompacted fails unless a view is the history with payloads shortened that
// may be.
func requireCompacted(t require.TestingT, all []microcompact.Options, h []message.Message, v *middleware.View) {
	require.Equal(t, len(h), v.Len())
	for i, m := range slices.Backward(h) {
		shown := v.At(i)
		edit := v.Span(i).Edit
		if edit == nil {
			requireSame(t, h[i:i+1], []message.Message{shown}, "what is not edited is as it was")
			continue
		}
		require.NotEqual(t, message.RoleUser, m.Role)
		require.False(t, m.Hints.Pinned, "message %d is pinned", i)
		require.Less(t, v.Meter().Message(shown), v.Meter().Message(m), "message %d became shorter", i)
		if edit.Middleware == "microcompact new results" {
			continue
		}
		require.False(t, v.Protected(i).Newest, "message %d is of the newest round", i)
		for _, p := range m.Parts {
			if r, ok := p.(message.ToolResult); ok {
				protected := !slices.ContainsFunc(all, func(o microcompact.Options) bool { return !slices.Contains(o.Protect, r.Name) })
				require.True(t, !protected || slices.ContainsFunc(shown.Parts, func(p message.Part) bool { return reflect.DeepEqual(p, r) }),
					"message %d has a result of a protected tool", i) // and perhaps, in a broken history, calls as well
			}
		}
	}
	fewest := slices.MinFunc(all, func(a, b microcompact.Options) int { return keeps(a) - keeps(b) })
	for i := range h {
		if e := v.Span(i).Edit; e != nil && e.Middleware == "microcompact" {
			require.GreaterOrEqual(t, roundsBehind(h, i), keeps(fewest), "message %d is of a round that stays", i)
		}
	}
}

func keeps(o microcompact.Options) int {
	switch {
	case o.KeepRounds < 0:
		return 0
	case o.KeepRounds == 0:
		return 4 // the default
	}
	return o.KeepRounds
}

// roundsBehind counts the rounds that begin behind a message.
func roundsBehind(h []message.Message, i int) (n int) {
	for _, m := range h[i+1:] {
		if m.Role == message.RoleAssistant && m.HasCalls() {
			n++
		}
	}
	return n
}

// requireStill fails unless what was shortened before has stayed so.
func requireStill(t require.TestingT, h, before, now []message.Message) {
	for i, m := range before {
		if m.Equal(h[i]) || m.Equal(now[i]) {
			continue
		}
		require.Less(t, len(contents.AppendContent(nil, &now[i])), len(contents.AppendContent(nil, &m)), "message %d was shortened, and may only become shorter still", i)
	}
}

// TestCompactingWhatOthersHavePut leaves alone what another middleware has put in
// place of a result, however long it is, and shortens what that has left.
func TestCompactingWhatOthersHavePut(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User("Look.")}
	for i := range 4 {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		h = append(h,
			message.Assistant(message.ToolCall{ID: a, Name: "read", Arguments: "{}"}, message.ToolCall{ID: b, Name: "list", Arguments: "{}"}),
			message.Message{Role: message.RoleTool, Parts: []message.Part{
				message.ToolResult{CallID: a, Name: "read", Text: bigText(5000)}, message.ToolResult{CallID: b, Name: "list", Text: bigText(3000)},
			}})
	}
	facts := strings.Repeat("facts that stay ", 20)
	clearing := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1, Only: []string{"read"}, Placeholder: facts})
	compacting := microcompact.New(microcompact.Options{KeepRounds: 2})
	chain := middleware.Chain(clearing, compacting)
	results := func(h []message.Message) (all []string) {
		shown, _ := view(t, chain, h)
		for _, m := range shown {
			for r := range m.Results() {
				all = append(all, r.Text)
			}
		}
		return all
	}
	const gone = "[truncated: 3000 chars]"
	require.Equal(t, []string{facts, gone, facts, gone, facts, bigText(3000), bigText(5000), bigText(3000)}, results(h))
	require.Equal(t, []string{facts, gone, facts, gone, facts, bigText(3000), bigText(5000), bigText(3000)}, results(h), "the same call")
	h = append(h, message.Assistant(message.ToolCall{ID: "c", Name: "list", Arguments: "{}"}), message.Result("c", "list", "ok"))
	require.Equal(t, []string{facts, gone, facts, gone, facts, gone, facts, bigText(3000), "ok"}, results(h))
}

// TestDefaultDigest leaves a line of facts in the placeholders of a chain with an archive, without an option, and none in
// others.
func TestDefaultDigest(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User("Refund the order.")}
	for i := range 8 {
		id := fmt.Sprint("c", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "order", Arguments: "{}"}),
			message.Result(id, "order", fmt.Sprintf(`{"order_id": "#W23781%d", "note": %q}`, i, strings.Repeat("on its way ", 60))))
	}
	now := trigger.Messages(1)
	for name, c := range map[string]struct {
		mw      middleware.Middleware
		archive store.Store
		want    bool
	}{
		"contextedit, archive":  {contextedit.New(contextedit.Options{Trigger: now}), store.NewMemory(0), true},
		"contextedit, none":     {contextedit.New(contextedit.Options{Trigger: now}), nil, false},
		"contextedit, off":      {contextedit.New(contextedit.Options{Trigger: now, Digest: -1}), store.NewMemory(0), false},
		"fit, archive":          {fit.New(fit.Options{}), store.NewMemory(0), true},
		"fit, none":             {fit.New(fit.Options{}), nil, false},
		"fit, off":              {fit.New(fit.Options{Digest: -1}), store.NewMemory(0), false},
		"microcompact, archive": {microcompact.New(microcompact.Options{Trigger: now}), store.NewMemory(0), true},
		"microcompact, none":    {microcompact.New(microcompact.Options{Trigger: now, Limit: microcompact.Limits{Results: 40}}), nil, false},
		"microcompact, off":     {microcompact.New(microcompact.Options{Trigger: now, Digest: -1}), store.NewMemory(0), false},
	} {
		req, events, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Archive: c.archive}, c.mw),
			&middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1400}})
		require.NoError(t, err)
		require.Len(t, events, 1, name)
		text := req.Messages[2].Parts[0].(message.ToolResult).Text
		require.NotContains(t, text, "on its way on its way", name)
		require.Equal(t, c.want, strings.Contains(text, "facts: order_id: #W237810"), "%s: %s", name, text)
	}
}
