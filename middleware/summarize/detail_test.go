package summarize_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// Rules are rules: nobody is asked, whatever the strategy, and the zero Writer is
// that of rules.
func TestRulesAskNobody(t *testing.T) {
	t.Parallel()
	h := history(8)
	for _, s := range []summarize.Strategy{{}, {Structured: true}, {Facts: []summarize.Concept{{Keyword: "cache"}}}} {
		var first string
		for _, w := range []summarize.Writer{summarize.ByRules(), {}} {
			view, events := fold(t, summarize.New(w, summarize.Options{Strategy: s, NoFallback: true}), h)
			text := summaryIn(t, view, h).Text()
			require.Contains(t, text, "messages compacted", s)
			require.NotContains(t, kinds(events), summarize.Attempted, s)
			first = cmp.Or(first, text)
			require.Equal(t, first, text, s)
		}
	}
}

// Of a very short summary no headings are wanted: they would leave no room.
func TestShortSummaryWithoutHeadings(t *testing.T) {
	t.Parallel()
	h := history(8)
	for most, taken := range map[int]bool{199: true, 200: false} {
		small := writer("All is well.")
		view, _ := fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{SummaryTokens: most}), h)
		require.Equal(t, taken, strings.Contains(summaryIn(t, view, h).Text(), "All is well."), "%d tokens", most)
		asked := small.Requests()[0].Messages
		require.Equal(t, !taken, strings.Contains(asked[len(asked)-1].Text(), "## Goal"), "%d tokens", most)
	}
}

// The model of the conversation is asked with a record, where the conversation
// shows what the summary shall leave out, or has no room for one message more.
func TestSuffixIsNotPossible(t *testing.T) {
	t.Parallel()
	h := history(8)
	d, err := middleware.Draft(t.Context(), middleware.Chain(), forced(h))
	require.NoError(t, err)
	wide, narrow := &middleware.Budget{Window: 100_000}, &middleware.Budget{Window: d.After.Size().Tokens + 1200}
	for name, c := range map[string]struct {
		strategy summarize.Strategy
		budget   *middleware.Budget
		suffix   bool
	}{
		"all of it":             {summarize.Strategy{}, wide, true},
		"in a known window":     {summarize.Strategy{}, narrow, false},
		"the newest alone":      {summarize.Strategy{OnlyLast: 4}, wide, false},
		"the newest, and all":   {summarize.Strategy{OnlyLast: 100}, wide, true},
		"in parts":              {summarize.Strategy{Chunks: 6}, wide, false},
		"since a time, and all": {summarize.Strategy{Since: time.Unix(1, 0)}, wide, true},
	} {
		live := writer(good)
		mw := summarize.New(summarize.InConversation(live.Model, summarize.Ask{}), summarize.Options{Strategy: c.strategy})
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Force: []string{"*"}, Model: "in-house", Budget: c.budget})
		require.NoError(t, err)
		for _, req := range live.Requests() {
			require.Equal(t, c.suffix, len(req.Messages) > 2, name)
		}
		require.NotEmpty(t, live.Requests(), name)
	}
}

// The reserve is no less than that of the budget, and no less than the option says.
func TestReserve(t *testing.T) {
	t.Parallel()
	h := history(8)
	view, err := summarize.Check(t.Context(), &middleware.Request{Messages: h}, summarize.Options{})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		option, budget int
		want           string
	}{
		"of the option": {500, 100, "hard"},
		"of the budget": {100, 500, "hard"},
		"of neither":    {100, 100, "none"},
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
	mw := summarize.New(summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) {
		if failing {
			return "", errors.New("not now")
		}
		return "All is well.", nil
	}), summarize.Options{
		NoFallback: true,
		Flush: func(_ context.Context, folded []message.Message) (int, error) {
			if failing {
				return 0, errors.New("the disk is full")
			}
			flushed += len(folded)
			return len(folded), nil
		},
	})
	view, events := fold(t, mw, h)
	require.NoError(t, testkit.Same(h, view), "all is as it was")
	require.Equal(t, summarize.Flushed, events[0].Kind)
	require.ErrorContains(t, events[0].Err, "the disk is full")
	failing = false
	view, _ = fold(t, mw, h)
	require.Equal(t, len(h)-len(view)+1, flushed, "what the first attempt could not keep")
}

