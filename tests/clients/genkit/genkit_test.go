// Package genkit has tests of wire.Transport with genkit. It is a module of its own, since what genkit requires does not go
// together with what other frameworks require.
package genkit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/anthropic"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/firebase/genkit/go/plugins/googlegenai"
	"github.com/openai/openai-go/option"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/wire"
	"github.com/laconic-go/laconic/wire/wiretest"
)

const (
	task      = "Read all files."
	line      = "a line of text with some words\n"
	modelName = "gpt-4o"
	calls     = 10
)

type arguments struct {
	N int `json:"n"`
}

// start starts a server that asks for calls of a tool, and returns a transport on top of another one.
func start(t *testing.T, base http.RoundTripper) (*fakeprovider.Server, http.RoundTripper) {
	t.Helper()
	s, err := fakeprovider.Start(func(_ context.Context, r *fakeprovider.Request) fakeprovider.Reply {
		n := 1 // for Gemini, genkit leaves out the IDs of calls, so answers are counted
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				n++
			}
		}
		if n > calls {
			return fakeprovider.Reply{Text: "done"}
		}
		call := func(n int) fakeprovider.Call {
			return fakeprovider.Call{Name: "read", Arguments: fmt.Sprintf(`{"n":%d}`, n)}
		}
		return fakeprovider.Reply{Calls: []fakeprovider.Call{call(2*n - 1), call(2 * n)}} // two at once
	}, fakeprovider.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	rt := wire.Transport(base, wire.Options{Strict: true}, microcompact.New(microcompact.Options{
		KeepRounds: 2, Batch: microcompact.Batch{Results: 1},
	}))
	wiretest.Used(t, rt)
	return s, rt
}

// run runs an agent with a tool until it answers, and checks what the server was sent.
func run(t *testing.T, s *fakeprovider.Server, plugin api.Plugin, model string, stream bool, config ...ai.GenerateOption) {
	t.Helper()
	g := genkit.Init(t.Context(), genkit.WithPlugins(plugin))
	read := genkit.DefineTool(g, "read", "Reads a file.", func(_ *ai.ToolContext, in arguments) (string, error) {
		return fmt.Sprintf("file %d\n%s", in.N, strings.Repeat(line, 60)), nil
	})
	opts := append(config, ai.WithModelName(model), ai.WithPrompt(task), ai.WithTools(read), ai.WithMaxTurns(50))
	if stream {
		opts = append(opts, ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))
	}
	answer, err := genkit.Generate(t.Context(), g, opts...)
	for _, r := range s.Refused() {
		t.Errorf("refused: %s", r.Refused.Message)
	}
	require.NoError(t, err)
	require.Equal(t, "done", answer.Text())
	sent := s.Requests()
	require.Len(t, sent, calls+1)
	last := sent[calls]
	require.Equal(t, stream, last.Request.Stream)
	lines := strings.Count(string(last.Body), strings.TrimSpace(line))
	require.Less(t, lines, calls*60/2, "old results are shortened in the last body")
	require.GreaterOrEqual(t, lines, 60, "the newest result is in it")
}

func TestClient(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %t", stream), func(t *testing.T) {
			t.Parallel()
			s, rt := start(t, nil)
			run(t, s, &openai.OpenAI{APIKey: "k", Opts: []option.RequestOption{
				option.WithHTTPClient(&http.Client{Transport: rt}), option.WithBaseURL(s.URL),
			}}, "openai/"+modelName, stream)
		})
	}
}

// plugins of genkit that take no http.Client use http.DefaultTransport.
var plugins = map[string]func(t *testing.T, s *fakeprovider.Server) (api.Plugin, []ai.GenerateOption){
	"googleai/" + modelName: func(t *testing.T, s *fakeprovider.Server) (api.Plugin, []ai.GenerateOption) {
		t.Helper()
		t.Setenv("GOOGLE_GEMINI_BASE_URL", s.Root)
		return &googlegenai.GoogleAI{APIKey: "k"}, nil
	},
	"anthropic/" + modelName: func(_ *testing.T, s *fakeprovider.Server) (api.Plugin, []ai.GenerateOption) {
		return &anthropic.Anthropic{APIKey: "k", BaseURL: s.Root}, []ai.GenerateOption{ai.WithConfig(&sdk.MessageNewParams{MaxTokens: 500})}
	},
}

// lister answers the question for the list of models, which the server does not have.
type lister struct{ http.RoundTripper }

func (l lister) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return l.RoundTripper.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`{"data":[],"has_more":false}`)),
	}, nil
}

func TestDefaultTransport(t *testing.T) { //nolint:paralleltest // http.DefaultTransport is that of the process
	old := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = old })
	for model, plugin := range plugins {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", model, stream), func(t *testing.T) {
				s, rt := start(t, lister{old})
				http.DefaultTransport = rt // before genkit.Init
				p, config := plugin(t, s)
				run(t, s, p, model, stream, config...)
			})
		}
	}
}
