package calls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/calls"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// lists makes messages of words: u and s are texts of the user and the system, a an answer, cN a call, rN its result. What
// follows a colon is the text.
func lists(words string) (all []message.Message) {
	for w := range strings.FieldsSeq(words) {
		head, text, _ := strings.Cut(w, ":")
		switch head[0] {
		case 's':
			all = append(all, message.System(text))
		case 'u': // of several texts with + between
			all = append(all, message.Message{Role: message.RoleUser})
			for part := range strings.SplitSeq(text, "+") {
				all[len(all)-1].Parts = append(all[len(all)-1].Parts, message.Text{Text: part})
			}
		case 'a':
			all = append(all, message.Assistant(message.Text{Text: text}))
		case 'c':
			all = append(all, message.Assistant(message.Text{Text: text}, message.ToolCall{ID: head[1:], Name: "f", Arguments: "{}"}))
		case 'r':
			all = append(all, message.Result(head[1:], "f", text))
		}
	}
	return all
}

// fates writes what became of messages: positions of cleared and folded ones, and + for each added message.
func fates(c calls.Call) (out []string) {
	for _, change := range c.Changes {
		s := fmt.Sprint(change.At, []string{"sent", "cleared", "folded", "joined"}[change.Fate])
		for _, m := range change.Messages {
			s += " " + strings.ReplaceAll(m.Text(), "\n", "|")
			for r := range m.Results() {
				s += r.Text
			}
		}
		out = append(out, s)
	}
	return out
}

func TestFates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		history, sent string
		want          []string
	}{
		"nothing":              {"u:go c1 r1:x a:ok", "u:go c1 r1:x a:ok", nil},
		"a result":             {"u:go c1 r1:x c2 r2:y", "u:go c1 r1:[cleared] c2 r2:y", []string{"2cleared [cleared]"}},
		"a summary":            {"u:go c1 r1:x c2 r2:y", "u:summary c2 r2:y", []string{"0folded", "1folded", "2folded summary"}},
		"the middle":           {"u:go c1 r1:x c2 r2:y", "u:go a:note c2 r2:y", []string{"1folded", "2folded note"}},
		"removed":              {"u:go c1 r1:x c2 r2:y", "u:go c2 r2:y", []string{"1folded", "2folded"}},
		"all but the newest":   {"u:a a:b u:c", "u:c", []string{"0folded", "1folded"}},
		"equal texts, folded":  {"u:go c1 r1:x u:go c2 r2:y", "u:sum u:go c2 r2:y", []string{"0folded", "1folded", "2folded sum"}},
		"equal texts, cleared": {"u:go c1 r1:x u:go c2 r2:y", "u:go c1 r1:- u:go c2 r2:y", []string{"2cleared -"}},
		"a shortened text":     {"s:you u:long c1 r1:x", "s:you u:l c1 r1:x", []string{"1cleared l"}},
		"added at the front":   {"u:go a:ok", "s:new u:go a:ok", []string{"-1sent new"}},
		"added at the end":     {"u:go", "u:go u:now", []string{"0sent now"}},
		"nothing is sent":      {"u:go", "", []string{"0folded"}},
		"no history":           {"", "u:go", []string{"-1sent go"}},
		"reused call IDs":      {"u:go c1 r1:x c1 r1:y", "u:go c1 r1:- c1 r1:y", []string{"2cleared -"}},
		"joined":               {"u:a u:b a:c", "u:a+b a:c", []string{"0joined", "1joined a|b"}},
		"joined to a summary":  {"u:go c1 r1:x c2 r2:y", "u:go+sum c2 r2:y", []string{"0joined go|sum", "1folded", "2folded"}},
		"cleared, then added":  {"u:go c1 r1:x", "u:go c1 r1:- u:now", []string{"2cleared - now"}},
		"two summaries":        {"u:go c1 r1:x c2 r2:y a:z", "u:go u:one u:two a:z", []string{"1folded", "2folded", "3folded", "4folded one two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r calls.Recorder
			require.Equal(t, c.want, fates(r.Take(lists(c.history), lists(c.sent), nil)))
			require.Empty(t, r.Take(lists(c.history), lists(c.sent), nil).Changes, "the second call is as the first")
		})
	}
}

// TestChangesGiveTheView puts together what was sent from the history and the changes.
func TestChangesGiveTheView(t *testing.T) {
	t.Parallel()
	steps := [][2]string{
		{"u:go c1 r1:x", "u:go c1 r1:x"},
		{"u:go c1 r1:x c2 r2:y", "u:go c1 r1:- c2 r2:y"},
		{"u:go c1 r1:x c2 r2:y c3 r3:z", "u:sum c3 r3:z"},
		{"u:go c1 r1:x c2 r2:y c3 r3:z a:b", "u:go c1 r1:- c2 r2:y c3 r3:z a:b"},
		{"u:go c1 r1:x c2 r2:Y", "u:go c1 r1:x c2 r2:Y"}, // a fork
	}
	var r calls.Recorder
	now := map[int]calls.Change{}
	for i, s := range steps {
		history, sent := lists(s[0]), lists(s[1])
		if i == len(steps)-1 {
			delete(now, 4)
		}
		for _, c := range r.Take(history, sent, nil).Changes {
			now[c.At] = c
		}
		view := now[-1].Messages
		for at, m := range history {
			if now[at].Fate == calls.Sent {
				view = append(view, m)
			}
			view = append(view, now[at].Messages...)
		}
		require.Equal(t, sent, view, "call %d", i)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	history, sent := lists("s:you u:go c1 r1:xxxxxxxxxxxxxxxxxxxxxxxx c2 r2:y"), lists("s:you u:go c1 r1:- c2 r2:z")
	var r calls.Recorder
	c := r.Take(history, sent, []middleware.Event{
		{Kind: middleware.Edited, By: "contextedit", Why: "cleared 1 result (92 of 50 tokens)", Edits: []*journal.Record{{Runs: []message.Run{{First: 2, Last: 2}}}}},
		{Kind: middleware.Called, By: "middleware"},
		{Kind: middleware.Repaired, By: "fit", Why: "cut"},
		{Kind: middleware.Notice, By: "middleware", Why: "900 tokens are left"},
		{Kind: middleware.Notice, By: "middleware", Why: "the tools have 900 tokens"},
	})
	require.Equal(t, 3, c.Changes[0].At)
	require.Equal(t, 0, c.Changes[0].Event)
	require.Equal(t, 1, c.Changes[1].Event, "a repair explains what no edit does")
	require.Equal(t, "cleared 1 result", c.Events[0].Why)
	require.Equal(t, 1, c.Events[0].Messages)
	require.Positive(t, c.Events[0].Freed)
	require.Equal(t, "…", c.Events[2].Why)
	require.Equal(t, "the tools have …", c.Events[3].Why)
	require.Len(t, c.Events, 4, "a call is no event of the page")
}
