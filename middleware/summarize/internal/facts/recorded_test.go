package facts_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// TestRecorded runs on recorded conversations.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, name := range recorded.Files(t) {
		for line := range recorded.Some(t, name) {
			var c recorded.Conversation
			require.NoError(t, json.Unmarshal(line, &c), "%s is JSON", name)
			judge(t, c.ID, c.History())
		}
	}
}

// judge checks the facts of a conversation.
func judge(t *testing.T, id string, h []message.Message) {
	t.Helper()
	o := usual
	o.Language = text.LanguageOf(h)
	s := collect(h).Text(o)
	sound(t, s, o)
	l := &facts.Set{}
	for from := 0; from < len(h); from += 17 {
		l.Add(h[from:min(from+17, len(h))])
	}
	require.Equal(t, s, l.Text(o), "%s: piece by piece is the same as at once", id)
}
