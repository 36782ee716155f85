package codec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// clientItems are the calls of the API reference that a client answers, with their answers, and what is added to a call that has
// none; @ stands for an ID.
var clientItems = []struct{ call, answer, added string }{
	{`{"type":"function_call","id":"fc_@","call_id":"@","name":"f","arguments":"{ }"}`, `{"type":"function_call_output","call_id":"@","output":"gone"}`, "function_call_output"},
	{`{"type":"custom_tool_call","id":"ct_@","call_id":"@","name":"f","input":"x"}`, `{"type":"custom_tool_call_output","call_id":"@","output":"gone"}`, "custom_tool_call_output"},
	{`{"type":"local_shell_call","id":"ls_@","call_id":"@","action":{"type":"exec","command":["ls"]},"status":"completed"}`, `{"type":"local_shell_call_output","id":"@","output":"gone"}`, "local_shell_call_output"},
	{`{"type":"local_shell_call","id":"ls_@","call_id":"@","action":{"type":"exec","command":["ls"]},"status":"completed"}`, `{"type":"local_shell_call_output","id":"ls_@","output":"gone"}`, "local_shell_call_output"},
	{`{"type":"shell_call","id":"sh_@","call_id":"@","action":{"commands":["ls"]}}`, `{"type":"shell_call_output","call_id":"@","output":[{"stdout":"gone","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`, "shell_call_output"},
	{`{"type":"apply_patch_call","id":"ap_@","call_id":"@","status":"completed","operation":{"type":"delete_file","path":"a"}}`, `{"type":"apply_patch_call_output","call_id":"@","status":"completed","output":"gone"}`, "apply_patch_call_output"},
	{`{"type":"tool_search_call","id":"ts_@","call_id":"@","execution":"client","arguments":{"goal":"g"}}`, `{"type":"tool_search_output","call_id":"@","execution":"client","tools":[{"name":"gone"}]}`, "tool_search_output"},
	{`{"type":"computer_call","id":"cu_@","call_id":"@","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"}`, `{"type":"computer_call_output","call_id":"@","output":{"type":"computer_screenshot","image_url":"https://gone/a.png"}}`, ""},
	{`{"type":"mcp_approval_request","id":"@","name":"f","server_label":"s","arguments":"{}"}`, `{"type":"mcp_approval_response","approval_request_id":"@","approve":true,"reason":"gone"}`, ""},
}

const (
	ask   = `{"role":"user","content":"go"}`
	said  = `{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"ok"}]}`
	think = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`
)

var renamed = regexp.MustCompile(`call_[0-9a-f]{24}`)

// sent is what fit makes of items of Responses.
func sent(t *testing.T, items ...string) string {
	t.Helper()
	b, err := codec.Responses.Decode([]byte(`{"model":"gpt-5.6", "input":[` + strings.Join(items, " , ") + `]}`))
	require.NoError(t, err)
	require.Empty(t, b.Untouched)
	got, err := b.Encode(apply(t, fit.New(fit.Options{Rules: message.OpenAIResponses}), b))
	require.NoError(t, err)
	var body struct {
		Input []json.RawMessage `json:"input"`
	}
	require.NoError(t, json.Unmarshal([]byte(got), &body), got)
	var out []string
	for _, raw := range body.Input {
		out = append(out, string(raw))
	}
	return strings.Join(out, "\n")
}

func lines(items ...string) string { return strings.Join(items, "\n") }

func TestClientItems(t *testing.T) {
	t.Parallel()
	for _, p := range clientItems {
		call := func(id string) string { return strings.ReplaceAll(p.call, "@", id) }
		answer := func(id string) string { return strings.ReplaceAll(p.answer, "@", id) }
		for _, valid := range [][]string{
			{ask, think, call("a"), answer("a"), said},
			{ask, call("a"), call("b"), answer("a"), answer("b"), think, said, ask},
			{ask, think, call("a"), clientItems[0].call, answer("a"), clientItems[0].answer},
		} {
			require.Equal(t, lines(valid...), sent(t, valid...), "a valid request is sent as it is")
		}
		got := sent(t, ask, think, call("a"), said, ask)
		if p.added == "" {
			require.Equal(t, lines(ask, think, call("a"), said, ask), got, "there is no valid answer")
		} else {
			require.Equal(t, 1, strings.Count(got, fmt.Sprintf(`"type":%q`, p.added)), got)
			require.Equal(t, 6, strings.Count(got, "\n")+1, got)
			require.NotContains(t, strings.ReplaceAll(got, `"type":"`+p.added+`"`, ""), "_output\",", got)
		}
		got = sent(t, ask, answer("a"), think, said, ask)
		require.Contains(t, got, "gone", "the content is a message of the user")
		require.NotContains(t, got, `"call_id"`)
		require.NotContains(t, strings.ReplaceAll(got, `\"`, `'`), `"approval_request_id"`)
		require.Equal(t, 5, strings.Count(got, "\n")+1, got)

		long := strings.Repeat("x", 65)
		got = sent(t, ask, think, call(long), answer(long), said)
		plain := strings.NewReplacer(long, "R", "ls_R", "R")
		require.Equal(t, plain.Replace(lines(ask, think, call("R"), answer("R"), said)), plain.Replace(renamed.ReplaceAllString(plain.Replace(got), "R")), "the ID alone is another one")
	}
}

