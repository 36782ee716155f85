package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	einoollama "github.com/cloudwego/eino-ext/components/model/ollama"
	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// stringServer accepts content only as a string, as DeepSeek and others do, and keeps what it is sent.
func stringServer(t *testing.T, protocol string) (url string, sent func() string) {
	t.Helper()
	var mu sync.Mutex
	newest := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Messages []struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		_ = json.Unmarshal(body, &req)
		for i, m := range req.Messages {
			if len(m.Content) == 0 || m.Content[0] != '"' || string(m.Content) == `""` {
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = fmt.Fprintf(w, `{"error":{"message":"messages[%d]: invalid type: sequence, expected a string: %s"}}`, i, m.Content)
				return
			}
		}
		mu.Lock()
		newest = string(body)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if protocol == "ollama" {
			_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop"}`)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return newest
	}
}

// TestSummariesAreStrings sends a summary, and a question that fit merges with it, by real clients to a server that
// accepts content only as a string.
func TestSummariesAreStrings(t *testing.T) {
	t.Parallel()
	var history []message.Message
	for i := range 12 {
		history = append(history, message.User(fmt.Sprintf("Question %d: never delete the file /srv/db/main-%d.cfg. %s", i, i, strings.Repeat("words ", 200))),
			message.Assistant(message.Text{Text: fmt.Sprintf("Answer %d. %s", i, strings.Repeat("more ", 200))}))
	}
	history = append(history, message.User("The newest question."))
	chain := func() []middleware.Middleware {
		return []middleware.Middleware{
			summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(1_000), Keep: 2}), fit.New(fit.Options{}),
		}
	}
	budget := &middleware.Budget{Window: 20_000}
	ask := map[string]func(t *testing.T, url string) error{
		"eino, openai": func(t *testing.T, url string) error {
			t.Helper()
			m, err := einoopenai.NewChatModel(t.Context(), &einoopenai.ChatModelConfig{BaseURL: url, Model: "m", APIKey: "x"})
			require.NoError(t, err)
			msgs, err := eino.Export(history)
			require.NoError(t, err)
			_, err = eino.Options{Budget: budget}.Wrap(m, chain()...).Generate(t.Context(), msgs)
			return err
		},
		"eino, ollama": func(t *testing.T, url string) error {
			t.Helper()
			m, err := einoollama.NewChatModel(t.Context(), &einoollama.ChatModelConfig{BaseURL: url, Model: "m"})
			require.NoError(t, err)
			_, err = middleware.Chain(chain()...)(eino.Model(m))(t.Context(), &middleware.Request{Messages: history, Budget: budget}, nil)
			return err
		},
		"langchaingo, openai": func(t *testing.T, url string) error {
			t.Helper()
			m, err := openai.New(openai.WithBaseURL(url), openai.WithToken("x"), openai.WithModel("m"))
			require.NoError(t, err)
			msgs, err := langchaingo.Export(history)
			require.NoError(t, err)
			_, err = langchaingo.Options{Budget: budget}.Wrap(m, chain()...).GenerateContent(t.Context(), msgs)
			return err
		},
		"langchaingo, ollama": func(t *testing.T, url string) error {
			t.Helper()
			m, err := ollama.New(ollama.WithServerURL(url), ollama.WithModel("m"))
			require.NoError(t, err)
			_, err = middleware.Chain(chain()...)(langchaingo.Model(m))(t.Context(), &middleware.Request{Messages: history, Budget: budget}, nil)
			return err
		},
	}
	for name, ask := range ask {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, protocol, _ := strings.Cut(name, ", ")
			url, sent := stringServer(t, protocol)
			require.NoError(t, ask(t, url))
			require.Contains(t, sent(), "messages compacted", "a summary was sent")
			require.Contains(t, sent(), "main-3.cfg", "with its facts")
		})
	}
}
