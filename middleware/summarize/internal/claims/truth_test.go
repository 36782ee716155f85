package claims_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
)

// history is a history of testdata/true.txt, with true summaries of it.
type history struct {
	name    string
	msgs    []message.Message
	truths  []string
	heldOut bool // it was not looked at while the check was tuned
}

func histories(tb testing.TB) (all []history) {
	tb.Helper()
	data, err := os.ReadFile("testdata/true.txt")
	require.NoError(tb, err)
	var h *history
	var role, body string
	truths, calls := false, 0
	end := func() {
		body = strings.TrimSuffix(body, "\n")
		id := "c" + string(rune('a'+calls))
		switch role {
		case "user":
			h.msgs = append(h.msgs, message.User(body))
		case "assistant":
			h.msgs = append(h.msgs, message.Assistant(message.Text{Text: body}))
		case "call":
			name, args, _ := strings.Cut(body, " ")
			h.msgs = append(h.msgs, message.Assistant(message.ToolCall{ID: id, Name: name, Arguments: args}))
		case "result", "error":
			h.msgs = append(h.msgs, message.Message{Role: message.RoleTool, Parts: []message.Part{
				message.ToolResult{CallID: id, Text: body, Error: role == "error"},
			}})
			calls++
		}
		role = ""
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		name, isName := strings.CutPrefix(line, "== ")
		switch {
		case isName:
			all = append(all, history{name: name, heldOut: len(all)%2 == 1 || len(all) >= 10})
			h, truths, calls = &all[len(all)-1], false, 0
		case h == nil || line == "":
			if h != nil && !truths {
				end()
			}
		case line == "-- true":
			end()
			truths = true
		case truths:
			h.truths = append(h.truths, line)
		case strings.HasPrefix(line, "  "):
			body += "\n" + line[2:]
		default:
			end()
			role, body, _ = strings.Cut(line, " ")
		}
	}
	return all
}

// TestTrueSummaries checks true summaries that were written by hand: at most one of fifty may be changed.
func TestTrueSummaries(t *testing.T) {
	t.Parallel()
	for _, heldOut := range []bool{false, true} {
		n, wrong := 0, 0
		for _, h := range histories(t) {
			if h.heldOut != heldOut {
				continue
			}
			s := claims.SourceOf(h.msgs, nil, nil)
			for _, truth := range h.truths {
				n++
				if found := s.Check(truth); found != nil {
					wrong++
					if !heldOut || os.Getenv("SHOW") != "" {
						t.Logf("%s: %v in %s", h.name, found[0].Items, truth)
					}
				}
			}
		}
		require.LessOrEqual(t, wrong*50, n, "at most one of fifty is changed")
		t.Logf("of %d true summaries (held out: %v) %d are changed", n, heldOut, wrong)
	}
}
