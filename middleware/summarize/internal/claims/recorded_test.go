package claims_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
	"github.com/laconic-go/laconic/middleware/summarize/internal/rulewriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// TestRecorded checks summaries by rules of recorded conversations: what they say was said. At most one of fifty is changed.
func TestRecorded(t *testing.T) {
	t.Parallel()
	n, changed, sentences, removed := 0, 0, 0, 0
	for _, name := range recorded.Files(t) {
		for line := range recorded.Some(t, name) {
			var c recorded.Conversation
			require.NoError(t, json.Unmarshal(line, &c), "%s is JSON", name)
			h := c.History()
			summary := rulewriter.Summary(h, rulewriter.Options{Tokens: 2000, Counter: tokens.Estimate{}, Language: text.LanguageOf(h)})
			if summary == "" {
				continue
			}
			for range text.Pieces(summary) {
				sentences++
			}
			n++
			if found := claims.SourceOf(h, nil, nil).Check(summary); found != nil {
				changed++
				removed += len(found)
				for _, f := range found {
					t.Logf("%s: %q in %s", c.ID, f.Items, summary[f.From:f.To])
				}
			}
		}
	}
	t.Logf("of %d summaries with %d sentences %d are changed, %d sentences are removed", n, sentences, changed, removed)
	require.LessOrEqual(t, changed*50, n)
}
