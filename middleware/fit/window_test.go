package fit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// media counts images and documents.
func media(msgs []message.Message) (n int) {
	for _, m := range msgs {
		for _, p := range m.Parts {
			if _, ok := p.(message.Media); ok {
				n++
			}
		}
	}
	return n
}

// Anthropic accepts 600 images for a large window and 100 for one of up to 200,000 tokens.
func TestImagesFollowTheWindow(t *testing.T) {
	t.Parallel()
	framing := tokens.DefaultFraming()
	framing.Images = tokens.Images{Unknown: 10}
	chain := middleware.With(middleware.Env{Framing: framing}, fit.New(fit.Options{Rules: message.Anthropic}))
	history := func(rounds int) []message.Message {
		h := []message.Message{message.User("Look at these.")}
		for range rounds {
			m := message.User("And these.")
			for range 10 {
				m.Parts = append(m.Parts, message.Media{Type: "image/png", Data: "x"})
			}
			h = append(h, message.Assistant(message.Text{Text: "Go on."}), m, message.Assistant(message.Text{Text: "I see."}), message.User("Next."))
		}
		return h
	}
	sent := func(h []message.Message, window int) int {
		req, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
		require.NoError(t, err)
		return media(req.Messages)
	}
	require.Equal(t, 150, sent(history(15), 1_000_000))
	require.Equal(t, 150, sent(history(15), 200_001))
	require.LessOrEqual(t, sent(history(15), 200_000), 100)
	require.Equal(t, 150, sent(slices.Concat(history(15)[:4], history(15)[:57]), 1_000_000), "what was removed is not removed in a fork before it")
}

// Placeholders and the note have handles, unless there is no room for them.
func TestHandlesGiveWay(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User("Read the pages.")}
	for _, id := range []string{"a", "b", "c", "d"} { // the pinned result keeps its round
		pinned := message.Result("p"+id, "read", "short")
		pinned.Hints.Pinned = true
		h = append(h, message.Assistant(
			message.ToolCall{ID: id, Name: "read", Arguments: `{"page":"` + id + `"}`}, message.ToolCall{ID: "p" + id, Name: "read", Arguments: "{}"},
		), message.Result(id, "read", strings.Repeat(id+" ", 300)), pinned)
	}
	h = append(h, message.Assistant(message.Text{Text: strings.Repeat("All pages are read. ", 5)}), message.User("Thanks."))
	smallest := func(env middleware.Env) (least int, handles bool) {
		env.Counter = tokens.Chars4
		for window := 900; window > 0; window-- {
			req, _, err := middleware.Apply(t.Context(), middleware.With(env, fit.New(fit.Options{})),
				&middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
			if err != nil {
				require.Equal(t, middleware.Irreducible, middleware.KindOf(err))
				return window + 1, handles
			}
			for _, m := range req.Messages {
				for _, p := range m.Parts {
					if r, ok := p.(message.ToolResult); ok && len(archived.In(r.Text)) > 0 {
						handles = true
					}
				}
			}
		}
		return 0, handles
	}
	without, none := smallest(middleware.Env{})
	with, some := smallest(middleware.Env{Archive: store.NewMemory(0)})
	require.False(t, none)
	require.True(t, some, "with room enough")
	require.Equal(t, without, with, "handles make no request irreducible")
}

// Without a window, a limit of the provider removes what breaks it, and nothing else.
func TestImagesWithoutAWindow(t *testing.T) {
	t.Parallel()
	h := append(readsLogs(4), message.Assistant(message.Text{Text: "It fails."}))
	for i := range 4 {
		h = append(h, message.User("Look at this."), message.Assistant(message.Text{Text: "I see."}))
		h[len(h)-2].Parts = append(h[len(h)-2].Parts, message.Media{Type: "image/png", Data: strings.Repeat("x", 3000+i)})
	}
	h = append(h, message.User("Which one is best?"))
	req, events, err := middleware.Apply(t.Context(), fit.New(fit.Options{Limits: message.Limits{Images: 2}, Target: 1}), &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Len(t, req.Messages, len(h), "%v", events)
	require.Equal(t, 2, media(req.Messages))
	for i, m := range req.Messages {
		want := h[i].Parts
		if req.View().Span(i).Edit != nil {
			want = append(slices.Clone(want[:1]), message.Text{Text: "(image/png: left out of the request)"})
		}
		require.True(t, slices.Equal(want, m.Parts), "message %d", i)
	}
}

// A conversation that grows close to the bytes that a provider accepts stays below them.
func TestBytesOfAGrowingConversation(t *testing.T) {
	t.Parallel()
	const most = 20_000
	chain := middleware.Chain(fit.New(fit.Options{Limits: message.Limits{Bytes: most}, Target: 1}))
	for pages := range 30 {
		req, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: readsLogs(pages + 1), Budget: &middleware.Budget{Window: 1_000_000}})
		require.NoError(t, err)
		bytes := payload.OfTools().Bytes
		for i := range req.Messages {
			bytes += payload.Of(&req.Messages[i]).Bytes
		}
		require.LessOrEqual(t, bytes, most, "%d pages", pages+1)
	}
}

// TestRepairsOfWhatIsGone has a history whose repairs take a large part of the
// window, but only as long as all of it is there.
func TestRepairsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 40, Result: 300, Thought: 100}.Messages()
	req, _, err := middleware.Apply(t.Context(), fit.New(fit.Options{}),
		&middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 1500}})
	require.NoError(t, err)
	require.LessOrEqual(t, req.View().Size().Tokens, 1500)
	require.Greater(t, req.View().Size().Tokens, 1000, "no room is kept free for repairs of messages that are not sent")
}
