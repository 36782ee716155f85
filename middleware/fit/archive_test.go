package fit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// within returns all texts that a model can read: those of the view, and those
// that handles lead to, from there and from one another.
func within(t require.TestingT, s store.Store, view []message.Message) string {
	var all strings.Builder
	var handles []store.Handle
	read := func(text string) {
		all.WriteString(text + "\n")
		handles = append(handles, archived.In(text)...)
	}
	for _, m := range view {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				read(p.Text)
			case message.ToolResult:
				read(p.Text)
			case message.ToolCall:
				read(p.Arguments)
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
	seen := map[store.Handle]bool{}
	for len(handles) > 0 {
		h := handles[0]
		handles = handles[1:]
		if seen[h] {
			continue
		}
		seen[h] = true
		c, err := s.Get(context.Background(), h)
		require.NoError(t, err, "a handle that a model is shown leads somewhere")
		read(c.Data)
	}
	return all.String()
}

// requireNothingLost checks that each text of the history can be read.
func requireNothingLost(t require.TestingT, s store.Store, history, view []message.Message) {
	all := within(t, s, view)
	for i, m := range history {
		for _, p := range m.Parts {
			text := ""
			switch p := p.(type) {
			case message.Text:
				text = p.Text
			case message.ToolResult:
				text = p.Text
			case message.ToolCall:
				text = p.Arguments
			case message.Thinking, message.Media, message.Opaque:
			}
			if !strings.Contains(all, text) {
				require.Fail(t, "lost", "message %d cannot be read any more: %.80q", i, text)
			}
		}
	}
}

// What was recalled is replaced by the handle that the model has asked for, and is not
// archived again, also if the call was edited since.
func TestWhatWasRecalledIsInTheArchive(t *testing.T) {
	t.Parallel()
	cut := middleware.Editing("cut", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Span(2).Edit != nil {
			return nil, nil
		}
		c := v.At(2).Parts[0].(message.ToolCall)
		c.Arguments = "{}"
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(2, c)}}, nil
	}, middleware.Options{})
	for name, before := range map[string][]middleware.Middleware{"": nil, "the call was cut": {cut}} {
		archive := store.NewMemory(0)
		asked, err := store.Keep(t.Context(), archive, store.Content{Data: strings.Repeat("a line of the log\n", 999)})
		require.NoError(t, err)
		h := middlewaretest.ReAct{Rounds: 30, Result: 800}.Messages()
		call, _ := h[2].Parts[0].(message.ToolCall)
		result, _ := h[3].Parts[0].(message.ToolResult)
		call.Name, call.Arguments = store.RecallTool, `{"handle":"`+asked.String()+`","search":"of"}`
		result.Name, result.Text = store.RecallTool, "[40 matching in the log]\n"+strings.Repeat("1: a line of the log\n", 40)
		h[2].Parts, h[3].Parts = []message.Part{call}, []message.Part{result}
		mw := middleware.With(middleware.Env{Archive: archive}, append(before, fit.New(fit.Options{Rules: message.Bedrock}))...)
		sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 2700}})
		require.NoError(t, err)
		requireFits(t, fit.Options{}, sent)
		require.Len(t, sent.Messages, len(h), "%v", events)
		r, _ := sent.Messages[3].Parts[0].(message.ToolResult)
		require.Equal(t, []store.Handle{asked}, archived.In(r.Text), "%s: %s", name, r.Text)
		_, err = archive.Get(t.Context(), store.HandleIn(nil, "", store.Content{Data: result.Text}.Hash()))
		require.ErrorIs(t, err, store.ErrNotFound, "%s: a part of what is kept already is not kept as well", name)
	}
}

// summarizes folds the first answer and the question after it into two messages.
func summarizes() middleware.Middleware {
	return middleware.Editing("summary", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < 5 || v.Span(1).Edit != nil {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, 2,
			message.User(strings.Repeat("summary ", 10)), message.Assistant(message.Text{Text: "I see."}))}}, nil
	}, middleware.Options{})
}

// talk returns questions and answers of about 50 tokens each.
func talk(turns int) []message.Message {
	var h []message.Message
	for range turns {
		h = append(h, message.User(strings.Repeat("question ", 20)), message.Assistant(message.Text{Text: strings.Repeat("answering ", 20)}))
	}
	return append(h, message.User("And now?"))
}

// TestSummariesGoLast has a summary and a critical message among others.
func TestSummariesGoLast(t *testing.T) {
	t.Parallel()
	h := talk(6)
	h[5].Hints.Priority = message.PriorityCritical
	for _, c := range []struct {
		window            int
		note              bool
		summary, critical bool // whether they are still there
	}{
		{1000, false, true, true},
		{400, true, true, true},
		{165, true, false, true},
		{140, true, false, false},
		{70, false, false, false},
	} {
		chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, summarizes(), fit.New(fit.Options{Rules: message.OpenAI, Target: 1}))
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: c.window}})
		require.NoError(t, err, "window %d", c.window)
		var texts []string
		for _, m := range sent.Messages {
			texts = append(texts, m.Text())
		}
		all := strings.Join(texts, "\n")
		require.Equal(t, c.note, strings.Contains(all, note), "window %d: is there a note: %q", c.window, texts)
		require.Equal(t, c.summary, strings.Contains(all, "summary"), "window %d: is the summary there: %q", c.window, texts)
		require.Equal(t, c.summary, strings.Contains(all, "I see."), "window %d: and all of it: %q", c.window, texts)
		critical := false
		for i := range sent.Messages {
			critical = critical || sent.Messages[i].Hints.Priority == message.PriorityCritical
		}
		require.Equal(t, c.critical, critical, "window %d: is the critical message there: %q", c.window, texts)
	}
}

func notes(msgs []message.Message) (n int) {
	for _, m := range msgs {
		n += strings.Count(m.Text(), note)
	}
	return n
}

// note is a part of the default of Options.Note.
const note = "earlier messages were left out here"

// Two calls of an answer may have one ID: each keeps a result, and its own arguments in the archive.
func TestTwins(t *testing.T) {
	t.Parallel()
	long := func(word string) string { return strings.Repeat(word+" ", 400) }
	call := func(word string) message.Part {
		return message.ToolCall{ID: "x", Name: "read", Arguments: `{"of":"` + long(word) + `"}`}
	}
	h := []message.Message{
		message.User("Read both."), message.Assistant(call("first"), call("second")),
		{Role: message.RoleTool, Parts: []message.Part{
			message.ToolResult{CallID: "x", Name: "read", Text: long("one")}, message.ToolResult{CallID: "x", Name: "read", Text: long("two")},
		}},
		message.Assistant(message.Text{Text: "Done."}), message.User("And now?"),
	}
	require.NoError(t, message.Chat.Check(h))
	for window := 200; window < 2000; window += 100 {
		archive := store.NewMemory(0)
		mw := middleware.With(middleware.Env{Archive: archive}, fit.New(fit.Options{Rules: message.Chat}))
		sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
		require.NoError(t, err)
		for _, e := range events {
			require.Equal(t, middleware.Edited, e.Kind, "no repair")
		}
		require.NoError(t, message.Chat.Check(sent.Messages))
		if len(sent.Messages) == len(h) {
			requireNothingLost(t, archive, h, sent.Messages)
		}
	}
}
