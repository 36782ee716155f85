package amount_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/amount"
)

func TestNonNegative(t *testing.T) {
	t.Parallel()
	require.Empty(t, amount.NonNegative())
	errs := amount.NonNegative(
		amount.Amount{Name: "Keep", Unit: "rounds"},
		amount.Amount{Name: "Stop", Unit: "tokens", Value: -2},
		amount.Amount{Name: "Limit", Unit: "tokens", Value: 3},
		amount.Amount{Name: "Floor", Unit: "calls", Value: -1},
	)
	require.Len(t, errs, 2, "one for each below 0, in order")
	require.EqualError(t, errs[0], "Stop is -2 tokens, want 0 or more")
	require.EqualError(t, errs[1], "Floor is -1 calls, want 0 or more")
}
