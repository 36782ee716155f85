package middleware_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// TestFrequent leads editors through calls on which they edit, or do not.
func TestFrequent(t *testing.T) {
	t.Parallel()
	always := trigger.Messages(1)
	tests := map[string]struct {
		opts  middleware.Options
		edits string // by call: x edits, f folds what was edited, - does nothing, ! edits by force
		warns int    // the call that warns, counted from 1; 0: none
	}{
		"each call":                  {middleware.Options{Trigger: always}, "xxxxxxxxxxxx", 6},
		"six of eight":               {middleware.Options{Trigger: always}, "x-xx-xxx", 8},
		"five of eight":              {middleware.Options{Trigger: always}, "x-xx-x-x-xx-x-xx-x-x", 0},
		"at first not":               {middleware.Options{Trigger: always}, "----------xxxxxxxx", 16},
		"the call itself edits":      {middleware.Options{Trigger: always}, "xxxxx-x", 7},
		"every other call":           {middleware.Options{Trigger: always}, strings.Repeat("x-", 12), 0},
		"once in a while":            {middleware.Options{Trigger: always}, strings.Repeat("-----x", 5), 0},
		"edits that were folded":     {middleware.Options{Trigger: always}, "xxxxxfxfxf", 6},
		"MinCalls":                   {middleware.Options{Trigger: always, MinCalls: 2}, "xxxxxxxxxxxxxxxxxxxx", 0},
		"without a trigger":          {middleware.Options{}, "xxxxxxxxxxxx", 0},
		"by force":                   {middleware.Options{Trigger: trigger.Tokens(1 << 40)}, "!!!!!!!!!!!!", 0},
		"by force, and then by will": {middleware.Options{Trigger: always}, "!!!!!!!!x!", 9},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			what := byte('-')
			mw := middleware.Editing("often", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				switch what {
				case 'x', '!':
					return clearAll(v), nil
				case 'f':
					last := v.Len() - 3 // the newest round stays
					return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, last, message.User("[all so far]"))}}, nil
				}
				return nil, nil
			}, tt.opts)
			mw = middleware.With(middleware.Env{Counter: tokens.Chars4}, mw)
			c := &chat{history: withRounds([]message.Message{message.User("Go on.")}, 1)}
			var warned []int
			for n := range len(tt.edits) {
				what = tt.edits[n]
				force := ""
				if what == '!' {
					force = "often"
				}
				events := c.call(t, mw, force)
				require.LessOrEqual(t, len(only(events, middleware.Edited)), 1)
				for _, e := range notices(events, "it has edited in") {
					warned = append(warned, n+1)
					require.Equal(t, "often", e.By)
					require.Regexp(t, "^it has edited in [678] of the last 8 model calls, and .*; set MinCalls, or a floor .*", e.Why)
				}
				again := c.again(t, mw)
				require.Empty(t, notices(again, "it has edited in"), "the same call again is no other")
			}
			if tt.warns == 0 {
				require.Empty(t, warned)
			} else {
				require.Equal(t, []int{tt.warns}, warned, "the calls that warn")
			}
		})
	}
}
