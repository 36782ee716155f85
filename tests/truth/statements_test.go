package truth_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// statements is a history with sentences about it, by kind.
type statements struct {
	name    string
	history []message.Message
	said    map[string][]string
}

func statementsIn(tb testing.TB) (all []statements) {
	tb.Helper()
	data, err := os.ReadFile("testdata/statements.txt")
	require.NoError(tb, err)
	for _, block := range strings.Split("\n"+string(data), "\n== ")[1:] {
		name, body, _ := strings.Cut(block, "\n")
		s := statements{name: name, said: map[string][]string{}}
		conversation, claims, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(body), "\n  ", "\r"), "\n-- ")
		for line := range strings.SplitSeq(conversation, "\n") {
			s.add(strings.ReplaceAll(line, "\r", "\n"))
		}
		for group := range strings.SplitSeq(claims, "\n-- ") {
			lines := strings.Split(group, "\n")
			s.said[lines[0]] = append(s.said[lines[0]], lines[1:]...)
		}
		s.history = append(s.history, message.Assistant(message.Text{Text: "Ready." + strings.Repeat(" I look at all of it once more.", 60)}), message.User("Go on."))
		all = append(all, s)
	}
	return all
}

func (s *statements) add(line string) {
	role, body, _ := strings.Cut(line, " ")
	id := fmt.Sprint("c", len(s.history)/2)
	switch role {
	case "user":
		s.history = append(s.history, message.User(body))
	case "assistant":
		s.history = append(s.history, message.Assistant(message.Text{Text: body}))
	case "call":
		if len(s.history)%2 == 1 { // the result has the same ID
			s.history = append(s.history, message.Assistant(message.Text{Text: "I call a tool."}))
			id = fmt.Sprint("c", len(s.history)/2)
		}
		name, args, _ := strings.Cut(body, " ")
		s.history = append(s.history, message.Assistant(message.ToolCall{ID: id, Name: name, Arguments: args}))
	case "result", "error":
		s.history = append(s.history, message.Message{Role: message.RoleTool, Parts: []message.Part{
			message.ToolResult{CallID: id, Text: body, Error: role == "error"},
		}})
	}
}

// TestStatements measures the check of inventions: which planted sentences it finds, and which true ones it removes.
func TestStatements(t *testing.T) {
	t.Parallel()
	var truths, plans, planted split
	kinds := map[string]*split{}
	for _, s := range statementsIn(t) {
		for group, sentences := range s.said {
			kind, isFalse := strings.CutPrefix(group, "false ")
			for _, said := range sentences {
				body, isPlan := strings.CutPrefix(said, "plan ")
				if isPlan {
					body = "## Task\n" + s.history[0].Text() + "\n\n## Next steps\n- " + body
				}
				items, accepted := inventions(t, s.history, body)
				require.True(t, accepted, "%s: %s", s.name, said)
				key := s.name + said
				switch {
				case isFalse:
					if kinds[kind] == nil {
						kinds[kind] = &split{}
					}
					kinds[kind].add(key, items != nil)
					planted.add(key, items != nil)
				case isPlan:
					plans.add(key, items != nil)
				default:
					truths.add(key, items != nil)
				}
				if isFalse != (items != nil) {
					missf(t, key, "%s, %s: %q in %s", s.name, group, items, said)
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: found %v", kind, kinds[kind])
	}
	planted.row(t, "false sentences of 9 kinds: found")
	truths.row(t, "true sentences (sums, differences, counts, rounded numbers, translations): removed")
	plans.row(t, "true sentences about plans: removed")
	require.GreaterOrEqual(t, min(planted.seen.percent(), planted.held.percent()), 75.0, "planted sentences that are found, in percent")
	require.LessOrEqual(t, 100*(truths.seen.kept+truths.held.kept), truths.seen.all+truths.held.all, "true sentences that are removed: one in a hundred")
	require.Zero(t, plans.seen.kept+plans.held.kept, "plans that are removed")
}

// inventions returns what the check finds in a text that a writer tells of a history. It returns
// false if the text is not accepted for another reason, as one that looks like an apology.
func inventions(tb testing.TB, h []message.Message, text string) (items []string, ok bool) {
	tb.Helper()
	w := summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) { return text, nil })
	chain := summarize.New(w, summarize.Options{Keep: 1, Inventions: "report"})
	_, events, err := middleware.Apply(tb.Context(), chain, &middleware.Request{Messages: h, Force: []string{"summarize"}})
	require.NoError(tb, err)
	for _, e := range events {
		if e.Kind == summarize.Attempted {
			return e.Detail.(summarize.Report).Inventions, e.Err == nil
		}
	}
	return nil, false
}
