package contextedit_test

import (
	"strings"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	cases := map[string]contextedit.Options{
		"defaults":             {},
		"a low trigger":        {Trigger: low},
		"nothing kept":         {Trigger: low, Keep: -1},
		"inputs as well":       {Trigger: low, Keep: 2, ClearToolInputs: true},
		"inputs of one tool":   {Trigger: low, Keep: 2, ClearInputsOf: []string{"search"}},
		"a tool excluded":      {Trigger: low, Keep: 1, ExcludeTools: []string{"read_file"}},
		"rounds kept":          {Trigger: low, KeepRounds: 2},
		"tokens kept":          {Trigger: low, KeepTokens: 500},
		"in batches":           {Trigger: low, Keep: 2, ClearAtLeast: 600},
		"a little at a time":   {Trigger: low, Keep: 2, StopAfter: 1},
		"not on each call":     {Trigger: low, Keep: 2, MinCalls: 3},
		"another placeholder":  {Trigger: low, Keep: 2, Placeholder: "(see the log)"},
		"strict":               {Trigger: low, Keep: 2, Strict: true},
		"a share of the room":  {Trigger: trigger.Fraction(0.5), Keep: 2},
		"rounds and tokens":    {Trigger: trigger.All(trigger.Rounds(3), low), Keep: 2},
		"inputs, at each call": {Trigger: trigger.Messages(1), Keep: 1, ClearToolInputs: true, StopAfter: 200},
		"some tools alone":     {Trigger: low, Keep: 1, Only: []string{"read_file", "search"}, ExcludeTools: []string{"list_files"}},
		"thinking as well":     {Trigger: low, Keep: 2, ClearThinking: true},
		"thinking alone":       {Trigger: low, Only: []string{}, ClearThinking: true},
		"thinking at first":    {Trigger: low, Keep: 1, ClearThinking: true, ClearToolInputs: true, StopAfter: 100},
		"some results alone": {
			Trigger: low, Keep: 1, ClearToolInputs: true,
			MayClear: func(call message.ToolCall, result []message.ToolResult) bool {
				return !strings.Contains(call.Arguments, "2.log") && len(result) == 1
			},
		},
		"with facts":             {Trigger: low, Keep: 2, Digest: 40},
		"with facts, in steps":   {Trigger: low, Keep: 1, Digest: 12, StopAfter: 100, ClearToolInputs: true, ClearThinking: true},
		"with facts, in batches": {Trigger: low, Keep: 2, Digest: 80, ClearAtLeast: 600, Placeholder: "(see the log.)"},
		"if it is worth it":      {Trigger: trigger.All(trigger.ToolUses(3), trigger.Reclaims(500), trigger.Not(trigger.Rounds(100))), Keep: 1, ClearThinking: true},
	}
	for name, opts := range soak.Some(race.Some(cases, "a low trigger", "with facts, in steps"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Suite{New: func() middleware.Middleware { return contextedit.New(opts) }}.Test(t)
		})
	}
}

func TestConformanceOfSeveral(t *testing.T) {
	t.Parallel()
	middlewaretest.Suite{New: func() middleware.Middleware {
		return middleware.Chain(
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(800), Keep: 4}),
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1200), Keep: 2, ClearToolInputs: true}),
		)
	}}.Test(t)
}
