package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
)

// good is a summary that can be taken.
const good = "Goal: find out why the build fails.\nCurrent state: read_file, twice.\n" +
	"Decisions and reasons: the cache is stale.\nErrors and repairs: known.\nNext steps: clear it."

// writer is a model that answers always the same.
func writer(text string) *middlewaretest.Scripted {
	return writers(middleware.Response{
		Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd,
		Usage: message.Usage{Input: 1000, Output: 100},
	})
}

func writers(answers ...middleware.Response) *middlewaretest.Scripted {
	var all []middleware.Model
	for len(all) < 50 {
		for _, a := range answers {
			all = append(all, testkit.Give(a))
		}
	}
	return middlewaretest.Script(all...)
}

// history returns a conversation whose rounds are worth folding.
func history(rounds int) []message.Message {
	return middlewaretest.ReAct{Rounds: rounds, PerTurn: 4, Result: 1500, Answered: true}.Messages()
}

// fold forces a fold of a history.
func fold(t *testing.T, mw middleware.Middleware, h []message.Message) ([]message.Message, []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Force: []string{"summarize"}, Model: "claude-sonnet-4-5"})
	require.NoError(t, err)
	return sent.Messages, events
}

// summaryIn returns the only message of a view that is not of the history.
func summaryIn(t *testing.T, view, h []message.Message) message.Message {
	t.Helper()
	var found []message.Message
	for _, m := range view {
		if !contains(h, m) {
			found = append(found, m)
		}
	}
	require.Len(t, found, 1, "one message stands for what is folded")
	return found[0]
}

func contains(h []message.Message, m message.Message) bool {
	for i := range h {
		if h[i].Equal(m) {
			return true
		}
	}
	return false
}

func kinds(events []middleware.Event) (out []middleware.EventKind) {
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

func TestModelWrites(t *testing.T) {
	t.Parallel()
	small := writer(good)
	h := history(8)
	view, events := fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{Model: "gpt-5-mini"}), summarize.Options{}), h)
	s := summaryIn(t, view, h)
	require.Equal(t, message.RoleUser, s.Role)
	require.True(t, strings.HasPrefix(s.Text(), "[Summary of the earlier conversation: a record made by the program"), s.Text())
	require.Contains(t, s.Text(), good)

	require.Equal(t, []middleware.EventKind{summarize.Summarizing, summarize.Attempted, summarize.Summarized, middleware.Edited}, kinds(events))
	table, _ := models.Default().Lookup("gpt-5-mini")
	cost, ok := table.Price.Cost(message.Usage{Input: 1000, Output: 100})
	require.True(t, ok)
	for _, e := range events[1:3] {
		require.Equal(t, message.Usage{Input: 1000, Output: 100}, reportOf(e).Usage, e)
		require.Equal(t, cost, reportOf(e).Cost, e)
		require.Equal(t, "summarize", e.By)
	}

	require.Len(t, small.Requests(), 1)
	req := small.Requests()[0]
	require.Empty(t, req.Tools, "no tools are called")
	require.Nil(t, req.Params, "the options of the run are not passed on")
	require.Equal(t, "gpt-5-mini", req.Model)

	small = writer(good)
	fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{Params: func(n int) any { return n }}), summarize.Options{}), h)
	require.Positive(t, small.Requests()[0].Params, "those that were asked for")
}

func TestInConversation(t *testing.T) {
	t.Parallel()
	live := writer(good)
	h := history(8)
	type options struct{ Temperature float64 }
	mw := summarize.New(summarize.InConversation(live.Model, summarize.Ask{PassParams: true}), summarize.Options{})
	tools := []message.ToolDef{{Name: "read_log", Parameters: `{"type":"object"}`}}
	sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Tools: tools, Params: options{0.5}, Force: []string{"*"}})
	require.NoError(t, err)
	require.Contains(t, summaryIn(t, sent.Messages, h).Text(), good)
	req := live.Requests()[0]
	require.NoError(t, testkit.Same(h, req.Messages[:len(h)]), "the live conversation as it is, for the cache")
	require.Len(t, req.Messages, len(h)+1, "and one message more")
	require.Equal(t, tools, req.Tools)
	require.Equal(t, options{0.5}, req.Params)

	// A part of the conversation is never asked for in the whole of it.
	live = writer("Notes: the cache is stale.")
	w := summarize.InConversation(live.Model, summarize.Ask{PassParams: true, Sections: []string{}})
	fold(t, summarize.New(w, summarize.Options{Strategy: summarize.Strategy{Chunks: 6}}), h)
	for _, r := range live.Requests() {
		require.Less(t, len(r.Messages), 3, "a record")
	}
}

