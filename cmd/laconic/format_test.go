package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
)

// TestOtherFormats has conversations of other systems as they write them. Each is an error that names the format,
// of apply and of count, and never a count of its text.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	asJSON := func(v any) string {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		return string(data)
	}
	call := schema.ToolCall{ID: "c1", Type: "function", Function: schema.FunctionCall{Name: "read", Arguments: "{}"}}
	answer := schema.AssistantMessage("", []schema.ToolCall{call})
	answer.ResponseMeta = &schema.ResponseMeta{FinishReason: "tool_calls"}
	cases := map[string]map[string]string{
		"Anthropic's Messages API": {
			"a system prompt":  `{"model":"claude-sonnet-4-5","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}]}`,
			"blocks":           `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]}]`,
			"a result":         `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]}`,
			"tools":            `{"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read","input_schema":{"type":"object"}}]}`,
			"an answer":        `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}`,
			"an image, masked": `[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]`,
		},
		"OpenAI's Responses API": {
			"a text":    `{"model":"gpt-5","input":"hi"}`,
			"a body":    `{"instructions":"Be brief.","input":[{"role":"user","content":"hi"}]}`,
			"items":     `[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}]`,
			"a message": `[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]`,
			"an answer": `{"object":"response","output":[{"type":"reasoning","id":"rs_1","summary":[]}]}`,
		},
		"the Gemini API": {
			"a body":  `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"Be brief."}]}}`,
			"a list":  `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]}]`,
			"no role": `{"contents":[{"parts":[{"text":"hi"}]}]}`,
		},
		"Claude Code's logs (JSONL)": {
			"a log": `{"type":"summary","summary":"Fix the build","leafUuid":"u2"}` + "\n" +
				`{"type":"user","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hi"}}` + "\n",
			"a snapshot first": `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}` + "\n" +
				`{"type":"assistant","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"assistant","content":[]}}` + "\n",
		},
		"eino (schema.Message)": {
			"an answer": asJSON([]*schema.Message{schema.UserMessage("hi"), answer}),
			"a result":  asJSON([]*schema.Message{schema.ToolMessage("ok", "c1", schema.WithToolName("read"))}),
			"parts": asJSON([]*schema.Message{{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
				{Type: schema.ChatMessagePartTypeText, Text: "hi"},
			}}}),
		},
		"langchaingo (llms.MessageContent)": {
			"a text":   asJSON([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")}),
			"a system": asJSON([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "Be brief.")}),
			"a result": asJSON([]llms.MessageContent{{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: "c1", Name: "read", Content: "ok"},
			}}}),
			"in a body": asJSON(map[string]any{"messages": []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeAI, "a", "b")}}),
		},
		"LangChain": {
			"dicts":  `[{"type":"human","data":{"content":"hi","additional_kwargs":{}}}]`,
			"dumped": `[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"hi"}}]`,
			"state":  `{"messages":[{"type":"human","content":"hi","id":"1"},{"type":"ai","content":"","tool_calls":[{"name":"read","args":{},"id":"c1"}]}]}`,
			"system": `[{"type":"system","content":"Be brief."}]`,
		},
	}
	chain := write(t, "chain: [{use: fit}]")
	for name, texts := range cases {
		for what, text := range texts {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				for _, in := range []string{text, "\ufeff\n" + text} {
					for _, args := range [][]string{{"apply", "--chain", chain}, {"count"}} {
						status, _, stderr := exec(t, in, args...)
						require.Equal(t, 1, status, args[0])
						require.Contains(t, stderr, "standard input: is a conversation in the format of "+name+": want the format of OpenAI", text)
					}
				}
				status, _, _ := exec(t, text, "count", "--text")
				require.Zero(t, status, "a text on request")
			})
		}
	}
}

// TestOwnFormat has what is no conversation of another system.
func TestOwnFormat(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"hi", "", "1", "null", "[]", "{}", `["a"]`, `{"input":"a"}`, `{"contents":["a"],"system":"linux"}`, `{"type":"human"}`,
		`[{"name":"a","type":"tool"}]`, `{"role":"admin"}`, `{"parts":[1,2]}`, `{"type":"message","text":"a"}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}`,
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}],"reasoning_content":"a"}]`,
		`[{"role":"tool","tool_name":"read","content":"ok"}]`, strings.Repeat(`{"a":1}`+"\n", 200),
	} {
		require.NoError(t, checkFormat([]byte(text)), text)
	}
}