// Items that are no messages, known or not, pass in their place, and nothing is put behind the one that must be last.
func TestOtherItems(t *testing.T) {
	t.Parallel()
	const trigger = `{"type":"compaction_trigger"}`
	for _, items := range [][]string{
		{`{"type":"additional_tools","role":"developer","tools":[]}`, ask, said, trigger},
		{`{"type":"mcp_list_tools","id":"m","server_label":"s","tools":[]}`, `{"type":"new_item"}`, ask, trigger},
		{ask, clientItems[0].call, clientItems[0].answer, `{"type":"configuration_update"}`, think, said, ask},
		{ask, clientItems[0].call, `{"type":"additional_tools","tools":[]}`, clientItems[0].answer, trigger},
		{ask, think, `{"type":"new_item"}`, clientItems[0].call, clientItems[0].answer},
		{ask, `{"type":"tool_search_call","execution":"server","call_id":null}`, `{"type":"tool_search_output","execution":"server","call_id":null,"tools":[]}`, clientItems[0].call, clientItems[0].answer},
	} {
		require.Equal(t, lines(items...), sent(t, items...))
	}
	got := sent(t, ask, clientItems[0].call, trigger)
	require.True(t, strings.HasSuffix(got, trigger), got)
	const reference = `{"type":"item_reference","id":"rs_1"}`
	for _, reasoning := range []string{think, reference} {
		require.Equal(t, lines(ask, said, ask), sent(t, ask, said, reasoning, ask), "reasoning that nothing follows is refused")
		b, err := codec.Responses.Decode([]byte(`{"input":[` + strings.Join([]string{ask, reasoning, clientItems[0].call, clientItems[0].answer}, ",") + `]}`))
		require.NoError(t, err)
		require.Len(t, b.Request().Messages[1].Parts, 2, "it leaves with its call")
		require.False(t, b.Request().Messages[1].Hints.Pinned)
	}

	b, err := codec.Responses.Decode([]byte(`{"input":[` + ask + `,{"type":"item_reference","id":"fc_1"},` + clientItems[0].answer + `]}`))
	require.NoError(t, err)
	require.Contains(t, b.Untouched, "item_reference")
}

