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
