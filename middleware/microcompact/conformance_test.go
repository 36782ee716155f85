package microcompact_test

import (
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	all := microcompact.Limits{Results: 20, Arguments: 20, Text: 20}
	cases := map[string]microcompact.Options{
		"defaults":           {},
		"the seed":           {Limit: microcompact.Limits{Results: 200, Arguments: 200, Text: 200}},
		"nothing kept":       {KeepRounds: -1, Limit: all},
		"arguments alone":    {KeepRounds: 1, Limit: microcompact.Limits{Results: -1, Arguments: 5}},
		"text alone":         {KeepRounds: 1, Limit: microcompact.Limits{Results: -1, Text: 5}},
		"a tool protected":   {KeepRounds: -1, Limit: all, Protect: []string{"read_file"}},
		"in batches, strict": {KeepRounds: 1, Limit: all, Batch: microcompact.Batch{Results: 2}, Strict: true},
		"in batches, tokens": {KeepRounds: 1, Limit: all, Batch: microcompact.Batch{Results: 9, Tokens: 300}},
		"a low trigger":      {Trigger: low, KeepRounds: 1},
		"if it is worth it":  {Trigger: trigger.All(low, trigger.Reclaims(100)), KeepRounds: 1, Limit: all},
		"not on each call":   {KeepRounds: 1, Limit: all, MinCalls: 3},
		"new results":        {Limit: microcompact.Limits{Results: -1}, FreshShare: 1e-9},
		"with facts":         {KeepRounds: 1, Digest: 40},
		"with few facts":     {KeepRounds: -1, Limit: all, Digest: 5, Batch: microcompact.Batch{Tokens: 200}},
		"no new results":     {KeepRounds: 1, FreshShare: -1},
	}
	for name, opts := range soak.Some(race.Some(cases, "the seed", "new results"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := middlewaretest.Suite{New: func() middleware.Middleware { return microcompact.New(opts) }}
			if name == "new results" { // those of the suite are too short
				suite.Histories = [][]message.Message{middlewaretest.ReAct{Rounds: 4, Result: 8_000}.Messages()}
			}
			suite.Test(t)
		})
	}
}

func TestConformanceOfSeveral(t *testing.T) {
	t.Parallel()
	middlewaretest.Suite{New: func() middleware.Middleware {
		return middleware.Chain(
			microcompact.New(microcompact.Options{KeepRounds: 2, Limit: microcompact.Limits{Results: -1, Arguments: 10}}),
			microcompact.New(microcompact.Options{KeepRounds: 1, Limit: microcompact.Limits{Results: 20, Text: 10}}),
		)
	}}.Test(t)
}
