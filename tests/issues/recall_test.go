package issues

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// A tool of the caller that has the name recall was taken for ours where its argument
// passed for a handle, as the word "intelligence" does. Its result was cleared with the
// placeholder "[cleared: recall intelligence]", and kept nowhere.
func TestForeignToolNamedRecall(t *testing.T) {
	t.Parallel()
	result := strings.Repeat("The agency knows nothing about it. ", 300)
	editors := map[string]middleware.Middleware{
		"contextedit":  contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1}),
		"microcompact": microcompact.New(microcompact.Options{KeepRounds: 1}),
		"fit":          fit.New(fit.Options{}),
	}
	for name, editor := range editors {
		for _, arguments := range []string{
			`{"query":"intelligence"}`, `{"handle":"intelligence"}`, `{"__arg1":"intelligence"}`,
			`{"handle":"intelligence","depth":"2"}`,
		} {
			t.Run(name+arguments, func(t *testing.T) {
				t.Parallel()
				archive := store.NewMemory(0)
				history := more([]message.Message{
					message.User("Who knows about it?"),
					message.Assistant(message.ToolCall{ID: "r", Name: store.RecallTool, Arguments: arguments}),
					message.Result("r", store.RecallTool, result),
				}, 12)
				chain := middleware.With(middleware.Env{Archive: archive}, editor)
				sent, _, err := middleware.Apply(t.Context(), chain,
					&middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 2500}})
				require.NoError(t, err)
				left, ok := sent.Messages[2].Parts[0].(message.ToolResult)
				require.True(t, ok)
				require.NotEqual(t, result, left.Text, "the result is cleared, or this test shows nothing")
				handles := archived.In(left.Text)
				require.Len(t, handles, 1, "%s", left.Text)
				kept, err := archive.Get(t.Context(), handles[0])
				require.NoError(t, err, "%s", left.Text)
				require.Equal(t, result, kept.Data)
			})
		}
	}
}

// A model that has read content again needs it, or else it reads it again without end. So
// fit, contextedit and summarize take away recalled content after everything else.
func TestRecalledContentIsTakenAwayLast(t *testing.T) {
	t.Parallel()
	editors := map[string]middleware.Middleware{
		"contextedit": contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1}),
		"summarize":   summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(1), Keep: 2}),
		"fit":         fit.New(fit.Options{}),
	}
	page := strings.Repeat("a line of a file\n", 60)
	for name, editor := range editors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := store.NewMemory(0)
			h, err := store.Keep(t.Context(), archive, store.Content{Data: page + name})
			require.NoError(t, err)
			history := more([]message.Message{
				message.User("What is in it?"),
				message.Assistant(message.ToolCall{ID: "r", Name: store.RecallTool, Arguments: `{"handle":"` + h.String() + `"}`}),
				message.Result("r", store.RecallTool, page+name),
			}, 12)
			for i, m := range history[3:] {
				for r := range m.Results() {
					r.Text = page
					history[3+i].Parts = []message.Part{r}
				}
			}
			chain := middleware.With(middleware.Env{Archive: archive}, editor)
			sent, _, err := middleware.Apply(t.Context(), chain,
				&middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 2500}})
			require.NoError(t, err)
			require.NotEqual(t, history, sent.Messages, "something is taken away, or this test shows nothing")
			require.Contains(t, sent.Messages, history[2], "not the recalled page")
		})
	}
}

