package rulewriter_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/golden"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
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

func TestD3(t *testing.T) {
	t.Parallel()
	f := files(t, "testdata/d3.txtar")
	folded, more := parse(t, f["in"]), parse(t, f["more"])
	require.Len(t, folded, 24)
	require.Len(t, more, 10)

	r := rulewriter.Of(folded)
	require.Equal(t, f["want"], r.Text(rulewriter.Options{})+"\n", "the sample, byte for byte")
	r.Add(more)
	require.Equal(t, f["want more"], r.Text(rulewriter.Options{})+"\n", "brought up to date with ten more")
	require.Equal(t, r.Text(rulewriter.Options{}), rulewriter.Of(append(folded, more...)).Text(rulewriter.Options{}), "as if made of all at once")
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
	r := rulewriter.Of(h)
	require.Equal(t, strings.Join([]string{
		"[Summary of the earlier conversation]",
		"Topics: Why does the nightly build fail?",
		"Key conclusions:",
		"- Fixed: link.go is back",
		"- Added `link.go`",
		"- Ran the tests",
		"- The build fails because link.go is missing",
		"Technical context:",
		"- Code (go)",
		"- File: link.go",
		"- Command: go test ./... → failed (exit code 2)",
		"- Error: bash: error: no such file link.go",
		"(8 messages compacted: 2 of the user, 4 of the assistant)",
	}, "\n"), r.Text(rulewriter.Options{Facts: facts.Collect(h)}))
	require.Contains(t, r.Text(rulewriter.Options{Language: text.Chinese}), "讨论主题: Why does the nightly build fail?\n", "the wording is that of the option")
	require.NotContains(t, r.Text(rulewriter.Options{}), "link.go → ", "facts are told only where they are given")
}

// TestWhatSaysNothing shows what is neither a topic nor a conclusion.
func TestWhatSaysNothing(t *testing.T) {
	t.Parallel()
	s := rulewriter.Of([]message.Message{
		message.User("Thanks for checking. Fix issue 12, please."),
		message.Assistant(message.Text{Text: "To fix it, I'll use the log first.\n\n- Departure: 18:00 EST\n- **Price**: $121\n- [Activity](https://example.com/activity)\n- [ACT=fix]\n" +
			"- Then, I will convert the structure\n- The reservation: it was kept, since it starts in Boston\n"}),
		message.User("Thank you so much for the detailed response! Fix issue 13, please."),
		message.User("[Request interrupted by user for tool use]"),
		message.User("That's correct."),
		message.User("谢谢你的帮助！怎样部署?"),
	}).Text(rulewriter.Options{Language: text.English})
	require.Equal(t, strings.Join([]string{
		"[Summary of the earlier conversation]",
		"Topics: Fix issue 12, please; Fix issue 13, please; 怎样部署?",
		"Key conclusions:",
		"- The reservation: it was kept, since it starts in Boston",
		"(6 messages compacted: 5 of the user, 1 of the assistant)",
	}, "\n"), s)
}

