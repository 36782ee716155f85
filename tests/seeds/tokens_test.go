package seeds_test

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

func TestB6(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"abc":                      0,
		"abcd":                     1,
		"你好":                       1,
		"你好你好你好":                   4,
		"hello world":              2,
		"上下文压缩 context compaction": 8,
	} {
		require.Equal(t, want, tokens.CJK15.Messages([]message.Message{message.User(text)}), "%q as a list", text)
		require.Equal(t, want, tokens.CJK15.Count(text), "%q alone", text)
	}
	// The original rounds once, at the end of the whole list.
	require.Equal(t, 1, tokens.CJK15.Messages([]message.Message{message.User("abc"), message.User("abc")}))
	// A counter is asked text by text, so what is left of each text is lost.
	require.Equal(t, 0, tokens.CJK15.Count("abc")+tokens.CJK15.Count("abc"))
	// The names and arguments of calls count.
	call := message.Assistant(message.ToolCall{ID: "call_1", Name: "read", Arguments: `{"path":"a.go"}`})
	require.Equal(t, (len("read")+len(`{"path":"a.go"}`))/4, tokens.CJK15.Messages([]message.Message{call}))

	// The ranges, at both ends and next to them: 60 characters are 40 tokens or 15.
	for _, r := range [][2]rune{
		{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0xF900, 0xFAFF}, {0x2E80, 0x2EFF}, {0x3000, 0x303F}, {0xFF00, 0xFFEF}, {0x3040, 0x30FF},
	} {
		for _, c := range []rune{r[0], (r[0] + r[1]) / 2, r[1]} {
			require.Equal(t, 40, tokens.CJK15.Count(strings.Repeat(string(c), 60)), "U+%04X is in U+%04X–%04X", c, r[0], r[1])
		}
	}
	for _, c := range []rune{0x2E7F, 0x2F00, 0x2FFF, 0x3100, 0x33FF, 0x4DC0, 0x4DFF, 0xA000, 0xF8FF, 0xFB00, 0xFEFF, 0xFFF0, 0x20000} {
		require.Equal(t, 15, tokens.CJK15.Count(strings.Repeat(string(c), 60)), "U+%04X is in no range", c)
	}
}

func TestD6(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":            0,
		"a":           1,
		"hello world": 4,
		"你好":          3,
		"你好。":         4,
	} {
		require.Equal(t, want, tokens.Cautious.Count(text), "%q", text)
	}
	// The weights, in milli-tokens: 200 characters of each.
	for weight, chars := range map[int][]rune{
		1500: {0x4E00, 0x9FFF, 0x3400, 0x4DBF},
		1000: {0x3000, 0x303F},
		250:  {' ', '\n', '\t'},
		300:  {'a', '\r', 0xA0, 0x2FFF, 0x3040, 0x33FF, 0x4DC0, 0xA000, 0xF900, 0xFF0C, 0x20000},
	} {
		for _, c := range chars {
			require.Equal(t, weight/5, tokens.Cautious.Count(strings.Repeat(string(c), 200)), "U+%04X", c)
		}
	}
	require.Equal(t, 1, tokens.Cautious.Count("    "), "four blanks are one token")
	require.Equal(t, 2, tokens.Cautious.Count("     "), "and a fifth begins another")

	// Difference from the original: it adds up in binary floating point, where
	// forty times 0.3 is a little above 12, and rounds that up to 13.
	letters := strings.Repeat("a", 40)
	original := 0.0
	for range letters {
		original += 0.3
	}
	require.Equal(t, 13, int(math.Ceil(original)), "the original")
	require.Equal(t, 12, tokens.Cautious.Count(letters), "exact arithmetic")
}

// TestDefaultOfChinese is the decision between B and D: the default is neither, and follows the tokenizer.
func TestDefaultOfChinese(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("历史消息被压缩成一段摘要并保留关键事实", 20)
	ideographs := 0
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			ideographs++
		}
	}
	for family, rate := range map[string]float64{"o200k_base": 0.75, "cl100k_base": 1.1} {
		meter, ok := tokens.MeterFor(family)
		require.True(t, ok, family)
		exact := bpe.Encoding(family)
		n := meter.Counter.Count(text)
		require.InEpsilon(t, rate*float64(ideographs), n, 0.15, "%s: %d tokens for %d ideographs", family, n, ideographs)
		require.InEpsilon(t, exact.Count(text), n, 0.25, family)
	}
}
