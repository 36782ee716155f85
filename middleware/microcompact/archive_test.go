package microcompact_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/store"
)

// requireRecallable checks that what was shortened names a handle, and that each
// names what was there.
func requireRecallable(t require.TestingT, s store.Store, history, view []message.Message) {
	for i, m := range history {
		if m.Equal(view[i]) {
			continue
		}
		was := map[string]bool{} // that may be under the handles
		pieces := map[string][]message.Part{}
		for _, p := range m.Parts {
			was[contentOf(t, p).Data] = true
			if r, ok := p.(message.ToolResult); ok {
				pieces[r.CallID] = append(pieces[r.CallID], r)
			}
		}
		for _, parts := range pieces {
			was[contentOf(t, parts...).Data] = true
		}
		for _, p := range view[i].Parts {
			if slices.Contains(m.Parts, p) {
				continue
			}
			named := archived.In(textOf(p))
			require.NotEmpty(t, named, "%q names a handle", textOf(p))
			for _, h := range named {
				if asked(history[:i], p) == h {
					continue
				}
				got, err := s.Get(context.Background(), h)
				require.NoError(t, err)
				require.Contains(t, was, got.Data, "%q leads to what was there", textOf(p))
			}
		}
	}
}

// contentOf returns under what parts are kept.
func contentOf(t require.TestingT, parts ...message.Part) store.Content {
	contents, err := store.Internals(inside.Key{}).Name(store.NewMemory(0), message.Message{Parts: parts})
	require.NoError(t, err)
	return contents[len(contents)-1].Content
}

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

// asked returns the handle that the call of a result asks for.
func asked(history []message.Message, p message.Part) (h store.Handle) {
	r, ok := p.(message.ToolResult)
	for _, m := range history {
		for c := range m.Calls() {
			if ok && c.ID == r.CallID {
				h = archived.Asked(c)
			}
		}
	}
	return h
}

// broken is an archive that keeps nothing.
type broken struct{ *store.Memory }

func (broken) Put(context.Context, message.ID, []store.Named) error {
	return errors.New("no space left on device")
}

func TestNothingGoesThatIsNotKept(t *testing.T) {
	t.Parallel()
	h := conversation(20)
	mw := middleware.With(middleware.Env{Archive: broken{store.NewMemory(0)}}, microcompact.New(microcompact.Options{}))
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Equal(t, h, sent.Messages)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Failed, events[0].Kind)
	require.ErrorContains(t, events[0].Err, "no space left on device")
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
