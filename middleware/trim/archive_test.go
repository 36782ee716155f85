package trim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// A conversation that was trimmed without an archive has notes without a handle. What
// they replace is archived with the next removal.
func TestNotesOfBeforeTheArchive(t *testing.T) {
	t.Parallel()
	journal, archive := journal.NewMemory(0), store.NewMemory(0)
	mw := trim.New(trim.Options{Trigger: trigger.Messages(20), TargetTokens: 3000, Note: "(gone)"})
	h := editortest.Conversation(60)
	sent, _, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: journal, Scope: "a"}, mw), &middleware.Request{Messages: h[:40]})
	require.NoError(t, err)
	require.Less(t, len(sent.Messages), 40)
	sent, _, err = middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: journal, Scope: "a", Archive: archive}, mw),
		&middleware.Request{Messages: h})
	require.NoError(t, err)
	v := sent.View()
	for i, m := range v.Messages() {
		if v.Span(i).Edit == nil {
			continue
		}
		c, err := archive.Get(t.Context(), archived.In(m.Text())[0])
		require.NoError(t, err)
		require.Contains(t, c.Data, "nightly 000002", "what was removed without an archive is archived now")
		require.NotContains(t, c.Data, "(gone)")
		return
	}
	require.Fail(t, "nothing was removed")
}

// What was read from the archive is removed after the rest, as long as the rest is larger.
func TestRecalledRoundsAreRemovedLast(t *testing.T) {
	t.Parallel()
	round := func(i int, tool, arguments string) []message.Message {
		id := fmt.Sprintf("c%d", i)
		return []message.Message{
			message.Assistant(message.ToolCall{ID: id, Name: tool, Arguments: arguments}),
			message.Result(id, tool, strings.Repeat(fmt.Sprintf("line of result %d\n", i), 40)),
		}
	}
	handle := store.HandleIn(nil, "", store.Content{Data: "some"}.Hash()).String()
	for name, c := range map[string]struct {
		recalled int // of 12 rounds, the first ones after one other
		kept     bool
	}{
		"one": {1, true}, "most": {8, false},
	} {
		h := []message.Message{message.User("Audit it.")}
		for i := range 12 {
			tool, arguments := "read", "{}"
			if 1 <= i && i <= c.recalled {
				tool, arguments = store.RecallTool, fmt.Sprintf(`{"handle":%q}`, handle)
			}
			h = append(h, round(i, tool, arguments)...)
		}
		mw := middleware.With(middleware.Env{Archive: store.NewMemory(0)},
			trim.New(trim.Options{Strategy: "oldest", Trigger: trigger.Messages(20), TargetTokens: 1000}))
		sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err, name)
		require.Less(t, len(sent.Messages), len(h)-6, name)
		require.Equal(t, c.kept, slices.ContainsFunc(sent.Messages, h[4].Equal), "the recalled result is in the view")
	}
}

// TestStatisticsOfEditors adds up what each editor does to a conversation, and what all do.
func TestStatisticsOfEditors(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(1_500)
	for name, mw := range map[string]middleware.Middleware{
		"contextedit":  contextedit.New(contextedit.Options{Trigger: low, Keep: 2}),
		"microcompact": microcompact.New(microcompact.Options{KeepRounds: 2}),
		"trim":         trim.New(trim.Options{Trigger: low, Note: "Messages were removed."}),
		"summarize":    summarize.New(summarize.ByRules(), summarize.Options{Trigger: low, Keep: 4}),
	} {
		var own, all trim.Statistics
		sum := trim.Statistics{}
		rec := &middlewaretest.Recorder{}
		chain := middleware.Chain(rec.Middleware(),
			middleware.Observe(trim.SumEdits(name, func(s *trim.Statistics) { own = *s })),
			middleware.Observe(trim.SumEdits("", func(s *trim.Statistics) { all = *s })), mw)
		edited := map[int]bool{}
		for history := range testkit.Prefixes(middlewaretest.ReAct{Rounds: 20, PerTurn: 4, Result: 900, Thought: 200}.Messages()) {
			_, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history})
			require.NoError(t, err)
		}
		for _, e := range rec.Events(middleware.Edited) {
			sum.Count++
			sum.Tokens += e.Before - e.After
			for _, r := range e.Edits {
				for _, run := range r.Runs {
					for i := run.First; i <= run.Last; i++ {
						edited[i] = true
					}
				}
			}
		}
		require.Greater(t, own.Count, 2, name)
		require.Equal(t, []int{sum.Count, sum.Tokens, len(edited)}, []int{own.Count, own.Tokens, own.Messages}, name)
		require.Equal(t, own, all, "%s: there is no other editor", name)
		require.Len(t, own.History, min(10, own.Count), name)
		require.NotContains(t, strings.ToLower(fmt.Sprintf("%+v", own.History[0].Edits[0])), "line 1 of the log", "no text")
	}
}
