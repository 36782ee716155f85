package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
)

// looker is a model of langchaingo that looks at so many places, one after the
// other, and streams as the client for OpenAI does.
func looker(places int) *model {
	m := &model{}
	m.answer = func(ctx context.Context, msgs []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		seen := 0
		for _, m := range msgs {
			if m.Role == llms.ChatMessageTypeTool {
				seen++
			}
		}
		if seen == places {
			if o.StreamingFunc != nil {
				for _, c := range []string{"", "Nothing ", "is there.", ""} {
					if err := o.StreamingFunc(ctx, []byte(c)); err != nil {
						return nil, err
					}
				}
			}
			answer := says("Nothing is there.")
			answer.Choices[0].GenerationInfo = map[string]any{"PromptTokens": 50, "CompletionTokens": 5}
			return answer, nil
		}
		arguments := fmt.Sprintf(`{"place":%d}`, seen)
		if o.StreamingFunc != nil {
			chunk := fmt.Sprintf(`[{"id":"call_1","type":"function","function":{"name":"look","arguments":%q}}]`, arguments)
			if err := o.StreamingFunc(ctx, []byte(chunk)); err != nil {
				return nil, err
			}
		}
		return calls("call_1", "look", arguments), nil // the same id each time
	}
	return m
}

func TestModelErrors(t *testing.T) {
	t.Parallel()
	ask := func(inner llms.Model, req *middleware.Request) error {
		if req.Messages == nil {
			req.Messages = []message.Message{message.User("Hi")}
		}
		_, err := langchaingo.Model(inner)(t.Context(), req, nil)
		return err
	}
	require.EqualError(t, ask(gives(&llms.ContentResponse{}), &middleware.Request{}), "langchaingo: the model returned a response without choices")
	require.EqualError(t, ask(gives(nil), &middleware.Request{}), "langchaingo: the model returned neither a response nor an error")
	require.EqualError(t, ask(gives(), &middleware.Request{Params: "x"}), "langchaingo: Request.Params is of type string, want []llms.CallOption")
	require.EqualError(t, ask(gives(), &middleware.Request{Messages: []message.Message{message.User("a"), {Role: "robot"}}}),
		`langchaingo: message 1: role "robot", want system, user, assistant or tool`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := langchaingo.Model(gives())(ctx, &middleware.Request{}, nil)
	require.ErrorIs(t, err, context.Canceled)

	gone := errors.New("gone")
	_, err = langchaingo.Model(looker(0))(t.Context(), &middleware.Request{Messages: []message.Message{message.User("Hi")}},
		func(middleware.Delta) error { return gone })
	require.Same(t, gone, err)

	inner := gives(says("ok"))
	_, err = langchaingo.Model(inner, llms.WithModel("own"))(t.Context(), &middleware.Request{
		Messages: []message.Message{message.User("Hi")}, Model: "other",
	}, nil)
	require.NoError(t, err)
	require.Equal(t, "own", inner.last().options.Model, "the options have the last word")
}

// doer answers requests of a client.
type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(r *http.Request) (*http.Response, error) { return f(r) }

// The client for Anthropic sends the first part of a message only.
func TestModelOfAnthropic(t *testing.T) {
	t.Parallel()
	var sent struct {
		Messages []struct {
			Role    string           `json:"role"`
			Content []map[string]any `json:"content"`
		} `json:"messages"`
	}
	inner, err := anthropic.New(anthropic.WithToken("none"), anthropic.WithModel("claude"), anthropic.WithHTTPClient(doer(func(r *http.Request) (*http.Response, error) {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return nil, err
		}
		body := `{"id":"1","type":"message","role":"assistant","stop_reason":"tool_use","usage":{"input_tokens":10,"cache_read_input_tokens":100,"output_tokens":5},"content":[
			{"type":"text","text":"Let me see."},{"type":"tool_use","id":"t3","name":"look","input":{"place":3}},{"type":"tool_use","id":"t4","name":"look","input":{"place":4}}]}`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})))
	require.NoError(t, err)
	results := message.Result("t1", "look", "a")
	results.Parts = append(results.Parts, message.Result("t2", "look", "b").Parts...)
	req := &middleware.Request{Messages: []message.Message{
		message.User("What is there?"),
		message.Assistant(message.Text{Text: "I look."}, message.ToolCall{ID: "t1", Name: "look", Arguments: "{}"}, message.ToolCall{ID: "t2", Name: "look", Arguments: "{}"}),
		results,
	}}
	for _, m := range []llms.Model{inner, langchaingo.Wrap(inner), langchaingo.Wrap(langchaingo.Wrap(inner))} {
		resp, err := langchaingo.Model(m)(t.Context(), req, nil)
		require.NoError(t, err)
		require.Equal(t, []message.Part{
			message.Text{Text: "Let me see."},
			message.ToolCall{ID: "t3", Name: "look", Arguments: `{"place":3}`},
			message.ToolCall{ID: "t4", Name: "look", Arguments: `{"place":4}`},
		}, resp.Message.Parts)
		require.Equal(t, message.Usage{Input: 110, CacheRead: 100, Output: 5}, resp.Usage)
		require.Equal(t, report.Cache{}, resp.Cache, "the client passes on no diagnostics")
		require.Equal(t, middleware.StopTools, resp.Stop)
		var got []string
		for _, m := range sent.Messages {
			for _, c := range m.Content {
				got = append(got, fmt.Sprintf("%s %s %v %v %v", m.Role, c["type"], c["text"], c["id"], c["tool_use_id"]))
			}
		}
		require.Equal(t, []string{
			"user text What is there? <nil> <nil>", "assistant text I look. <nil> <nil>",
			"assistant tool_use <nil> t1 <nil>", "assistant tool_use <nil> t2 <nil>",
			"user tool_result <nil> <nil> t1", "user tool_result <nil> <nil> t2",
		}, got, "nothing is lost")
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	think := func(signature string, parts ...message.Part) message.Message {
		return message.Assistant(append([]message.Part{message.Thinking{Text: "hm", Signature: signature}}, parts...)...)
	}
	call := message.ToolCall{ID: "1", Name: "look", Arguments: "{}"}
	piece := func(id, text string) message.Part { return message.ToolResult{CallID: id, Name: "look", Text: text} }
	for name, c := range map[string]struct {
		in   []message.Message
		want []llms.MessageContent
	}{
		"thinking without a signature": {
			[]message.Message{message.User("a"), think("", message.Text{Text: "b"}), think("")},
			[]llms.MessageContent{human("a"), llms.TextParts(llms.ChatMessageTypeAI, "b")},
		},
		"signed thinking of an earlier turn": {
			[]message.Message{message.User("a"), think("s", call), message.Result("1", "look", "r"), message.User("b")},
			[]llms.MessageContent{human("a"), calling("1", "look", "{}"), result("1", "look", "r"), human("b")},
		},
		"pieces of results": {
			[]message.Message{{Role: message.RoleTool, Parts: []message.Part{piece("1", "a"), piece("2", "b"), piece("1", "c")}}},
			[]llms.MessageContent{result("1", "look", "a\nc"), result("2", "look", "b")},
		},
		"a failed result": {
			[]message.Message{{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "1", Text: "no", Error: true}}}},
			[]llms.MessageContent{result("1", "", "no")},
		},
		"images": {
			[]message.Message{{Role: message.RoleUser, Parts: []message.Part{message.Media{URL: "http://x", Type: "image/png"}, message.Media{Data: "d", Type: "audio/wav"}}}},
			[]llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.ImageURLPart("http://x"), llms.BinaryPart("audio/wav", []byte("d"))}}},
		},
	} {
		got, err := langchaingo.Export(c.in)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	for want, m := range map[string]message.Message{
		"part 1: signed thinking has no place in a message of langchaingo: with tools, use a model that does not think":      message.Assistant(call, message.Thinking{Text: "hm", Signature: "s"}),
		`part 0: opaque content of kind "k" has no place in a message of langchaingo`:                                        message.Assistant(message.Opaque{Kind: "k"}),
		`part 0: the result of call "1" holds a message.Media, and langchaingo carries text alone: let the tool return text`: {Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "1", Content: message.Media{Data: "d"}}}},
		`part 0: the file name "a.png" has no place in a message of langchaingo: put it into the text`:                       {Role: message.RoleUser, Parts: []message.Part{message.Media{Data: "d", Name: "a.png"}}},
		`part 0: media of type "audio/wav" is given by a URL, and langchaingo carries URLs of images alone: pass the data`:   {Role: message.RoleUser, Parts: []message.Part{message.Media{URL: "u", Type: "audio/wav"}}},
		"part 0: media has both a URL and data, want one of them":                                                            {Role: message.RoleUser, Parts: []message.Part{message.Media{URL: "u", Data: "d"}}},
		"part 0: is nil, want some content":                                                       {Role: message.RoleUser, Parts: []message.Part{nil}},
		"part 0: of type *message.Text, want one of the types of parts":                           {Role: message.RoleUser, Parts: []message.Part{&message.Text{}}},
		"there is no part that langchaingo can send":                                              {Role: message.RoleUser},
		`the speaker's name "Ann" has no place in a message of langchaingo: put it into the text`: {Role: message.RoleUser, Name: "Ann", Parts: []message.Part{message.Text{Text: "a"}}},
	} {
		_, err := langchaingo.Export([]message.Message{message.User("Hi"), m})
		require.EqualError(t, err, "langchaingo: message 1: "+want)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err))
	}
}
