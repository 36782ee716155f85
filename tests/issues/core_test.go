// Package issues has a test for each fault that was found and mended, named
// after what went wrong.
package issues

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// clearing clears the n oldest results that are not cleared yet, at each call.
func clearing(n int) middleware.Middleware {
	return middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		p := &middleware.Plan{}
		for i, m := range v.Messages() {
			if m.Role != message.RoleTool || v.Protected(i) != (middleware.Protection{}) || v.Span(i).Edit != nil || len(p.Edits) == n {
				continue
			}
			for r := range m.Results() {
				r.Text = "-"
				p.Edits = append(p.Edits, middleware.RewriteOf(i, r))
			}
		}
		return p, nil
	}, middleware.Options{})
}

// planning always wants these edits.
func planning(name string, edits func(v *middleware.View) []middleware.Edit) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: edits(v)}, nil
	}, middleware.Options{})
}

func idle() middleware.Middleware { return clearing(0) }

// rounds is a question and so many rounds.
func rounds(n int) []message.Message { return more([]message.Message{message.User("do it")}, n) }

func more(h []message.Message, n int) []message.Message {
	for range n {
		id := fmt.Sprintf("c%d", len(h))
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "tool", Arguments: "{}"}),
			message.Result(id, "tool", strings.Repeat("x", 400)))
	}
	return h
}

func apply(t *testing.T, mw middleware.Middleware, h []message.Message) (*middleware.Request, []middleware.Event) {
	t.Helper()
	req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return req, events
}

func edited(r *middleware.Request) int {
	n := 0
	for i := range r.Messages {
		if r.View().Span(i).Edit != nil {
			n++
		}
	}
	return n
}

func kinds(events []middleware.Event) []middleware.EventKind {
	var out []middleware.EventKind
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// A fold of several runs could move a protected message behind others.
func TestFoldKeepsOrder(t *testing.T) {
	t.Parallel()
	h := append(rounds(4), message.User("last"))
	mw := planning("fold", func(v *middleware.View) []middleware.Edit {
		return []middleware.Edit{{
			Kind: journal.Fold, Runs: []message.Run{{First: 0, Last: 0}, {First: 3, Last: 4}},
			Messages: []message.Message{v.At(0), message.User("summary")},
		}}
	})
	req, events := apply(t, mw, h)
	require.Equal(t, []middleware.EventKind{middleware.Refused}, kinds(events), "the first question would stand behind the first round")
	require.Equal(t, h, req.Messages)
}

// After a question was taken back, the one before it was the last, and a fold
// had swallowed it.
func TestQuestionTakenBack(t *testing.T) {
	t.Parallel()
	chain := planning("fold", func(v *middleware.View) []middleware.Edit {
		if v.Len() < 8 {
			return nil
		}
		return []middleware.Edit{middleware.FoldOf(1, v.Len()-2, message.User("summary"))}
	})
	h := append(rounds(2), message.Assistant(message.Text{Text: "done"}), message.User("second question"))
	h = append(more(h, 1), message.Assistant(message.Text{Text: "done"}))
	req, events := apply(t, chain, append(slices.Clip(h), message.User("third question")))
	require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events))
	require.Len(t, req.Messages, 3)
	req, _ = apply(t, chain, h)
	var questions []string
	for _, m := range req.Messages {
		if m.Role == message.RoleUser {
			questions = append(questions, m.Text())
		}
	}
	require.Contains(t, questions, "second question", "the question that is now the last is in the view")
}
