package e2e

import (
	"context"
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
	chat "github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// conversations are such as both frameworks can say.
var conversations = rapid.Custom(func(t *rapid.T) []message.Message {
	words := rapid.StringMatching(`[a-z上下文é"\\ ]{0,40}[a-z文]`)
	msgs := []message.Message{message.System(words.Draw(t, "system"))}
	for n := range rapid.IntRange(1, 12).Draw(t, "turns and rounds") {
		if n == 0 || rapid.IntRange(0, 3).Draw(t, "turn") == 0 {
			msgs = append(msgs, message.User(words.Draw(t, "question")))
		}
		var parts []message.Part
		if rapid.Bool().Draw(t, "says something") {
			parts = append(parts, message.Text{Text: words.Draw(t, "text")})
		}
		var results []message.Message
		for k := range rapid.IntRange(0, 3).Draw(t, "calls") {
			id := fmt.Sprintf("call_%d_%d", len(msgs), k)
			name := rapid.SampledFrom([]string{"read", "search"}).Draw(t, "tool")
			arguments := rapid.SampledFrom([]string{`{}`, `{"path": "a.go"}`, `{"q":"\u4e0a","n":1.50}`}).Draw(t, "arguments")
			parts = append(parts, message.ToolCall{ID: id, Name: name, Arguments: arguments})
			results = append(results, message.Result(id, name, strings.Repeat(words.Draw(t, "result"), rapid.IntRange(1, 20).Draw(t, "times"))))
		}
		if len(parts) == 0 {
			parts = append(parts, message.Text{Text: "I see."})
		}
		msgs = append(append(msgs, message.Assistant(parts...)), results...)
	}
	return append(msgs, message.User("And now?"))
})

func requireEqual(t require.TestingT, want, got []message.Message, what string) {
	require.Len(t, got, len(want), what)
	for i := range want {
		require.True(t, want[i].Equal(got[i]), "%s: message %d is %+v, want %+v", what, i, got[i], want[i])
	}
}

// einoEar and langchaingoEar are models that remember what they were sent.
type einoEar struct{ heard []*schema.Message }

func (e *einoEar) Generate(_ context.Context, in []*schema.Message, _ ...chat.Option) (*schema.Message, error) {
	e.heard = in
	return schema.AssistantMessage("ok", nil), nil
}

func (e *einoEar) Stream(ctx context.Context, in []*schema.Message, opts ...chat.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := e.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (e *einoEar) WithTools([]*schema.ToolInfo) (chat.ToolCallingChatModel, error) { return e, nil }

type langchaingoEar struct{ heard []llms.MessageContent }

func (e *langchaingoEar) GenerateContent(_ context.Context, in []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	e.heard = in
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "ok"}}}, nil
}

func (e *langchaingoEar) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, e, prompt, opts...)
}

// A conversation that grows gets the same view in our words, in eino, and in
// langchaingo, call by call.
func TestSameViewAcross(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		msgs := conversations.Draw(t, "conversation")
		options := contextedit.Options{
			Trigger:         trigger.Tokens(rapid.IntRange(20, 400).Draw(t, "tokens")),
			Keep:            rapid.IntRange(1, 3).Draw(t, "keep"),
			ClearToolInputs: rapid.Bool().Draw(t, "inputs"),
			Placeholder:     "-",
		}
		ctx := context.Background()
		plain := contextedit.New(options)
		var inEino einoEar
		var inLangchaingo langchaingoEar
		a, b := eino.Wrap(&inEino, contextedit.New(options)), langchaingo.Wrap(&inLangchaingo, contextedit.New(options))
		for _, unit := range message.Units(msgs) {
			history := msgs[:unit.Last+1]
			want, _, err := middleware.Apply(ctx, plain, &middleware.Request{Messages: history})
			require.NoError(t, err)

			foreign, err := eino.Export(history)
			require.NoError(t, err)
			_, err = a.Generate(ctx, foreign)
			require.NoError(t, err)
			got, err := eino.Import(inEino.heard)
			require.NoError(t, err)
			requireEqual(t, want.Messages, got, "the view in eino")

			other, err := langchaingo.Export(history)
			require.NoError(t, err)
			_, err = b.GenerateContent(ctx, other)
			require.NoError(t, err)
			got, err = langchaingo.Import(inLangchaingo.heard)
			require.NoError(t, err)
			requireEqual(t, want.Messages, got, "the view in langchaingo")
		}
	})
}

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
