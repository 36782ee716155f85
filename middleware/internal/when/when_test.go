package when_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/when"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestThreshold(t *testing.T) {
	t.Parallel()
	var known, unknown *middleware.View
	look := func(at **middleware.View) middleware.Middleware {
		return middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			*at = v
			return nil, nil
		}, middleware.Options{})
	}
	h := []message.Message{message.User("How far?")}
	for at, budget := range map[**middleware.View]*middleware.Budget{&known: {Window: 1100, Reserve: 100}, &unknown: nil} {
		_, _, err := middleware.Apply(t.Context(), look(at), &middleware.Request{Messages: h, Budget: budget})
		require.NoError(t, err)
	}
	type want struct {
		tokens int
		sure   bool
	}
	for name, c := range map[string]struct {
		trigger        middleware.Trigger
		known, unknown want
	}{
		"tokens":        {trigger.Tokens(50), want{50, true}, want{50, true}},
		"messages":      {trigger.Messages(50), want{}, want{}},
		"a share":       {trigger.Fraction(0.5), want{500, true}, want{}},
		"the default":   {when.Default(0.85), want{850, true}, want{100_000, true}},
		"of the window": {when.Window(), want{825, true}, want{100_000, true}},
		"any":           {trigger.Any(trigger.Tokens(700), trigger.Messages(3), trigger.Fraction(0.5)), want{500, false}, want{700, false}},
		"any of tokens": {trigger.Any(trigger.Tokens(700), trigger.Tokens(900)), want{700, true}, want{700, true}},
		"all":           {trigger.All(trigger.Tokens(700), trigger.Messages(3), trigger.Fraction(0.5)), want{700, true}, want{700, true}},
		"not":           {trigger.Not(trigger.Tokens(5)), want{}, want{}},
	} {
		n, _, sure := when.Threshold(c.trigger, known)
		got := want{n, sure}
		require.Equal(t, c.known, got, "%s, of a known window", name)
		n, _, sure = when.Threshold(c.trigger, unknown)
		got = want{n, sure}
		require.Equal(t, c.unknown, got, "%s, of an unknown window", name)
	}
}
