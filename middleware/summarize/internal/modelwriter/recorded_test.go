package modelwriter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

func endsLine(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }

// TestRecordedFits shows real conversations to a model with a small window: every
// request fits, and every line is shown.
func TestRecordedFits(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const window = 8000
	asked, requests := 0, 0
	for line := range recorded.Some(t, "conversations.jsonl.gz") {
		var c recorded.Conversation
		require.NoError(t, json.Unmarshal(line, &c))
		id, msgs := c.ID, c.History()
		if len(msgs) < 4 {
			continue
		}
		asked++
		var seen []*middleware.Request
		_, err := ask(t.Context(), modelwriter.Request{
			Folded: msgs, Writer: modelwriter.Author{Model: windowed(window, &seen), Window: window, Retries: -1}, Parallel: 1, Requests: 1000,
		})
		if reasonOf(err) != modelwriter.TooLong {
			require.NoError(t, err, id)
		}
		requests += len(seen)
		var all strings.Builder
		for i, req := range seen {
			require.LessOrEqual(t, tokens.Meter{}.Request(req.Messages, nil)+req.Budget.Reserve, window, "%s: request %d and its answer fit", id, i)
			all.WriteString(req.Messages[1].Text())
		}
		shown, lines := all.String(), map[string]bool{}
		for line := range strings.FieldsFuncSeq(shown, endsLine) {
			lines[strings.TrimPrefix(line, "\t")] = true
		}
		for i, m := range msgs {
			texts := []string{m.Text()}
			for r := range m.Results() {
				texts = append(texts, r.Text)
			}
			for c := range m.Calls() {
				texts = append(texts, c.Arguments)
			}
			for line := range strings.FieldsFuncSeq(text.WithoutTemplate(strings.Join(texts, "\n")), endsLine) {
				if len(line) < 200 && !lines[line] { // longer ones may have been cut
					require.Contains(t, shown, line, "%s: message %d", id, i)
				}
			}
		}
	}
	t.Logf("%d conversations, %d requests", asked, requests)
	require.Greater(t, requests, asked, "some need several, or this shows nothing")
}