// TestRecordHasTheTask shows that each record has the first and the newest message of the user, which are not folded.
func TestRecordHasTheTask(t *testing.T) {
	t.Parallel()
	const first, newest = "Order the flights for #W2378156, but nothing above 500 EUR.", "And the hotel?"
	h := history(8)
	h[1] = message.User(first)
	h = append(h, message.User(newest))
	for name, s := range map[string]summarize.Strategy{
		"whole": {}, "by system": {BySystem: true}, "last": {OnlyLast: 4}, "chunks": {Chunks: 4},
		"facts": {Facts: []summarize.Concept{{Keyword: "price"}}}, "structured": {Structured: true},
		"since": {Since: time.Unix(1, 0)},
	} {
		for _, inConversation := range []bool{false, true} {
			if inConversation && !slices.Contains([]string{"facts", "chunks", "last"}, name) {
				continue // asked in the conversation, which has both
			}
			model := writer(good)
			w := summarize.By(model.Model, summarize.Ask{})
			if inConversation {
				w = summarize.InConversation(model.Model, summarize.Ask{})
			}
			fold(t, summarize.New(w, summarize.Options{Strategy: s}), h)
			require.NotEmpty(t, model.Requests(), name)
			for _, r := range model.Requests() {
				require.Len(t, r.Messages, 2, "%s: a record", name)
				asked := r.Messages[1].Text()
				require.Contains(t, asked, "asked first. It stays in the conversation, so do not repeat it, and do not answer it:\n<task>\n\t"+first, name)
				require.Contains(t, asked, "asks now. It stays in the conversation, so do not repeat it, and do not answer it. Stress what bears on it:\n"+
					"<question>\n\t"+newest, name)
				require.Equal(t, 1, strings.Count(asked, first), name)
			}
		}
	}
	model := writer(good)
	fold(t, summarize.New(summarize.By(model.Model, summarize.Ask{}), summarize.Options{}), middlewaretest.ReAct{Rounds: 8, Result: 1500}.Messages())
	require.NotContains(t, model.Requests()[0].Messages[1].Text(), "<task>", "the only message of the user is the question")
}

// A second fold brings the summary up to date: the model sees the words of the
// first and what is new, and nothing else.
func TestBroughtUpToDate(t *testing.T) {
	t.Parallel()
	small := writers(
		middleware.Response{Message: message.Assistant(message.Text{Text: good}), Stop: middleware.StopEnd},
		middleware.Response{Message: message.Assistant(message.Text{Text: strings.ReplaceAll(good, "stale", "cleared")}), Stop: middleware.StopEnd},
	)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{})
	h := history(16)
	first, _ := fold(t, mw, h[:len(h)/2])
	second, _ := fold(t, mw, h)
	require.Len(t, small.Requests(), 2)
	asked := small.Requests()[1].Messages
	record := asked[len(asked)-1].Text()
	require.Contains(t, record, "the cache is stale")
	require.NotContains(t, record, "Facts recorded by code", "the words alone")
	require.NotContains(t, record, h[3].Parts[0].(message.ToolResult).Text, "what was folded before is not read again")
	s := summaryIn(t, second, h).Text()
	require.Contains(t, s, "the cache is cleared")
	require.NotContains(t, s, "stale", "nothing is nested")
	require.Contains(t, s, fmt.Sprintf("(%d messages compacted", len(h)-len(second)+1))
	require.NoError(t, testkit.Same(first[:2], second[:2]), "the head stays")
}

// A conversation that goes on after a fold never pays for it again, whatever
// happens to the calls: also when the model fails, or the call was called off
// before the edit was kept.
func TestPaidOnce(t *testing.T) {
	t.Parallel()
	small := writer(good)
	opts := summarize.Options{Trigger: trigger.Messages(16), KeepRounds: 2}
	failing := true
	model := summarize.New(summarize.By(small.Model, summarize.Ask{}), opts)(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if failing {
			return nil, errors.New("502")
		}
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"})}, nil
	})
	h := history(8)
	_, err := model(t.Context(), &middleware.Request{Messages: h}, nil)
	require.Error(t, err)
	require.Len(t, small.Requests(), 1)
	failing = false
	_, err = model(t.Context(), &middleware.Request{Messages: h}, nil)
	require.NoError(t, err)
	require.Len(t, small.Requests(), 1)

	// A dry run pays, and the call behind it does not.
	small = writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), opts)
	for range 3 {
		_, err = middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err)
	}
	_, _, err = middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Len(t, small.Requests(), 1)

	// Equal conversations of two tenants do not meet.
	mws := []middleware.Middleware{middleware.With(middleware.Env{Scope: "a"}, mw), middleware.With(middleware.Env{Scope: "b"}, mw)}
	for _, scoped := range mws {
		_, _, err = middleware.Apply(t.Context(), scoped, &middleware.Request{Messages: h})
		require.NoError(t, err)
	}
	require.Len(t, small.Requests(), 3)
}

