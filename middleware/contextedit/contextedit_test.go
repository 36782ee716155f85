package contextedit_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// TestGolden replays the conversations in testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	editortest.Run(t, func(t *testing.T, options []string) editortest.Editor {
		t.Helper()
		clearsThinking := false
		return editortest.Editor{
			Chain: editortest.Each(options, func(text string) middleware.Middleware {
				opts := parseOptions(t, text)
				clearsThinking = clearsThinking || opts.ClearThinking
				return contextedit.New(opts)
			}),
			Items: func(detail any) int { return detail.(contextedit.Report).Results },
			Again: []middleware.EventKind{middleware.Refused, middleware.Skipped},
			Check: func(t *testing.T, c editortest.Call) {
				t.Helper()
				requireSound(t, c.History, c.Sent.Messages)
				requireThinking(t, contextedit.Options{ClearThinking: clearsThinking}, c.History, c.Sent.Messages)
			},
		}
	})
}

// requireSound checks what holds for each view that contextedit makes.
func requireSound(t require.TestingT, history, view []message.Message) {
	editortest.RequireRewritten(t, history, view, func(_ message.Message, p message.Part) message.Part {
		if _, ok := p.(message.Thinking); ok {
			return nil
		}
		return p
	})
}

func parseOptions(t *testing.T, text string) contextedit.Options {
	t.Helper()
	var o contextedit.Options
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "trigger":
			o.Trigger = parseTrigger(t, value)
		case "keep":
			o.Keep = golden.Number(t, value)
		case "keep_rounds":
			o.KeepRounds = golden.Number(t, value)
		case "keep_tokens":
			o.KeepTokens = golden.Number(t, value)
		case "only":
			o.Only = append([]string{}, strings.Fields(strings.Trim(value, "[]"))...)
		case "exclude_tools":
			o.ExcludeTools = strings.Fields(value)
		case "clear_at_least":
			o.ClearAtLeast = golden.Number(t, value)
		case "stop_after":
			o.StopAfter = golden.Number(t, value)
		case "clear_tool_inputs":
			o.ClearToolInputs = value == "true"
		case "clear_inputs_of":
			o.ClearInputsOf = strings.Fields(value)
		case "clear_thinking":
			o.ClearThinking = value == "true"
		case "spares": // what MayClear spares: results that say this, and calls
			o.MayClear = func(call message.ToolCall, result []message.ToolResult) bool {
				return !strings.Contains(call.Arguments, value) &&
					!slices.ContainsFunc(result, func(r message.ToolResult) bool { return strings.Contains(r.Text, value) })
			}
		case "placeholder":
			o.Placeholder = value
		case "digest":
			o.Digest = golden.Number(t, value)
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

func parseTrigger(t *testing.T, value string) middleware.Trigger {
	t.Helper()
	unit, limit, _ := strings.Cut(value, " ")
	switch unit {
	case "tokens":
		return trigger.Tokens(golden.Number(t, limit))
	case "rounds":
		return trigger.Rounds(golden.Number(t, limit))
	case "messages":
		return trigger.Messages(golden.Number(t, limit))
	case "fraction":
		share, err := strconv.ParseFloat(limit, 64)
		require.NoError(t, err)
		return trigger.Fraction(share)
	}
	require.Fail(t, "unknown trigger", value)
	return nil
}

func format(h []message.Message) string { return golden.Format(h) }

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	cases := map[string]contextedit.Options{
		"defaults":             {},
		"a low trigger":        {Trigger: low},
		"nothing kept":         {Trigger: low, Keep: -1},
		"inputs as well":       {Trigger: low, Keep: 2, ClearToolInputs: true},
		"tokens kept":          {Trigger: low, KeepTokens: 500},
		"a little at a time":   {Trigger: low, Keep: 2, StopAfter: 1},
		"not on each call":     {Trigger: low, Keep: 2, MinCalls: 3},
		"strict":               {Trigger: low, Keep: 2, Strict: true},
		"inputs, at each call": {Trigger: trigger.Messages(1), Keep: 1, ClearToolInputs: true, StopAfter: 200},
		"some tools alone":     {Trigger: low, Keep: 1, Only: []string{"read_file", "search"}, ExcludeTools: []string{"list_files"}},
		"thinking alone":       {Trigger: low, Only: []string{}, ClearThinking: true},
		"thinking at first":    {Trigger: low, Keep: 1, ClearThinking: true, ClearToolInputs: true, StopAfter: 100},
		"some results alone": {
			Trigger: low, Keep: 1, ClearToolInputs: true,
			MayClear: func(call message.ToolCall, result []message.ToolResult) bool {
				return !strings.Contains(call.Arguments, "2.log") && len(result) == 1
			},
		},
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

// always is a trigger.
type always struct{}

func (always) Met(*middleware.View, func() *middleware.Plan) (met bool, why string, err error) {
	return true, "always", nil
}
