package summarize_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
