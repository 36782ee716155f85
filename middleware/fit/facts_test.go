package fit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// orders is a conversation of rounds; each result has a number of its own.
func orders(rounds int) []message.Message {
	h := []message.Message{message.User("Refund all orders.")}
	for i := range rounds {
		id := fmt.Sprint("c", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "order", Arguments: `{"page": 1}`}),
			message.Result(id, "order", fmt.Sprintf(`{"order_id": "#W%d", "note": %q}`, 23780+i, strings.Repeat("on its way ", 40))))
	}
	return h
}

// sendWith returns what is sent of a history in a window.
func sendWith(t *testing.T, chain middleware.Middleware, h []message.Message, window int) ([]message.Message, error) {
	t.Helper()
	sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
	if err != nil {
		return nil, err
	}
	require.LessOrEqual(t, tokens.Meter{Counter: tokens.Chars4}.Request(sent.Messages, nil), window, "what is sent fits")
	return sent.Messages, nil
}

// withFacts counts placeholders that have the number of their order, and all.
func withFacts(msgs []message.Message) (some, all int) {
	for _, m := range msgs {
		for r := range m.Results() {
			if strings.HasPrefix(r.Text, "[cleared") {
				all++
				if strings.Contains(r.Text, "some facts: order_id: #W") {
					some++
				}
			}
		}
	}
	return some, all
}

func fitting(archive store.Store, digest int) middleware.Middleware {
	return middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, fit.New(fit.Options{Rules: message.OpenAI, Digest: digest}))
}

// TestFactsStay shows that cleared results leave facts: by default only if there is an archive.
func TestFactsStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		archive store.Store
		digest  int
		want    bool
	}{
		{"by default, with an archive", store.NewMemory(0), 0, true},
		{"by default, without an archive", nil, 0, false},
		{"with an option, without an archive", nil, 20, true},
		{"without facts", store.NewMemory(0), -1, false},
		{"no room in the line", store.NewMemory(0), 1, false},
	} {
		sent, err := sendWith(t, fitting(c.archive, c.digest), orders(30), 2500)
		require.NoError(t, err)
		some, all := withFacts(sent)
		require.Greater(t, all, 5, c.name)
		if c.want {
			require.Equal(t, all, some, "each has facts: %s", c.name)
			require.Zero(t, notes(sent))
		} else {
			require.Zero(t, some, c.name)
		}
	}
}

// TestFactsGiveWay shows that facts take only room that nothing else needs: no call fails and no message is left out
// because of them, and those of old results are removed before messages are.
func TestFactsGiveWay(t *testing.T) {
	t.Parallel()
	h := orders(30)
	mixed := 0
	for window := 200; window < 4500; window += 50 {
		bare, errBare := sendWith(t, fitting(store.NewMemory(0), -1), h, window)
		sent, err := sendWith(t, fitting(store.NewMemory(0), 0), h, window)
		require.Equal(t, errBare == nil, err == nil, "window %d: %v", window, err)
		require.Len(t, sent, len(bare), "window %d: the same messages are left", window)

		grows := fitting(store.NewMemory(0), 0)
		for n := 1; n <= len(h); n += 2 {
			if sent, err = sendWith(t, grows, h[:n:n], window); err != nil {
				break
			}
			again, err := sendWith(t, grows, h[:n:n], window)
			require.NoError(t, err)
			require.Equal(t, sent, again, "a repeated call sends the same")
			some, all := withFacts(sent)
			if some > 0 && some < all {
				mixed++
			}
		}
	}
	require.Greater(t, mixed, 10, "views in which only old placeholders are bare")
}
