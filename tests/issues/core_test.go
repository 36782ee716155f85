// Package issues has a test for each fault that was found and mended, named
// after what went wrong.
package issues

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
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

// Usage was taken for a lie where a tokenizer makes more than three tokens of
// one that is estimated. The trigger then fired at a third of what was charged.
func TestUsageOfScriptsThatTokenizersCutSmall(t *testing.T) {
	t.Parallel()
	for script, words := range map[string]string{
		"Ethiopic": "ሰላም እንዴት ነህ", "Devanagari": "नमस्ते आप कैसे हैं", "rare ideographs": "嗷嚎囔攮饕餮魑魅魍魉",
	} {
		truth := tokens.Meter{Counter: bpe.Encoding("cl100k_base")}
		predicted, charged := 0, 0
		model := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1 << 40)})(
			func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
				predicted, charged = req.View().Size().Tokens, truth.Request(req.Messages, nil)
				return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: message.Usage{Input: charged}}, nil
			})
		h := []message.Message{message.User(words)}
		for range 20 {
			_, err := model(t.Context(), &middleware.Request{Messages: h}, nil)
			require.NoError(t, err)
			h = append(h, message.Assistant(message.ToolCall{ID: "call", Name: "read", Arguments: "{}"}),
				message.Result("call", "read", strings.Repeat(words, 40)))
		}
		require.InEpsilon(t, charged, predicted, 0.02, script)
	}
}

// Tools that fit declares for the calls in the messages kept their weight when the
// calls were gone, and requests that would fit were irreducible.
func TestUndeclaredToolsWeighNothing(t *testing.T) {
	t.Parallel()
	const limit = 700 // bytes: enough for two questions and the note, not for the tool as well
	chain := fit.New(fit.Options{Rules: message.Anthropic, Limits: message.Limits{Bytes: limit}})
	history := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{ID: "c", Name: "tool", Arguments: "{}"}),
		message.Result("c", "tool", strings.Repeat("long ", 200)),
		message.Assistant(message.Text{Text: "done"}),
		message.User(strings.Repeat("why? ", 40)),
	}
	req, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history})
	require.NoError(t, err, "%v", events)
	require.Empty(t, req.Tools)
	require.Empty(t, payload.Broken(message.Limits{Bytes: limit}, req.Messages, payload.Load{}))
}

// A picture of the first question gave way to a note with a handle, and later there
// was no room for the handle: the request was irreducible by the few tokens that it
// takes.
func TestHandlesMakeNothingIrreducible(t *testing.T) {
	t.Parallel()
	history := []message.Message{
		message.System("You look at pictures."),
		{Role: message.RoleUser, Parts: []message.Part{message.Text{Text: "What is it?"}, message.Media{Type: "image/png", Data: strings.Repeat("picture", 9), Name: "plan.png"}}},
		message.Assistant(message.Text{Text: "A plan."}),
		message.User("And what is on it, " + strings.Repeat("by all its lines, ", 20)),
	}
	fits := func(window int, archive store.Store) (first, second bool) {
		chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, fit.New(fit.Options{Rules: message.OpenAI}))
		budget := &middleware.Budget{Window: window}
		_, _, err1 := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history[:2], Budget: budget})
		_, _, err2 := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history, Budget: budget})
		return err1 == nil, err2 == nil
	}
	for window := 20; window < 200; window++ {
		first, second := fits(window, store.NewMemory(0))
		alsoFirst, alsoSecond := fits(window, nil)
		require.Equal(t, alsoFirst, first, "window %d", window)
		require.Equal(t, alsoSecond, second, "window %d", window)
	}
}

// Arguments of the newest round were shortened as the last resort, and then its second result arrived. The same
// edit was planned for the longer history, taken for the one that no longer held, and the call failed in all
// repetitions: the model was not asked.
func TestResultAfterTheLastResort(t *testing.T) {
	t.Parallel()
	history := []message.Message{
		message.User("go"),
		message.Assistant(
			message.ToolCall{ID: "a", Name: "write", Arguments: `{"text":"` + strings.Repeat("long ", 4000) + `"}`},
			message.ToolCall{ID: "b", Name: "read", Arguments: "{}"}),
		message.Result("a", "write", "done"),
	}
	asked := 0
	model := fit.New(fit.Options{})(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		asked++
		if asked == 1 {
			return nil, &middleware.Error{Kind: middleware.Unavailable, Op: "provider", Err: errors.New("529: overloaded")}
		}
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"}), Stop: middleware.StopEnd}, nil
	})
	req := &middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 2000}}
	_, err := model(t.Context(), req, nil)
	require.ErrorContains(t, err, "529")
	req.Messages = append(history, message.Result("b", "read", "two")) //nolint:gocritic // the history grows
	_, err = model(t.Context(), req, nil)
	require.NoError(t, err)
	require.Equal(t, 2, asked, "the call succeeds at once")
}
