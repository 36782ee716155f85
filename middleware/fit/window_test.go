package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// A view that fills the window by an estimate is shortened: it may have more tokens than that. By a counter that the
// caller has set, or with the usage of the prompt before, it is sent whole.
func TestMargin(t *testing.T) {
	t.Parallel()
	h := middlewaretest.ReAct{Rounds: 12, Result: 600}.Messages()
	size := (tokens.Meter{}).Request(h, nil)
	answered := func(charged int) []message.Message {
		before := append([]message.Message(nil), h...)
		before[len(h)-2].Usage = &message.Usage{Input: charged}
		return before
	}
	for name, c := range map[string]struct {
		history []message.Message
		counter tokens.Counter
		window  int
		edited  bool
	}{
		"with room":           {h, nil, size * 107 / 100, false},
		"almost without":      {h, nil, size * 103 / 100, true},
		"without":             {h, nil, size - 1, true},
		"set by the caller":   {h, named{}, size * 103 / 100, false},
		"usage is known":      {answered((tokens.Meter{}).Request(h[:len(h)-2], nil)), nil, size * 103 / 100, false},
		"usage, without room": {answered((tokens.Meter{}).Request(h[:len(h)-2], nil)), nil, size, true},
	} {
		chain := middleware.With(middleware.Env{Counter: c.counter}, fit.New(fit.Options{Rules: message.OpenAI}))
		sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{
			Messages: c.history, Budget: &middleware.Budget{Window: c.window},
		})
		require.NoError(t, err, name)
		require.Equal(t, c.edited, len(events) > 0, "%s: %v", name, events)
		require.LessOrEqual(t, sent.View().Size().Tokens, c.window, name)
		if c.edited && c.window > size {
			require.Contains(t, events[0].Why, "for the error of the count", name)
		}
	}
}

// named counts like an estimate, but is a counter of the caller.
type named struct{}

func (named) Count(text string) int { return tokens.Estimate{}.Count(text) }

// A reserve of more than half of the window is told once, since it shortens the conversation.
func TestReserveOfMostOfTheWindow(t *testing.T) {
	t.Parallel()
	var heard middlewaretest.Recorder
	chain := middleware.Chain(heard.Middleware(), middleware.With(middleware.Env{}, fit.New(fit.Options{})))
	h := []message.Message{message.User("Why?"), message.Assistant(message.Text{Text: "So."}), message.User("And?")}
	for range 3 {
		_, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1000, Reserve: 500}})
		require.NoError(t, err)
	}
	require.Empty(t, heard.Events(middleware.Misconfigured))
	for range 3 {
		_, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1000, Reserve: 501}})
		require.NoError(t, err)
	}
	told := heard.Events(middleware.Misconfigured)
	require.Len(t, told, 1)
	require.Contains(t, told[0].Why, "501 of the window of 1000 tokens are kept free for the answer, so the conversation has 499")
}

