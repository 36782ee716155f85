package fakeprovider_test

import (
	"net/http"
	"strings"
	"testing"

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
