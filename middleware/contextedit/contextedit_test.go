package contextedit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/testkit/editortest"
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
				clearsThinking = clearsThinking || strings.Contains(text, "clear_thinking: true")
				return parse(t, text)
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

// parse reads options as a chain file has them.
func parse(t *testing.T, options string) middleware.Middleware {
	t.Helper()
	f, err := chainfile.Parse("options", []byte("chain:\n- use: contextedit\n  "+strings.ReplaceAll(options, "\n", "\n  ")))
	require.NoError(t, err)
	return f.Chain[0]
}

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
