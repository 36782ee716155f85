package scribe_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/scribe"
	"github.com/laconic-go/laconic/tokens"
)

// conversation is one line of the recordings.
type conversation struct {
	ID       string `json:"id"`
	Messages []struct {
		Role       message.Role `json:"role"`
		Content    string       `json:"content"`
		Name       string       `json:"name"`
		ToolCallID string       `json:"tool_call_id"`
		ToolCalls  []struct {
			ID        string `json:"id"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// recorded calls see with each recorded conversation. They are in ../shared/data
// next to the repository, or in the folder that LACONIC_DATA names.
func recorded(t *testing.T, see func(id string, msgs []message.Message)) {
	t.Helper()
	folder := os.Getenv("LACONIC_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(folder, "dev", "conversations.jsonl.gz"))
	if err != nil {
		t.Skipf("no recorded conversations: %v; set LACONIC_DATA to the folder that has them", err)
	}
	defer func() { require.NoError(t, f.Close()) }()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	for dec := json.NewDecoder(unzipped); dec.More(); {
		var c conversation
		require.NoError(t, dec.Decode(&c))
		var msgs []message.Message
		for _, m := range c.Messages {
			out := message.Message{Role: m.Role, Parts: []message.Part{message.Text{Text: m.Content}}}
			if m.Role == message.RoleTool {
				out = message.Result(m.ToolCallID, m.Name, m.Content)
			}
			for _, call := range m.ToolCalls {
				out.Parts = append(out.Parts, message.ToolCall{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
			}
			msgs = append(msgs, out)
		}
		see(c.ID, msgs)
	}
}

func endsLine(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }

// TestRecordedFits shows real conversations to a model with a small window: every
// request fits, and every line is shown.
func TestRecordedFits(t *testing.T) {
	t.Parallel()
	const window = 8000
	n, requests := 0, 0
	recorded(t, func(id string, msgs []message.Message) {
		n++
		if n%12 != 0 || len(msgs) < 4 {
			return
		}
		var seen []*middleware.Request
		_, err := scribe.Write(t.Context(), scribe.Brief{
			Folded: msgs, Writer: scribe.Author{Model: windowed(window, &seen), Window: window}, Retries: -1, Parallel: 1, Requests: 1000,
		})
		if scribe.ReasonOf(err) != scribe.NotShorter {
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
			for line := range strings.FieldsFuncSeq(strings.Join(texts, "\n"), endsLine) {
				if len(line) < 200 && !lines[line] { // longer ones may have been cut
					require.Contains(t, shown, line, "%s: message %d", id, i)
				}
			}
		}
	})
	t.Logf("%d conversations, %d requests", n/12, requests)
	require.Greater(t, requests, n/12, "some need several, or this shows nothing")
}
