package truth_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

// TestRecordedShare shows how much of recorded histories the user's words are that a fold with the defaults keeps.
func TestRecordedShare(t *testing.T) {
	t.Parallel()
	if race.Enabled || testing.Short() {
		t.Skip("recordings take long: run without -short and the race detector")
	}
	var shares []float64
	most := 0
	for line := range recorded.Some(t, recordings) {
		var c recorded.Conversation
		require.NoError(t, json.Unmarshal(line, &c))
		h := c.History()
		n := tokens.Meter{}.Part(message.Text{Text: said(folded(t, h))})
		most = max(most, n)
		share := 100 * float64(n) / float64(tokens.Meter{}.Request(h, nil))
		shares = append(shares, share)
		if share > 20 || n > 2500 {
			t.Log(c.ID, len(h), n, share)
		}
	}
	slices.Sort(shares)
	t.Logf("median %.2f, nine of ten %.2f, largest %.1f, most %d of %d", shares[len(shares)/2], shares[len(shares)*9/10], shares[len(shares)-1], most, len(shares))
	require.LessOrEqual(t, shares[len(shares)/2], 2.0, "percent of a history, median")
	require.LessOrEqual(t, most, 3000, "tokens")
}
