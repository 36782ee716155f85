package trim_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/tokens"
)

// TestGolden replays the conversations in testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	editortest.Run(t, func(t *testing.T, options []string) editortest.Editor {
		t.Helper()
		return editortest.Editor{
			Chain: editortest.Each(options, func(text string) middleware.Middleware { return parse(t, text) }),
			Items: func(detail any) int { return detail.(trim.Report).Messages },
			Again: []middleware.EventKind{trim.LevelChanged},
			Check: func(t *testing.T, c editortest.Call) {
				t.Helper()
				require.Subset(t, violations(c.History), violations(c.Sent.Messages), "a rule is broken that was not")
			},
		}
	})
}

// violations returns the rules that are broken, without positions.
func violations(msgs []message.Message) []message.Violation {
	found := message.Rules(0).Violations(msgs)
	for i := range found {
		found[i].At = 0
	}
	return found
}

// parse reads options as a chain file has them.
func parse(t *testing.T, options string) middleware.Middleware {
	t.Helper()
	f, err := chainfile.Parse("options", []byte("chain:\n- use: trim\n  "+strings.ReplaceAll(options, "\n", "\n  ")))
	require.NoError(t, err)
	return f.Chain[0]
}

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	cases := map[string]trim.Options{
		"defaults":          {},
		"a low trigger":     {Trigger: low},
		"nothing preserved": {Trigger: low, Strategy: "oldest", PreserveStart: -1, PreserveEnd: -1, MinMessages: -1},
		"much preserved":    {Trigger: low, Strategy: "middle", PreserveStart: 8, PreserveEnd: 8, MinMessages: 10},
		"levels of its own": {Warning: 0.2, Threshold: 0.4, Target: 0.3},
		"a note, oldest":    {Trigger: low, Strategy: "oldest", Note: "[gone]", PreserveEnd: -1},
		"by age, strict":    {Trigger: low, Score: byAge, Strict: true},
		"by length": {Trigger: low, EfficiencyOnly: true, Score: func(*middleware.View) func(message.Unit) float64 {
			return func(u message.Unit) float64 { return float64(u.Len()) }
		}},
		"not on each call":   {Trigger: low, MinCalls: 3},
		"not at each moment": {Trigger: low, Interval: time.Hour},
		"a local model":      trim.For("ollama/llama3.1"),
	}
	for name, opts := range soak.Some(race.Some(cases, "a low trigger", "by age, strict"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Suite{New: func() middleware.Middleware { return trim.New(opts) }}.Test(t)
		})
	}
}

// pictured is the conversation of the pictures in docs/trim.md: s is a system message,
// u the user, a an answer, c a message with calls and r a result. All have 100 tokens
// but the last answer but one, which has 10, and nothing in them is used later.
const pictured = "s u a c r u a c r a u c r a u c r u"

func picturedMessages() []message.Message {
	var h []message.Message
	calls := 0
	for i, letter := range strings.Fields(pictured) {
		text := strings.Repeat("x", 400)
		if i == 13 {
			text = strings.Repeat("x", 40)
		}
		switch letter {
		case "s":
			h = append(h, message.System(text))
		case "u":
			h = append(h, message.User(text))
		case "a":
			h = append(h, message.Assistant(message.Text{Text: text}))
		case "c":
			calls++
			m := message.Assistant(message.Text{Text: text[:388]}, message.ToolCall{ID: fmt.Sprint("k", calls), Name: "read", Arguments: "{}"})
			h = append(h, m)
		case "r":
			h = append(h, message.Result(fmt.Sprint("k", calls), "read", text[:396]))
		}
	}
	return h
}

// picture draws what a trim leaves of the conversation.
func picture(t *testing.T, o trim.Options) (line string, r trim.Report) {
	t.Helper()
	h := picturedMessages()
	o.Trigger = trigger.Messages(1)
	env := middleware.Env{Counter: tokens.Chars4, Framing: tokens.Framing{PerTool: 1}}
	sent, events, err := middleware.Apply(t.Context(), middleware.With(env, trim.New(o)), &middleware.Request{Messages: h})
	require.NoError(t, err)
	letters := strings.Fields(pictured)
	shown := make([]string, len(h))
	for i := range sent.View().Len() {
		if s := sent.View().Span(i); s.Edit == nil {
			shown[s.First] = letters[s.First]
		} else {
			shown[s.Last] = "n"
		}
	}
	for i := range shown {
		if shown[i] == "" {
			shown[i] = "·"
		}
	}
	return strings.Join(shown, " "), events[0].Detail.(trim.Report)
}

