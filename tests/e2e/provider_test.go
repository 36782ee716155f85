// Package e2e lets real clients of real frameworks talk to a strict provider
// on the loopback, with a chain in front of them and without.
package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	chat "github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The loop: the agent reads a ledger page by page, and answers with the sum
// that the last page tells. All pages together are more than twice the window.
const (
	pages    = 20
	window   = 8000 // tokens
	model    = "gpt-4o"
	key      = "a key of this test"
	toolName = "read_page"
	toolDoc  = "Reads a page of the ledger."
	question = "What is the sum on the last page of the ledger?"
	answer   = "1470"
)

var told = regexp.MustCompile(`sum up to page 20: (\d+)`)

// page returns one page of the ledger.
func page(n int) (string, error) {
	if n < 1 || n > pages {
		return "", fmt.Errorf("there is no page %d, want 1 to %d", n, pages)
	}
	return fmt.Sprintf("sum up to page %d: %d\n%s", n, 7*n*(n+1)/2, strings.Repeat("2026-11-21  paper clips  7.00\n", 120)), nil
}

// serve starts a provider whose model reads page after page, parallel of them
// at once.
func serve(t *testing.T, parallel int, arguments func(n int) string) *fakeprovider.Server {
	t.Helper()
	loop := fakeprovider.ToolLoop{
		Tool: toolName, Calls: pages, Parallel: parallel, Arguments: arguments,
		Answer: fakeprovider.Recall(told),
	}
	server, err := fakeprovider.Start(loop.Responder(), fakeprovider.Options{Models: map[string]int{model: window}, Key: key})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

// edits counts what a chain does.
type edits struct {
	made   int
	odd    []string       // events that should not come
	caches []report.Cache // of all calls
}

func (e *edits) observe(_ context.Context, event middleware.Event) {
	switch event.Kind {
	case middleware.Called:
		e.caches = append(e.caches, event.Call.Cache)
	case middleware.Edited:
		e.made++
	default:
		e.odd = append(e.odd, event.String())
	}
}

// chain is what stands in front of the client. It counts like the provider.
func (e *edits) chain() []middleware.Middleware {
	return []middleware.Middleware{middleware.With(middleware.Env{Counter: tokens.Chars4},
		middleware.Observe(e.observe),
		contextedit.New(contextedit.Options{Trigger: trigger.Fraction(0.7), Keep: 2}),
	)}
}

func budget() *middleware.Budget { return &middleware.Budget{Window: window, Reserve: 500} }

// requireFitting fails unless the provider took every request, none of them
// came near to a second loop, and the chain had work to do.
func requireFitting(t *testing.T, server *fakeprovider.Server, e *edits, calls int, streamed bool) {
	t.Helper()
	require.Empty(t, server.Refused(), "no request is rejected")
	all := server.Requests()
	require.Len(t, all, calls, "model calls")
	require.Greater(t, e.made, 1, "the ledger is longer than the window")
	require.Empty(t, e.odd)
	cached := 0
	for _, r := range all {
		require.Equal(t, streamed, r.Request.Stream)
		require.Less(t, r.Usage.Prompt, window)
		cached += r.Usage.Cached
	}
	require.Positive(t, cached, "the beginning stays as it is between two edits")
	require.Len(t, e.caches, calls)
	for i, c := range e.caches {
		require.Equal(t, all[i].Usage.Cached, c.Read, "call %d", i)
		require.Equal(t, all[i].Usage.Prompt, c.Prompt, "call %d", i)
		const step, least = 128, 1024 // of the provider's cache
		if c.Prefix < least+step {
			continue
		}
		require.InDelta(t, c.Prefix, c.Read, step+float64(c.Prefix)/50, "call %d: what can be read is read", i)
	}
}

// TestOrderOfParallelResults runs a conversation whose results come in the order in which the
// tools finish, then with a history that was built anew in other orders, and then in a
// process that has only the journal. All send the same, and clear the same results.
func TestOrderOfParallelResults(t *testing.T) {
	t.Parallel()
	for name, framework := range map[string]func(chain middleware.Middleware) func(ctx context.Context, history []message.Message) ([]message.Message, error){
		"eino": einoSends, "langchaingo": langchaingoSends, "none": coreSends,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := journal.NewMemory(0)
			var mu sync.Mutex
			var notices []middleware.Event
			process := func() func(ctx context.Context, history []message.Message) ([]message.Message, error) {
				return framework(middleware.Chain(
					middleware.Observe(func(_ context.Context, e middleware.Event) {
						mu.Lock()
						defer mu.Unlock()
						if e.Kind == middleware.Notice || e.Kind == middleware.Failed {
							notices = append(notices, e)
						}
					}),
					middleware.With(middleware.Env{Journal: kept, Scope: "run"},
						contextedit.New(contextedit.Options{Trigger: trigger.ToolUses(8), Keep: 4, MinCalls: 2})),
				))
			}
			const rounds = 10
			send := process()
			var sent []message.Message
			var err error
			for n := range rounds {
				before := parallel(n+1, 1)
				given := slices.Clone(before)
				sent, err = send(t.Context(), given)
				require.NoError(t, err)
				require.Equal(t, before, given, "the caller's history is not modified")
			}
			cleared := 0
			for i := range sent {
				cleared += strings.Count(fmt.Sprint(sent[i].Parts), "[cleared]")
			}
			require.Greater(t, cleared, 10)
			for seed := range 4 {
				again, err := send(t.Context(), parallel(rounds, seed))
				require.NoError(t, err)
				require.Equal(t, sent, again, "built anew, order %d", seed)
				restarted, err := process()(t.Context(), parallel(rounds, seed))
				require.NoError(t, err)
				require.Equal(t, sent, restarted, "restarted, order %d", seed)
			}
			require.Empty(t, notices)
			var wg sync.WaitGroup
			for seed := range 8 {
				wg.Go(func() {
					again, err := send(context.Background(), parallel(rounds, seed))
					if err != nil || !slices.EqualFunc(sent, again, message.Message.Equal) {
						t.Error("calls at the same time send something else", err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// parallel is a conversation with three calls in a round, whose results are in an order that
// depends on the seed. 0 is the order of the calls.
func parallel(rounds, seed int) []message.Message {
	msgs := []message.Message{message.System("You read logs."), message.User("Why?")}
	for n := range rounds {
		var calls []message.Part
		var results []message.Message
		for i := range 3 {
			id := fmt.Sprintf("call_%d_%d", n, i)
			calls = append(calls, message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"page":%d}`, i)})
			results = append(results, message.Result(id, "read", strings.Repeat(fmt.Sprintf("line %d of page %d; ", i, n), 40)))
		}
		for k := range results {
			other := (k + seed*(n+1)) % 3
			results[k], results[other] = results[other], results[k]
		}
		msgs = append(append(msgs, message.Assistant(calls...)), results...)
	}
	return msgs
}

func coreSends(chain middleware.Middleware) func(context.Context, []message.Message) ([]message.Message, error) {
	return func(ctx context.Context, history []message.Message) ([]message.Message, error) {
		var sent []message.Message
		_, err := chain(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			sent = req.Messages
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
		})(ctx, &middleware.Request{Messages: history}, nil)
		return sent, err
	}
}

// einoAsked is a model of eino that keeps what it is asked in the context.
type einoAsked struct{ chat.ToolCallingChatModel }

type askedKey struct{}

func (einoAsked) Generate(ctx context.Context, in []*schema.Message, _ ...chat.Option) (*schema.Message, error) {
	*ctx.Value(askedKey{}).(*[]*schema.Message) = in
	return schema.AssistantMessage("ok", nil), nil
}

func einoSends(chain middleware.Middleware) func(context.Context, []message.Message) ([]message.Message, error) {
	wrapped := eino.Wrap(einoAsked{}, chain)
	return func(ctx context.Context, history []message.Message) ([]message.Message, error) {
		in, err := eino.Export(history)
		if err != nil {
			return nil, err
		}
		for i, m := range in {
			m.Extra = map[string]any{"id": m.ToolCallID + fmt.Sprint(i)}
		}
		var sent []*schema.Message
		if _, err := wrapped.Generate(context.WithValue(ctx, askedKey{}, &sent), in); err != nil {
			return nil, err
		}
		for _, m := range sent {
			if id, _ := m.Extra["id"].(string); !strings.HasPrefix(id, m.ToolCallID) {
				return nil, fmt.Errorf("the message of call %s has the Extra of another: %v", m.ToolCallID, m.Extra)
			}
			if len(m.Extra) == 0 {
				return nil, fmt.Errorf("the message of call %s has lost its Extra", m.ToolCallID)
			}
		}
		return eino.Import(sent)
	}
}

// lcAsked is a model of langchaingo that keeps what it is asked in the context.
type lcAsked struct{}

type llmKey struct{}

func (lcAsked) GenerateContent(ctx context.Context, in []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	*ctx.Value(llmKey{}).(*[]llms.MessageContent) = in
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "ok"}}}, nil
}

func (lcAsked) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func langchaingoSends(chain middleware.Middleware) func(context.Context, []message.Message) ([]message.Message, error) {
	wrapped := langchaingo.Wrap(lcAsked{}, chain)
	return func(ctx context.Context, history []message.Message) ([]message.Message, error) {
		in, err := langchaingo.Export(history)
		if err != nil {
			return nil, err
		}
		var sent []llms.MessageContent
		if _, err := wrapped.GenerateContent(context.WithValue(ctx, llmKey{}, &sent), in); err != nil {
			return nil, err
		}
		return langchaingo.Import(sent)
	}
}
