package trim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

func TestStatisticsOfNothing(t *testing.T) {
	t.Parallel()
	observe := trim.SumEdits("trim", func(*trim.Statistics) { t.Error("what others do, and what is not done, does not count") })
	for _, e := range []middleware.Event{
		{Kind: middleware.Edited, By: "contextedit", Before: 100, After: 50},
		{Kind: middleware.Refused, By: "trim", Detail: trim.Report{}},
		{Kind: trim.LevelChanged, By: "trim", Detail: trim.Change{}},
	} {
		observe(t.Context(), e)
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

// TestStatisticsAtOnce observes and reads concurrently.
func TestStatisticsAtOnce(t *testing.T) {
	t.Parallel()
	var stats atomic.Pointer[trim.Statistics]
	observe := trim.SumEdits("trim", stats.Store)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 50 {
				observe(context.Background(), middleware.Event{
					Kind: middleware.Edited, By: "trim", Before: 1000, After: 750, Time: time.Unix(int64(k), 0),
					Detail: trim.Report{Messages: 2, Units: 1},
					Edits:  []*journal.Record{{Runs: []message.Run{{First: i, Last: i + 1}}, ID: message.ID{byte(i)}}},
				})
				sum := stats.Load()
				require.LessOrEqual(t, len(sum.History), 10)
				require.Equal(t, 2*sum.Count, sum.Messages)
			}
		})
	}
	wg.Wait()
	sum := stats.Load()
	require.Equal(t, []int{400, 800, 100_000}, []int{sum.Count, sum.Messages, sum.Tokens})
	require.InDelta(t, 0.75, sum.MeanRatio, 1e-9)
	sum.History[5].Before = 7
	observe(t.Context(), sum.History[9])
	require.Equal(t, 401, stats.Load().Count)
	require.NotEqual(t, 7, stats.Load().History[4].Before, "the list is the caller's own")
}
