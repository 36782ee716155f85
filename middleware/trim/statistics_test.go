package trim_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trim"
)

func TestStatisticsOfNothing(t *testing.T) {
	t.Parallel()
	var s trim.Statistics
	require.Equal(t, trim.Summary{}, s.Summary())
	for _, e := range []middleware.Event{
		{Kind: middleware.Edited, By: contextedit.Name, Before: 100, After: 50},
		{Kind: middleware.Refused, By: trim.Name, Detail: trim.Report{}},
		{Kind: trim.LevelChanged, By: trim.Name, Detail: trim.Change{}},
	} {
		s.Observe(t.Context(), e)
	}
	require.Equal(t, trim.Summary{}, s.Summary(), "what others do, and what is not done, does not count")
}

// TestStatisticsAtOnce observes and reads concurrently.
func TestStatisticsAtOnce(t *testing.T) {
	t.Parallel()
	var s trim.Statistics
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 50 {
				s.Observe(context.Background(), middleware.Event{
					Kind: middleware.Edited, By: trim.Name, Before: 1000, After: 750, Time: time.Unix(int64(k), 0),
					Detail: trim.Report{Messages: 2, Units: 1},
					Edits:  []*journal.Record{{Runs: []message.Run{{First: i, Last: i + 1}}, ID: message.ID{byte(i)}}},
				})
				sum := s.Summary()
				require.LessOrEqual(t, len(sum.History), 10)
				require.Equal(t, 2*sum.Count, sum.Messages)
			}
		})
	}
	wg.Wait()
	sum := s.Summary()
	require.Equal(t, []int{400, 800, 100_000}, []int{sum.Count, sum.Messages, sum.Tokens})
	require.InDelta(t, 0.75, sum.MeanRatio, 1e-9)
	sum.History[0].Before = 7
	require.NotEqual(t, 7, s.Summary().History[0].Before, "the list is the caller's own")
}
