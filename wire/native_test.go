package wire_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/wire"
)

// A chain in front of the signing edits, and what is signed is what is sent. Behind it, it edits nothing: see [TestUntouched].
func TestSigned(t *testing.T) {
	t.Parallel()
	r, signed := &recorder{}, ""
	resp, err := wire.Middleware(r.options(), r.chain()...)(post(t, chatURL, rounds(4, long)), func(req *http.Request) (*http.Response, error) { //nolint:bodyclose // it is closed below
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		require.Equal(t, int64(len(body)), req.ContentLength)
		signed, req.Body = string(body), io.NopCloser(bytes.NewReader(body))
		return r.RoundTrip(req)
	})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.True(t, r.decisions[0].Edited)
	require.Less(t, len(signed), len(rounds(4, long)))
	require.Equal(t, []string{signed}, r.bodies)
}

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
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`), "context_management: clear_tool_uses_20250919"},
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},`), ""},
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"all"}}]},`), ""},
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"new_20280101"}]},`), "context_management: new_20280101, context_management: clear_thinking_20251015"},
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":{"edits":[]},`), ""},
		{"https://host/v1/messages", messagesRounds(4, long, `"context_management":null,`), ""},
		{"https://host/v1/messages", messagesRounds(4, long, `"compaction":{"type":"summarize"},`), "compaction"},
		{"https://host/v1/responses", responsesRounds(4, long, `"context_management":[{"type":"compaction","compact_threshold":1000}],`), "context_management: compaction"},
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

// If the provider clears thinking alone, so do we not, but all else is edited, and the usage is learned.
func TestNativeThinking(t *testing.T) {
	t.Parallel()
	const asks = `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}}]},`
	turns := func(more string) string {
		thinks := `{"role":"assistant","content":[{"type":"thinking","thinking":"` + long + `","signature":"s"},{"type":"text","text":"ok"}]},{"role":"user","content":"more"}`
		return strings.Replace(messagesRounds(6, long, more), `{"role":"assistant"`, thinks+`,{"role":"assistant"`, 1)
	}
	for _, more := range []string{"", asks} {
		r := &recorder{}
		edit := contextedit.New(contextedit.Options{Trigger: trigger.Rounds(1), Keep: 1, ClearThinking: true})
		do(t, wire.Transport(r, r.options(), edit), post(t, "https://host/v1/messages", turns(more)))
		require.True(t, r.decisions[0].Edited)
		require.NotContains(t, r.bodies[0], "1"+long, "the results are cleared")
		require.Equal(t, more != "", strings.Contains(r.bodies[0], `"thinking":"`+long), r.decisions[0].Native)
	}
}

// What is in front of a compaction that Anthropic has made at a threshold is not read by the model: it is not counted, and passes as
// it is.
func TestInFrontOfACompaction(t *testing.T) {
	t.Parallel()
	const block = `{"role":"assistant","content":[{"type":"compaction","content":%s},{"type":"text","text":"I go on."}]},{"role":"user","content":"more"}`
	old := messagesRounds(20, long, `"context_management":{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":50000}}]},`)
	rounds := func(n int) string {
		_, more, _ := strings.Cut(messagesRounds(n, long, ""), `"go on"}`)
		return more
	}
	for content, dropped := range map[string]bool{`"a summary"`: true, `null`: false} {
		r := &recorder{}
		opts := r.options()
		opts.Budget = func(string) *middleware.Budget { return &middleware.Budget{Window: 5 * len(long)} }
		body := strings.TrimSuffix(old, "]}") + "," + fmt.Sprintf(block, content) + rounds(3)
		do(t, wire.Transport(r, opts, fit.New(fit.Options{})), post(t, "https://host/v1/messages", body))
		require.Equal(t, dropped, body == r.bodies[0], content)
		require.Contains(t, r.bodies[0], "I go on.")
		body = strings.TrimSuffix(body, "]}") + rounds(20)
		do(t, wire.Transport(r, opts, fit.New(fit.Options{})), post(t, "https://host/v1/messages", body))
		require.Equal(t, dropped, strings.HasPrefix(r.bodies[1], strings.TrimSuffix(old, "]}")), content)
		require.NotEqual(t, body, r.bodies[1])
	}
}

// The usage of an answer, whole or in a stream, is learned unless the answer says that something was cleared.
func TestNativeUsage(t *testing.T) {
	t.Parallel()
	const asks = `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`
	for applied, learned := range map[string]bool{
		`"applied_edits":[]`: true, `"applied_edits":[{"type":"clear_thinking_20251015"}]`: true, `"applied_edits":[{"type":"clear_tool_uses_20250919"}]`: false, ``: true,
	} {
		for _, streamed := range []bool{false, true} {
			r := &recorder{answer: func(_ int, body string) *http.Response {
				tokens := len(body) / 8
				if !streamed {
					return reply(http.StatusOK, fmt.Sprintf(`{"type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":1},"context_management":{%s}}`, tokens, applied))
				}
				resp := reply(http.StatusOK, fmt.Sprintf("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":%d}}}\n\n"+
					"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"context_management\":{%s}}\n\n"+
					"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", tokens, applied))
				resp.Header.Set("Content-Type", "text/event-stream")
				return resp
			}}
			size := 0
			rt := wire.Transport(r, r.options(), fit.New(fit.Options{}), func(next middleware.Model) middleware.Model {
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					size = req.View().Size().Tokens
					return next(ctx, req, emit)
				}
			})
			var body string
			for n := 4; n < 9; n++ {
				body = messagesRounds(n, long, asks)
				do(t, rt, post(t, "https://host/v1/messages", body))
			}
			ratio := float64(size) / float64(len(body)/8)
			require.Equal(t, learned, ratio > 0.9 && ratio < 1.1, "%s, streamed %v: %.2f of what is charged", applied, streamed, ratio)
		}
	}
}
