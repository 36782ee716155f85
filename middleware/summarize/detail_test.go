package summarize_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// Rules are rules: a model that there is besides is not asked.
func TestRulesAskNobody(t *testing.T) {
	t.Parallel()
	small, live := writer(good), writer(good)
	h := history(8)
	view, events := fold(t, summarize.New(small.Model(), summarize.Options{Live: live.Model(), Strategy: summarize.Rules()}), h)
	require.Contains(t, summaryIn(t, view, h).Text(), "messages compacted")
	require.Empty(t, small.Requests())
	require.Empty(t, live.Requests())
	require.NotContains(t, kinds(events), middleware.Attempted)
}

// The reserve is no less than that of the budget, and no less than the option says.
func TestReserve(t *testing.T) {
	t.Parallel()
	h := history(8)
	view, err := summarize.Check(t.Context(), &middleware.Request{Messages: h}, summarize.Options{})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		option, budget int
		want           summarize.Urgency
	}{
		"of the option": {500, 100, summarize.Hard},
		"of the budget": {100, 500, summarize.Hard},
		"of neither":    {100, 100, summarize.None},
	} {
		req := &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: view.Tokens + 400, Reserve: c.budget}}
		s, err := summarize.Check(t.Context(), req, summarize.Options{Reserve: c.option, Trigger: trigger.Tokens(1_000_000)})
		require.NoError(t, err)
		require.Equal(t, c.want, s.Urgency, "%s: %s", name, s.Why)
	}
}

// Memories that could not be kept are kept with the next attempt at the fold.
func TestFlushedLater(t *testing.T) {
	t.Parallel()
	h := history(8)
	failing, flushed := true, 0
	mw := summarize.New(nil, summarize.Options{
		NoFallback: true,
		Summarizer: func(context.Context, *summarize.Fold) (string, error) {
			if failing {
				return "", errors.New("not now")
			}
			return "All is well.", nil
		},
		Flush: func(_ context.Context, folded []message.Message) (int, error) {
			if failing {
				return 0, errors.New("the disk is full")
			}
			flushed += len(folded)
			return len(folded), nil
		},
	})
	view, events := fold(t, mw, h)
	require.NoError(t, middlewaretest.Same(h, view), "all is as it was")
	require.Contains(t, kinds(events), middleware.FlushFailed)
	failing = false
	view, _ = fold(t, mw, h)
	require.Equal(t, len(h)-len(view)+1, flushed, "what the first attempt could not keep")
}

// Chunks of a call that is made again are those that were made for it.
func TestChunksOnce(t *testing.T) {
	t.Parallel()
	small := writer("It was read.")
	mw := summarize.New(small.Model(), summarize.Options{Strategy: summarize.Chunks(3), Sections: []string{}})
	h := history(12)
	first, _ := fold(t, mw, h)
	asked := len(small.Requests())
	require.Greater(t, asked, 3)
	again, events := fold(t, mw, h)
	require.NoError(t, middlewaretest.Same(first, again))
	require.Empty(t, events)
	require.Len(t, small.Requests(), asked, "nothing is paid twice")
}

// There is one summary, also where it stands among what KeepTokens keeps, and a
// question before it is not the last one any more.
func TestOneSummaryBehindAQuestion(t *testing.T) {
	t.Parallel()
	h := history(8) // ends with a long turn, whose question stays before the summary
	small := writer(good)
	mw := summarize.New(small.Model(), summarize.Options{KeepTokens: 1200})
	view, _ := fold(t, mw, h)
	at := -1
	for i := range view {
		if !contains(h, view[i]) {
			at = i
		}
	}
	require.Equal(t, message.RoleUser, view[at-1].Role, "the summary stands behind the question: %d", at)
	h = append(h[:len(h):len(h)], message.User("And the weekly one?"))
	view, _ = fold(t, mw, h)
	summaryIn(t, view, h)
	require.False(t, contains(view, h[len(h)-2-len(view)]), "something was folded")
}

// A summary names the archive that its own chain has, though another chain of the
// same scope has made the words.
func TestHandleOfItsOwn(t *testing.T) {
	t.Parallel()
	small := writer(good)
	mw := summarize.New(small.Model(), summarize.Options{})
	archive := store.NewMemory(0)
	h := history(8)
	view, _ := fold(t, middleware.With(middleware.Env{Scope: "a"}, mw), h)
	require.Empty(t, store.HandlesIn(summaryIn(t, view, h).Text()))
	view, _ = fold(t, middleware.With(middleware.Env{Scope: "a", Archive: archive}, mw), h)
	handles := store.HandlesIn(summaryIn(t, view, h).Text())
	require.Len(t, handles, 1)
	_, err := archive.Get(t.Context(), handles[0])
	require.NoError(t, err)
}

// A conversation that goes back behind the point where a fold was advised is
// advised once more.
func TestAdvisedAgain(t *testing.T) {
	t.Parallel()
	mw := summarize.New(nil, advised())
	h := history(24)
	_, events := apply(t, mw, h[:24])
	require.Equal(t, []middleware.EventKind{middleware.Advised}, kinds(events))
	_, events = apply(t, mw, h[:26])
	require.Empty(t, events)
	_, events = apply(t, mw, h[:20])
	require.Equal(t, []middleware.EventKind{middleware.Advised}, kinds(events))
}
