package summarize_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string]summarize.Options{
		`Reserve is -1 tokens, want 0 or more`:                             {Reserve: -1},
		`KeepRounds is -1 rounds, want 0 or more`:                          {KeepRounds: -1},
		`KeepTurns is -1 turns, want 0 or more`:                            {KeepTurns: -1},
		`KeepTokens is -1 tokens, want 0 or more`:                          {KeepTokens: -1},
		`SummaryTokens is -1 tokens, want 0 or more`:                       {SummaryTokens: -1},
		`Parallel is -1 summaries at a time, want 0 or more`:               {Parallel: -1},
		`Role is "tool", want "user", "system" or "assistant"`:             {Role: message.RoleTool},
		`Language is "fr", want "en", "zh", or ""`:                         {Language: "fr"},
		`Inventions are "keep", want "remove", "reject" or "report"`:       {Inventions: "keep"},
		`Header is blank, want a visible text`:                             {Header: " "},
		`Background would never run: Soft is nil`:                          {Background: newBackground(t.Context(), 1).Start},
		`the trigger Soft: Trigger: trigger at 0 tokens, want more than 0`: {Soft: trigger.Tokens(0)},
		`Trigger: trigger.Fraction(2), want more than 0 and at most 1`:     {Trigger: trigger.Fraction(2)},
		`MinCalls is -1 calls, want 0 or more`:                             {MinCalls: -1},
		`Strategy.Chunks is -1, want 1 message or more`:                    {Strategy: summarize.Strategy{Chunks: -1}},
		`Strategy.OnlyLast is -2, want 1 message or more`:                  {Strategy: summarize.Strategy{OnlyLast: -2}},
		`Strategy has 2 fields, want one or none`:                          {Strategy: summarize.Strategy{Since: time.Unix(1, 0), OnlyLast: 2}},
		`Strategy.Facts is empty, want one concept at least`:               {Strategy: summarize.Strategy{Facts: []summarize.Concept{}}},
		`concept 0 has Keyword "" and Description "x"`:                     {Strategy: summarize.Strategy{Facts: []summarize.Concept{{Description: "x"}}}},
		`concept 1 has the Keyword "a" of another one`: {
			Strategy: summarize.Strategy{Facts: []summarize.Concept{{Keyword: "a"}, {Keyword: "a"}}},
		},
	} {
		require.ErrorContains(t, opts.Validate(), want)
		require.Panics(t, func() { summarize.New(summarize.ByRules(), opts) }, want)
	}
	require.NoError(t, summarize.Options{}.Validate())
}

// A summariser that hangs is given up after its time, and rules write.
func TestTimeout(t *testing.T) {
	t.Parallel()
	hangs := func(ctx context.Context, _ *summarize.Fold) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	h := history(8)
	view, events := fold(t, summarize.New(summarize.ByFunc(hangs), summarize.Options{Timeout: time.Nanosecond}), h)
	require.Contains(t, summaryIn(t, view, h).Text(), "messages compacted")
	require.NotEmpty(t, events)

	var waits middleware.Model = func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	small := middlewaretest.Script(slices.Repeat([]middleware.Model{waits}, 3)...)
	view, _ = fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{Timeout: time.Nanosecond}), h)
	require.Contains(t, summaryIn(t, view, h).Text(), "messages compacted")
}
