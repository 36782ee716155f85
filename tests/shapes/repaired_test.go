package shapes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/fit"
)

// TestWhatIsSurelyBrokenIsRepaired has requests that the API, or the provider of the model, refuses: only what is broken
// changes, before anything is sent. Each is from a public report.
func TestWhatIsSurelyBrokenIsRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ format, model, was, want string }{
		"the turn of a model at the end (crewAI 6984)": {
			"gemini", "gemini-2.5-flash", `{"contents":[{"role":"user","parts":[{"text":"plan"}]},{"role":"model","parts":[{"text":"Thought"}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"plan"}]},{"role":"model","parts":[{"text":"Thought"}]},{"role":"user","parts":[{"text":"(continue)"}]}]}`,
		},
		"Messages of other models": {
			"messages", "kimi-k2.5", `{"model":"kimi-k2.5","max_tokens":9,"messages":[{"role":"assistant","content":"hello"},{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"look"}]},{"role":"assistant","content":[{"type":"tool_use","id":"functions.view:0","name":"view","input":{},"x":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions.view:0","content":"x"}]}]}`,
			`{"model":"kimi-k2.5","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"(conversation continues)"}]},{"role":"assistant","content":"hello"},{"role":"user","content":[{"type":"text","text":"look"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_abe8c178ecb4110f9267bd38","name":"view","input":{},"x":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_abe8c178ecb4110f9267bd38","content":"x"}]}]}`,
		},
		"a late system message, a model that takes none (Claude before 4.8)": {
			"messages", "claude-opus-4-5", `{"model":"claude-opus-4-5","system":"s","messages":[{"role":"user","content":"hi"},{"role":"system","content":"agents: a"},{"role":"user","content":"go"}]}`,
			`{"model":"claude-opus-4-5","system":"s\n\nagents: a","messages":[{"role":"user","content":"hi"},{"role":"user","content":"go"}]}`,
		},
		"the same behind blocks": {
			"messages", "claude-opus-4-5", `{"model":"claude-opus-4-5","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},{"role":"system","content":"agents: a"}]}`,
			`{"model":"claude-opus-4-5","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}},{"type":"text","text":"agents: a"}],"messages":[{"role":"user","content":"hi"}]}`,
		},
		"an ID of an earlier turn (Switchyard 502)": {
			"messages", "claude-sonnet-4-5", `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"one"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"two"}]}]}`,
			`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"one"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_27aefdeeb68eebb10483d45e","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_27aefdeeb68eebb10483d45e","content":"two"}]}]}`,
		},
		"calls without thinking (nanobot 3453)": {
			"chat", "deepseek-v4-pro", `{"model":"deepseek-v4-pro","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"c2","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":"y"}]}`,
			`{"model":"deepseek-v4-pro","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}],"reasoning_content":" "},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"c2","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":"y"}]}`,
		},
		"a second system message, a chat template (Qwen 244)": {
			"chat", "qwen3.8-27b", `{"model":"qwen3.8-27b","messages":[{"role":"system","content":"be terse"},{"role":"user","content":"a"},{"role":"system","content":"use tool A"},{"role":"user","content":"b"}]}`,
			`{"model":"qwen3.8-27b","messages":[{"role":"system","content":"be terse\nuse tool A"},{"role":"user","content":"a"},{"role":"user","content":"b"}]}`,
		},
		"a result whose call is gone (OpenMinis 222)": {
			"chat", "team-default", `{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"gone","content":"42 rows"},{"role":"user","content":"b"}]}`,
			`{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"user","content":"(result of an unknown call \"gone\")\n42 rows"},{"role":"user","content":"b"}]}`,
		},
		"a call that nothing answers": {
			"chat", "team-default", `{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"user","content":"b"}]}`,
			`{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"no result: the call was interrupted"},{"role":"user","content":"b"}]}`,
		},
		"two answers in a row, the second with a call and its signature": {
			"gemini", "gemini-3-pro", `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"a","thoughtSignature":"c2lnMQ=="}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2lnMg==","x":1}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"a","thoughtSignature":"c2lnMQ=="},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2lnMg==","x":1}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &provider{}
			newClient(to, fit.New(fit.Options{})).send(t, path(c.format, c.model, false), c.was)
			require.Len(t, to.sent, 1)
			require.Equal(t, c.want, to.sent[0])
		})
	}
}