// Items that reasoning was bound to lose their IDs with it; a call that must have one keeps the reasoning.
func TestReasoningLeftOut(t *testing.T) {
	t.Parallel()
	const (
		search  = `{"type":"web_search_call","id":"ws_1","status":"completed"}`
		another = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gBBB"}`
		two     = `{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`
	)
	bare := strings.NewReplacer(`"id":"msg_1",`, "", `"id":"fc_@",`, "")
	call := clientItems[0].call
	for _, c := range [][2][]string{
		{{think, said}, {bare.Replace(said)}},
		{{said, think, call}, {said, bare.Replace(call)}},
		{{two, think, another, call}, {two, bare.Replace(call)}},
		{{think, search, said}, {think, search, said}},
		{{think, said, another, search, call}, {bare.Replace(said), another, search, call}},
		{{another, think, search, said}, {think, search, said}},
	} {
		input := func(items []string) string {
			return `{"input":[` + lines(slices.Concat([]string{ask}, items, []string{ask})...) + `]}`
		}
		b, err := codec.Responses.Decode([]byte(strings.ReplaceAll(input(c[0]), "\n", ",")))
		require.NoError(t, err)
		got, err := b.Encode(apply(t, middleware.Editing("forgets", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			parts := slices.DeleteFunc(slices.Clone(v.At(1).Parts), func(p message.Part) bool { _, thinks := p.(message.Thinking); return thinks })
			return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(1, parts...)}}, nil
		}, middleware.Options{}), b))
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(input(c[1]), "\n", ","), got)
	}
}

// A call whose ID is not accepted gets another one, with its result, and keeps all else. IDs that a request does not have are
// never written, and repair nothing.
func TestRenamedCallsKeepAll(t *testing.T) {
	t.Parallel()
	for f, body := range map[*codec.Format]string{
		codec.Chat: `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a:1","type":"function","x_1":2,"function":{"name":"f","arguments":"{ }"}},` +
			`{"id":"b:1","type":"function","function":{"name":"f","arguments":"{ }"}}]},{"role":"tool","tool_call_id":"a:1","content":"r","x_2":3},{"role":"tool","tool_call_id":"b:1","content":"s"}]}`,
		codec.Messages: `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a:1","name":"f","input":{ },"x_1":2},{"type":"tool_use","id":"b:1","name":"f","input":{ }}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a:1","content":"r","x_2":3},{"type":"tool_result","tool_use_id":"b:1","content":"s"}]}]}`,
		codec.Gemini: `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"","thoughtSignature":"s0"},{"functionCall":{"id":"a:1","name":"f"},"thoughtSignature":"s1"},{"functionCall":{"id":"b:1","name":"f"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"a:1","name":"f","response":{"x_2":3}}},{"functionResponse":{"id":"b:1","name":"f","response":{"x_2":4}}}]}]}`,
		codec.Ollama: `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"a:1","x_1":2,"function":{"name":"f"}},{"id":"b:1","function":{"name":"f"}}]},` +
			`{"role":"tool","tool_call_id":"a:1","content":"r","x_2":3},{"role":"tool","tool_call_id":"b:1","content":"s"}]}`,
	} {
		for _, text := range []string{body, regexp.MustCompile(`"(id|tool_call_id)":"[ab]:1",`).ReplaceAllString(body, "")} {
			if text != body && f != codec.Gemini && f != codec.Ollama {
				continue
			}
			b, err := f.Decode([]byte(text))
			require.NoError(t, err)
			got, err := b.Encode(apply(t, fit.New(fit.Options{Rules: message.Anthropic | message.Unconfirmed}), b))
			require.NoError(t, err)
			if all, tools, added := strings.Cut(got, `,"tools":`); added { // fit declares the tool
				got = all + tools[len(tools)-1:]
			}
			if text != body {
				require.Equal(t, text, got, f.Name)
				continue
			}
			ids := renamed.FindAllString(got, -1)
			require.Len(t, ids, 4, got)
			require.Equal(t, ids[:2], ids[2:], got)
			require.Equal(t, body, strings.NewReplacer(ids[0], "a:1", ids[1], "b:1").Replace(got), f.Name)
		}
	}
	b, err := codec.Gemini.Decode([]byte(`{"cachedContent":"cachedContents/1","contents":[{"role":"model","parts":[{"text":"go"}]}]}`))
	require.NoError(t, err)
	require.Contains(t, b.Untouched, "cachedContent")
}