func TestMemoriesAndPins(t *testing.T) {
	t.Parallel()
	h := history(8)
	h[5].Hints.Memory = true // results of a round: the round stays
	h[8].Hints.Pinned = true
	view, _ := fold(t, summarize.New(summarize.ByRules(), summarize.Options{PreserveMemory: true}), h)
	for _, i := range []int{0, 1, 4, 5, 8, 9} {
		require.True(t, contains(view, h[i]), "message %d stays", i)
	}
	view, _ = fold(t, summarize.New(summarize.ByRules(), summarize.Options{}), h)
	require.False(t, contains(view, h[5]))
}

func TestKeeps(t *testing.T) {
	t.Parallel()
	h := history(8) // S U (C R)×4 A U (C R)×4 A
	require.Len(t, h, 21)
	for name, c := range map[string]struct {
		opts summarize.Options
		want int // messages at the end
	}{
		"default":           {summarize.Options{}, 7}, // not through a round
		"messages":          {summarize.Options{Keep: 3}, 3},
		"through a round":   {summarize.Options{Keep: 2}, 3},
		"rounds":            {summarize.Options{KeepRounds: 2}, 5},
		"turns":             {summarize.Options{KeepTurns: 1}, 10},
		"the most of all":   {summarize.Options{KeepRounds: 1, Keep: 5}, 5},
		"tokens":            {summarize.Options{KeepTokens: 30}, 1},
		"tokens of a round": {summarize.Options{KeepTokens: 800}, 3},
		"nothing":           {summarize.Options{Keep: -1}, 0},
	} {
		view, _ := fold(t, summarize.New(summarize.ByRules(), c.opts), h)
		n := 0
		for n < len(view) && view[len(view)-1-n].Equal(h[len(h)-1-n]) {
			n++
		}
		require.Equal(t, c.want, n, name)
	}
	sent, _, err := middleware.Apply(t.Context(), summarize.New(summarize.ByRules(), summarize.Options{}), &middleware.Request{Messages: h, Model: "claude-sonnet-4-5"})
	require.NoError(t, err)
	last := sent.View().Size().Charged(sent.View().TokensOf(20))
	for less, kept := range []bool{true, false} {
		view, _ := fold(t, summarize.New(summarize.ByRules(), summarize.Options{KeepTokens: last - less}), h)
		require.Equal(t, kept, contains(view, h[20]), "%d tokens in %d", last, last-less)
	}
}

func TestStrategies(t *testing.T) {
	t.Parallel()
	h := history(8)
	for i := range h {
		h[i].Time = time.Unix(int64(i), 0)
	}
	var seen []message.Message
	look := func(_ context.Context, f *summarize.Fold) (string, error) {
		seen = f.Messages
		return "It was read.", nil
	}
	fold(t, summarize.New(summarize.ByFunc(look), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Since: time.Unix(15, 0)}}), h)
	require.NoError(t, testkit.Same(h[14:], seen), "the round of message 15, and all behind it")
	for i := range h {
		h[i].Time = time.Time{}
	}
	fold(t, summarize.New(summarize.ByFunc(look), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Since: time.Unix(15, 0)}}), h)
	require.Len(t, seen, 18, "what has no time is not dropped")

	important := func(_ context.Context, f *summarize.Fold) (kept []message.Message, err error) {
		for _, m := range f.Messages {
			if strings.HasPrefix(m.Text(), "Answer 1") {
				kept = append(kept, m)
			}
		}
		return kept, nil
	}
	view, _ := fold(t, summarize.New(summarize.ByRules(), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Custom: important}}), h)
	require.NoError(t, testkit.Same([]message.Message{h[0], h[1], h[11], h[10]}, view))
}

