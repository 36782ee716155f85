package shapes

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
)

func signature(n int) string {
	return base64.StdEncoding.EncodeToString(noise(uint64(n), 90))
}

// grow sends thirty requests of a conversation that grows by what round adds. Each must arrive as it was sent.
func grow(t *testing.T, path string, start arr, round func(i int) arr, body func(i int, list arr) obj) {
	t.Helper()
	c := newClient(&provider{}, contextedit.New(contextedit.Options{}), fit.New(fit.Options{}))
	for i := range 30 {
		start = append(start, round(i)...)
		s := write(body(i, start))
		status, _ := c.send(t, path, s)
		require.Equal(t, 200, status)
		require.Empty(t, c.harm(s), "request %d: nothing is to edit, expected the same bytes", i)
	}
}

// Claude Code with a line in front that is other in each request.
func TestClaudeCodeKeepsItsThinking(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-opus-5-5", "claude-opus-7", "us.anthropic.claude-opus-5-5-v1:0", "claude-opus-4-8", "team-default"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := arr{obj{"role": "user", "content": arr{obj{"type": "text", "text": "<reminder>r</reminder>"}, obj{"type": "text", "text": "Read all logs."}}}}
			if !strings.HasPrefix(name, "us.") { // Bedrock takes none
				start = append(start, obj{"role": "system", "content": "Agents: explorer."})
			}
			grow(t, "/v1/messages?beta=true", start, func(i int) arr {
				if i == 0 {
					return nil
				}
				use := func(k int) obj {
					return obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%02d_%d", i, k), "name": "Read", "input": obj{"n": k}}
				}
				result := func(k int, v any) obj {
					return obj{"type": "tool_result", "tool_use_id": fmt.Sprintf("toolu_%02d_%d", i, k), "content": v}
				}
				answer := arr{
					obj{"type": "thinking", "thinking": "", "signature": signature(i)},
					obj{"type": "text", "text": fmt.Sprint("Step ", i)},
					obj{"type": "thinking", "thinking": "now", "signature": signature(100 + i)},
					use(0), use(1),
				}
				round := arr{obj{"role": "assistant", "content": answer}, obj{"role": "user", "content": arr{result(1, lines()), result(0, arr{obj{"type": "text", "text": lines()}})}}}
				if i%7 == 0 {
					round = append(round, obj{"role": "assistant", "content": arr{obj{"type": "text", "text": "Half."}}}, obj{"role": "user", "content": "Go on."})
				}
				return round
			}, func(i int, list arr) obj {
				system := arr{obj{"type": "text", "text": fmt.Sprintf("x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli; cch=%05x;", i*7919)}, obj{"type": "text", "text": "You are an agent."}}
				return obj{
					"model": name, "max_tokens": 64000, "thinking": obj{"type": "adaptive"}, "system": system, "messages": list, "stream": true,
					"tools":              arr{obj{"name": "Read", "input_schema": obj{"type": "object"}}},
					"context_management": obj{"edits": arr{obj{"type": "clear_thinking_20251015", "keep": "all"}}},
				}
			})
		})
	}
}

func TestGeminiKeepsItsSignatures(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gemini-2.5-pro", "gemini-3-pro-preview", "gemini-4-argon", "gemini-4-hydrogen", "gemini-5-x", "gemini-pro-latest", "team-default"} {
		for _, ids := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", IDs ", ids), func(t *testing.T) {
				t.Parallel()
				part := func(kind string, i, k int, v obj) obj {
					v["name"] = "read"
					if ids {
						v["id"] = fmt.Sprintf("f%d.%d", i, k)
					}
					return obj{kind: v}
				}
				grow(t, path("gemini", name, true), arr{obj{"role": "user", "parts": arr{obj{"text": "Read all."}}}}, func(i int) arr {
					if i == 0 {
						return nil
					}
					first := part("functionCall", i, 0, obj{"args": obj{"n": i}})
					first["thoughtSignature"] = signature(i)
					round := arr{
						obj{"role": "model", "parts": arr{first, part("functionCall", i, 1, obj{"args": obj{}})}},
						obj{"role": "user", "parts": arr{part("functionResponse", i, 0, obj{"response": obj{"output": lines()}}), part("functionResponse", i, 1, obj{"response": obj{"output": "ok"}})}},
					}
					if i%5 == 0 {
						round = append(round, obj{"role": "model", "parts": arr{obj{"text": "Half."}, obj{"text": "", "thoughtSignature": signature(50 + i)}}}, obj{"role": "user", "parts": arr{obj{"text": "Go on."}}})
					}
					return round
				}, func(_ int, list arr) obj {
					return obj{"contents": list, "tools": arr{obj{"functionDeclarations": arr{obj{"name": "read"}}}}, "systemInstruction": obj{"parts": arr{obj{"text": "s"}}}}
				})
			})
		}
	}
}

func TestCodexKeepsItsReasoning(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gpt-6.1-sol", "gpt-5.3-codex", "gpt-7-sol", "corp-codex-prod", "grok-5"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			say := func(role, s string) obj {
				return obj{"type": "message", "role": role, "content": arr{obj{"type": map[bool]string{true: "output_text", false: "input_text"}[role == "assistant"], "text": s}}}
			}
			start := arr{say("developer", "rules"), say("user", "<cwd>/w</cwd>"), say("user", "Read all.")}
			grow(t, "/v1/responses", start, func(i int) arr {
				if i == 0 {
					return nil
				}
				id := fmt.Sprintf("call_%02d", i)
				round := arr{obj{"type": "reasoning", "id": fmt.Sprint("rs_", i), "summary": arr{}, "encrypted_content": signature(i)}}
				switch i % 5 {
				case 0:
					round = append(round, obj{"type": "custom_tool_call", "call_id": id, "name": "apply_patch", "input": "*** Begin"}, obj{"type": "custom_tool_call_output", "call_id": id, "output": "ok"})
				case 1:
					round = append(round, obj{"type": "tool_search_call", "call_id": id, "execution": "client", "arguments": obj{"query": "q"}}, obj{"type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed", "tools": arr{}})
				case 2:
					round = append(round, obj{"type": "function_call", "call_id": id, "name": "view_image", "arguments": "{}"}, obj{"type": "function_call_output", "call_id": id, "output": arr{obj{"type": "input_image", "image_url": "data:image/png;base64," + picture()}}})
				case 3:
					round = append(round, obj{"type": "web_search_call", "id": fmt.Sprint("ws_", i), "status": "completed", "action": obj{"type": "search", "query": "q"}}, say("assistant", "Found."), say("developer", "Be short."), say("user", "Go on."))
				default:
					round = append(round, obj{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": "exec_command", "arguments": "{}"}, obj{"type": "function_call_output", "call_id": id, "output": lines()})
				}
				return round
			}, func(_ int, list arr) obj {
				return obj{"model": name, "input": list, "store": false, "stream": true, "include": arr{"reasoning.encrypted_content"}, "tools": arr{obj{"type": "function", "name": "exec_command", "parameters": obj{}}, obj{"type": "custom", "name": "apply_patch"}}}
			})
		})
	}
}
