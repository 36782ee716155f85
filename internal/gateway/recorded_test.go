package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/models"
)

// bill is what the requests of a conversation have cost.
type bill struct {
	cost    float64 // in units of an uncached token
	longest int     // tokens of a prompt
}

// recordedBodies returns the bodies of chat completions before each answer of a recorded conversation, and the answers.
func recordedBodies(t *testing.T, c *recorded.Conversation, model string) (bodies, answers []string) {
	t.Helper()
	var tools, messages []any
	for _, d := range c.Declared() {
		f := map[string]any{"name": d.Name, "description": d.Description}
		if d.Parameters != "" {
			f["parameters"] = json.RawMessage(d.Parameters)
		}
		tools = append(tools, map[string]any{"type": "function", "function": f})
	}
	for i, m := range c.Messages {
		own := map[string]any{"role": m.Role, "content": m.Content}
		switch m.Role {
		case "system", "user":
		case "tool":
			own["tool_call_id"] = m.CallID
		case "assistant":
			asked := i > 0 && (c.Messages[i-1].Role == "user" || c.Messages[i-1].Role == "tool")
			said := m.Content
			var calls []any
			for _, call := range m.Calls {
				said += call.Name + call.Arguments
				calls = append(calls, map[string]any{
					"id": call.ID, "type": "function", "function": map[string]any{"name": call.Name, "arguments": call.Arguments},
				})
			}
			if calls != nil {
				own["tool_calls"] = calls
			}
			if asked && said != "" {
				request := map[string]any{"model": model, "messages": messages}
				if tools != nil {
					request["tools"] = tools
				}
				body, err := json.Marshal(request)
				require.NoError(t, err)
				bodies, answers = append(bodies, string(body)), append(answers, said)
			}
		}
		messages = append(messages, own)
	}
	return bodies, answers
}

// meter prices bodies by four bytes a token, with a cache of the prompt before.
type meter struct {
	bill

	prices models.Model
	before string // the messages of the body before
}

// add prices a body and the answer to it, and returns the usage.
func (b *meter) add(body, answer string) (prompt, cached int) {
	const perToken, step, least = 4, 128, 1024
	_, messages, _ := strings.Cut(body, `"messages":[`)
	same := 0
	for same < min(len(messages), len(b.before)) && messages[same] == b.before[same] {
		same++
	}
	b.before = messages
	prompt, cached = len(body)/perToken, same/perToken/step*step
	if cached < least {
		cached = 0
	}
	at := b.prices.Price.At(prompt)
	b.longest = max(b.longest, prompt)
	b.cost += (float64(cached)*float64(at.CacheRead) + float64(prompt-cached)*float64(max(at.CacheWrite, at.Input)) +
		float64(len(answer)/perToken)*float64(at.Output)) / float64(at.Input)
	return prompt, cached
}

// pay returns the bill of bodies that are sent through a gateway.
func pay(t *testing.T, m models.Model, bodies, answers []string) bill {
	t.Helper()
	b, next := &meter{prices: m}, ""
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the gateway reports it
		}
		prompt, cached := b.add(string(body), next)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"object": "chat.completion", "model": m.Name,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": next}}},
			"usage": map[string]any{
				"prompt_tokens": prompt, "completion_tokens": len(next) / 4, "prompt_tokens_details": map[string]any{"cached_tokens": cached},
			},
		})
	}))
	defer up.Close()
	s := listen(t, "preset: auto\narchive: memory", up.URL, gateway.Options{})
	done := make(chan struct{})
	defer close(done)
	go func() {
		for { // so that it does not fill up
			select {
			case <-s.log:
			case <-done:
				return
			}
		}
	}()
	for i, body := range bodies {
		next = answers[i]
		a := post(t.Context(), t, s.url+chatPath, body)
		require.NoError(t, a.err)
		require.Equal(t, http.StatusOK, a.status)
	}
	require.NoError(t, s.stop())
	return b.bill
}

// Recorded conversations are sent as growing bodies, directly and through the gateway with its default chain, at the prices of the
// default models of coding agents and of a cheap cache. Together, those whose context passes 60,000 tokens cost at most 0.85 of what they
// cost directly, the others at most 1.02. None costs more than 1.05, or 1.08 if it has at most 20 calls:
// it may end right after an edit.
func TestRecordedBills(t *testing.T) {
	t.Parallel()
	files := recorded.Files(t)
	for i, name := range []string{"claude-opus-4-8", "deepseek-flash", "gpt-5.5", "gemini-2.5-pro"} {
		if i >= 4/soak.Nth(2, 1) {
			break // the others take as long again
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, ok := models.Default().Lookup(name)
			require.True(t, ok)
			m.Name = name
			type sum struct {
				direct, through, worst float64
				n                      int
			}
			sums := map[bool]*sum{false: {}, true: {}}
			for _, file := range files {
				for line := range recorded.Some(t, file) {
					var c recorded.Conversation
					require.NoError(t, json.Unmarshal(line, &c))
					bodies, answers := recordedBodies(t, &c, name)
					direct := &meter{prices: m}
					for i := range bodies {
						direct.add(bodies[i], answers[i])
					}
					through := pay(t, m, bodies, answers)
					s := sums[direct.longest > 60_000]
					s.n++
					s.direct += direct.cost
					s.through += through.cost
					share := through.cost / direct.cost
					s.worst = max(s.worst, share)
					most := 1.05
					if len(bodies) <= 20 {
						most = 1.08
					}
					require.LessOrEqual(t, share, most, c.ID)
					if share > 1.02 || testing.Verbose() && direct.longest > 60_000 {
						t.Logf("%s: %d requests, at most %d tokens: %.3f", c.ID, len(bodies), direct.longest, share)
					}
				}
			}
			for long, s := range sums {
				if s.n == 0 {
					continue
				}
				share := s.through / s.direct
				t.Logf("longer than 60,000 tokens: %t: %d conversations, %.3f of the direct cost, at most %.3f", long, s.n, share, s.worst)
				require.LessOrEqual(t, share, map[bool]float64{false: 1.02, true: 0.85}[long])
			}
		})
	}
}
