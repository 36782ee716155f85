package trim_test

import (
	"testing"
	"time"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	cases := map[string]trim.Options{
		"defaults":          {},
		"a low trigger":     {Trigger: low},
		"the middle":        {Trigger: low, Strategy: "middle"},
		"nothing preserved": {Trigger: low, Strategy: "oldest", PreserveStart: -1, PreserveEnd: -1, MinMessages: -1},
		"much preserved":    {Trigger: low, Strategy: "middle", PreserveStart: 8, PreserveEnd: 8, MinMessages: 10},
		"a small target":    {Trigger: low, TargetTokens: 100, PreserveStart: -1, PreserveEnd: 1},
		"levels of its own": {Warning: 0.2, Threshold: 0.4, Target: 0.3},
		"a note":            {Trigger: low, Note: "[some messages are gone]", Target: 0.3},
		"a note, oldest":    {Trigger: low, Strategy: "oldest", Note: "[gone]", PreserveEnd: -1},
		"by age, strict":    {Trigger: low, Score: byAge, Strict: true},
		"by length": {Trigger: low, EfficiencyOnly: true, Score: func(*middleware.View) func(message.Unit) float64 {
			return func(u message.Unit) float64 { return float64(u.Len()) }
		}},
		"not on each call":   {Trigger: low, MinCalls: 3},
		"not at each moment": {Trigger: low, Interval: time.Hour},
		"by messages":        {Trigger: trigger.Messages(10), Strategy: "oldest"},
		"if it is worth it":  {Trigger: trigger.All(trigger.ToolUses(3), trigger.Reclaims(200))},
		"a local model":      trim.For("ollama/llama3.1"),
	}
	for name, opts := range soak.Some(race.Some(cases, "a low trigger", "by age, strict"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Suite{New: func() middleware.Middleware { return trim.New(opts) }}.Test(t)
		})
	}
}

func TestConformanceOfSeveral(t *testing.T) {
	t.Parallel()
	middlewaretest.Suite{New: func() middleware.Middleware {
		return middleware.Chain(
			trim.New(trim.Options{Trigger: trigger.Tokens(800), Strategy: "middle", Note: "[gone]"}),
			trim.New(trim.Options{Trigger: trigger.Tokens(1200), Strategy: "oldest", PreserveEnd: 2}),
		)
	}}.Test(t)
}
