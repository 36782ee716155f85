package shapes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/wire"
)

type (
	obj = map[string]any
	arr = []any
)

// refusal is how a server says no.
type refusal struct {
	status int // 200: inside of a stream
	body   string
}

// provider answers every request with a text, in the format of its path, unless it refuses it.
type provider struct {
	refuse  func(body obj) *refusal // nil: it takes all
	sent    []string
	refused int
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.sent = append(p.sent, string(raw))
	streamed := strings.Contains(r.URL.Path, ":stream") || bytes.Contains(raw, []byte(`"stream":true`)) || bytes.Contains(raw, []byte(`"stream" : true`))
	status, body := http.StatusOK, answer(r.URL.Path, streamed, prompt(raw))
	if p.refuse != nil {
		if no := p.refuse(parse(string(raw)).(obj)); no != nil {
			p.refused++
			status, body = no.status, no.body
		}
	}
	kind := "application/json"
	if streamed && status == http.StatusOK && !strings.HasSuffix(r.URL.Path, "/api/chat") {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1,
	}, nil
}

// prompt is about how many tokens a body has; a text without a space, as of a picture, has a thousand at most.
func prompt(raw []byte) int {
	n := 0
	for word := range bytes.FieldsFuncSeq(raw, func(r rune) bool { return r == ' ' || r == '"' }) {
		n += min(1000, len(word)/4+1)
	}
	return n
}

// answer is the text "Done." in the format of a path.
func answer(path string, streamed bool, tokens int) string {
	switch {
	case strings.Contains(path, "/chat/completions") && streamed:
		return `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Done."}}]}` + "\n\n" +
			`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	case strings.Contains(path, "/chat/completions"):
		return fmt.Sprintf(`{"id":"c","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Done."}}],"usage":{"prompt_tokens":%d,"completion_tokens":3}}`, tokens)
	case strings.Contains(path, "/responses"):
		whole := fmt.Sprintf(`{"id":"resp_9","object":"response","status":"completed","output":[{"type":"message","id":"msg_9","role":"assistant","content":[{"type":"output_text","text":"Done."}]}],"usage":{"input_tokens":%d,"output_tokens":3}}`, tokens)
		if streamed {
			return "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Done.\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + whole + "}\n\n"
		}
		return whole
	case strings.Contains(path, "/api/chat"):
		return fmt.Sprintf(`{"message":{"role":"assistant","content":"Done."},"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":3}`+"\n", tokens)
	case strings.Contains(path, "enerateContent"):
		whole := fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":3}}`, tokens)
		if streamed {
			return "data: " + whole + "\r\n\r\n"
		}
		return whole
	case streamed:
		return fmt.Sprintf("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":%d,\"output_tokens\":1}}}\n\n", tokens) +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Done.\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	}
	return fmt.Sprintf(`{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":3}}`, tokens)
}

// client sends requests through a chain in a window of a million tokens.
type client struct {
	to     *provider
	via    http.RoundTripper
	events []middleware.Event // of the last request
}

func newClient(to *provider, mws ...middleware.Middleware) *client {
	c := &client{to: to}
	listen := middleware.Observe(func(_ context.Context, e middleware.Event) { c.events = append(c.events, e) })
	c.via = wire.Transport(to, wire.Options{Budget: func(string) *middleware.Budget { return &middleware.Budget{Window: 1 << 20} }},
		append([]middleware.Middleware{listen}, mws...)...)
	return c
}

// send returns the status of the answer and its body.
func (c *client) send(t *testing.T, path, body string) (int, string) {
	t.Helper()
	c.events = nil
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example"+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer invented")
	resp, err := c.via.RoundTrip(req)
	require.NoError(t, err)
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(got)
}

// harm returns what the last request has suffered: other bytes, or events that are neither calls nor notices. "" is none.
func (c *client) harm(body string) string {
	var s []string
	if sent := c.to.sent[len(c.to.sent)-1]; sent != body {
		s = append(s, difference(body, sent))
	}
	if n := len(c.to.sent); n > 1 && c.to.refuse == nil && c.to.sent[n-2] == c.to.sent[n-1] {
		s = append(s, "the same was sent twice")
	}
	for _, e := range c.events {
		if e.Kind != middleware.Called && e.Kind != middleware.Notice {
			s = append(s, fmt.Sprintf("%s: %s", e.Kind, e.Why))
		}
	}
	return strings.Join(s, "; ")
}

// difference shows where two bodies part.
func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("…%.90s… became …%.90s…", a[max(0, i-40):], b[max(0, i-40):])
}

// parse returns JSON with its numbers as they are written.
func parse(s string) any {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return obj{}
	}
	return v
}

func write(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// noise is base64 of n bytes; equal seeds give equal text.
func noise(seed uint64, n int) []byte {
	r, b := rand.New(rand.NewPCG(seed, 1)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func text(v any) string { s, _ := v.(string); return s }

func list(v any) arr { a, _ := v.(arr); return a }

func at(v any, key string) any { return obj0(v)[key] }

func obj0(v any) obj { o, _ := v.(obj); return o }
