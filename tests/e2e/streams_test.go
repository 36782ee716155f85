package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	einoollama "github.com/cloudwego/eino-ext/components/model/ollama"
	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
)

// The streams of servers: what they send before they are killed, and the rest.
var streams = map[string]struct{ half, rest string }{
	"ollama": {
		half: `{"model":"m","message":{"role":"assistant","content":"Half"},"done":false}` + "\n",
		rest: `{"model":"m","message":{"role":"assistant","content":" and all."},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":2}` + "\n",
	},
	"openai": {
		half: `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Half"}}]}` + "\n\n",
		rest: `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" and all."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	},
	"anthropic": {
		half: event("message_start", `"message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}`) +
			event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
			event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"Half"}`),
		rest: event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":" and all."}`) + event("content_block_stop", `"index":0`) +
			event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}`) + event("message_stop", ""),
	},
}

// event is a server-sent event of Anthropic.
func event(name, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", name, name, fields)
}

// streamServer streams the whole of an answer, and from the second request on its half and then ends the body, or
// breaks the connection.
func streamServer(t *testing.T, protocol, how string) string {
	t.Helper()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, streams[protocol].half)
		_ = http.NewResponseController(w).Flush()
		switch {
		case how == "whole", requests.Add(1) == 1:
			_, _ = io.WriteString(w, streams[protocol].rest)
		case how == "broken":
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestKilledServers runs an agent on real clients whose server is killed in mid-stream: the run fails with an error
// of kind Unavailable and does not end with half an answer.
func TestKilledServers(t *testing.T) {
	t.Parallel()
	langchain := func(inner llms.Model, err error) (middleware.Model, error) { return langchaingo.Model(inner), err }
	for name, c := range map[string]struct {
		protocol string
		model    func(ctx context.Context, url string) (middleware.Model, error)
	}{
		"eino, ollama": {"ollama", func(ctx context.Context, url string) (middleware.Model, error) {
			m, err := einoollama.NewChatModel(ctx, &einoollama.ChatModelConfig{BaseURL: url, Model: "m"})
			return eino.Model(m), err
		}},
		"eino, openai": {"openai", func(ctx context.Context, url string) (middleware.Model, error) {
			m, err := einoopenai.NewChatModel(ctx, &einoopenai.ChatModelConfig{BaseURL: url, Model: "m", APIKey: "x"})
			return eino.Model(m), err
		}},
		"langchaingo, ollama": {"ollama", func(_ context.Context, url string) (middleware.Model, error) {
			return langchain(ollama.New(ollama.WithServerURL(url), ollama.WithModel("m")))
		}},
		"langchaingo, openai": {"openai", func(_ context.Context, url string) (middleware.Model, error) {
			return langchain(openai.New(openai.WithBaseURL(url), openai.WithToken("x"), openai.WithModel("m")))
		}},
		"langchaingo, anthropic": {"anthropic", func(_ context.Context, url string) (middleware.Model, error) {
			return langchain(anthropic.New(anthropic.WithBaseURL(url), anthropic.WithToken("x"), anthropic.WithModel("m")))
		}},
	} {
		for _, how := range []string{"whole", "ended", "broken"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				model, err := c.model(t.Context(), streamServer(t, c.protocol, how))
				require.NoError(t, err)
				for _, runErr := range (react.Agent{Model: model}).Run(t.Context(), message.User("question")) {
					require.NoError(t, runErr, "from a whole stream the chain learns how one ends")
				}
				var end react.End
				var said strings.Builder
				for e, runErr := range (react.Agent{Model: model}).Run(t.Context(), message.User("question")) {
					switch e := e.(type) {
					case react.Delta:
						said.WriteString(e.Text)
					case react.End:
						end, err = e, runErr
					}
				}
				if how == "whole" {
					require.NoError(t, err)
					require.Equal(t, "Half and all.", end.Answer())
					require.Equal(t, "Half and all.", said.String())
					return
				}
				require.Equal(t, middleware.Unavailable, middleware.KindOf(err), "%v", err)
				require.Empty(t, end.Answer(), "half an answer is none")
				require.Equal(t, "Half", said.String(), "it was streamed")
			})
		}
	}
}
