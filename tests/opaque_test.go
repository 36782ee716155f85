package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// TestOpaqueStays has what only a provider can read at the beginning of a long conversation: a tool that was loaded by a
// reference can be called only as long as the reference is there. No editor removes it, and texts beside it may become shorter.
func TestOpaqueStays(t *testing.T) {
	t.Parallel()
	now := trigger.Tokens(2_000)
	budget := &middleware.Budget{Window: 4_000, Reserve: 500}
	editors := map[string]middleware.Middleware{
		"contextedit":  contextedit.New(contextedit.Options{Trigger: now, Keep: 2, ClearToolInputs: true}),
		"microcompact": microcompact.New(microcompact.Options{Trigger: now, KeepRounds: 2}),
		"summarize":    summarize.New(summarize.ByRules(), summarize.Options{Trigger: now, Keep: 2}),
		"trim":         trim.New(trim.Options{Trigger: now}),
		"trim, oldest": trim.New(trim.Options{Trigger: now, Strategy: "oldest", PreserveStart: -1}),
		"fit":          fit.New(fit.Options{}),
	}
	block := func(kind, more string) message.Opaque {
		return message.Opaque{Kind: kind, Data: `{"type":"` + kind + `",` + more + `}`}
	}
	reference := block("tool_reference", `"tool_name":"weather"`)
	unknown := block("holograph_2031", `"x":1`)
	found := block("tool_search_tool_result", `"tool_use_id":"s","content":{"tool_references":[{"type":"tool_reference","tool_name":"a"}]}`)
	output := block("tool_search_output", `"call_id":"s","execution":"client","tools":[]`)
	long := filler("beside", 700)
	call := message.Assistant(message.ToolCall{ID: "s", Name: "tool_search", Arguments: `{"query":"weather"}`})
	result := func(contents ...message.Part) message.Message {
		m := message.Message{Role: message.RoleTool}
		for _, p := range contents {
			r := message.ToolResult{CallID: "s", Content: p}
			if text, ok := p.(message.Text); ok {
				r.Text, r.Content = text.Text, nil
			}
			m.Parts = append(m.Parts, r)
		}
		return m
	}
	for name, at := range map[string][]message.Message{
		"reference":          {call, result(reference)},
		"two and a text":     {call, result(reference, message.Text{Text: long}, unknown)},
		"search result":      {call, result(block("search_result", `"source":"s","title":"t","content":[],"citations":{"enabled":true}`))},
		"item of Responses":  {call, result(output)},
		"beside a result":    {call, {Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "s", Text: long}, unknown}}},
		"of the user":        {{Role: message.RoleUser, Parts: []message.Part{message.Text{Text: "Look."}, block("document", `"citations":{}`)}}},
		"by a provider tool": {message.Assistant(block("server_tool_use", `"id":"s"`), found, message.Text{Text: "I can."})},
	} {
		for editor, mw := range editors {
			t.Run(name+"/"+editor, func(t *testing.T) {
				t.Parallel()
				msgs := append([]message.Message{message.System("s"), message.User("Read all logs.")}, at...)
				for i := range 40 {
					id := fmt.Sprint("c", i)
					msgs = append(msgs, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
						message.Result(id, "read", filler(id, 100)))
				}
				req := &middleware.Request{Messages: msgs, Budget: budget}
				got, _, err := middleware.Apply(t.Context(), mw, req)
				require.NoError(t, err)
				require.NotEqual(t, msgs, got.Messages, "nothing was edited, so nothing is shown")
				sent := fmt.Sprint(got.Messages)
				for _, m := range at {
					for _, p := range m.Parts {
						if r, ok := p.(message.ToolResult); ok {
							p = r.Content
						}
						if o, ok := p.(message.Opaque); ok {
							require.Contains(t, sent, o.Data)
						}
						if c, ok := p.(message.ToolCall); ok {
							require.Contains(t, sent, "{"+c.ID+" "+c.Name)
						}
					}
				}
				if name == "two and a text" && (editor == "microcompact" || editor == "fit") {
					require.NotContains(t, sent, long, "the text beside it is shortened")
				}
			})
		}
	}
}

// TestOpaqueLast has nothing but opaque results in a window that is too small for them: a request that cannot be sent is worse than
// one without the oldest. The text beside the newest is shortened.
func TestOpaqueLast(t *testing.T) {
	t.Parallel()
	msgs := []message.Message{message.User("Go.")}
	for i := range 8 {
		id := fmt.Sprint("s", i)
		found := message.Opaque{Kind: "unknown", Data: fmt.Sprintf(`{"type":"unknown","n":%d,"text":%q}`, i, filler(id, 60))}
		msgs = append(msgs, message.Assistant(message.ToolCall{ID: id, Name: "find", Arguments: "{}"}), message.Message{
			Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: id, Content: found}},
		})
	}
	req := &middleware.Request{Messages: append(msgs, message.User("And?")), Budget: &middleware.Budget{Window: 3_000, Reserve: 500}}
	notices := 0
	seen := middleware.Observe(func(_ context.Context, e middleware.Event) {
		if e.Kind == middleware.Notice && strings.Contains(e.Why, "only the provider can read") {
			notices++
		}
	})
	got, _, err := middleware.Apply(t.Context(), middleware.Chain(seen, fit.New(fit.Options{})), req)
	require.NoError(t, err)
	sent := fmt.Sprint(got.Messages)
	require.NotContains(t, sent, `"n":0`, "the oldest is left out")
	require.Contains(t, sent, `"n":7`, "the newest stays")
	require.Equal(t, 1, notices)
}

// filler is a text of so many lines.
func filler(of string, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%s line %d: value %d ok\n", of, i, (i*919+len(of)*37)%1000)
	}
	return b.String()
}
