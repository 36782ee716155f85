package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	goopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/wire"
	"github.com/laconic-go/laconic/wire/wiretest"
)

// watch counts what a transport and its chain report.
type watch struct {
	mu        sync.Mutex
	decisions []wire.Decision
	events    map[middleware.EventKind]int
	why       []string
}

func (w *watch) decide(_ context.Context, d wire.Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decisions = append(w.decisions, d)
}

func (w *watch) event(_ context.Context, e middleware.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events[e.Kind]++
	if e.Kind == middleware.Missed || e.Kind == middleware.Failed || e.Kind == middleware.Misconfigured {
		w.why = append(w.why, e.String())
	}
}

func newWatch() *watch { return &watch{events: map[middleware.EventKind]int{}} }

func (w *watch) chain() (wire.Options, []middleware.Middleware) {
	budget := func(string) *middleware.Budget { return &middleware.Budget{Window: window} }
	return wire.Options{Observe: w.decide, Budget: budget, Strict: true}, []middleware.Middleware{
		middleware.Observe(w.event), microcompact.New(microcompact.Options{}), contextedit.New(contextedit.Options{}), fit.New(fit.Options{}),
	}
}

const window = 12_000

func resultOf(call string) string {
	return fmt.Sprintf("file of %s\n%s", call, strings.Repeat("a line of text with some words\n", 30))
}

// step is one request of an agent: it returns the last words, or "" after calls.
type step func(ctx context.Context) (string, error)

// client makes an agent.
type client struct {
	api  string // "": chat
	loop func(t *testing.T, url string, hc *http.Client, stream bool) step
}

var clients = map[string]client{
	"openai-go chat":      {"", openaiChat},
	"openai-go Responses": {"responses", openaiResponses},
	"anthropic-sdk-go":    {"messages", anthropicMessages},
	"go-openai":           {"", goOpenAI},
	"genai":               {"gemini", genaiContent},
}

// served is a server for a client.
type served struct {
	url     string
	refused func() []string
	bodies  func() []string
}

func serve(t *testing.T, api string, calls int) served {
	t.Helper()
	if api != "" {
		p := &provider{window: window, calls: calls}
		s := httptest.NewServer(p)
		t.Cleanup(s.Close)
		return served{
			s.URL + "/v1",
			func() []string { p.mu.Lock(); defer p.mu.Unlock(); return p.refused },
			func() []string { p.mu.Lock(); defer p.mu.Unlock(); return p.sent },
		}
	}
	loop := fakeprovider.ToolLoop{Tool: "read", Calls: calls, Parallel: 2}
	s, err := fakeprovider.Start(loop.Responder(), fakeprovider.Options{Models: map[string]int{"gpt-4o": window}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return served{s.URL, func() (all []string) {
		for _, r := range s.Refused() {
			all = append(all, r.Refused.Message)
		}
		return all
	}, func() (all []string) {
		for _, r := range s.Requests() {
			all = append(all, string(r.Body))
		}
		return all
	}}
}

// run lets an agent work until it says something.
func run(ctx context.Context, next step) (last string, requests int, err error) {
	for last == "" && err == nil && requests < 500 {
		last, err = next(ctx)
		requests++
	}
	return last, requests, err
}

func TestClients(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", name, stream), func(t *testing.T) {
				t.Parallel()
				const calls = 100
				bare := serve(t, c.api, calls)
				_, _, err := run(t.Context(), c.loop(t, bare.url, http.DefaultClient, stream))
				require.Error(t, err, "without a chain the conversation is too long")
				require.NotEmpty(t, bare.refused())

				s, w := serve(t, c.api, calls), newWatch()
				opts, mws := w.chain()
				rt := wire.Transport(nil, opts, mws...)
				wiretest.Used(t, rt)
				last, requests, err := run(t.Context(), c.loop(t, s.url, &http.Client{Transport: rt}, stream))
				require.NoError(t, err, "%v %v", w.why, s.refused())
				require.NotEmpty(t, last)
				require.LessOrEqual(t, len(s.refused()), 1, "%v", s.refused())
				require.Equal(t, requests, w.events[middleware.Called], "one event for each call")
				require.Zero(t, w.events[middleware.Missed], "%v", w.why)
				edited := 0
				for _, d := range w.decisions {
					require.Empty(t, d.Reason)
					if d.Edited {
						edited++
						require.Less(t, d.BytesOut, d.BytesIn)
					}
				}
				require.Greater(t, edited, requests/4)
				require.Len(t, w.decisions, requests)
			})
		}
	}
}

