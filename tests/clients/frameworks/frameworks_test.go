// Package frameworks has tests of wire.Transport with frameworks for agents. It is a module of its own, so that no program
// that uses the library downloads them.
package frameworks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"charm.land/fantasy"
	fantasyanthropic "charm.land/fantasy/providers/anthropic"
	fantasyopenai "charm.land/fantasy/providers/openai"
	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	lcanthropic "github.com/tmc/langchaingo/llms/anthropic"
	lcopenai "github.com/tmc/langchaingo/llms/openai"
	adkagent "google.golang.org/adk/v2/agent"
	adkllm "google.golang.org/adk/v2/agent/llmagent"
	adkmodel "google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/model/openaimodel"
	adkrunner "google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
	trpcllm "trpc.group/trpc-go/trpc-agent-go/agent/llmagent"
	trpcmodel "trpc.group/trpc-go/trpc-agent-go/model"
	trpcopenai "trpc.group/trpc-go/trpc-agent-go/model/openai"
	trpcrunner "trpc.group/trpc-go/trpc-agent-go/runner"
	trpctool "trpc.group/trpc-go/trpc-agent-go/tool"
	"trpc.group/trpc-go/trpc-agent-go/tool/function"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/wire"
	"github.com/laconic-go/laconic/wire/wiretest"
)

const (
	task      = "Read all files."
	line      = "a line of text with some words\n"
	modelName = "gpt-4o"
)

type arguments struct {
	N int `json:"n"`
}

func result(n int) string { return fmt.Sprintf("file %d\n%s", n, strings.Repeat(line, 60)) }

// framework runs an agent with a tool until it answers.
type framework func(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error)

var all = map[string]framework{
	"langchaingo openai":    langchaingoOpenAI,
	"langchaingo anthropic": langchaingoAnthropic,
	"eino-ext openai":       einoOpenAI,
	"agenticopenai chat":    agenticChat,
	"agenticopenai":         agenticResponses,
	"fantasy openai":        fantasyOpenAI,
	"fantasy Responses":     fantasyResponses,
	"fantasy anthropic":     fantasyAnthropic,
	"adk openaimodel":       adkOpenAI,
	"adk gemini":            adkGemini,
	"trpc-agent-go openai":  trpcOpenAI,
}

func TestFrameworks(t *testing.T) {
	t.Parallel()
	for name, work := range all {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", name, stream), func(t *testing.T) {
				t.Parallel()
				s, rt := start(t, nil)
				answer, err := work(t.Context(), s, &http.Client{Transport: rt}, stream)
				require.NoError(t, err)
				check(t, s, answer, stream)
			})
		}
	}
}

// calls is how often the model calls tools: two at once.
const calls = 10

