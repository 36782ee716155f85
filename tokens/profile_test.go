package tokens_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

func TestCJK15Characters(t *testing.T) {
	t.Parallel()
	// Twelve of a character have eight tokens if it is Chinese to the rule, else three.
	for _, r := range []rune{0x2E80, 0x2EFF, 0x3000, 0x303F, 0x3040, 0x30FF, 0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0xFAFF, 0xFF00, 0xFFEF} {
		require.Equal(t, 8, tokens.CJK15.Count(strings.Repeat(string(r), 12)), "U+%04X is Chinese", r)
	}
	for _, r := range []rune{0, 'a', 0x7F, 0xE9, 0x2E7F, 0x2F00, 0x2FFF, 0x3100, 0x33FF, 0x4DC0, 0x4DFF, 0xA000, 0xAC00, 0xF8FF, 0xFB00, 0xFEFF, 0xFFF0, 0x1F600, 0x20000} {
		require.Equal(t, 3, tokens.CJK15.Count(strings.Repeat(string(r), 12)), "U+%04X is not", r)
	}
	require.Equal(t, 3, tokens.CJK15.Count(strings.Repeat("\xff", 12)), "a byte that is no character is one of the others")
}

func TestCJK15Messages(t *testing.T) {
	t.Parallel()
	msgs := []message.Message{
		message.System("abc"),
		{Role: message.RoleUser, Name: "not counted", Parts: []message.Part{message.Text{Text: "abc"}, message.Media{Data: "not counted"}}},
		message.Assistant(message.Thinking{Text: "ab", Signature: "not counted"}, message.ToolCall{ID: "not counted", Name: "你", Arguments: "{}"}, nil),
		message.Result("not counted", "nor this", "好好"),
		{Parts: []message.Part{message.ToolResult{Content: message.Opaque{Data: "not counted"}}}},
	}
	require.Equal(t, (3*(3+3+2+2)+8*3)/12, tokens.CJK15.Messages(msgs))
	require.Zero(t, tokens.CJK15.Messages(nil))
}

// TestCJK15IsExact compares the rule with its own words, in fractions.
func TestCJK15IsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cjk, other := rapid.IntRange(0, 5000).Draw(t, "cjk"), rapid.IntRange(0, 5000).Draw(t, "other")
		// trunc(cjk/1.5 + other/4) = trunc((8 cjk + 3 other) / 12)
		want := (8*cjk + 3*other) / 12
		require.Equal(t, want, tokens.CJK15.Messages([]message.Message{message.User(strings.Repeat("字", cjk)), message.User(strings.Repeat("x", other))}))
		each := tokens.CJK15.Count(strings.Repeat("字", cjk)) + tokens.CJK15.Count(strings.Repeat("x", other))
		require.GreaterOrEqual(t, want, each, "counted one by one, less than a token is lost with each")
		require.LessOrEqual(t, want, each+1)
	})
}

func TestCautiousCharacters(t *testing.T) {
	t.Parallel()
	for r, milli := range map[rune]int{
		0x4E00: 1500, 0x9FFF: 1500, 0x3400: 1500, 0x4DBF: 1500, 0x3000: 1000, 0x303F: 1000,
		' ': 250, '\n': 250, '\t': 250, '\r': 300, 'a': 300, 0: 300, 0x2FFF: 300, 0x3040: 300, 0x33FF: 300,
		0x4DC0: 300, 0xA000: 300, 0xFF0C: 300, 0x1F600: 300, 0x20000: 300,
	} {
		require.Equal(t, milli, tokens.Cautious.Count(strings.Repeat(string(r), 1000)), "U+%04X", r)
	}
}