func TestTenCalls(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", name, stream), func(t *testing.T) {
				t.Parallel()
				s := serve(t, c.api, 10)
				rt := wire.Transport(nil, wire.Options{Strict: true}, microcompact.New(microcompact.Options{KeepRounds: 2, Batch: microcompact.Batch{Results: 1}}))
				last, _, err := run(t.Context(), c.loop(t, s.url, &http.Client{Transport: rt}, stream))
				require.NoError(t, err, "%v", s.refused())
				require.NotEmpty(t, last)
				require.Empty(t, s.refused())
				bodies := s.bodies()
				require.Len(t, bodies, 6)
				require.Less(t, strings.Count(bodies[5], "a line of text"), 10*30, "the last body is edited")
				require.True(t, json.Valid([]byte(bodies[5])))
			})
		}
	}
}

// Eight conversations at once through one transport.
func TestConcurrentConversations(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := serve(t, c.api, 60), newWatch()
			opts, mws := w.chain()
			hc := &http.Client{Transport: wire.Transport(nil, opts, mws...)}
			var group sync.WaitGroup
			errs := make([]error, 8)
			requests := make([]int, 8)
			for i := range errs {
				next := c.loop(t, s.url, hc, i%2 == 1)
				group.Go(func() { _, requests[i], errs[i] = run(t.Context(), next) })
			}
			group.Wait()
			all := 0
			for i, err := range errs {
				require.NoError(t, err)
				all += requests[i]
			}
			require.Equal(t, all, w.events[middleware.Called])
			require.Zero(t, w.events[middleware.Missed], "%v", w.why)
			require.LessOrEqual(t, len(s.refused()), 8, "%v", s.refused())
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// body reads by a function.
type body struct {
	read func(p []byte) (int, error)
	io.Closer
}

func (b body) Read(p []byte) (int, error) { return b.read(p) }

// A body of a request that comes byte by byte, and without a length, is edited as any other.
func TestSlowRequests(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := serve(t, c.api, 30), newWatch()
			opts, mws := w.chain()
			rt := wire.Transport(nil, opts, mws...)
			slow := roundTripper(func(req *http.Request) (*http.Response, error) {
				req = req.Clone(req.Context())
				req.ContentLength, req.GetBody, req.Body = -1, nil, body{iotest.OneByteReader(req.Body).Read, req.Body}
				return rt.RoundTrip(req)
			})
			last, requests, err := run(t.Context(), c.loop(t, s.url, &http.Client{Transport: slow}, true))
			require.NoError(t, err, "%v %v", w.why, s.refused())
			require.NotEmpty(t, last)
			require.LessOrEqual(t, len(s.refused()), 1, "%v", s.refused())
			require.Equal(t, requests, w.events[middleware.Called])
			require.Less(t, w.decisions[requests-1].BytesOut, w.decisions[requests-1].BytesIn)
		})
	}
}

// While a stream of a client has stopped in its middle, other requests by the same http.Client are answered, and then the
// stream goes on. A stream that the client leaves costs nothing but its own answer.
func TestRequestsDuringAStream(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := serve(t, c.api, 4), newWatch()
			opts, mws := w.chain()
			begun, goOn := make(chan struct{}), make(chan struct{})
			var first atomic.Bool
			base := roundTripper(func(req *http.Request) (*http.Response, error) {
				resp, err := http.DefaultTransport.RoundTrip(req)
				if err == nil && first.CompareAndSwap(false, true) {
					stream, reads := resp.Body, 0
					resp.Body = body{func(p []byte) (int, error) {
						if reads++; reads == 2 {
							close(begun)
							select {
							case <-goOn:
							case <-req.Context().Done():
								return 0, req.Context().Err()
							}
						}
						return stream.Read(p[:min(len(p), 50)])
					}, stream}
				}
				return resp, err
			})
			hc := &http.Client{Transport: wire.Transport(base, opts, mws...)}
			for _, leave := range []bool{false, true} {
				begun, goOn = make(chan struct{}), make(chan struct{})
				first.Store(false)
				ctx, cancel := context.WithCancel(t.Context())
				stopped := make(chan error, 1)
				next := c.loop(t, s.url, hc, true)
				go func() { _, err := next(ctx); stopped <- err }()
				<-begun
				last, _, err := run(t.Context(), c.loop(t, s.url, hc, leave))
				require.NoError(t, err, "%v %v", w.why, s.refused())
				require.NotEmpty(t, last)
				if leave {
					cancel()
					require.Error(t, <-stopped)
					continue
				}
				close(goOn)
				require.NoError(t, <-stopped)
				last, _, err = run(ctx, next)
				cancel()
				require.NoError(t, err)
				require.NotEmpty(t, last)
			}
			require.Empty(t, s.refused())
			w.mu.Lock() // the stream that was left may have an event still
			defer w.mu.Unlock()
			require.Zero(t, w.events[middleware.Missed], "%v", w.why)
		})
	}
}

