package wire_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/wire"
)

// messagesRounds is rounds for Messages, with more members.
func messagesRounds(n int, result, more string) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":9,` + more + `"messages":[{"role":"user","content":"go on"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, i, fmt.Sprint(i, result))
	}
	return b.String() + "]}"
}

// responsesRounds is rounds for Responses, with more members.
func responsesRounds(n int, result, more string) string {
	var b strings.Builder
	b.WriteString(`{"model":"m",` + more + `"input":[{"role":"user","content":"go on"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"type":"function_call","call_id":"c%d","name":"read","arguments":"{}"}`, i)
		fmt.Fprintf(&b, `,{"type":"function_call_output","call_id":"c%d","output":%q}`, i, fmt.Sprint(i, result))
	}
	return b.String() + "]}"
}

// If the request asks the provider to edit, the editors do nothing, and the decision says so.
func TestNative(t *testing.T) {
	t.Parallel()
	with := func(more string) string { return strings.Replace(rounds(4, long), `"messages"`, more+`"messages"`, 1) }
	for _, c := range []struct{ url, body, native string }{
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`), "context_management"},
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":{"edits":[]},`), ""},
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":null,`), ""},
		{"https://host/v1/messages", messagesRounds(4, long, `"compaction":{"type":"summarize"},`), "compaction"},
		{"https://host/v1/responses", responsesRounds(4, long, `"context_management":[{"type":"compaction","compact_threshold":1000}],`), "context_management"},
		{"https://host/v1/responses", responsesRounds(4, long, `"truncation":"auto",`), "truncation"},
		{"https://host/v1/responses", responsesRounds(4, long, `"truncation":"disabled",`), ""},
		{chatURL, with(`"plugins":[{"id":"web"},{"id":"context-compression","engine":"middle-out"}],`), "plugins: context-compression"},
		{chatURL, with(`"plugins":[{"id":"context-compression","enabled":false}],`), ""},
		{chatURL, with(`"transforms":["middle-out"],`), "transforms"},
		{chatURL, with(`"transforms":[],`), ""},
	} {
		r := &recorder{}
		do(t, wire.Transport(r, r.options(), r.chain()...), post(t, c.url, c.body))
		require.Equal(t, c.native, r.decisions[0].Native, c.body[:200])
		require.Empty(t, r.decisions[0].Reason, "it goes through the chain")
		require.Equal(t, c.native == "", r.decisions[0].Edited, c.body[:200])
		if c.native != "" {
			sameBytes(t, c.body, r.bodies[0])
		}
	}
}

// The window still holds, earlier edits remain, and nothing is learned from the usage, which is that of another prompt.
func TestNativeBesideOurEdits(t *testing.T) {
	t.Parallel()
	const asks = `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`
	const url = "https://host/v1/messages"
	r := &recorder{answer: func(int, string) *http.Response {
		return reply(http.StatusOK, `{"type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":1}}`)
	}}
	opts := r.options()
	window := 100_000
	opts.Budget = func(string) *middleware.Budget { return &middleware.Budget{Window: window} }
	rt := wire.Transport(r, opts, r.chain()...)
	do(t, rt, post(t, url, messagesRounds(4, long, "")))
	cleared := r.bodies[0]
	do(t, rt, post(t, url, messagesRounds(5, long, asks)))
	_, was, _ := strings.Cut(strings.TrimSuffix(cleared, "]}"), `"messages"`)
	_, is, _ := strings.Cut(r.bodies[1], `"messages"`)
	require.True(t, strings.HasPrefix(is, was), "what was cleared stays so")
	require.Contains(t, r.bodies[1], fmt.Sprint(3, long), "and nothing more is cleared")

	for n := 6; n < 20; n++ {
		do(t, rt, post(t, url, messagesRounds(n, long, asks)))
	}
	require.Zero(t, r.count(middleware.Truncated), "7 tokens for all of that are no reason to believe that the server cuts")
	window = 1000
	do(t, rt, post(t, url, messagesRounds(20, long, asks)))
	last, before := r.bodies[len(r.bodies)-1], r.bodies[len(r.bodies)-2]
	require.Less(t, len(last), len(before)/2, "fit makes it fit")
}
