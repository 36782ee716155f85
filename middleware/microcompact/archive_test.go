package microcompact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/store"
)

func textOf(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolResult:
		return p.Text
	case message.ToolCall:
		return p.Arguments
	case message.Thinking, message.Media, message.Opaque:
	}
	return ""
}

// A model that recalls whatever it sees a handle of gets to the end of it, by a
// window in which the content has no room.
func TestRecallingEndsSomewhere(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	tool := agent.Recall(archive, agent.RecallOptions{})
	mw := middleware.With(middleware.Env{Archive: archive}, microcompact.New(microcompact.Options{KeepRounds: 1}))
	var log strings.Builder
	for log.Len() < 200_000 {
		log.WriteString("a line of the log, and so on\n")
	}
	h := []message.Message{
		message.User("What is in the log?"),
		message.Assistant(message.ToolCall{ID: "c0", Name: "read", Arguments: "{}"}), message.Result("c0", "read", log.String()),
	}
	var read strings.Builder
	var next string
	for calls := 1; ; calls++ {
		require.Less(t, calls, 30, "the model asks for ever")
		sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 8000}})
		require.NoError(t, err)
		seen := sent.Messages[len(sent.Messages)-1].Parts[0].(message.ToolResult).Text
		if calls == 1 {
			require.Contains(t, seen, "[truncated here: ")
			next = `{"handle":"` + archived.In(seen)[0].String() + `"}`
		} else {
			note, lines, _ := strings.Cut(seen, "\n")
			read.WriteString(lines + "\n")
			_, from, more := strings.Cut(strings.TrimSuffix(note, "]"), "; more: from=")
			if !more {
				break
			}
			handle := strings.Fields(strings.TrimSuffix(note, "]"))[5]
			next = `{"handle":"` + strings.Trim(handle, ";") + `","from":` + from + `}`
		}
		parts, err := tool.Call(t.Context(), next)
		require.NoError(t, err)
		id := "r" + next
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: store.RecallTool, Arguments: next}),
			message.Result(id, store.RecallTool, parts[0].(message.Text).Text))
	}
	require.Equal(t, log.String(), read.String(), "the model has read all of it")
}

// What was reduced to head and tail leaves the facts of what the model has seen, and not
// those of the mark in its middle.
func TestLinesOfWhatWasShortenedAtBirth(t *testing.T) {
	t.Parallel()
	text := "order: W-1001\n" + strings.Repeat("nothing of use here\n", 1000) + "secret: W-2002\n" + strings.Repeat("nothing of use here\n", 1000) + "invoice: W-3003\n"
	h := []message.Message{message.User("Read it."), message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: "{}"}), message.Result("c1", "read", text)}
	chain := microcompact.New(microcompact.Options{KeepRounds: -1, Digest: 40})
	for range 2 {
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 8000}})
		require.NoError(t, err)
		if len(h) == 3 {
			require.Contains(t, textOf(sent.Messages[2].Parts[0]), "[truncated here: ")
			h = append(h, message.Assistant(message.Text{Text: "I have."}))
			continue
		}
		require.Equal(t, "[truncated: 40045 chars; some facts: order: W-1001; invoice: W-3003]", textOf(sent.Messages[2].Parts[0]))
	}
}
