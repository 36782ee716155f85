package frameworks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/agenticopenai"
	"github.com/cloudwego/eino-ext/components/model/claude"
	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	einomodel "github.com/cloudwego/eino/components/model"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic"
	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/wire"
	"github.com/laconic-go/laconic/wire/wiretest"
)

// An agent of eino's ADK whose messages are *schema.AgenticMessage, with the transport.
func Example_agenticMessage() {
	ctx := context.Background()
	s, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: 2 * calls, Parallel: 2}.Responder(), fakeprovider.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = s.Close() }()
	c := &http.Client{Transport: wire.Transport(nil, wire.Options{}, laconic.Auto())}
	answer, err := agenticResponses(ctx, s, c, true)
	fmt.Println(answer, err)
	// Output: done <nil>
}

func agenticChat(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	m, err := agenticopenai.NewChatModel(ctx, &agenticopenai.ChatConfig{HTTPClient: c, Model: modelName, BaseURL: s.URL, APIKey: "k"})
	if err != nil {
		return "", err
	}
	return agenticRun(ctx, m, stream)
}

func agenticResponses(ctx context.Context, s *fakeprovider.Server, c *http.Client, stream bool) (string, error) {
	m, err := agenticopenai.NewResponsesModel(ctx, &agenticopenai.ResponsesConfig{HTTPClient: c, Model: modelName, BaseURL: s.URL, APIKey: "k"})
	if err != nil {
		return "", err
	}
	return agenticRun(ctx, m, stream)
}

func agenticRun(ctx context.Context, m einomodel.AgenticModel, stream bool) (string, error) {
	answer, err := einoRun(ctx, &adk.TypedChatModelAgentConfig[*schema.AgenticMessage]{Model: m}, schema.UserAgenticMessage(task), stream)
	if err != nil {
		return "", err
	}
	for _, b := range answer.ContentBlocks {
		if b.AssistantGenText != nil {
			return b.AssistantGenText.Text, nil
		}
	}
	return "", errors.New("the answer has no text")
}

// einoRun runs an agent of eino's ADK with a tool until it answers.
func einoRun[M adk.MessageType](ctx context.Context, config *adk.TypedChatModelAgentConfig[M], question M, stream bool) (last M, err error) {
	read, err := utils.InferTool("read", "Reads a file.", func(_ context.Context, in arguments) (string, error) { return result(in.N), nil })
	if err != nil {
		return last, err
	}
	config.Name, config.Description, config.MaxIterations = "reader", "Reads files.", 50
	config.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []einotool.BaseTool{read}}}
	agent, err := adk.NewTypedChatModelAgent(ctx, config)
	if err != nil {
		return last, err
	}
	runner := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: stream})
	for events := runner.Run(ctx, []M{question}); ; {
		e, ok := events.Next()
		if !ok {
			return last, nil
		}
		if e.Err != nil {
			return last, e.Err
		}
		if last, _, err = adk.TypedGetMessage(e); err != nil && !stream { // a stream that a failover has replaced ends with its error
			return last, err
		}
	}
}

// breaking answers as if the provider were down, from a request for its API on.
type breaking struct {
	after int64
	seen  atomic.Int64
}

func (b *breaking) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/chat/completions") && b.seen.Add(1) > b.after {
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
			Body: io.NopCloser(bytes.NewReader([]byte(`{"error":{"message":"overloaded"}}`))),
		}, nil
	}
	return http.DefaultTransport.RoundTrip(req)
}

// The first provider dies in the middle of a run, and another one goes on: with another format, a small window, and thinking that
// is bound to what is before it. Both go through one chain, in the framework or in the transport.
func TestFailover(t *testing.T) {
	t.Parallel()
	const second, steps, dies = "claude-sonnet-5-5", 40, 25
	small := &middleware.Budget{Window: 12_000, Reserve: 1_000}
	for _, inFramework := range []bool{true, false} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("in the framework %t, stream %t", inFramework, stream), func(t *testing.T) {
				t.Parallel()
				loop := fakeprovider.ToolLoop{Tool: "read", Calls: steps}.Responder()
				a, err := fakeprovider.Start(loop, fakeprovider.Options{})
				require.NoError(t, err)
				t.Cleanup(func() { _ = a.Close() })
				b, err := fakeprovider.Start(loop, fakeprovider.Options{Models: map[string]int{second: small.Window}, Bound: true})
				require.NoError(t, err)
				t.Cleanup(func() { _ = b.Close() })

				var rt http.RoundTripper = &breaking{after: dies}
				chain := laconic.Auto()
				wrap := func(m einomodel.ToolCallingChatModel, o eino.Options) einomodel.ToolCallingChatModel {
					return o.Wrap(m, chain)
				}
				if !inFramework {
					rt = wire.Transport(rt, wire.Options{Strict: true, Budget: func(model string) *middleware.Budget {
						if model == second {
							return small
						}
						return nil
					}}, chain)
					wiretest.Used(t, rt)
					wrap = func(m einomodel.ToolCallingChatModel, _ eino.Options) einomodel.ToolCallingChatModel { return m }
				}
				c := &http.Client{Transport: rt}
				first, err := einoopenai.NewChatModel(t.Context(), &einoopenai.ChatModelConfig{HTTPClient: c, Model: modelName, BaseURL: a.URL, APIKey: "k"})
				require.NoError(t, err)
				other, err := claude.NewChatModel(t.Context(), &claude.Config{HTTPClient: c, Model: second, BaseURL: &b.Root, APIKey: "k", MaxTokens: 1000})
				require.NoError(t, err)
				spare := wrap(other, eino.Options{Model: second, Budget: small})
				answer, err := einoRun(t.Context(), &adk.ChatModelAgentConfig{
					Model: wrap(first, eino.Options{Model: modelName}),
					ModelFailoverConfig: &adk.ModelFailoverConfig[*schema.Message]{
						MaxRetries:     1,
						ShouldFailover: func(context.Context, *schema.Message, error) bool { return true },
						GetFailoverModel: func(context.Context, *adk.FailoverContext[*schema.Message]) (einomodel.BaseChatModel, []*schema.Message, error) {
							return spare, nil, nil
						},
					},
				}, schema.UserMessage(task), stream)
				require.NoError(t, err)
				require.Equal(t, "done", answer.Content)
				require.Empty(t, a.Refused())
				for _, r := range b.Refused() {
					t.Errorf("refused: %s", r.Refused.Message)
				}
				require.Len(t, a.Requests(), dies)
				require.Len(t, b.Requests(), steps+1-dies)
			})
		}
	}
}