// A dry run keeps no memories, neither of what it would fold nor of what one before it
// has folded: the next call does.
func TestDryRunsFlushNothing(t *testing.T) {
	t.Parallel()
	flushed := 0
	mw := summarize.New(summarize.ByRules(), summarize.Options{Flush: func(_ context.Context, folded []message.Message) (int, error) {
		flushed += len(folded)
		return len(folded), nil
	}})
	h := history(8)
	d, err := middleware.Draft(t.Context(), mw, forced(h))
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context()))
	again, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Empty(t, again.Edits, "the fold is there")
	require.Zero(t, flushed)
	view, _ := apply(t, mw, h)
	require.Equal(t, len(h)-len(view)+1, flushed)
}

// What is prepared flushes its memories when it is used, and not before.
func TestPreparedFlushesWhenUsed(t *testing.T) {
	t.Parallel()
	var flushed atomic.Int32
	bg := newBackground(t.Context(), 1)
	opts := advised()
	opts.Background = bg.Start
	opts.Flush = func(_ context.Context, folded []message.Message) (int, error) {
		flushed.Add(int32(len(folded)))
		return len(folded), nil
	}
	small := writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), opts)
	h := history(24)
	apply(t, mw, h[:20])
	bg.Wait()
	require.Len(t, small.Requests(), 1)
	require.Zero(t, flushed.Load())
	view, _ := apply(t, mw, h[:30])
	require.Len(t, small.Requests(), 1, "what was prepared is enough")
	require.Equal(t, int32(30-len(view)+1), flushed.Load())
}

// filler is so much text that a message of it is worth folding.
var filler = strings.Repeat("The build reads its cache. ", 60)

// said returns an answer.
func said(text string) message.Message { return message.Assistant(message.Text{Text: text}) }

// Chunks of a call that is made again are those that were made for it, though a
// message was left that was not worth a summary.
func TestChunksOnce(t *testing.T) {
	t.Parallel()
	small := writer("It was read.")
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{Sections: []string{}}), summarize.Options{Strategy: summarize.Strategy{Chunks: 3}, Keep: 2})
	h := []message.Message{message.User("Why?")}
	for range 6 {
		h = append(h, said(filler))
	}
	h = append(h, said("Well."), message.User("And now?"), said("I look."))
	first, _ := fold(t, mw, h)
	require.True(t, contains(first, said("Well.")), "it is not worth a summary")
	require.Len(t, first, 6, "two summaries")
	require.Len(t, small.Requests(), 2)
	again, events := fold(t, mw, h)
	require.NoError(t, testkit.Same(first, again))
	require.Empty(t, events)
	require.Len(t, small.Requests(), 2, "nothing is paid twice")
}

// There is one summary, also where it stands among what KeepTokens keeps, and a
// question before it gives way to it.
func TestOneSummaryBehindAQuestion(t *testing.T) {
	t.Parallel()
	mw := summarize.New(summarize.By(writer("It was read.").Model, summarize.Ask{Sections: []string{}}), summarize.Options{KeepTokens: 800})
	h := []message.Message{message.User("Why?"), said(filler), message.User("Look: " + strings.Repeat(filler, 4)), said(filler + filler), said("Done.")}
	view, _ := fold(t, mw, h)
	require.Equal(t, []bool{true, true, false, true}, stays(view, h), "the last question stays before the summary")
	h = append(h, message.User("And now?"))
	view, _ = fold(t, mw, h)
	require.Equal(t, []bool{true, false, true, true}, stays(view, h), "one summary stands for it as well")
}

// stays tells which messages of a view are of the history.
func stays(view, h []message.Message) (out []bool) {
	for _, m := range view {
		out = append(out, contains(h, m))
	}
	return out
}

