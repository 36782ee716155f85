package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic"
	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/wire"
)

// The run of an agent: each of 80 calls adds a result of about 1,600 tokens with two facts that are needed later.
const (
	autoCalls  = 80
	mostOfAll  = 0.40 // of the bytes
	leastFacts = 0.98
)

func autoFacts(i int) []string {
	return []string{fmt.Sprintf("ORD-%d-%d", 7100+i, i*37%91), fmt.Sprintf("%d.%02d", 1000+i*13, i)}
}

func autoResult(i int) string {
	f := autoFacts(i)
	return fmt.Sprintf(`{"order_id":%q,"total":%s,"notes":%q}`, f[0], f[1], strings.Repeat(fmt.Sprintf("The parcel waits at the desk of the depot %d. ", i%7), 140))
}

// inView returns the share of the facts of all results so far that a text has.
func inView(text string, calls int) float64 {
	found, all := 0, 0
	for i := range calls {
		for _, f := range autoFacts(i) {
			all++
			if strings.Contains(text, f) {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}

// autoBody is the request of a call after so many others, in OpenAI's format, to be converted to another one.
func autoBody(calls int) []byte {
	type object = map[string]any
	msgs := []object{{"role": "user", "content": "Which order is late? Write down each order and its total."}}
	for i := range calls {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "get_order", "arguments": fmt.Sprintf(`{"n":%d}`, i)}}}},
			object{"role": "tool", "tool_call_id": id, "content": autoResult(i)})
	}
	get := object{"type": "function", "function": object{"name": "get_order", "parameters": object{"type": "object", "properties": object{"n": object{"type": "integer"}}}}}
	data, err := json.Marshal(object{"model": "MODEL", "max_tokens": 1000, "messages": msgs, "tools": []object{get}})
	if err != nil {
		panic(err)
	}
	return data
}

// TestAutoByWire sends the run by a transport with Auto alone: six models, four formats.
func TestAutoByWire(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	bodies := map[string][]string{}
	for _, f := range codec.Formats() {
		for n := 1; n <= autoCalls && f.Name != "ollama"; n++ {
			conv, err := transcript.Parse(autoBody(n))
			require.NoError(t, err)
			body, err := conv.Convert(f)
			require.NoError(t, err)
			body = strings.ReplaceAll(body, `"functionResponse":{"name":""`, `"functionResponse":{"name":"get_order"`) // Gemini demands it
			bodies[f.Name] = append(bodies[f.Name], body)
		}
	}
	windows := map[string]int{
		"gpt-4.1-mini": 1_047_576, "gpt-5-mini": 400_000, "gpt-4o": 128_000, "claude-sonnet-5-5": 1_000_000, "gemini-2.5-flash": 1_048_576,
		"of-our-own": 1_000_000,
	}
	for name := range soak.Some(windows, 3) {
		for format := range bodies {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				p, err := fakeprovider.Start(fakeprovider.Text("ok"), fakeprovider.Options{Models: windows})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, p.Close()) })
				url := p.Root + map[string]string{
					"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages",
					"gemini": "/v1beta/models/" + name + ":generateContent",
				}[format]
				var in, out int64
				var sent string
				base := roundTripper(func(req *http.Request) (*http.Response, error) {
					data, err := io.ReadAll(req.Body)
					sent = string(data)
					req.Body = io.NopCloser(strings.NewReader(sent))
					if err != nil {
						return nil, err
					}
					return http.DefaultTransport.RoundTrip(req)
				})
				rt := wire.Transport(base, wire.Options{Observe: func(_ context.Context, d wire.Decision) {
					in, out = in+d.BytesIn, out+d.BytesOut
				}}, laconic.Auto())
				for i, body := range bodies[format] {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(strings.Replace(body, "MODEL", name, 1)))
					require.NoError(t, err)
					req.Header.Set("Content-Type", "application/json")
					resp, err := rt.RoundTrip(req)
					require.NoError(t, err)
					answer, err := io.ReadAll(resp.Body)
					require.NoError(t, err)
					require.NoError(t, resp.Body.Close())
					require.Equal(t, http.StatusOK, resp.StatusCode, "%s", answer)
					require.GreaterOrEqual(t, inView(sent, i+1), leastFacts)
					require.NotContains(t, sent, "recall ", "nothing reads a handle")
				}
				share := float64(out) / float64(in)
				t.Logf("%.3f of the bytes", share)
				require.LessOrEqual(t, share, mostOfAll)
			})
		}
	}
}

type roundTripper func(req *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
