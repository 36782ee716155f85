package rulewriter_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/rulewriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// bytes counts bytes: what a line costs can be seen.
type bytes struct{}

func (bytes) Count(s string) int { return len(s) }

func parse(t *testing.T, s string) []message.Message {
	t.Helper()
	h, _, err := golden.Parse(s)
	require.NoError(t, err)
	return h
}

func files(t *testing.T, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(name)
	require.NoError(t, err)
	m := map[string]string{}
	for _, f := range a.Files {
		m[f.Name] = string(f.Data)
	}
	return m
}

// english writes in English without a limit.
var english = text.Options{Tokens: math.MaxInt, Counter: tokens.Estimate{}, Language: text.English}

// chinese writes in Chinese within 800 tokens.
var chinese = text.Options{Tokens: 800, Counter: tokens.Estimate{}, Language: text.Chinese}

// framed puts words between the heading and the count line, as package summarize does.
func framed(words string, messages, users, assistants int) string {
	return text.Chinese.Headings().Rules + "\n" + words + fmt.Sprintf("\n(已压缩 %d 条消息,其中用户 %d 条,助手 %d 条)\n", messages, users, assistants)
}

func TestD3(t *testing.T) {
	t.Parallel()
	f := files(t, "testdata/d3.txtar")
	folded, more := parse(t, f["in"]), parse(t, f["more"])
	require.Len(t, folded, 24)
	require.Len(t, more, 10)

	require.Equal(t, f["want"], framed(rulewriter.Summary(folded, chinese), 24, 12, 12), "the sample, byte for byte")
	require.Equal(t, f["want more"], framed(rulewriter.Summary(append(folded, more...), chinese), 34, 17, 17), "brought up to date with ten more")
}

func TestEnglish(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Hi! Why does the nightly build fail? It worked yesterday."),
		message.Assistant(message.Text{Text: "Let me use the log."}, message.ToolCall{ID: "c1", Name: "bash", Arguments: `{"command":"go test ./..."}`}),
		message.Result("c1", "bash", "exit status 2\nerror: no such file link.go\n"),
		message.Assistant(message.Text{Text: "The build fails because link.go is missing. Shall I use another one?\n\n```go\nvar always = 1 // use it\n```\n"}),
		message.User("Yes please."),
		message.Assistant(message.ToolCall{ID: "c2", Name: "write_file", Arguments: `{"path":"link.go","content":"package link"}`}),
		message.Result("c2", "write_file", "ok"),
		message.Assistant(message.Text{Text: "**Fixed**: link.go is back.\n\n## What I did\n\n- Added `link.go`\n- Ran the tests"}),
	}
	require.Equal(t, strings.Join([]string{
		"Topics: Why does the nightly build fail?",
		"Key conclusions:",
		"- Fixed: link.go is back",
		"- Added `link.go`",
		"- Ran the tests",
		"- The build fails because link.go is missing",
		"Technical context: Code (go)",
	}, "\n"), rulewriter.Summary(h, english))
	require.Contains(t, rulewriter.Summary(h, chinese), "讨论主题: Why does the nightly build fail?\n", "the wording is that of the option")
}

// TestWhatSaysNothing shows what is neither a topic nor a conclusion.
func TestWhatSaysNothing(t *testing.T) {
	t.Parallel()
	s := rulewriter.Summary([]message.Message{
		message.User("Thanks for checking. Fix issue 12, please."),
		message.Assistant(message.Text{Text: "To fix it, I'll use the log first.\n\n- [Activity](https://example.com/activity)\n- [ACT=fix]\n" +
			"- Then, I will convert the structure\n- The reservation: it was kept, since it starts in Boston\n"}),
		message.User("Thank you so much for the detailed response! Fix issue 13, please."),
		message.User("[Request interrupted by user for tool use]"),
		message.User("That's correct."),
		message.User("谢谢你的帮助！怎样部署?"),
	}, english)
	require.Equal(t, strings.Join([]string{
		"Topics: Fix issue 12, please; Fix issue 13, please; 怎样部署?",
		"Key conclusions:",
		"- The reservation: it was kept, since it starts in Boston",
	}, "\n"), s)
}

func TestSummaryOfNothing(t *testing.T) {
	t.Parallel()
	require.Empty(t, rulewriter.Summary(nil, english))
	media := []message.Message{{Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/png", Data: "…"}}}, {Role: message.RoleAssistant}}
	require.Empty(t, rulewriter.Summary(media, english))
}

func TestCutFromTheBottom(t *testing.T) {
	t.Parallel()
	f := files(t, "testdata/d3.txtar")
	h := parse(t, f["in"])
	o := chinese
	o.Tokens = math.MaxInt
	before := rulewriter.Summary(h, o)
	o.Counter = bytes{}
	gone := map[string]bool{}
	for n := len(before); n >= 0; n-- {
		o.Tokens = n
		s := rulewriter.Summary(h, o)
		require.LessOrEqual(t, len(s), n)
		require.LessOrEqual(t, len(s), len(before), "less room, less text")
		for _, order := range [][2]string{{"(toml)", "(rust)"}, {"(rust)", "tungstenite"}, {"tungstenite", "CPU"}, {"CPU", "心跳"}, {"心跳", "WebSocket"}, {"WebSocket", "连接池?"}} {
			first, then := order[0], order[1]
			gone[first] = !strings.Contains(s, first)
			if !strings.Contains(s, then) {
				require.True(t, gone[first], "%s leaves before %s, with %d", first, then, n)
			}
		}
		before = s
	}
	require.Empty(t, before)
}

// TestState has what a reader needs to go on: the newest text of the assistant, also a short one, and the newest long one.
func TestState(t *testing.T) {
	t.Parallel()
	say := func(s string) message.Message { return message.Assistant(message.Text{Text: s}) }
	long := strings.TrimSpace(strings.Repeat("The name of the file has a hyphen. ", 10))
	for name, c := range map[string]struct {
		msgs []message.Message
		want string
	}{
		"nothing":                {[]message.Message{message.User("go on")}, ""},
		"a long text":            {[]message.Message{say(long)}, "The assistant said last:\n" + long},
		"a short text":           {[]message.Message{say("Done.")}, "The assistant said last:\nDone."},
		"a short text later":     {[]message.Message{say(long), say("Draft PR created: 189")}, "The assistant said before:\n" + long + "\nThe assistant said last: Draft PR created: 189"},
		"a question later":       {[]message.Message{say(long), say("Shall I?")}, "The assistant said before:\n" + long + "\nThe assistant said last: Shall I?"},
		"a text of a summary":    {[]message.Message{say("The assistant said before:\n" + long)}, "The assistant said last:\n" + long},
		"nothing but white room": {[]message.Message{say(" \n")}, ""},
	} {
		require.Equal(t, c.want, rulewriter.State(c.msgs, english), name)
	}
}
