package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// summarizer folds what lies before the newest question once the view is
// longer than a limit, and counts how often it does.
type summarizer struct {
	limit  int  // tokens
	reach  int  // how many of the newest units stay
	beyond bool // it also folds rounds behind the newest question
	made   atomic.Int64
}

func (s *summarizer) middleware() middleware.Middleware {
	return middleware.Editing("summarizer", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		l := lookAt(v)
		question := 0
		for i, m := range l.msgs {
			if m.Role == message.RoleUser {
				question = i
			}
		}
		var runs []message.Run
		for _, u := range l.free() {
			if u.Last < question || s.beyond {
				runs = append(runs, u.Run)
			}
		}
		if len(runs) <= s.reach {
			return nil, nil
		}
		runs = runs[:len(runs)-s.reach]
		return &middleware.Plan{Edits: []middleware.Edit{{
			Kind: journal.Fold, Runs: runs, Estimate: 10,
			Make: func(context.Context) ([]message.Message, error) {
				s.made.Add(1)
				return []message.Message{message.User("Summary " + l.mark(runs...))}, nil
			},
		}}}, nil
	}, middleware.Options{Trigger: trigger.Tokens(s.limit)})
}

// turns is a conversation of several turns of several rounds each, with the
// positions at which a model is called.
func turns(n, rounds int) (history []message.Message, calls []int) {
	for i := range n {
		history = append(history, message.User(fmt.Sprintf("question %d", i)))
		for k := range rounds {
			calls = append(calls, len(history))
			id := fmt.Sprintf("c%d.%d", i, k)
			history = append(history,
				message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"page":%d}`, k)}),
				message.Result(id, "read", strings.Repeat(fmt.Sprintf("page %d of %d. ", k, i), 30)))
		}
		calls = append(calls, len(history))
		history = append(history, message.Assistant(message.Text{Text: fmt.Sprintf("answer %d", i)}))
	}
	return history, calls
}

func TestSystemPromptVoidsNothing(t *testing.T) {
	t.Parallel()
	history, calls := turns(5, 4)
	plain := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 2}), (&summarizer{limit: 900, reach: 1}).middleware())
	clock := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 2}), (&summarizer{limit: 900, reach: 1}).middleware())
	for k, n := range calls {
		want, wantEvents := view(t, plain, append([]message.Message{message.System("It is 10:00.")}, history[:n]...))
		system := []message.Message{message.System(fmt.Sprintf("It is 10:%02d.", k))}
		got, events := view(t, clock, append(system, history[:n]...))
		require.Equal(t, told(wantEvents), told(events), "a clock in the system prompt changes no edit, at %d", n)
		requireSame(t, want[1:], got[1:], "a clock in the system prompt changes nothing else, at %d", n)
		requireSame(t, system, got[:1], "the system prompt is that of this call")
		more := append(slices.Clone(system), message.System("more"))
		got, events = view(t, clock, append(more, history[:n]...))
		require.Empty(t, events, "one more system message makes no edit necessary, at %d", n)
		requireSame(t, want[1:], got[2:], "one more system message changes nothing else, at %d", n)
	}
}

// TestAdoptedPlaceholders shows what Adopts is for: an edit made by a
// middleware is known as one when the view comes back.
func TestAdoptedPlaceholders(t *testing.T) {
	t.Parallel()
	whole, _ := turns(3, 4)
	chain := middleware.With(middleware.Env{HistoryIsView: true},
		contextedit.New(contextedit.Options{Trigger: trigger.Messages(8), Keep: 2}), (&summarizer{limit: 300, reach: 2}).middleware())
	first, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: whole})
	require.NoError(t, err)
	second, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: first.Messages})
	require.NoError(t, err)
	require.Zero(t, count(events, middleware.Edited), "nothing is left to edit, got %v", events)
	require.Len(t, second.Messages, len(first.Messages))
	for i := range first.Messages {
		made, known := first.View().Span(i).Edit, second.View().Span(i).Edit
		require.Equal(t, made == nil, known == nil, "message %d: an edited message is known as edited", i)
		if made != nil {
			require.Equal(t, made.Middleware, known.Middleware, "message %d: and by whom", i)
			require.Equal(t, made.Kind, known.Kind, "message %d: and how", i)
		}
	}
}
