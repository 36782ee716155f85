package summarize_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// advised are options of a soft threshold at 20 messages and a hard one at 30.
func advised() summarize.Options {
	return summarize.Options{Soft: trigger.Messages(20), Trigger: trigger.Messages(30), Keep: 4}
}

// apply runs a chain over a history.
func apply(t *testing.T, mw middleware.Middleware, h []message.Message) ([]message.Message, []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return sent.Messages, events
}

func TestAdvised(t *testing.T) {
	t.Parallel()
	mw := summarize.New(summarize.ByRules(), advised())
	h := history(24)
	told := map[middleware.EventKind][]int{}
	for n := 2; n <= len(h); n++ {
		_, events := apply(t, mw, h[:n])
		for _, e := range events {
			told[e.Kind] = append(told[e.Kind], n)
		}
	}
	require.Equal(t, 20, told[middleware.Advised][0])
	require.Equal(t, 30, told[middleware.Edited][0])
	require.Len(t, told[middleware.Advised], len(told[middleware.Edited]), "once for each fold: %v", told)
	require.Empty(t, told[middleware.Refused])
}

func TestPreparedInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bg := summarize.NewBackground(t.Context(), 2)
		small := writer(good)
		opts := advised()
		opts.Background = bg.Go
		mw := summarize.New(summarize.By(small.Model(), summarize.Ask{}), opts)
		h := history(24)

		_, events := apply(t, mw, h[:20])
		require.Equal(t, []middleware.EventKind{middleware.Advised}, kinds(events))
		bg.Wait()
		require.Len(t, small.Requests(), 1, "it is prepared")
		_, events = apply(t, mw, h[:24])
		require.Equal(t, []middleware.EventKind{middleware.Summarizing, middleware.Attempted}, kinds(events), "what it took is told by the next call")
		_, events = apply(t, mw, h[:25])
		require.Empty(t, events, "and not once more")

		view, events := apply(t, mw, h[:30])
		require.Len(t, small.Requests(), 1, "what was prepared is enough")
		require.Equal(t, []middleware.EventKind{middleware.Summarized, middleware.Edited}, kinds(events), "that it is made is told when it is used")
		require.Contains(t, summaryIn(t, view, h).Text(), good)
		require.NoError(t, middlewaretest.Same(h[16:30], view[len(view)-14:]), "what came since stays")

		_, events = apply(t, mw, h[:30])
		require.Empty(t, events)
	})
}

// If what was prepared is not enough, it is brought up to date, and the messages
// that it is about are not read again.
func TestPreparedAndBroughtUpToDate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bg := summarize.NewBackground(t.Context(), 2)
		small := writer(good)
		opts := advised()
		opts.Background = bg.Go
		mw := summarize.New(summarize.By(small.Model(), summarize.Ask{}), opts)
		h := history(32)
		apply(t, mw, h[:20])
		bg.Wait()
		view, _ := apply(t, mw, h[:60]) // far more than one call adds
		require.Len(t, small.Requests(), 2)
		asked := small.Requests()[1].Messages
		record := asked[len(asked)-1].Text()
		require.Contains(t, record, "the cache is stale", "the words that were prepared")
		require.NotContains(t, record, h[3].Parts[0].(message.ToolResult).Text)
		require.Less(t, len(view), 12)
	})
}

func TestPreparedForAnotherHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bg := summarize.NewBackground(t.Context(), 2)
		small := writer(good)
		opts := advised()
		opts.Background = bg.Go
		mw := summarize.New(summarize.By(small.Model(), summarize.Ask{}), opts)
		h := history(24)
		apply(t, mw, h[:20])
		bg.Wait()
		h[5] = message.Result("c2", "read_file", "something else was read in this fork")
		h[4] = message.Assistant(message.ToolCall{ID: "c2", Name: "read_file", Arguments: `{}`})
		apply(t, mw, h[:30])
		require.Len(t, small.Requests(), 2, "a fork gets a summary of its own")
	})
}

// What fails in the background is no loss: the fold makes the summary itself.
func TestPreparationFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		bg := summarize.NewBackground(ctx, 1)
		calls := 0
		opts := advised()
		opts.Background = bg.Go
		mw := summarize.New(summarize.ByFunc(func(ctx context.Context, f *summarize.Fold) (string, error) {
			calls++
			switch {
			case calls <= 2:
				return "", errors.New("not now")
			case calls == 4:
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "The log was read.", nil
		}), opts)
		h := history(64)
		apply(t, mw, h[:20])
		bg.Wait()
		_, events := apply(t, mw, h[:22])
		require.Contains(t, kinds(events), middleware.Rejected, "what was tried is told")
		_, events = apply(t, mw, h[:23])
		require.Empty(t, events, "once")
		view, _ := apply(t, mw, h[:30])
		require.Contains(t, summaryIn(t, view, h).Text(), "The log was read.")

		// A task ends with its context, and none is begun behind that.
		_, events = apply(t, mw, h[:48])
		require.Equal(t, []middleware.EventKind{middleware.Advised}, kinds(events))
		synctest.Wait()
		require.False(t, bg.Go(func(context.Context) {}), "no more than one at a time")
		cancel()
		bg.Wait()
		require.False(t, bg.Go(func(context.Context) {}))
	})
}

func TestCheckWithChain(t *testing.T) {
	t.Parallel()
	h := history(16)
	opts := summarize.Options{Trigger: trigger.Messages(30), Soft: trigger.All(trigger.Messages(10), trigger.Tokens(1_000_000))}
	s, err := summarize.Check(t.Context(), &middleware.Request{Messages: h}, opts)
	require.NoError(t, err)
	require.Equal(t, summarize.Hard, s.Urgency)
	require.Zero(t, s.Threshold, "it does not go by tokens")

	before := summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Messages(20), Keep: 2})
	s, err = summarize.Check(t.Context(), &middleware.Request{Messages: h}, opts, before)
	require.NoError(t, err)
	require.Equal(t, summarize.None, s.Urgency, "what stands before is heeded")
	require.Equal(t, 1_000_000, s.Threshold)

	_, err = summarize.Check(t.Context(), &middleware.Request{Messages: h}, summarize.Options{KeepRounds: -1})
	require.Equal(t, middleware.Invalid, middleware.KindOf(err))
	_, err = summarize.Check(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 900}}, summarize.Options{Reserve: 900})
	require.ErrorContains(t, err, "Reserve")
}