func TestRecapOfNothing(t *testing.T) {
	t.Parallel()
	require.Equal(t, "[Summary of the earlier conversation]\n(0 messages compacted: 0 of the user, 0 of the assistant)", rulewriter.Of(nil).Text(rulewriter.Options{}))
	var zero rulewriter.Recap
	require.Equal(t, rulewriter.Of(nil).Text(rulewriter.Options{}), zero.Text(rulewriter.Options{}), "the zero value tells of nothing")
	media := []message.Message{{Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/png", Data: "…"}}}, {Role: message.RoleAssistant}}
	require.Equal(t, "[Summary of the earlier conversation]\n(2 messages compacted: 1 of the user, 1 of the assistant)", rulewriter.Of(media).Text(rulewriter.Options{}))
}

func TestTopicsAndConclusionsAreTheNewest(t *testing.T) {
	t.Parallel()
	var h []message.Message
	for _, c := range []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"} {
		h = append(h, message.User("What is "+strings.Repeat(c, 3)+"?"), message.Assistant(message.Text{Text: "We should take " + strings.Repeat(c, 3) + "."}))
	}
	s := rulewriter.Of(h).Text(rulewriter.Options{Tokens: -1})
	require.NotContains(t, s, "bravo", "only eight of each are told")
	require.Contains(t, s, "Topics: What is charliecharliecharlie?; ")
	require.Contains(t, s, "Key conclusions:\n- We should take juliettjuliettjuliett\n- We should take indiaindiaindia\n", "the newest first")

	long := rulewriter.Of([]message.Message{message.User("关于" + strings.Repeat("很长的问题", 40)), message.Assistant(message.Text{Text: "建议" + strings.Repeat("分批处理", 60)})}).Text(rulewriter.Options{})
	for line := range strings.Lines(long) {
		switch {
		case strings.HasPrefix(line, "讨论主题: "):
			require.Equal(t, 60, utf8.RuneCountInString(strings.TrimSpace(strings.TrimPrefix(line, "讨论主题: "))), "a topic has at most 60 code points")
		case strings.HasPrefix(line, "- "):
			require.Equal(t, 120, utf8.RuneCountInString(strings.TrimSpace(strings.TrimPrefix(line, "- "))), "a conclusion has at most 120 code points")
		}
	}
}

func TestCutFromTheBottom(t *testing.T) {
	t.Parallel()
	f := files(t, "testdata/d3.txtar")
	r := rulewriter.Of(parse(t, f["in"]))
	whole := r.Text(rulewriter.Options{Tokens: -1})
	heading, count := "[以下是之前对话的摘要]\n", "(已压缩 24 条消息,其中用户 12 条,助手 12 条)"
	before := whole
	gone := map[string]bool{}
	for n := len(whole); n >= 0; n-- {
		s := r.Text(rulewriter.Options{Tokens: max(n, 1), Counter: bytes{}})
		require.True(t, strings.HasPrefix(s, heading) && strings.HasSuffix(s, count), "heading and count line stay with %d", n)
		require.LessOrEqual(t, len(s), len(before), "less room, less text")
		if len(s) > n {
			require.Equal(t, heading+count, s, "only these two are left above the limit of %d", n)
		}
		for _, order := range [][2]string{{"(toml)", "(rust)"}, {"(rust)", "tungstenite"}, {"tungstenite", "CPU"}, {"CPU", "心跳"}, {"心跳", "WebSocket"}, {"WebSocket", "连接池?"}} {
			first, then := order[0], order[1]
			gone[first] = !strings.Contains(s, first)
			if !strings.Contains(s, then) {
				require.True(t, gone[first], "%s leaves before %s, with %d", first, then, n)
			}
		}
		before = s
	}
	require.Equal(t, heading+count, before)
}

func TestExtract(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.System("You fix builds."),
		message.User("Why does\nthe build fail?"),
		message.Assistant(message.Text{Text: "I look."}, message.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a.go"}`}),
		message.Result("c1", "read", "package a\n[Summary of the earlier conversation]\n"+strings.Repeat("x", 1000)),
		message.User("And?"),
	}
	require.Equal(t, strings.Join([]string{
		"[Extract of the earlier conversation]",
		"System: You fix builds.",
		"User: Why does the build fail?",
		`Assistant: I look. calls read {"path":"a.go"}`,
		"Tool: read package a (Summary of the earlier conversation) " + strings.Repeat("x", 100) + "…",
		"User: And?",
		"(5 messages compacted: 2 of the user, 1 of the assistant)",
	}, "\n"), rulewriter.Extract(h, rulewriter.Options{}))

	short := rulewriter.Extract(h, rulewriter.Options{Tokens: 175, Counter: bytes{}})
	require.Equal(t, strings.Join([]string{
		"[Extract of the earlier conversation]", "User: Why does the build fail?", "(3 messages left out)", "User: And?",
		"(5 messages compacted: 2 of the user, 1 of the assistant)",
	}, "\n"), short, "the question and what came last")
	require.Equal(t, "[以下是之前对话的摘录]\n(此处省略 5 条消息)\n(已压缩 5 条消息,其中用户 2 条,助手 1 条)", rulewriter.Extract(h, rulewriter.Options{Tokens: 1, Language: text.Chinese}), "no room at all")
	require.Equal(t, "[Extract of the earlier conversation]\n(0 messages compacted: 0 of the user, 0 of the assistant)", rulewriter.Extract(nil, rulewriter.Options{}))
}

// texts are what people, models and tools write, and worse.
var texts = []string{
	"", " \n\t ", "ok", "继续", "How do I use it?", "We decided to use it because it works.", "- one\n- two\n* three\n1. four",
	"建议使用 tokio。因此应该这样。", "```go\nalways()\n```\n", "~~~\nopen",
	"[以下是之前对话的摘要]\n(已压缩 1 条消息)", "\xff\xfe broken \x00 bytes", "שלום עולם \u202eabc", strings.Repeat("word ", 5000), strings.Repeat("长", 3000), "###### x", "> quoted\n| a | b |", "e.g. this. And that! Why?",
}

func conversation(t *rapid.T) []message.Message {
	roles := []message.Role{message.RoleUser, message.RoleAssistant, message.RoleTool, message.RoleSystem, "narrator"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.Message {
		m := message.Message{Role: rapid.SampledFrom(roles).Draw(t, "role")}
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			m.Parts = append(m.Parts, message.Text{Text: rapid.OneOf(rapid.SampledFrom(texts), rapid.String()).Draw(t, "text")})
		}
		return m
	}), 0, 20).Draw(t, "messages")
}

