package trim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

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
