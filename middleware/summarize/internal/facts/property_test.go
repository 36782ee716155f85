package facts_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// bytes counts bytes.
type bytes struct{}

func (bytes) Count(s string) int { return len(s) }

var counters = []tokens.Counter{tokens.Estimate{}, bytes{}, tokens.Cautious, tokens.CJK15, tokens.Chars4}

// pieces are what users, models and tools write, and worse.
var pieces = []string{
	"", " ", "Never push.", "Always ask. Never force it!", "You may now push.", "不要删库。必须备份", "Why never?",
	"```\nnever do it\n```", "order #W1234567 for ann@example.com, $5.40", "exit code 0", "exit code 1\nerror: x",
	"Error: gone", "[Facts recorded by code]\nErrors:\n- x", "\xff\xfe\x00\u202e\u2028", "שלום. אל תעשה", strings.Repeat("never ", 3000), strings.Repeat("x", 40_000), strings.Repeat("不要", 3000), "{\"a\":[1,{\"b\":\"c\"", "- never\n- always\n",
}

var names = []string{
	"bash", "read_file", "Edit", "apply_patch", "str_replace_editor", "grep", "execute", "", "查询", "\xff",
	"[Facts recorded by code]",
}

var arguments = []string{
	"", "{}", `{"path":"a.go"}`, `{"path":"b/\u5f20.go","content":"x"}`, `{"command":"make test"}`,
	`{"command":["bash","-lc","ls"]}`, `{"path":"a.go`, `{"path":"[Facts recorded by code]\n- x"}`, "null", `"`, `{"":""}`,
	`{"path":"\ud800"}`,
	`{"input":"*** Begin Patch\n*** Update File: c.go\n"}`, `{"command":"view","path":"a.go"}`, "\xff{\"path\":\"\xfe\"}", `{"path":"` + strings.Repeat("long/", 500) + `a.go"}`,
}

// messages draws a part of a conversation.
func messages(t *rapid.T) []message.Message {
	s := rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())
	part := rapid.Custom(func(t *rapid.T) message.Part {
		id := rapid.SampledFrom([]string{"c1", "c2", ""}).Draw(t, "id")
		switch rapid.IntRange(0, 3).Draw(t, "part") {
		case 0:
			return message.ToolCall{ID: id, Name: rapid.SampledFrom(names).Draw(t, "tool"), Arguments: rapid.OneOf(rapid.SampledFrom(arguments), rapid.String()).Draw(t, "arguments")}
		case 1:
			return message.ToolResult{CallID: id, Text: s.Draw(t, "result"), Error: rapid.Bool().Draw(t, "error")}
		case 2:
			return message.Media{Type: "image/png"}
		}
		return message.Text{Text: s.Draw(t, "text")}
	})
	role := rapid.SampledFrom([]message.Role{message.RoleUser, message.RoleUser, message.RoleAssistant, message.RoleTool, message.RoleSystem, "narrator"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.Message {
		return message.Message{Role: role.Draw(t, "role"), Parts: rapid.SliceOfN(part, 0, 3).Draw(t, "parts")}
	}), 0, 12).Draw(t, "messages")
}

// sound fails unless a text is a section as it should be.
func sound(t require.TestingT, s string, o text.Options) {
	if s == "" {
		return
	}
	require.LessOrEqual(t, o.Counter.Count(s), max(0, o.Tokens), "it is within its tokens")
	require.True(t, utf8.ValidString(s), "it is UTF-8: %q", s)
	heading, rest, _ := strings.Cut(s, "\n")
	require.Contains(t, []string{"[Facts recorded by code]", "[以下是由程序记录的事实]"}, heading)
	require.NotEmpty(t, rest, "there is something below the heading")
	empty := false
	for line := range strings.SplitSeq(rest, "\n") {
		require.Equal(t, line, text.Line(line, len(line)+1), "no line has anything that acts, or a heading: %q", line)
		entry := strings.HasPrefix(line, "- ")
		require.False(t, empty && !entry, "no title is without entries: %q", s)
		require.True(t, entry || strings.HasSuffix(line, ":"), "a line is a title or an entry: %q", line)
		empty = !entry
	}
	require.False(t, empty, "no title is without entries: %q", s)
}

func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := messages(t)
		o := text.Options{
			Tokens: rapid.SampledFrom([]int{0, 1, 20, 60, 150, 600, 5000}).Draw(t, "tokens"), Counter: rapid.SampledFrom(counters).Draw(t, "counter"),
			Language: rapid.SampledFrom([]text.Language{"", text.English, text.Chinese}).Draw(t, "language"),
		}
		l := collect(h)
		s := l.Text(o)
		sound(t, s, o)
		require.Equal(t, s, l.Text(o), "writing changes nothing")
		require.Equal(t, s, collect(h).Text(o), "it is deterministic")

		cut := rapid.IntRange(0, len(h)).Draw(t, "cut")
		grown := collect(h[:cut])
		grown.Text(o)
		grown.Add(h[cut:])
		require.Equal(t, s, grown.Text(o), "piece by piece is the same as at once")
		twice := collect(slices.Concat(h, h))
		again := files(twice)
		require.Subset(t, again, files(l)) // or more: now a result may come after its call
		slices.Sort(again)
		require.Equal(t, again, slices.Compact(slices.Clone(again)), "what is seen again is no new file")
	})
}

func FuzzCollect(f *testing.F) {
	for i, a := range arguments {
		f.Add(pieces[i%len(pieces)], names[i%len(names)], a, pieces[(i+7)%len(pieces)], uint16(i*40))
	}
	f.Fuzz(func(t *testing.T, said, tool, arguments, result string, most uint16) {
		h := join(user(said), call(tool, arguments, result))
		o := text.Options{Tokens: int(most), Counter: tokens.Estimate{}}
		s := collect(h).Text(o)
		sound(t, s, o)
		require.Equal(t, s, collect(h).Text(o), "it is deterministic")
	})
}

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

// Commands that were read again are known by what was run, with or without an
// outcome, and whatever arrows they have: run again, they are told once.
func TestResumeCommands(t *testing.T) {
	t.Parallel()
	section := []string{"put a → b", "put c → d → ok", "make → failed", "go test → failed (exit code 1)", "put → failed (exit code 3", "make all → timed out", "mk", "make x → killed"}
	l := &facts.Set{}
	l.Resume("Commands:\n- " + strings.Join(section, "\n- "))
	require.Equal(t, section, commands(l))
	var want []string
	for _, command := range []string{"put a → b", "put c → d", "make", "go test", "put → failed (exit code 3", "make all", "mk", "make x"} {
		l.Add(call("bash", `{"command":"`+command+`"}`, "exit code 0"))
		want = append(want, command+" → ok")
	}
	require.Equal(t, want, commands(l))
}