func TestStructured(t *testing.T) {
	t.Parallel()
	h := history(8)
	small := writers(
		middleware.Response{Message: message.Assistant(message.Text{Text: "no JSON"}), Stop: middleware.StopEnd},
		middleware.Response{Message: message.Assistant(message.Text{
			Text: `{"topics":["the nightly build"],"entities":["build 100"],"decisions":["clear the cache"],"actions":[]}`,
		}), Stop: middleware.StopEnd},
	)
	view, events := fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{Strategy: summarize.Strategy{Structured: true}}), h)
	require.Contains(t, summaryIn(t, view, h).Text(), "## Decisions\n- clear the cache")
	require.NotEmpty(t, reasons(events), "what is no JSON is not taken")
}

func TestSummaryIsNotEmitted(t *testing.T) {
	t.Parallel()
	small := middlewaretest.Script(middlewaretest.Say("Goal: x. ", "Decisions and reasons: none."))
	big := middlewaretest.Script(middlewaretest.Say("the answer"))
	model := summarize.New(summarize.By(small.Model, summarize.Ask{Sections: []string{}}), summarize.Options{})(big.Model)
	var emitted strings.Builder
	_, err := model(t.Context(), &middleware.Request{Messages: history(8), Force: []string{"*"}}, func(d middleware.Delta) error {
		_, err := fmt.Fprint(&emitted, d)
		return err
	})
	require.NoError(t, err)
	require.Contains(t, emitted.String(), "the answer")
	require.NotContains(t, emitted.String(), "Goal")
}

func TestParallelChunks(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	together := make(chan struct{})
	s := func(ctx context.Context, f *summarize.Fold) (string, error) {
		n := now.Add(1)
		defer now.Add(-1)
		if n > most.Load() {
			most.Store(n)
		}
		if n == 3 {
			close(together)
		}
		select {
		case <-together:
		case <-ctx.Done():
		}
		return fmt.Sprintf("It begins with %.40q.", f.Messages[0].Text()), nil
	}
	h := history(12)
	mw := summarize.New(summarize.ByFunc(s), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Chunks: 4}, Parallel: 3})
	view, _ := fold(t, mw, h)
	require.Equal(t, int32(3), most.Load(), "as many at a time as may be")
	require.Less(t, len(view), len(h)/2)
}

// A summary that was made of longer messages is not used where it would be no
// shorter than they are now.
func TestMadeForLongerMessages(t *testing.T) {
	t.Parallel()
	asked := 0
	mw := summarize.New(summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
		asked++
		return strings.TrimSpace(strings.Repeat("log ", f.Tokens*9/10)), nil
	}), summarize.Options{Keep: 2})
	h := history(8)
	_, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h, Force: []string{"*"}})
	require.NoError(t, err)
	require.Equal(t, 1, asked)
	cleared := middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		p := &middleware.Plan{}
		for i, m := range v.Messages() {
			if m.Role == message.RoleTool {
				r, _ := m.Parts[0].(message.ToolResult)
				r.Text = "a line of the log is all that is left"
				p.Edits = append(p.Edits, middleware.RewriteOf(i, r))
			}
		}
		return p, nil
	}, middleware.Options{})
	view, events := fold(t, middleware.Chain(cleared, mw), h)
	require.Equal(t, 2, asked)
	require.NotContains(t, kinds(events), middleware.Refused)
	require.Less(t, len(view), len(h)/2)
}

// Where all is dropped, nobody is asked, and the summary says so.
func TestAllDropped(t *testing.T) {
	t.Parallel()
	h := history(8)
	for i := range h {
		h[i].Time = time.Unix(int64(i), 0)
	}
	view, _ := fold(t, summarize.New(summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) {
		return "", errors.New("nobody should be asked")
	}), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Since: time.Unix(1000, 0)}}), h)
	require.Contains(t, summaryIn(t, view, h).Text(), "(18 messages compacted: 0 of the user, 10 of the assistant; 18 of them left out)")
}

// What another editor has removed without a trace is covered by a fold around it,
// which says that no words are about it.
func TestRemovedByOthers(t *testing.T) {
	t.Parallel()
	h := history(8)
	removes := middleware.Editing("remove", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < len(h) {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(4, 5)}}, nil
	}, middleware.Options{})
	mw := middleware.Chain(removes, summarize.New(summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) {
		return "The logs were read.", nil
	}), summarize.Options{}))
	for range 2 {
		view, _ := fold(t, mw, h)
		text := summaryIn(t, view, h).Text()
		require.True(t, strings.HasSuffix(text, fmt.Sprintf("(%d messages compacted: 0 of the user, 6 of the assistant; 2 of them left out)", len(h)-len(view)+1)), text)
	}
}
