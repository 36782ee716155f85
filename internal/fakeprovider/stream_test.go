package fakeprovider_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

const streamed = `"stream":true,"stream_options":{"include_usage":true}`

func TestStream(t *testing.T) {
	t.Parallel()
	reply := fakeprovider.Reply{
		Text: strings.Repeat("Zürich, ", 20),
		Calls: []fakeprovider.Call{
			{ID: "x", Name: "read", Arguments: `{"path":"` + strings.Repeat("a/", 30) + `"}`},
			{Name: "read", Arguments: `{}`},
		},
	}
	s := start(t, fakeprovider.Script(reply), fakeprovider.Options{})
	resp, err := post(t.Context(), client(t), s, with(streamed+`,"tools":[`+read+`]`, user))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, resp.Header.Get("Content-Type"), "text/event-stream")
	chunks, done, err := readStream(t, resp.Body)
	require.NoError(t, err)
	require.True(t, done, "a stream ends with [DONE]")

	first := chunks[0].Choices[0].Delta
	require.Equal(t, "assistant", first.Role, "the role comes first")
	require.Empty(t, *first.Content)
	var text strings.Builder
	var calls []call
	texts, fragments := 0, 0
	for _, c := range chunks[1 : len(chunks)-2] {
		require.Equal(t, "chat.completion.chunk", c.Object)
		require.Equal(t, chunks[0].ID, c.ID, "one id for all events")
		require.Contains(t, c.raw, `"usage":null`, "usage is null but for the last event")
		d := c.Choices[0].Delta
		require.Empty(t, d.Role, "the role comes once")
		require.Nil(t, c.Choices[0].Finish)
		if d.Content != nil {
			texts++
			text.WriteString(*d.Content)
		}
		for _, part := range d.Calls {
			if part.ID != "" {
				require.Equal(t, len(calls), *part.Index, "calls are numbered")
				require.Equal(t, "function", part.Type)
				calls = append(calls, part)
				continue
			}
			fragments++
			require.NotContains(t, c.raw, `"name"`, "a fragment has no name")
			calls[*part.Index].Function.Arguments += part.Function.Arguments
		}
	}
	require.Equal(t, reply.Text, text.String())
	require.Greater(t, texts, 2, "text comes in several pieces")
	require.Len(t, calls, 2)
	require.Greater(t, fragments, 2, "arguments come in several fragments")
	require.Equal(t, "x", calls[0].ID)
	require.Equal(t, reply.Calls[0].Arguments, calls[0].Function.Arguments)
	require.NotEmpty(t, calls[1].ID, "a call without an id gets one")
	require.Equal(t, "{}", calls[1].Function.Arguments)

	require.Equal(t, "tool_calls", *chunks[len(chunks)-2].Choices[0].Finish)
	last := chunks[len(chunks)-1]
	require.NotNil(t, last.Choices, "choices is an empty list, not null")
	require.Empty(t, last.Choices)
	rec := s.Requests()[0]
	require.Equal(t, rec.Usage.Prompt, last.Usage.Prompt)
	require.Equal(t, reply.Tokens(), last.Usage.Completion)
	require.Equal(t, last.Usage.Prompt+last.Usage.Completion, last.Usage.Total)
	require.Equal(t, len(chunks)+1, rec.Events)
	require.Empty(t, rec.Broken)
}

func TestStreamWithoutUsage(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{})
	resp, err := post(t.Context(), client(t), s, with(`"stream":true`, user))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	chunks, done, err := readStream(t, resp.Body)
	require.NoError(t, err)
	require.True(t, done)
	require.Len(t, chunks, 3, "role, text, finish_reason")
	require.Equal(t, "stop", *chunks[2].Choices[0].Finish)
	for _, c := range chunks {
		require.NotContains(t, c.raw, "usage", "usage was not asked for")
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	calls := []fakeprovider.Call{{ID: "x", Name: "read", Arguments: `{"p":1}`}, {Name: "read", Arguments: `{}`}}
	s := start(t, fakeprovider.Script(
		fakeprovider.Reply{Text: "héllo", Finish: "length"},
		fakeprovider.Reply{Calls: calls},
		fakeprovider.Reply{},
	), fakeprovider.Options{})

	c := complete(t, s, chat(user))
	require.Equal(t, "chat.completion", c.Object)
	require.Equal(t, "gpt-4o", c.Model)
	require.Equal(t, "héllo", *c.Choices[0].Message.Content)
	require.Equal(t, "length", c.Choices[0].Finish)
	require.Equal(t, 2, c.Usage.Completion, "six bytes of text are two tokens")

	c = complete(t, s, chat(user))
	require.Nil(t, c.Choices[0].Message.Content, "content is null beside calls without text")
	require.Equal(t, "tool_calls", c.Choices[0].Finish)
	require.Len(t, c.Choices[0].Message.Calls, 2)
	require.Nil(t, c.Choices[0].Message.Calls[0].Index, "calls are numbered in streams alone")
	require.Equal(t, "x", c.Choices[0].Message.Calls[0].ID)
	require.Equal(t, `{"p":1}`, c.Choices[0].Message.Calls[0].Function.Arguments)
	require.NotEmpty(t, c.Choices[0].Message.Calls[1].ID)
	require.Equal(t, s.Requests()[1].Reply.Calls[1].ID, c.Choices[0].Message.Calls[1].ID, "the record has the id that was given")
	require.Empty(t, calls[1].ID, "the responder's own slice is left alone")

	c = complete(t, s, chat(user))
	require.Empty(t, *c.Choices[0].Message.Content, "an answer of nothing is an empty string")

	status, got := ask(t, s, chat(user))
	require.Equal(t, http.StatusInternalServerError, status)
	require.Contains(t, requireError(t, got)["message"], "request 4, and the script has 3 replies")
	require.Empty(t, s.Refused(), "an error of the responder is not the client's")
}