// A system message more at the top voids nothing that was made in a dry run.
func TestDryRunUnderAnotherSystemMessage(t *testing.T) {
	t.Parallel()
	small := writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{})
	h := history(8)
	_, err := middleware.Draft(t.Context(), mw, forced(h))
	require.NoError(t, err)
	h = slices.Concat([]message.Message{message.System("Today is Monday.")}, h)
	view, _ := fold(t, mw, h)
	require.Contains(t, summaryIn(t, view, h).Text(), good)
	require.Len(t, small.Requests(), 1)
}

// However little is new, an earlier summary does not have to shrink for it.
func TestEarlierKeepsItsRoom(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("Much was found out about the build. ", 40)
	var room []int
	mw := summarize.New(summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
		for _, e := range f.Earlier {
			room = append(room, f.Tokens-f.View.Meter().Part(message.Text{Text: e}))
		}
		return words, nil
	}), summarize.Options{Keep: 2})
	h := []message.Message{message.User("Why?"), said(strings.Repeat(filler, 4)), said(strings.Repeat(filler, 4)), message.User("And?"), said("Well.")}
	fold(t, mw, h)
	h = append(h, said(filler[:len(filler)/2]), said("So."), said("Then."))
	view, events := fold(t, mw, h)
	require.Empty(t, reasons(events))
	require.Contains(t, summaryIn(t, view, h).Text(), strings.TrimSpace(words))
	require.Len(t, room, 1)
	require.GreaterOrEqual(t, room[0], 0, "tokens that are left beside the earlier words")
}

// A summary names the archive that its own chain has, though another chain of the
// same scope has made the words.
func TestHandleOfItsOwn(t *testing.T) {
	t.Parallel()
	small := writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{})
	archive := store.NewMemory(0)
	h := history(8)
	view, _ := fold(t, middleware.With(middleware.Env{Scope: "a"}, mw), h)
	require.Empty(t, archived.In(summaryIn(t, view, h).Text()))
	view, _ = fold(t, middleware.With(middleware.Env{Scope: "a", Archive: archive}, mw), h)
	handles := archived.In(summaryIn(t, view, h).Text())
	require.Len(t, handles, 1)
	_, err := archive.Get(t.Context(), handles[0])
	require.NoError(t, err)
}

// A conversation that goes back behind the point where a fold was advised is
// advised once more.
func TestAdvisedAgain(t *testing.T) {
	t.Parallel()
	mw := summarize.New(summarize.ByRules(), advised())
	h := history(24)
	_, events := apply(t, mw, h[:24])
	require.Equal(t, []middleware.EventKind{summarize.Advised}, kinds(events))
	_, events = apply(t, mw, h[:26])
	require.Empty(t, events)
	_, events = apply(t, mw, h[:20])
	require.Equal(t, []middleware.EventKind{summarize.Advised}, kinds(events))
}

// A log shows costs in dollars, and how many inventions there are, not the text of the conversation.
func TestReportInLog(t *testing.T) {
	t.Parallel()
	e := middleware.Event{
		Kind: summarize.Attempted, By: "summarize",
		Detail: summarize.Report{Usage: message.Usage{Input: 800, CacheRead: 600, Output: 40}, Cost: 1_230_000_000, Inventions: []string{"a.go"}},
	}
	var text, json strings.Builder
	middleware.Slog(slog.New(slog.NewTextHandler(&text, nil)))(t.Context(), e)
	middleware.Slog(slog.New(slog.NewJSONHandler(&json, nil)))(t.Context(), e)
	require.Contains(t, text.String(), "detail.usage.input=800 detail.usage.cache_read=600 ")
	require.Contains(t, text.String(), " detail.cost=0.00123 detail.inventions=1\n")
	require.Contains(t, json.String(), `"detail":{"messages":0,"memories":0,"usage":{"input":800,`)
	require.Contains(t, json.String(), `"thinking":0},"cost":0.00123,"inventions":1}`)
}