// start starts a server that asks for calls of a tool, and returns a transport on top of another one.
func start(t *testing.T, base http.RoundTripper) (*fakeprovider.Server, http.RoundTripper) {
	t.Helper()
	loop := fakeprovider.ToolLoop{Tool: "read", Calls: 2 * calls, Parallel: 2}
	s, err := fakeprovider.Start(loop.Responder(), fakeprovider.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	rt := wire.Transport(base, wire.Options{Strict: true}, microcompact.New(microcompact.Options{
		KeepRounds: 2, Batch: microcompact.Batch{Results: 1},
	}))
	wiretest.Used(t, rt)
	return s, rt
}

// check checks the answer of a framework, and what its server was sent.
func check(t *testing.T, s *fakeprovider.Server, answer string, stream bool) {
	t.Helper()
	for _, r := range s.Refused() {
		t.Errorf("refused: %s", r.Refused.Message)
	}
	require.Equal(t, "done", answer)
	sent := s.Requests()
	require.Len(t, sent, calls+1)
	last := sent[calls]
	require.Equal(t, stream, last.Request.Stream)
	lines := strings.Count(string(last.Body), strings.TrimSpace(line))
	require.Less(t, lines, calls*60/2, "old results are shortened in the last body")
	require.GreaterOrEqual(t, lines, 60, "the newest result is in it")
}

func langchaingoOpenAI(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	llm, err := lcopenai.New(lcopenai.WithHTTPClient(c), lcopenai.WithModel(modelName), lcopenai.WithBaseURL(s.URL), lcopenai.WithToken("k"))
	if err != nil {
		return "", err
	}
	return langchaingoLoop(ctx, llm, stream)
}

func langchaingoAnthropic(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	llm, err := lcanthropic.New(lcanthropic.WithHTTPClient(c), lcanthropic.WithModel(modelName), lcanthropic.WithBaseURL(s.URL), lcanthropic.WithToken("k"))
	if err != nil {
		return "", err
	}
	return langchaingoLoop(ctx, llm, stream)
}

func langchaingoLoop(ctx context.Context, llm llms.Model, stream bool) (string, error) {
	history := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, task)}
	opts := []llms.CallOption{llms.WithMaxTokens(500), llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "read", Description: "Reads a file.",
		Parameters: map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}},
	}}})}
	if stream {
		opts = append(opts, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	for n := 1; ; n++ {
		answer, err := llm.GenerateContent(ctx, history, opts...)
		if err != nil {
			return "", err
		}
		called := false
		for _, choice := range answer.Choices {
			for _, call := range choice.ToolCalls {
				called = true
				history = append(history,
					llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{call}},
					llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
						llms.ToolCallResponse{ToolCallID: call.ID, Name: "read", Content: result(n)},
					}})
			}
		}
		if !called {
			return answer.Choices[0].Content, nil
		}
	}
}

func einoOpenAI(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	chat, err := einoopenai.NewChatModel(ctx, &einoopenai.ChatModelConfig{HTTPClient: c, Model: modelName, BaseURL: s.URL, APIKey: "k"})
	if err != nil {
		return "", err
	}
	read, err := utils.InferTool("read", "Reads a file.", func(_ context.Context, in arguments) (string, error) { return result(in.N), nil })
	if err != nil {
		return "", err
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: chat, MaxStep: 50, ToolsConfig: compose.ToolsNodeConfig{Tools: []einotool.BaseTool{read}},
	})
	if err != nil {
		return "", err
	}
	ask := []*schema.Message{schema.UserMessage(task)}
	if !stream {
		answer, err := agent.Generate(ctx, ask)
		if err != nil {
			return "", err
		}
		return answer.Content, nil
	}
	reader, err := agent.Stream(ctx, ask)
	if err != nil {
		return "", err
	}
	answer, err := schema.ConcatMessageStream(reader)
	if err != nil {
		return "", err
	}
	return answer.Content, nil
}

func fantasyOpenAI(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	p, err := fantasyopenai.New(fantasyopenai.WithHTTPClient(c), fantasyopenai.WithBaseURL(s.URL), fantasyopenai.WithAPIKey("k"))
	return fantasyLoop(ctx, p, err, stream)
}

func fantasyResponses(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	p, err := fantasyopenai.New(fantasyopenai.WithHTTPClient(c), fantasyopenai.WithUseResponsesAPI(),
		fantasyopenai.WithBaseURL(s.URL), fantasyopenai.WithAPIKey("k"))
	return fantasyLoop(ctx, p, err, stream)
}

func fantasyAnthropic(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	p, err := fantasyanthropic.New(fantasyanthropic.WithHTTPClient(c), fantasyanthropic.WithBaseURL(s.Root), fantasyanthropic.WithAPIKey("k"))
	return fantasyLoop(ctx, p, err, stream)
}