func TestScriptedErrors(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Script(
		fakeprovider.Reply{Err: &fakeprovider.Error{Status: 429, Code: "rate_limit_exceeded", Message: "Rate limit reached."}},
		fakeprovider.Reply{Err: &fakeprovider.Error{Status: 503, Message: "The engine is overloaded."}},
	), fakeprovider.Options{})
	resp, err := post(t.Context(), client(t), s, with(streamed, user))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 429, resp.StatusCode)
	e := requireError(t, got)
	require.Equal(t, "rate_limit_exceeded", e["code"])

	status, got := ask(t, s, chat(user))
	require.Equal(t, 503, status)
	require.Equal(t, "server_error", requireError(t, got)["type"])
	require.Empty(t, s.Refused())
	require.Equal(t, 503, s.Requests()[1].Status)
}

// TestHang: nothing comes until the client gives up, or the server closes.
func TestHang(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		after  int
	}{"whole": {"", 0}, "stream, at once": {streamed, 0}, "stream, later": {streamed, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan context.Context, 2)
			s := start(t, func(ctx context.Context, _ *fakeprovider.Request) fakeprovider.Reply {
				asked <- ctx
				return fakeprovider.Reply{Text: "never", Hang: true, After: c.after}
			}, fakeprovider.Options{})

			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 2)
			call := func(ctx context.Context) {
				resp, err := post(ctx, client(t), s, with(c.fields, user))
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				failed <- err
			}
			go call(ctx)
			seen := <-asked
			cancel()
			require.ErrorIs(t, <-failed, context.Canceled)
			<-seen.Done() // the server notices that the client has disconnected

			go call(t.Context())
			<-asked
			require.NoError(t, s.Close())
			require.Error(t, <-failed, "a server that closes breaks the connection")
			for _, r := range s.Requests() {
				require.True(t, r.Done, "Close waits for the handlers")
				require.NotEmpty(t, r.Broken)
			}
		})
	}
}

func TestCancelMidStream(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Script(fakeprovider.Reply{Text: strings.Repeat("word ", 40), Hang: true, After: 5}), fakeprovider.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	resp, err := post(ctx, client(t), s, with(streamed, user))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReader(resp.Body)
	for range 2 * 5 { // each event and the empty line after it
		_, err := lines.ReadString('\n')
		require.NoError(t, err)
	}
	cancel()
	_, err = io.Copy(io.Discard, resp.Body)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close())
	require.Equal(t, 5, s.Requests()[0].Events)
	require.True(t, s.Requests()[0].Done)
}

// TestResponderThatWaits: a responder may take its time and is told when nobody waits.
func TestResponderThatWaits(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := start(t, func(ctx context.Context, _ *fakeprovider.Request) fakeprovider.Reply {
		close(asked)
		<-ctx.Done()
		return fakeprovider.Reply{Text: "too late"}
	}, fakeprovider.Options{})
	failed := make(chan error, 1)
	go func() {
		resp, err := post(t.Context(), client(t), s, chat(user))
		if err == nil {
			_ = resp.Body.Close()
		}
		failed <- err
	}()
	<-asked
	require.NoError(t, s.Close())
	require.Error(t, <-failed)
	require.Equal(t, "the client has disconnected", s.Requests()[0].Broken)
	require.NoError(t, s.Close(), "Close may be called again")
}

func TestResponderThatPanics(t *testing.T) {
	t.Parallel()
	s := start(t, func(context.Context, *fakeprovider.Request) fakeprovider.Reply { panic("oh") }, fakeprovider.Options{})
	status, got := ask(t, s, chat(user))
	require.Equal(t, http.StatusInternalServerError, status)
	require.Contains(t, requireError(t, got)["message"], "the responder panicked: oh")
}

// TestClientBreaksOff: a body that ends early broke no rule.
func TestClientBreaksOff(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{})
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/v1"))
	require.NoError(t, err)
	_, err = conn.Write([]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"model\":"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(s.Requests()) == 1 }, 10*time.Second, time.Millisecond, "the request arrives")
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return s.Requests()[0].Done }, 10*time.Second, time.Millisecond, "the handler ends")
	require.Empty(t, s.Refused())
	require.Equal(t, "the client has disconnected", s.Requests()[0].Broken)
	require.Equal(t, `{"model":`, string(s.Requests()[0].Body))
}