// task is different in each conversation: a chain knows them by their content.
var tasks struct {
	sync.Mutex
	n int
}

func task() string {
	tasks.Lock()
	defer tasks.Unlock()
	tasks.n++
	return fmt.Sprintf("Read all files of folder %d.", tasks.n)
}

var schema = map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}

func openaiChat(_ *testing.T, url string, hc *http.Client, stream bool) step {
	c := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("k"), option.WithHTTPClient(hc), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model: "gpt-4o", MaxCompletionTokens: openai.Int(500),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("You read files."), openai.UserMessage(task())},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "read", Parameters: schema})},
	}
	return func(ctx context.Context) (string, error) {
		var answer *openai.ChatCompletion
		if stream {
			var acc openai.ChatCompletionAccumulator
			p := params
			p.StreamOptions.IncludeUsage = openai.Bool(true)
			s := c.Chat.Completions.NewStreaming(ctx, p)
			for s.Next() {
				acc.AddChunk(s.Current())
			}
			if err := s.Err(); err != nil {
				return "", err
			}
			answer = &acc.ChatCompletion
		} else {
			var err error
			if answer, err = c.Chat.Completions.New(ctx, params); err != nil {
				return "", err
			}
		}
		m := answer.Choices[0].Message
		params.Messages = append(params.Messages, m.ToParam())
		for _, call := range m.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(resultOf(call.ID), call.ID))
		}
		if len(m.ToolCalls) > 0 {
			return "", nil
		}
		return m.Content, nil
	}
}