// rounds is a question and rounds of a call and a result of about some tokens.
func rounds(n, result int) []message.Message {
	h := []message.Message{message.User("Read the pages and compare them.")}
	for k := range n {
		id := fmt.Sprintf("c%d", k)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"page":%d}`, k)}),
			message.Result(id, "read", strings.Repeat(fmt.Sprintf("line %d of it. ", k), result/4)))
	}
	return h
}

// requireReported checks that an event has a change at or before the first message that differs from what was sent
// before.
func requireReported(t *testing.T, before, now *middleware.Request, events []middleware.Event) {
	t.Helper()
	if before == nil {
		return
	}
	same := 0
	for same < min(len(before.Messages), len(now.Messages)) && before.Messages[same].Equal(now.Messages[same]) {
		same++
	}
	if same == len(before.Messages) {
		return
	}
	require.True(t, slices.ContainsFunc(events, func(e middleware.Event) bool {
		return len(e.Edits) > 0 && (same == len(now.Messages) || e.First <= now.View().Span(same).Last)
	}), "message %d changes, without an event that has it: %v", same, events)
}

// A call with a smaller window, as of a cheaper model, has an effect on itself only.
func TestSmallerWindowForOneCall(t *testing.T) {
	t.Parallel()
	for name, grows := range map[string]int{"the same history": 0, "a history that grows": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := middleware.Env{Counter: tokens.Chars4, Archive: store.NewMemory(0), Journal: journal.NewMemory(0)}
			fresh := func() middleware.Middleware {
				return middleware.With(env, summarizes(), fit.New(fit.Options{Rules: message.OpenAI}))
			}
			h, chain := append(talk(2), rounds(30, 200)[1:]...), fresh()
			var before *middleware.Request
			var sizes []int
			for k, window := range []int{9000, 600, 9000, 600, 1500, 600, 9000, 600, 9000} {
				if k == 7 {
					chain, before = fresh(), nil // another process
				}
				part := h[:len(h)-2*grows*(8-k)]
				sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: part, Budget: &middleware.Budget{Window: window}})
				require.NoError(t, err)
				requireReported(t, before, sent, events)
				before = sent
				if window == 9000 {
					require.Len(t, sent.Messages, len(part), "call %d has all messages", k)
					require.Contains(t, sent.Messages[1].Text(), "summary", "the fold of the other editor remains")
				}
				sizes = append(sizes, len(sent.Messages))
			}
			require.Less(t, sizes[1], 25)
			require.Greater(t, sizes[4], sizes[3], "more than in a window of 600")
			if grows == 0 {
				require.Equal(t, sizes[1], sizes[3], "the edits of the small window are used again")
				require.Equal(t, sizes[5], sizes[7], "also in another process")
			}
		})
	}
}

// A newest result that cannot be cut leaves no room for the note on what was left out before it. That is so for one
// request: later ones have the note, and its handle leads to the messages.
func TestNoteIsLeftOutForOneRequest(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, fit.New(fit.Options{Rules: message.OpenAI}))
	h := rounds(6, 300)
	opaque := message.Message{Role: message.RoleTool, Parts: []message.Part{
		message.ToolResult{CallID: "big", Name: "read", Content: message.Opaque{Kind: "x", Data: strings.Repeat("data", 1940)}},
	}}
	h = append(h, message.Assistant(message.ToolCall{ID: "big", Name: "read", Arguments: "{}"}), opaque)
	var before *middleware.Request
	for k, more := range [][]message.Message{nil, {message.Assistant(message.Text{Text: "I see."}), message.User("Go on.")}} {
		h = append(h, more...)
		sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 2000}})
		require.NoError(t, err, "%v", events)
		requireReported(t, before, sent, events)
		before = sent
		all := golden.Format(sent.Messages)
		if k == 0 {
			require.NotContains(t, all, note)
			require.Less(t, len(sent.Messages), len(h)-5)
			again, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 2000}})
			require.NoError(t, err)
			require.Equal(t, sent.Messages, again.Messages, "the same request again")
			continue
		}
		require.Greater(t, len(sent.Messages), 10, "%s", all)
		requireNothingLost(t, archive, h, sent.Messages)
	}
}

// TestHandlesReturn has parallel results that arrive one by one, in windows with room for few handles. A result that had no
// room for its handle is without one for that request only: once its round is old, all that was removed can be read.
func TestHandlesReturn(t *testing.T) {
	t.Parallel()
	without := 0
	for window := 240; window <= 420; window += 20 {
		archive := store.NewMemory(0)
		chain := middleware.With(middleware.Env{Archive: archive, Counter: tokens.Chars4}, fit.New(fit.Options{}))
		send := func(h []message.Message) (sent []message.Message, named int) {
			req, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
			require.NoError(t, err)
			for _, m := range req.Messages {
				for r := range m.Results() {
					named += len(archived.In(r.Text))
				}
			}
			return req.Messages, named
		}
		var calls []message.Part
		for k := range 11 {
			calls = append(calls, message.ToolCall{ID: fmt.Sprint("c", k), Name: "read", Arguments: "{}"})
		}
		h := []message.Message{message.User("Read it."), message.Assistant(calls...)}
		for k := range calls {
			h = append(h, message.Result(fmt.Sprint("c", k), "read", strings.Repeat("one word after the other ", 200)))
			if _, named := send(h); named <= k {
				without++
			}
		}
		h = append(h, message.Assistant(message.Text{Text: "I see."}), message.User("Go on."))
		sent, _ := send(h)
		requireNothingLost(t, archive, h, sent)
	}
	require.Greater(t, without, 20, "calls without room for all handles")
}
