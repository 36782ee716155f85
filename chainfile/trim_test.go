package chainfile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// TestTrimOptions compares each key with the option that it stands for, in two calls.
func TestTrimOptions(t *testing.T) {
	t.Parallel()
	low := trigger.Messages(1)
	for entry, want := range map[string]trim.Options{
		"": {},
		"strategy: hybrid, trigger: {messages: 1}": {Trigger: low},
		"strategy: middle, trigger: {messages: 1}": {Trigger: low, Strategy: "middle"},
		"strategy: oldest, trigger: {messages: 1}": {Trigger: low, Strategy: "oldest"},
		"warning: 0.3":                                                                     {Warning: 0.3},
		"threshold: 0.5":                                                                   {Threshold: 0.5},
		"threshold: 0.5, target: 0.2":                                                      {Threshold: 0.5, Target: 0.2},
		"target_tokens: 500, threshold: 0.5":                                               {TargetTokens: 500, Threshold: 0.5},
		"trigger: {messages: 1}, preserve_start: none":                                     {Trigger: low, PreserveStart: -1},
		"trigger: {messages: 1}, preserve_start: 9":                                        {Trigger: low, PreserveStart: 9},
		"target_tokens: 9, trigger: {messages: 1}":                                         {TargetTokens: 9, Trigger: low},
		"trigger: {messages: 1}, target_tokens: 9, preserve_end: none":                     {TargetTokens: 9, Trigger: low, PreserveEnd: -1},
		"trigger: {messages: 1}, target_tokens: 9, preserve_end: 12":                       {TargetTokens: 9, Trigger: low, PreserveEnd: 12},
		"trigger: {messages: 1}, target_tokens: 9, min_messages: 20":                       {TargetTokens: 9, Trigger: low, MinMessages: 20},
		"trigger: {messages: 1}, target_tokens: 9, min_messages: none, preserve_end: none": {TargetTokens: 9, Trigger: low, MinMessages: -1, PreserveEnd: -1},
		"trigger: {messages: 1}, note: '[gone]'":                                           {Trigger: low, Note: "[gone]"},
		"trigger: {messages: 1}, efficiency_only: true":                                    {Trigger: low, EfficiencyOnly: true},
		"trigger: {messages: 1}, interval: 1h":                                             {Trigger: trigger.Messages(1), Interval: time.Hour},
		"trigger: {messages: 1}, min_calls: 9":                                             {Trigger: trigger.Messages(1), MinCalls: 9},
		"trigger: {messages: 1}":                                                           {Trigger: trigger.Messages(1)},
		"trigger: {reclaims: 9}, strict: true, target_tokens: 1, strategy: oldest":         {Trigger: trigger.Reclaims(9), Strict: true, TargetTokens: 1, Strategy: "oldest"},
	} {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			f, err := chainfile.Parse("c", []byte("chain: [{use: trim, "+entry+"}]"))
			require.NoError(t, err)
			got, want := f.With(middleware.Env{}), trim.New(want)
			h := conversation()
			for _, n := range []int{len(h) - 4, len(h)} {
				req := &middleware.Request{Messages: h[:n], Budget: &middleware.Budget{Window: 2500}}
				g, gotEvents, err := middleware.Apply(t.Context(), got, req)
				require.NoError(t, err)
				w, wantEvents, err := middleware.Apply(t.Context(), want, req)
				require.NoError(t, err)
				require.Equal(t, w.Messages, g.Messages)
				require.Len(t, gotEvents, len(wantEvents))
				for i := range gotEvents {
					require.Equal(t, wantEvents[i].String(), gotEvents[i].String())
				}
			}
		})
	}
}

func TestTrimErrors(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"strategy: oldset":              `c:1:31: chain[0].strategy is "oldset" (did you mean oldest?), want hybrid, middle or oldest`,
		"strategy: 5":                   `c:1:31: chain[0].strategy is 5, want hybrid, middle or oldest`,
		"threshold: 90":                 `c:1:32: chain[0].threshold is 90, want a number above 0 and at most 1`,
		"target: 0.9":                   `c:1:29: chain[0].target cannot be: target is 0.9 of the room and threshold 0.9, want a target below the threshold, or messages would go on each call`,
		"warning: 0.95":                 `c:1:30: chain[0].warning cannot be: warning is 0.95 of the room and threshold 0.9, want a warning no later than the threshold`,
		"target_tokens: 0":              `c:1:36: chain[0].target_tokens is 0, want a whole number, 1 or more`,
		"target: 0.5, target_tokens: 1": `c:1:29: chain[0].target cannot be: target and target_tokens are given, want one of them`,
		"interval: 5":                   `c:1:31: chain[0].interval is 5, want a length of time, as 5s or 1m30s`,
		"interval: soon":                `c:1:31: chain[0].interval is the text "soon", want a length of time, as 5s or 1m30s`,
		"interval: -5s":                 `c:1:31: chain[0].interval is the text "-5s", want a length of time, as 5s or 1m30s`,
		"note: ' '":                     `c:1:27: chain[0].note cannot be: note is " ", want some text, or "" for no note`,
		"keep: 5":                       `c:1:21: chain[0].keep is no key here; the keys here are use, strategy, trigger, warning, threshold, target, target_tokens`,
	} {
		_, err := chainfile.Parse("c", []byte("chain: [{use: trim, "+entry+"}]"))
		require.Error(t, err, entry)
		require.Contains(t, err.Error(), want, entry)
	}
}
