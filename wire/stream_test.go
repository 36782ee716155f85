package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// streams have the frames of each format, and the usage that they say.
var streams = map[string]struct {
	url, body, stream string
	usage             [2]int // input, output
}{
	"chat": {
		chatURL, rounds(1, ""),
		`data: {"choices":[{"delta":{"content":"ok"}}]}` + "\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":3}}` + "\n\ndata: [DONE]\n\n",
		[2]int{50, 3},
	},
	"responses": {
		"https://host/v1/responses", `{"input":"a"}`,
		"event: response.created\n" + `data: {"type":"response.created","response":{"status":"in_progress"}}` + "\n\n" +
			"event: response.completed\r\n" + `data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":50,"output_tokens":3}}}` + "\r\n\r\n",
		[2]int{50, 3},
	},
	"messages": {
		"https://host/v1/messages", `{"max_tokens":5,"messages":[{"role":"user","content":"a"}]}`,
		`data: {"type":"message_start","message":{"usage":{"input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
		[2]int{50, 3},
	},
	"gemini": {
		"https://host/v1beta/models/g:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"a"}]}]}`,
		`data: {"candidates":[{"content":{}}],"usageMetadata":{"promptTokenCount":50}}` + "\n\n" +
			`data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":2,"thoughtsTokenCount":1}}` + "\n\n",
		[2]int{50, 3},
	},
	"ollama": {
		"http://host/api/chat", `{"model":"q","messages":[{"role":"user","content":"a"}]}`,
		`{"model":"q","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}` + "\n" +
			`{"model":"q","message":{"role":"assistant","content":"data: [DONE]"},"done":false}` + "\n" +
			`{"model":"q","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":50,"eval_count":3}` + "\n",
		[2]int{50, 3},
	},
	"gemini as a JSON array": {
		"https://host/v1beta/models/g:streamGenerateContent", `{"contents":[{"parts":[{"text":"a"}]}]}`,
		`[{"candidates":[{"content":{}}],"usageMetadata":{"promptTokenCount":50}}` + "\n,\n" +
			`{"candidates":[{"finishReason":1}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":3}}]` + "\n",
		[2]int{50, 3},
	},
}

// last is a middleware that keeps what the chain gets.
type last struct {
	resp *middleware.Response
	err  error
}

func (l *last) middleware(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		l.resp, l.err = next(ctx, req, emit)
		return l.resp, l.err
	}
}

// byteReader gives one byte at a time, and an error at its end.
type byteReader struct {
	text string
	err  error
}

func (b *byteReader) Read(p []byte) (int, error) {
	if b.text == "" {
		return 0, b.err
	}
	p[0] = b.text[0]
	b.text = b.text[1:]
	return 1, nil
}

func (b *byteReader) Close() error { return nil }

func TestStreams(t *testing.T) {
	t.Parallel()
	for name, c := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, slow := range []bool{false, true} {
				r, l := &recorder{}, &last{}
				r.answer = func(int, string) *http.Response {
					resp := reply(http.StatusOK, c.stream)
					resp.ContentLength = -1
					if name == "ollama" {
						resp.Header.Set("Content-Type", "application/x-ndjson")
					}
					if slow {
						resp.Body = &byteReader{c.stream, io.EOF}
					}
					return resp
				}
				_, got := do(t, wire.Transport(r, r.options(), l.middleware), post(t, c.url, c.body))
				require.Equal(t, c.stream, got, "byte for byte")
				require.NoError(t, l.err)
				require.Empty(t, l.resp.Message.Parts)
				require.Equal(t, c.usage[0], l.resp.Usage.Input)
				require.Equal(t, c.usage[1], l.resp.Usage.Output)
				if name != "gemini as a JSON array" {
					require.Equal(t, middleware.StopEnd, l.resp.Stop)
				}
			}
		})
	}
}

// The client reads the last frame, and not the end of the body. Then the chain has returned.
func TestLastFrame(t *testing.T) {
	t.Parallel()
	for name, c := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, returned := &recorder{}, false
			end := strings.TrimRight(c.stream, "\r\n")
			pipe, w := io.Pipe()
			r.answer = func(int, string) *http.Response {
				resp := reply(http.StatusOK, c.stream)
				resp.ContentLength, resp.Body = -1, pipe
				if name == "ollama" {
					resp.Header.Set("Content-Type", "application/x-ndjson")
				}
				return resp
			}
			rt := wire.Transport(r, r.options(), func(next middleware.Model) middleware.Model {
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					resp, err := next(ctx, req, emit)
					returned = true
					return resp, err
				}
			})
			resp, err := rt.RoundTrip(post(t, c.url, c.body))
			require.NoError(t, err)
			go func() { _, _ = io.WriteString(w, end+"\n") }() // the connection stays open
			_, err = io.ReadFull(resp.Body, make([]byte, len(end)+1))
			require.NoError(t, err)
			require.True(t, returned)
			require.NoError(t, resp.Body.Close())
		})
	}
}

