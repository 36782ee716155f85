// Package e2e lets real clients of real frameworks talk to a strict provider
// on the loopback, with a chain in front of them and without.
package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
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
