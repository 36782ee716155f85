package seeds_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
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
		require.Equal(t, want, tokens.CJK15{}.List(text), "%q as a list", text)
		require.Equal(t, want, tokens.CJK15{}.Count(text), "%q alone", text)
	}
	// The original rounds once, at the end of the whole list.
	require.Equal(t, 1, tokens.CJK15{}.List("abc", "abc"))
	require.Equal(t, 1, tokens.CJK15{}.Messages([]message.Message{message.User("abc"), message.User("abc")}))
	// A counter is asked text by text, so what is left of each text is lost.
	require.Equal(t, 0, tokens.CJK15{}.Count("abc")+tokens.CJK15{}.Count("abc"))
	// The names and arguments of calls count.
	call := message.Assistant(message.ToolCall{ID: "call_1", Name: "read", Arguments: `{"path":"a.go"}`})
	require.Equal(t, (len("read")+len(`{"path":"a.go"}`))/4, tokens.CJK15{}.Messages([]message.Message{call}))
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
		require.Equal(t, want, tokens.Cautious{}.Count(text), "%q", text)
	}
	// Difference from the original: it adds up in binary floating point, where
	// forty times 0.3 is a little above 12, and rounds that up to 13.
	letters := strings.Repeat("a", 40)
	original := 0.0
	for range letters {
		original += 0.3
	}
	require.Equal(t, 13, int(math.Ceil(original)), "the original")
	require.Equal(t, 12, tokens.Cautious{}.Count(letters), "exact arithmetic")
}
