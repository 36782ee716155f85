package trim_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// TestGolden replays the conversations in testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	editortest.Run(t, func(t *testing.T, options []string) editortest.Editor {
		t.Helper()
		return editortest.Editor{
			Chain: editortest.Each(options, func(text string) middleware.Middleware { return trim.New(parseOptions(t, text)) }),
			Items: func(detail any) int { return detail.(trim.Report).Messages },
			Again: []middleware.EventKind{trim.LevelChanged},
			Check: func(t *testing.T, c editortest.Call) {
				t.Helper()
				require.Subset(t, violations(c.History), violations(c.Sent.Messages), "a rule is broken that was not")
			},
		}
	})
}

// violations returns the rules that are broken, without positions.
func violations(msgs []message.Message) []message.Violation {
	found := message.Rules(0).Violations(msgs)
	for i := range found {
		found[i].At = 0
	}
	return found
}

func parseOptions(t *testing.T, text string) trim.Options {
	t.Helper()
	var o trim.Options
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "for":
			o = trim.For(value)
		case "strategy":
			o.Strategy = value
		case "trigger":
			unit, limit, _ := strings.Cut(value, " ")
			at := map[string]func(int) middleware.Trigger{
				"tokens": trigger.Tokens, "messages": trigger.Messages, "rounds": trigger.Rounds,
			}[unit]
			require.NotNil(t, at, "unknown trigger %q", value)
			o.Trigger = at(golden.Number(t, limit))
		case "threshold":
			o.Threshold = share(t, value)
		case "target":
			o.Target = share(t, value)
		case "target_tokens":
			o.TargetTokens = golden.Number(t, value)
		case "preserve_start":
			o.PreserveStart = golden.Number(t, value)
		case "preserve_end":
			o.PreserveEnd = golden.Number(t, value)
		case "min_messages":
			o.MinMessages = golden.Number(t, value)
		case "score":
			require.Equal(t, "age", value)
			o.Score = byAge
		case "note":
			o.Note = value
		case "min_calls":
			o.MinCalls = golden.Number(t, value)
		case "strict":
			o.Strict = value == "true"
		default:
			require.Fail(t, "unknown option", key)
		}
	})
	return o
}

func share(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return f
}

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
