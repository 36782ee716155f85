package fit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

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

// TestOneNote leads a conversation through windows that get smaller: there is one
// note at most, and it is never folded into another.
func TestOneNote(t *testing.T) {
	t.Parallel()
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, summarizes(), fit.New(fit.Options{Rules: message.OpenAI}))
	h := talk(8)
	for window := 900; window > 90; window -= 40 {
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
		require.NoError(t, err)
		require.LessOrEqual(t, notes(sent.Messages), 1, "window %d", window)
	}
}

func notes(msgs []message.Message) (n int) {
	for _, m := range msgs {
		n += strings.Count(m.Text(), note)
	}
	return n
}

// A note in the place of a summary is a note as well.
func TestNoteForASummary(t *testing.T) {
	t.Parallel()
	summary := middleware.Editing("summary", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Span(1).Edit != nil {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, 11, message.Assistant(message.Text{Text: strings.Repeat("summary ", 60)}))}}, nil
	}, middleware.Options{})
	for _, archive := range []store.Store{nil, store.NewMemory(0)} {
		chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, summary, fit.New(fit.Options{Rules: message.OpenAI}))
		h := talk(6)
		for turn := range 8 {
			sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 160}})
			require.NoError(t, err)
			require.Equal(t, 1, notes(sent.Messages), "turn %d", turn)
			if turn == 0 {
				require.Len(t, sent.Messages, 3, "the note is in the place of the summary alone")
			}
			h = append(h, message.Assistant(message.Text{Text: strings.Repeat("answering ", 10)}), message.User("And now?"))
		}
	}
}

func TestConformanceAfterOthers(t *testing.T) {
	t.Parallel()
	middlewaretest.Suite{Repairs: true, New: func() middleware.Middleware {
		return middleware.Chain(
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(800), Keep: 2}),
			fit.New(fit.Options{Rules: message.Anthropic}),
		)
	}}.Test(t)
}

// note is a part of the default of Options.Note.
const note = "earlier messages were left out here"