func openaiResponses(_ *testing.T, url string, hc *http.Client, stream bool) step {
	c := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("k"), option.WithHTTPClient(hc), option.WithMaxRetries(0))
	items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(task(), responses.EasyInputMessageRoleUser)}
	params := responses.ResponseNewParams{
		Model: "gpt-4o", MaxOutputTokens: openai.Int(500), Instructions: openai.String("You read files."), Store: openai.Bool(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Tools:   []responses.ToolUnionParam{responses.ToolParamOfFunction("read", schema, false)},
	}
	return func(ctx context.Context) (string, error) {
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
		var answer *responses.Response
		if stream {
			s := c.Responses.NewStreaming(ctx, params)
			for s.Next() {
				if e := s.Current(); e.Type == "response.completed" {
					answer = &e.Response
				}
			}
			if err := s.Err(); err != nil {
				return "", err
			}
		} else {
			var err error
			if answer, err = c.Responses.New(ctx, params); err != nil {
				return "", err
			}
		}
		called := false
		for _, item := range answer.Output {
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
		for _, item := range answer.Output {
			if item.Type == "function_call" {
				called = true
				items = append(items, param.Override[responses.ResponseInputItemUnionParam](map[string]any{
					"type": "function_call_output", "call_id": item.CallID, "output": resultOf(item.CallID),
				}))
			}
		}
		if called {
			return "", nil
		}
		return answer.OutputText(), nil
	}
}

func anthropicMessages(_ *testing.T, url string, hc *http.Client, stream bool) step {
	c := anthropic.NewClient(anthropicoption.WithBaseURL(strings.TrimSuffix(url, "/v1")), anthropicoption.WithAPIKey("k"),
		anthropicoption.WithHTTPClient(hc), anthropicoption.WithMaxRetries(0))
	ask := anthropic.NewTextBlock(task())
	ask.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
	params := anthropic.MessageNewParams{
		Model: "claude-sonnet-5-5", MaxTokens: 500, System: []anthropic.TextBlockParam{{Text: "You read files."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(ask)},
		Tools:    []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read", InputSchema: anthropic.ToolInputSchemaParam{Properties: schema["properties"]}}}},
	}
	return func(ctx context.Context) (string, error) {
		var answer anthropic.Message
		if stream {
			s := c.Messages.NewStreaming(ctx, params)
			for s.Next() {
				if err := answer.Accumulate(s.Current()); err != nil {
					return "", err
				}
			}
			if err := s.Err(); err != nil {
				return "", err
			}
		} else {
			m, err := c.Messages.New(ctx, params)
			if err != nil {
				return "", err
			}
			answer = *m
		}
		params.Messages = append(params.Messages, answer.ToParam())
		var results []anthropic.ContentBlockParamUnion
		text := ""
		for _, b := range answer.Content {
			switch b.Type {
			case "tool_use":
				results = append(results, anthropic.NewToolResultBlock(b.ID, resultOf(b.ID), false))
			case "text":
				text = b.Text
			}
		}
		if len(results) > 0 {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
			return "", nil
		}
		return text, nil
	}
}

func goOpenAI(_ *testing.T, url string, hc *http.Client, stream bool) step {
	config := goopenai.DefaultConfig("k")
	config.BaseURL, config.HTTPClient = url, hc
	c := goopenai.NewClientWithConfig(config)
	req := goopenai.ChatCompletionRequest{
		Model: "gpt-4o", MaxCompletionTokens: 500,
		Messages: []goopenai.ChatCompletionMessage{{Role: "system", Content: "You read files."}, {Role: "user", Content: task()}},
		Tools:    []goopenai.Tool{{Type: "function", Function: &goopenai.FunctionDefinition{Name: "read", Parameters: schema}}},
	}
	return func(ctx context.Context) (string, error) {
		var m goopenai.ChatCompletionMessage
		if stream {
			r := req
			r.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
			s, err := c.CreateChatCompletionStream(ctx, r)
			if err != nil {
				return "", err
			}
			defer s.Close() //nolint:errcheck // nothing is lost
			m.Role = "assistant"
			for {
				chunk, err := s.Recv()
				if err == io.EOF { //nolint:errorlint // it is not wrapped
					break
				}
				if err != nil {
					return "", err
				}
				if len(chunk.Choices) == 0 {
					continue
				}
				d := chunk.Choices[0].Delta
				m.Content += d.Content
				for _, call := range d.ToolCalls {
					if *call.Index == len(m.ToolCalls) {
						m.ToolCalls = append(m.ToolCalls, goopenai.ToolCall{ID: call.ID, Type: "function", Function: goopenai.FunctionCall{Name: call.Function.Name}})
					}
					m.ToolCalls[*call.Index].Function.Arguments += call.Function.Arguments
				}
			}
		} else {
			answer, err := c.CreateChatCompletion(ctx, req)
			if err != nil {
				return "", err
			}
			m = answer.Choices[0].Message
		}
		req.Messages = append(req.Messages, m)
		for _, call := range m.ToolCalls {
			req.Messages = append(req.Messages, goopenai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: resultOf(call.ID)})
		}
		if len(m.ToolCalls) > 0 {
			return "", nil
		}
		return m.Content, nil
	}
}

func genaiContent(t *testing.T, url string, hc *http.Client, stream bool) step {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPClient: hc, HTTPOptions: genai.HTTPOptions{BaseURL: strings.TrimSuffix(url, "/v1")},
	})
	require.NoError(t, err)
	contents := []*genai.Content{genai.NewContentFromText(task(), genai.RoleUser)}
	config := &genai.GenerateContentConfig{
		MaxOutputTokens: 500, SystemInstruction: genai.NewContentFromText("You read files.", genai.RoleUser),
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read", ParametersJsonSchema: schema}}}},
	}
	return func(ctx context.Context) (string, error) {
		answer := &genai.Content{Role: genai.RoleModel}
		if stream {
			for r, err := range c.Models.GenerateContentStream(ctx, "gemini-3-pro-preview", contents, config) {
				if err != nil {
					return "", err
				}
				answer.Parts = append(answer.Parts, r.Candidates[0].Content.Parts...)
			}
		} else {
			r, err := c.Models.GenerateContent(ctx, "gemini-3-pro-preview", contents, config)
			if err != nil {
				return "", err
			}
			answer = r.Candidates[0].Content
		}
		contents = append(contents, answer)
		var results []*genai.Part
		text := ""
		for _, p := range answer.Parts {
			if p.FunctionCall != nil {
				results = append(results, genai.NewPartFromFunctionResponse(p.FunctionCall.Name, map[string]any{"output": resultOf(p.FunctionCall.Name)}))
			}
			text += p.Text
		}
		if len(results) > 0 {
			contents = append(contents, genai.NewContentFromParts(results, genai.RoleUser))
			return "", nil
		}
		return text, nil
	}
}
