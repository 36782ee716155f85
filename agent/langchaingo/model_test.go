package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
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

// TestUsage has what each provider of langchaingo v0.1.14 tells, with the types
// that it tells it in.
func TestUsage(t *testing.T) {
	t.Parallel()
	type usage struct{ PromptTokens, TotalTokens, CompletionTokens int } // of the client for Mistral
	for provider, c := range map[string]struct {
		info map[string]any
		want message.Usage
	}{
		"openai": {
			map[string]any{
				"PromptTokens": 100, "CompletionTokens": 30, "TotalTokens": 130, "PromptCachedTokens": 60, "PromptAudioTokens": 0,
				"ReasoningTokens": 20, "CompletionReasoningTokens": 20, "ThinkingTokens": 20, "ThinkingContent": "",
			},
			message.Usage{Input: 100, CacheRead: 60, Output: 30, Thinking: 20},
		},
		"anthropic": {
			map[string]any{"InputTokens": 10, "OutputTokens": 30, "CacheCreationInputTokens": 1000, "CacheReadInputTokens": 100},
			message.Usage{Input: 1110, CacheRead: 100, CacheWrite: 1000, Output: 30},
		},
		"googleai": {
			map[string]any{
				"input_tokens": int32(100), "output_tokens": int32(30), "total_tokens": int32(130),
				"PromptTokens": int32(100), "CompletionTokens": int32(30), "TotalTokens": int32(130), "ThinkingTokens": 0,
			},
			message.Usage{Input: 100, Output: 30},
		},
		"googleai with a cache": {
			map[string]any{
				"input_tokens": int32(100), "output_tokens": int32(30), "PromptTokens": int32(100), "CompletionTokens": int32(30),
				"CachedTokens": int32(60), "CacheReadInputTokens": int32(60), "NonCachedInputTokens": int32(40),
			},
			message.Usage{Input: 100, CacheRead: 60, Output: 30},
		},
		"ollama": {
			map[string]any{"PromptTokens": 100, "CompletionTokens": 30, "TotalTokens": 130, "ThinkingTokens": 0, "CachedTokens": 90, "CacheHit": true},
			message.Usage{Input: 100, Output: 30},
		},
		"mistral": {
			map[string]any{"created": 1, "model": "m", "usage": usage{PromptTokens: 100, TotalTokens: 130, CompletionTokens: 30}},
			message.Usage{Input: 100, Output: 30},
		},
		"others":            {nil, message.Usage{}},
		"another usage":     {map[string]any{"usage": map[string]int{"PromptTokens": 1}}, message.Usage{}},
		"float and decoded": {map[string]any{"PromptTokens": 100.0, "CompletionTokens": float32(30)}, message.Usage{Input: 100, Output: 30}},
		"unsigned":          {map[string]any{"PromptTokens": uint64(100), "CompletionTokens": int64(30)}, message.Usage{Input: 100, Output: 30}},
		"nonsense":          {map[string]any{"PromptTokens": -1, "CompletionTokens": "30"}, message.Usage{}},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			answer := says("Hi")
			answer.Choices[0].GenerationInfo = c.info
			var got message.Usage
			llm := langchaingo.Wrap(gives(answer), answering(func(r *middleware.Response) { got = r.Usage }))
			_, err := llm.GenerateContent(t.Context(), []llms.MessageContent{human("Hi")})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// claude is the client for Anthropic, of which asked returns each block that was sent, with its mark.
func claude(t *testing.T) (client llms.Model, asked func() []string) {
	t.Helper()
	var sent struct {
		System   any `json:"system"`
		Messages []struct {
			Content []struct {
				Type  string `json:"type"`
				Cache *struct {
					Type string `json:"type"`
				} `json:"cache_control"`
			} `json:"content"`
		} `json:"messages"`
	}
	client, err := anthropic.New(anthropic.WithToken("none"), anthropic.WithModel("claude"), anthropic.WithHTTPClient(doer(func(r *http.Request) (*http.Response, error) {
		sent.Messages = nil
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return nil, err
		}
		body := `{"id":"1","type":"message","role":"assistant","stop_reason":"end_turn","usage":{"input_tokens":10,"cache_read_input_tokens":100,` +
			`"output_tokens":5},"diagnostics":{"cache_miss_reason":{"type":"tools_changed"}},"content":[{"type":"text","text":"ok"}]}`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})))
	require.NoError(t, err)
	return client, func() (blocks []string) {
		for i, m := range sent.Messages {
			for _, c := range m.Content {
				mark := ""
				if c.Cache != nil {
					mark = " " + c.Cache.Type
				}
				blocks = append(blocks, fmt.Sprintf("%d %s%s", i, c.Type, mark))
			}
		}
		return blocks
	}
}

// Marks reach Anthropic on messages of a user: that with the hint, or the nearest one before it.
func TestBreakpointsOfAnthropic(t *testing.T) {
	t.Parallel()
	call := func(id string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "look", Arguments: "{}"})
	}
	history := []message.Message{
		message.System("Be brief."), message.User("What is there?"), call("t1"), message.Result("t1", "look", "a"),
		message.Assistant(message.Text{Text: "An a."}), message.User("And now?"), call("t2"), message.Result("t2", "look", "b"),
	}
	for name, c := range map[string]struct {
		at   []int
		want []int // positions among the messages of Anthropic, which has system messages apart
	}{
		"nothing":                {},
		"a user message":         {[]int{1}, []int{0}},
		"a result":               {[]int{3}, []int{0}},
		"the end and the middle": {[]int{4, 7}, []int{0, 4}},
		"the same twice":         {[]int{5, 7}, []int{4}},
		"a system message":       {[]int{0}, nil},
	} {
		marked := slices.Clone(history)
		for _, i := range c.at {
			marked[i].Hints.Breakpoint = true
		}
		client, asked := claude(t)
		for _, inner := range []llms.Model{client, langchaingo.Wrap(client)} {
			_, err := langchaingo.Model(inner)(t.Context(), &middleware.Request{Messages: marked}, nil)
			require.NoError(t, err)
			blocks := asked()
			require.Len(t, blocks, 7)
			for i, b := range blocks {
				require.Equal(t, slices.Contains(c.want, i), strings.HasSuffix(b, " ephemeral"), "%s: %s", name, b)
			}
		}
	}
	other := gives(says("ok"))
	history[1].Hints.Breakpoint = true
	_, err := langchaingo.Model(other)(t.Context(), &middleware.Request{Messages: history}, nil)
	require.NoError(t, err)
	require.Equal(t, llms.TextContent{Text: "What is there?"}, other.last().msgs[1].Parts[0], "other clients would reject a mark")
}

// A client of one's own tells by GenerationInfo why the cache was missed.
func TestCacheMiss(t *testing.T) {
	t.Parallel()
	answer := says("Hi")
	answer.Choices[0].GenerationInfo = map[string]any{
		"PromptTokens": 100, "PromptCachedTokens": 60, "prompt_cache_diagnostics": map[string]any{"type": "cache_miss", "reason": "tools_changed", "cache_missed_tokens": 40},
	}
	var got report.Cache
	inside := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, emit)
			if err == nil {
				got = resp.Cache
			}
			return resp, err
		}
	}
	model := langchaingo.Wrap(gives(answer), inside, contextedit.New(contextedit.Options{}))
	_, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Hello")})
	require.NoError(t, err)
	require.Equal(t, report.Cache{Prompt: 100, Read: 60, Miss: "tools_changed", Missed: 40}, got)
}
