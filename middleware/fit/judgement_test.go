package fit

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// A view may fit by our count and be refused: then no limit is the reason of the second attempt.
func TestReasonOfARefusal(t *testing.T) {
	t.Parallel()
	f := &fitter{}
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		for _, j := range []*judgement{f.judge(v, false).withoutMargin(), f.judge(v, true)} {
			require.Empty(t, j.excess())
			require.Regexp(t, "^the provider has refused the request, of [0-9]+ tokens by our count and at most 1000$", j.reason())
		}
		return nil, nil
	}, middleware.Options{Strict: true})
	_, _, err := middleware.Apply(t.Context(), look, &middleware.Request{
		Messages: []message.Message{message.User("Why?")}, Budget: &middleware.Budget{Window: 1000},
	})
	require.NoError(t, err)
}