// A recalled answer that has no room is cut; the mark does not lead to the same answer.
// The second such answer is reported, once.
func TestRecalledAnswerWithoutRoom(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	page := strings.Repeat("a line of a file\n", 2000)
	h, err := store.Keep(t.Context(), archive, store.Content{Data: page})
	require.NoError(t, err)
	history := []message.Message{message.User("What is in it?")}
	var events []middleware.Event
	for _, id := range []string{"r", "s"} {
		history = append(history,
			message.Assistant(message.ToolCall{ID: id, Name: store.RecallTool, Arguments: `{"handle":"` + h.String() + `"}`}),
			message.Result(id, store.RecallTool, page))
		chain := middleware.With(middleware.Env{Archive: archive}, fit.New(fit.Options{}))
		var sent *middleware.Request
		sent, events, err = middleware.Apply(t.Context(), chain,
			&middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 2500}})
		require.NoError(t, err)
		last, ok := sent.Messages[len(sent.Messages)-1].Parts[0].(message.ToolResult)
		require.True(t, ok)
		require.Contains(t, last.Text, "characters left out: recall "+h.String()+", fewer lines at a time by from and to …]")
	}
	notices := 0
	for _, e := range events {
		if e.Kind == middleware.Notice && strings.Contains(e.Why, "has read "+h.String()+" 2 times, with the same answer") {
			notices++
		}
	}
	require.Equal(t, 1, notices, "%v", events)
}

// TestForgedHandleInAFold: a fold without an archive repeated a tool result with a handle, so the
// next fold, with an archive, took what it covers for archived.
func TestForgedHandleInAFold(t *testing.T) {
	t.Parallel()
	forged := store.HandleIn(nil, "", store.Content{Data: "forged"}.Hash()).String()
	for _, note := range []string{
		"It says [cleared: recall " + forged + "] and more.",
		"It says [cleared: recall " + forged + "]\n(3 messages)",
		"recall " + forged,
	} {
		kept := journal.NewMemory(0)
		h := rounds(6)
		h[2] = message.Result("c1", "tool", strings.Repeat("the original of the first result\n", 20))
		folds := planning("note", func(v *middleware.View) []middleware.Edit {
			if v.Span(1).Edit != nil {
				return nil
			}
			return []middleware.Edit{{Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 4}}, Messages: []message.Message{message.User(note)}}}
		})
		apply := func(archive store.Store, mws ...middleware.Middleware) []message.Message {
			sent, _, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: kept, Archive: archive}, mws...),
				&middleware.Request{Messages: h, Force: []string{"all"}}) // each is a process of its own
			require.NoError(t, err)
			return sent.Messages
		}
		require.Less(t, len(apply(nil, folds)), len(h))
		archive := store.NewMemory(0)
		all := planning("all", func(v *middleware.View) []middleware.Edit {
			if v.Span(1).Edit.Middleware != "note" {
				return nil
			}
			runs := []message.Run{{First: 1, Last: v.Len() - 3}}
			handle, contents := v.ArchiveRuns(runs)
			return []middleware.Edit{{
				Kind: journal.Fold, Runs: runs, Archive: contents,
				Messages: []message.Message{message.User(store.Placeholder("[gone]", handle))},
			}}
		})
		view := apply(archive, folds, all)
		var found []string
		for _, m := range view {
			for _, handle := range archived.In(m.Text()) {
				c, err := archive.Get(t.Context(), handle)
				require.NoError(t, err)
				found = append(found, c.Data)
			}
		}
		require.Len(t, found, 1)
		require.Contains(t, found[0], "the original of the first result", note)
		require.False(t, strings.HasPrefix(found[0], "[removed before this"), "the forged handle leads to nothing")
	}
}

// TestForgedDigest: a result that no editor has changed counted as a placeholder if it had the words
// of one, so the facts that it repeats were in no line of facts.
func TestForgedDigest(t *testing.T) {
	t.Parallel()
	facts := "order_id: #W2378156\nemail: yusuf.rossi@example.com\n" + strings.Repeat("nothing else to see in this log\n", 20)
	line := func(newest string) string {
		h := rounds(3)
		h[2] = message.Result("c1", "tool", facts)
		h[6] = message.Result("c5", "tool", newest)
		sent, _, err := middleware.Apply(t.Context(), contextedit.New(contextedit.Options{Keep: 1, Digest: 40}),
			&middleware.Request{Messages: h, Force: []string{"contextedit"}})
		require.NoError(t, err)
		for r := range sent.Messages[2].Results() {
			return r.Text
		}
		return ""
	}
	const said = "order_id: #W2378156; email: yusuf.rossi@example.com"
	require.Contains(t, line("ok"), "#W2378156")
	require.Equal(t, line("["+said+"]"), line("[cleared; some facts: "+said+"]"))
}
