package summarize_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// forced returns a request that folds, whatever the trigger says.
func forced(h []message.Message) *middleware.Request {
	return &middleware.Request{Messages: h, Force: []string{"summarize"}}
}

// The same history at the same time is summarised once, and observers hear of it
// once, though all wait while it is made.
func TestSingleFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked, told atomic.Int32
		gate := make(chan struct{})
		slow := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			asked.Add(1)
			<-gate
			return &middleware.Response{Message: message.Assistant(message.Text{Text: good}), Stop: middleware.StopEnd}, nil
		}
		observe := middleware.Observe(func(_ context.Context, e middleware.Event) {
			if e.Kind == summarize.Summarized {
				told.Add(1)
			}
		})
		mw := middleware.Chain(observe, summarize.New(summarize.By(slow, summarize.Ask{}), summarize.Options{Timeout: -1}))
		h := history(8)
		views := make([][]message.Message, 50)
		var all sync.WaitGroup
		for i := range views {
			all.Go(func() {
				sent, _, err := middleware.Apply(t.Context(), mw, forced(h))
				if err == nil {
					views[i] = sent.Messages
				}
			})
		}
		synctest.Wait() // one asks, and the others wait for it
		close(gate)
		all.Wait()
		require.Equal(t, int32(1), asked.Load())
		require.Equal(t, int32(1), told.Load())
		for _, v := range views {
			require.Less(t, len(v), len(h))
			require.NoError(t, testkit.Same(views[0], v))
		}
	})
}

// Whoever waits for a summary makes it, if the call that made it is called off, and
// waits no longer than its own context allows.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		slow := func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			asked.Add(1)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Second):
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: good}), Stop: middleware.StopEnd}, nil
		}
		mw := summarize.New(summarize.By(slow, summarize.Ask{}), summarize.Options{})
		h := history(8)
		call := func(patience time.Duration) (*middleware.Request, error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			sent, _, err := middleware.Apply(ctx, mw, forced(h))
			return sent, err
		}
		patience := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, time.Hour}
		errs := make([]error, len(patience))
		var last *middleware.Request
		var all sync.WaitGroup
		for i, p := range patience {
			all.Go(func() {
				var sent *middleware.Request
				if sent, errs[i] = call(p); i == len(patience)-1 {
					last = sent
				}
			})
			synctest.Wait() // the first one asks, and each of the others waits
		}
		require.Equal(t, int32(1), asked.Load())
		all.Wait()
		for i, err := range errs[:len(errs)-1] {
			require.ErrorIs(t, err, context.DeadlineExceeded, "call %d waits no longer than it may", i)
		}
		require.NoError(t, errs[len(errs)-1], "whose turn it is at last makes it")
		require.Contains(t, summaryIn(t, last.Messages, h).Text(), good)
	})
}