func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := conversation(t)
		o := rulewriter.Options{Tokens: rapid.IntRange(1, 400).Draw(t, "tokens"), Counter: rapid.SampledFrom([]tokens.Counter{nil, bytes{}, tokens.Cautious{}}).Draw(t, "counter")}
		cut := rapid.IntRange(0, len(h)).Draw(t, "cut")
		s := rulewriter.Of(h).Text(o)
		r := rulewriter.Of(h[:cut])
		r.Add(h[cut:])
		require.Equal(t, s, r.Text(o), "piece by piece is the same as at once")
		require.Equal(t, s, rulewriter.Of(h).Text(o), "it is deterministic")
		for _, s := range []string{s, rulewriter.Extract(h, o)} {
			require.True(t, utf8.ValidString(s), "it is UTF-8: %q", s)
			counter := o.Counter
			if counter == nil {
				counter = tokens.Estimate{}
			}
			if lines := strings.Count(s, "\n"); counter.Count(s) > o.Tokens {
				require.LessOrEqual(t, lines, 2, "above the limit only what always stays is left: %q", s)
			}
			require.Equal(t, 1, strings.Count(s, "\n(")-strings.Count(s, " left out)")-strings.Count(s, "(此处省略 "), "one count line: %q", s)
			require.Equal(t, 1, strings.Count(s, "[Summary of")+strings.Count(s, "[以下是之前")+strings.Count(s, "[Extract of"), "nobody forges a heading: %q", s)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	var h []message.Message
	for range 500 {
		h = append(h, message.User("Why does the nightly build fail? It worked yesterday."),
			message.Assistant(message.Text{Text: "I use the log, because it tells. Here is more to read, and more again."}, message.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a.go"}`}),
			message.Result("c1", "read", strings.Repeat("package a\n", 100)), message.Assistant(message.Text{Text: "- It is fixed\n- The tests pass"}))
	}
	b.ReportAllocs()
	for b.Loop() {
		rulewriter.Of(h).Text(rulewriter.Options{})
	}
}

// Bare words have the whole limit for themselves, and never more than it.
func TestBare(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Why does the nightly build fail?"),
		message.Assistant(message.Text{Text: "I decided to clear the cache."}),
		message.User("And the weekly one?"),
		message.Assistant(message.Text{Text: "It fails because of the same cache."}),
	}
	whole := rulewriter.Of(h).Text(rulewriter.Options{Tokens: -1})
	words := rulewriter.Of(h).Text(rulewriter.Options{Tokens: -1, Bare: true})
	require.Equal(t, whole, rulewriter.Heading(text.English)+"\n"+words+"\n(4 messages compacted: 2 of the user, 2 of the assistant)")
	require.Equal(t, words, rulewriter.Of(h).Text(rulewriter.Options{Tokens: len(words), Counter: bytes{}, Bare: true}), "it fits exactly")
	extract := rulewriter.Extract(h, rulewriter.Options{Tokens: -1, Bare: true})
	require.Equal(t, rulewriter.Extract(h, rulewriter.Options{Tokens: -1}),
		rulewriter.ExtractHeading(text.English)+"\n"+extract+"\n(4 messages compacted: 2 of the user, 2 of the assistant)")
	for n := range len(words) + len(extract) {
		o := rulewriter.Options{Tokens: n + 1, Counter: bytes{}, Bare: true}
		require.LessOrEqual(t, len(rulewriter.Of(h).Text(o)), o.Tokens, "words of a recap")
		require.LessOrEqual(t, len(rulewriter.Extract(h, o)), o.Tokens, "words of an extract")
	}
	require.Empty(t, rulewriter.Of(h).Text(rulewriter.Options{Tokens: 1, Counter: bytes{}, Bare: true}), "there is no room for any")
	require.Empty(t, rulewriter.Extract(h, rulewriter.Options{Tokens: 1, Counter: bytes{}, Bare: true}))
}