func fantasyLoop(ctx context.Context, p fantasy.Provider, err error, stream bool) (string, error) {
	if err != nil {
		return "", err
	}
	m, err := p.LanguageModel(ctx, modelName)
	if err != nil {
		return "", err
	}
	agent := fantasy.NewAgent(m, fantasy.WithStopConditions(fantasy.StepCountIs(50)), fantasy.WithTools(fantasy.NewAgentTool("read", "Reads a file.",
		func(_ context.Context, in arguments, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
			return fantasy.NewTextResponse(result(in.N)), nil
		})))
	var answer *fantasy.AgentResult
	if stream {
		answer, err = agent.Stream(ctx, fantasy.AgentStreamCall{Prompt: task})
	} else {
		answer, err = agent.Generate(ctx, fantasy.AgentCall{Prompt: task})
	}
	if err != nil {
		return "", err
	}
	return answer.Response.Content.Text(), nil
}

func adkOpenAI(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	m, err := openaimodel.NewModel(ctx, modelName, &openaimodel.ClientConfig{HTTPClient: c, BaseURL: s.URL, APIKey: "k"})
	if err != nil {
		return "", err
	}
	return adkLoop(ctx, m, stream)
}

func adkGemini(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	m, err := gemini.NewModel(ctx, modelName, &genai.ClientConfig{
		HTTPClient: c, APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: s.Root},
	})
	if err != nil {
		return "", err
	}
	return adkLoop(ctx, m, stream)
}

func adkLoop(ctx context.Context, m adkmodel.LLM, stream bool) (string, error) {
	type output struct {
		Text string `json:"text"`
	}
	read, err := functiontool.New(functiontool.Config{Name: "read", Description: "Reads a file."},
		func(_ adkagent.Context, in arguments) (output, error) { return output{result(in.N)}, nil })
	if err != nil {
		return "", err
	}
	return adkRun(ctx, m, read, stream)
}

// adkRun runs an agent with a tool until it answers.
func adkRun(ctx context.Context, m adkmodel.LLM, read adktool.Tool, stream bool) (string, error) {
	agent, err := adkllm.New(adkllm.Config{Name: "reader", Model: m, Tools: []adktool.Tool{read}})
	if err != nil {
		return "", err
	}
	r, err := adkrunner.New(adkrunner.Config{AppName: "app", Agent: agent, SessionService: session.InMemoryService(), AutoCreateSession: true})
	if err != nil {
		return "", err
	}
	var config adkagent.RunConfig
	if stream {
		config.StreamingMode = adkagent.StreamingModeSSE
	}
	last := ""
	for event, err := range r.Run(ctx, "user", "session", genai.NewContentFromText(task, genai.RoleUser), config) {
		if err != nil {
			return "", err
		}
		if event.Content != nil && len(event.Content.Parts) > 0 && event.Content.Parts[0].Text != "" {
			last = event.Content.Parts[0].Text
		}
	}
	return last, nil
}

func trpcOpenAI(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	m := trpcopenai.New(modelName, trpcopenai.WithHTTPClientOptions(trpcopenai.WithHTTPClientTransport(c.Transport)),
		trpcopenai.WithBaseURL(s.URL), trpcopenai.WithAPIKey("k"))
	read := function.NewFunctionTool(func(_ context.Context, in arguments) (string, error) { return result(in.N), nil },
		function.WithName("read"), function.WithDescription("Reads a file."))
	agent := trpcllm.New("reader", trpcllm.WithModel(m), trpcllm.WithTools([]trpctool.Tool{read}),
		trpcllm.WithGenerationConfig(trpcmodel.GenerationConfig{Stream: stream}))
	r := trpcrunner.NewRunner("app", agent)
	defer r.Close() //nolint:errcheck // nothing is lost
	events, err := r.Run(ctx, "user", "session", trpcmodel.NewUserMessage(task))
	if err != nil {
		return "", err
	}
	last := ""
	for event := range events {
		if event.Error != nil {
			err = errors.New(event.Error.Message)
		}
		if event.Response != nil && len(event.Choices) > 0 && event.Choices[0].Message.Content != "" {
			last = event.Choices[0].Message.Content
		}
	}
	return last, err
}
