package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// brief writes how many messages there are, and the words of the one before.
func brief(_ context.Context, f *summarize.Fold) (string, error) {
	return fmt.Sprintf("Read %d messages; before: %d summaries.", len(f.Messages), len(f.Earlier)), nil
}

// TestConformance goes through the options. What decides when and how much is folded
// is looked at alone; what decides how the product looks, beside it.
func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	cases := map[string]summarize.Options{
		"defaults":                 {},
		"nothing kept":             {Trigger: low, Keep: -1},
		"rounds kept":              {Trigger: low, KeepRounds: 2},
		"turns kept":               {Trigger: low, KeepTurns: 1},
		"tokens kept, no ledger":   {Trigger: low, KeepTokens: 300, FactTokens: -1},
		"a soft trigger":           {Trigger: trigger.Tokens(900), Soft: low, Keep: 2},
		"a reserve, of the system": {Reserve: 999_500, Keep: 2, Role: message.RoleSystem},
		"prepared": {Trigger: trigger.Tokens(900), Soft: low, Keep: 2, Background: func(task func(context.Context)) bool {
			task(t.Context())
			return true
		}},
		"by system messages":        {Trigger: low, Keep: 2, Strategy: summarize.Strategy{BySystem: true}},
		"the last alone, strict":    {Trigger: low, Keep: 2, Strategy: summarize.Strategy{OnlyLast: 3}, Strict: true},
		"the youngest, in Chinese":  {Trigger: low, Keep: 2, Strategy: summarize.Strategy{Since: time.Unix(0, 0)}, Language: "zh"},
		"in chunks, another header": {Trigger: low, Keep: 2, Strategy: summarize.Strategy{Chunks: 4}, Header: "What was:"},
		"not on each call":          {Trigger: low, Keep: 2, MinCalls: 3},
		"important units kept": {Trigger: low, Keep: 2, KeepScored: 2, Score: func(v *middleware.View) func(message.Unit) float64 {
			return func(u message.Unit) float64 { return float64(strings.Count(fmt.Sprint(v.At(u.First).Parts), "3")) }
		}},
		"custom": {Trigger: low, Keep: 2, Strategy: summarize.Strategy{Custom: func(_ context.Context, f *summarize.Fold) ([]message.Message, error) {
			return []message.Message{message.User(fmt.Sprintf("%d messages were here.", len(f.Messages)))}, nil
		}}},
	}
	for name, opts := range soak.Some(race.Some(cases, "prepared", "in chunks, another header"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Suite{New: func() middleware.Middleware { return summarize.New(summarize.ByFunc(brief), opts) }}.Test(t)
		})
	}
}

// TestConformanceOfBadSummarizers has the summary written by somebody who cannot:
// by each of them, and in each way.
func TestConformanceOfBadSummarizers(t *testing.T) {
	t.Parallel()
	failing := func(context.Context, *summarize.Fold) (string, error) { return "", errors.New("no words today") }
	silent := func(context.Context, *summarize.Fold) (string, error) { return " \n", nil }
	panicked := func(context.Context, *summarize.Fold) (string, error) { panic("no words") }
	endless := func(_ context.Context, f *summarize.Fold) (string, error) {
		return strings.Repeat("words ", 10*f.Tokens), nil
	}
	type bad struct {
		w    summarize.Writer
		opts summarize.Options
	}
	for name, c := range soak.Some(race.Some(map[string]bad{
		"nobody":                    {},
		"failing":                   {w: summarize.ByFunc(failing)},
		"endless":                   {w: summarize.ByFunc(endless)},
		"failing, in chunks":        {summarize.ByFunc(failing), summarize.Options{Strategy: summarize.Strategy{Chunks: 4}}},
		"panicked, in chunks":       {summarize.ByFunc(panicked), summarize.Options{Strategy: summarize.Strategy{Chunks: 4}}},
		"silent, without fallback":  {summarize.ByFunc(silent), summarize.Options{NoFallback: true}},
		"failing, without fallback": {summarize.ByFunc(failing), summarize.Options{NoFallback: true}},
	}, "panicked, in chunks"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.opts.Trigger, c.opts.Keep = trigger.Tokens(500), 2
			middlewaretest.Suite{
				New:  func() middleware.Middleware { return summarize.New(c.w, c.opts) },
				Idle: c.opts.NoFallback, // no summary, no edit
			}.Test(t)
		})
	}
}

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
