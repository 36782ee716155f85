package summarize_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
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

// filler is so much text that a message of it is worth folding.
var filler = strings.Repeat("The build reads its cache. ", 60)

// said returns an answer.
func said(text string) message.Message { return message.Assistant(message.Text{Text: text}) }

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