// TestPage makes sure that docs/trim.md and the package comment show what is.
func TestPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/trim.md")
	require.NoError(t, err)
	page := string(data)
	comment, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for name, o := range map[string]trim.Options{
		"middle":              {Strategy: "middle", TargetTokens: 1420},
		"middle, used up":     {Strategy: "middle", TargetTokens: 800},
		"oldest":              {Strategy: "oldest", TargetTokens: 1420},
		"oldest, farther":     {Strategy: "oldest", TargetTokens: 1000},
		"oldest, with a note": {Strategy: "oldest", TargetTokens: 1420, Note: "[gone]"},
	} {
		line, r := picture(t, o)
		want := fmt.Sprintf("%-20s %s", name, line)
		t.Logf("%s   %v", want, r)
		require.Contains(t, page, want+"\n", "%+v", r)
		if name == "middle" || name == "oldest" {
			require.Contains(t, string(comment), line)
		}
	}
	require.Contains(t, page, fmt.Sprintf("%-20s %s\n", "before", pictured))
}

// byAge gives all units the same score.
func byAge(*middleware.View) func(message.Unit) float64 {
	return func(message.Unit) float64 { return 0 }
}

// raised returns the first positions of the units that ByUse raises.
func raised(t *testing.T, h ...message.Message) []int {
	t.Helper()
	found := []int{}
	_, _, err := middleware.Apply(t.Context(), middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		score := trim.ByUse(v) //nolint:contextcheck // it needs none
		for _, u := range message.Units(v.Messages()) {
			if score(u) > 0 {
				found = append(found, u.First)
			}
		}
		return nil, nil
	}, middleware.Options{}), &middleware.Request{Messages: h})
	require.NoError(t, err)
	return found
}

func TestByUse(t *testing.T) {
	t.Parallel()
	call := func(id, arguments string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "read_file", Arguments: arguments})
	}
	answer := func(text string) message.Message { return message.Assistant(message.Text{Text: text}) }
	long := strings.Repeat("nothing of interest, ", 4000)
	for name, tt := range map[string]struct {
		h    []message.Message
		want []int
	}{
		"a result that a call uses": {
			[]message.Message{call("a", "{}"), message.Result("a", "ls", "There is cmd/main.go."), call("b", `{"path":"cmd/main.go"}`)}, []int{0},
		},
		"arguments that a call uses again": {
			[]message.Message{call("a", `{"id":"OI5L9G"}`), message.Result("a", "get", "ok"), call("b", `{"id":"OI5L9G"}`)}, []int{0},
		},
		"what the user says, and the assistant later": {[]message.Message{message.User("Look at order 48151623."), answer("It is 48151623, then.")}, []int{0}},
		"an earlier use does not count":               {[]message.Message{call("b", `{"path":"cmd/main.go"}`), answer("There is cmd/main.go.")}, []int{0}},
		"a result that says it again does not count":  {[]message.Message{answer("There is cmd/main.go."), call("b", `{}`), message.Result("b", "ls", "cmd/main.go")}, []int{}},
		"keys of JSON do not count":                   {[]message.Message{call("a", `{"file_path":"x"}`), message.Result("a", "ls", ""), call("b", `{"file_path":"y"}`)}, []int{}},
		"ordinary words do not count":                 {[]message.Message{answer("It is well-known: the build fails at 10:30."), answer("It is well-known: the build fails at 10:30.")}, []int{}},
		"the end of a sentence is no part of it":      {[]message.Message{answer("Is it in #main.go?"), answer("Yes, main.go.")}, []int{0}},
		"Chinese around it":                           {[]message.Message{answer("订单号是A1234吗"), answer("是A1234")}, []int{0}},
		"the system does not count":                   {[]message.Message{answer("Use AB-1234."), message.System("AB-1234 is secret.")}, []int{}},
		"the beginning of a long text":                {[]message.Message{answer("AB-1234 " + long), answer("AB-1234")}, []int{0}},
		"the end of it":                               {[]message.Message{answer(long + "AB-1234"), answer("AB-1234")}, []int{0}},
		"not its middle":                              {[]message.Message{answer(long + "AB-1234" + long), answer("AB-1234")}, []int{}},
		"other parts": {
			[]message.Message{
				message.Assistant(message.Thinking{Text: "AB-1234"}, message.Opaque{Kind: "x", Data: "AB-1234"}),
				message.Assistant(message.Thinking{Text: "AB-1234"}, message.Text{Text: "AB-1235"}), answer("AB-1234"),
			}, []int{},
		},
	} {
		require.Equal(t, tt.want, raised(t, tt.h...), name)
	}
}