// A refusal in a stream: if it is the first piece, the request is made again, shorter, and the client gets that answer only.
// Behind a piece the chain learns from it, and does not ask again.
func TestRefusedInStream(t *testing.T) {
	t.Parallel()
	const good, piece = "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", "data: {\"choices\":[]}\n\n"
	for name, refusal := range map[string]string{
		"error":           "event: error\ndata: " + `{"type":"error","error":{"message":"prompt is too long: 2000 tokens > 1000 maximum"}}` + "\n\n",
		"response.failed": "event: response.failed\ndata: " + `{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}` + "\n\n",
	} {
		for what, c := range map[string]struct {
			answers []string
			want    string
		}{
			"at once":        {[]string{refusal, good}, good},
			"twice":          {[]string{refusal, refusal, refusal}, refusal},
			"behind a piece": {[]string{piece}, piece + refusal},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				r, l := &recorder{}, &last{}
				r.answer = func(n int, _ string) *http.Response {
					resp := reply(http.StatusOK, c.answers[n-1])
					if what == "behind a piece" {
						resp.Body, resp.ContentLength = io.NopCloser(io.MultiReader(resp.Body, strings.NewReader(refusal))), -1
					}
					return resp
				}
				rt := wire.Transport(r, r.options(), append([]middleware.Middleware{l.middleware}, r.chain()...)...)
				_, got := do(t, rt, post(t, chatURL, rounds(2, long)))
				require.Equal(t, c.want, got)
				if what == "twice" {
					require.Greater(t, len(r.bodies), 1)
				} else {
					require.Len(t, r.bodies, len(c.answers))
				}
				_, tooLong := middleware.ParseOverflow(l.err, nil)
				require.Equal(t, what != "at once", tooLong, "%v", l.err)
			})
		}
	}
}

// A client may leave a stream that goes on with the answer to a second attempt: then nothing waits for its end.
func TestLeavesAnswerToASecondAttempt(t *testing.T) {
	t.Parallel()
	const refusal = "event: error\ndata: " + `{"type":"error","error":{"message":"prompt is too long: 2000 tokens > 1000 maximum"}}` + "\n\n"
	r := &recorder{}
	r.answer = func(n int, _ string) *http.Response {
		return reply(http.StatusOK, []string{refusal, strings.Repeat("data: {\"choices\":[]}\n\n", 99)}[n-1])
	}
	resp, err := wire.Transport(r, r.options(), r.chain()...).RoundTrip(post(t, chatURL, rounds(2, long)))
	require.NoError(t, err)
	_, err = resp.Body.Read(make([]byte, 1000)) // the whole refusal, or a piece
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Len(t, r.bodies, 2)
}

// The client sees of a fault what it would see without the transport, or the request is sent as it was.
func TestFaults(t *testing.T) {
	t.Parallel()
	fails := errors.New("out of order")
	breaks := func(how func() error) middleware.Middleware {
		return func(middleware.Model) middleware.Model {
			return func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
				return nil, how()
			}
		}
	}
	body := rounds(4, long)
	for name, c := range map[string]struct {
		mw     middleware.Middleware
		reason string
		failed string
	}{
		"a chain that fails":           {breaks(func() error { return fails }), "the chain failed: out of order", "chain"},
		"a chain that panics":          {breaks(func() error { panic("oh") }), "the chain failed: panic: oh", "panic"},
		"a chain that asks no model":   {breaks(func() error { return nil }), "the chain failed: it has not asked the model", "chain"},
		"a model that is not answered": {mw: func(next middleware.Model) middleware.Model { return next }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			_, got := do(t, wire.Transport(r, r.options(), c.mw), post(t, chatURL, body))
			sameBytes(t, whole, got)
			require.Equal(t, []string{body}, r.bodies)
			require.Contains(t, r.decisions[0].Reason, c.reason)
			require.Equal(t, c.failed, r.decisions[0].Failed)
			if c.reason == "" {
				return
			}
			opts := r.options()
			opts.Strict = true
			_, err := wire.Transport(r, opts, c.mw).RoundTrip(post(t, chatURL, body)) //nolint:bodyclose // there is none
			require.ErrorContains(t, err, strings.TrimPrefix(c.reason, "the chain failed: "))
		})
	}
	t.Run("an editor that fails", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		mine := middleware.Editing("mine", func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, fails }, middleware.Options{})
		do(t, wire.Transport(r, r.options(), mine), post(t, chatURL, body))
		require.Equal(t, "editor", r.decisions[0].Failed)
		require.Empty(t, r.decisions[0].Reason)
	})
	t.Run("reset before headers", func(t *testing.T) {
		t.Parallel()
		r := &recorder{answer: func(int, string) *http.Response { return nil }}
		_, err := wire.Transport(r, r.options(), r.chain()...).RoundTrip(post(t, chatURL, body)) //nolint:bodyclose // there is none
		require.Equal(t, errReset, err)
		require.Len(t, r.bodies, 1)
	})
	t.Run("cut in a frame", func(t *testing.T) {
		t.Parallel()
		r, l := &recorder{}, &last{}
		part := streams["chat"].stream[:60]
		r.answer = func(int, string) *http.Response {
			resp := reply(http.StatusOK, part)
			resp.ContentLength, resp.Body = -1, &byteReader{part, io.ErrUnexpectedEOF}
			return resp
		}
		resp, err := wire.Transport(r, r.options(), l.middleware).RoundTrip(post(t, chatURL, body))
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, part, string(data))
		require.NoError(t, resp.Body.Close())
		require.Equal(t, middleware.Unavailable, middleware.KindOf(l.err))
	})
	t.Run("the request cannot be read", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		req := post(t, chatURL, body)
		req.Body = &byteReader{"{", errReset}
		_, err := wire.Transport(r, r.options(), r.chain()...).RoundTrip(req) //nolint:bodyclose // there is none
		require.ErrorIs(t, err, errReset)
		require.Empty(t, r.bodies)
	})
	t.Run("the client gives up", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		ctx, cancel := context.WithCancel(t.Context())
		r.answer = func(int, string) *http.Response { cancel(); return nil }
		_, err := wire.Transport(r, r.options(), r.chain()...).RoundTrip(post(t, chatURL, body).WithContext(ctx)) //nolint:bodyclose // there is none
		require.ErrorIs(t, err, context.Canceled)
	})
}
