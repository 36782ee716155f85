package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

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
		shown := view(t, chain, h)
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
