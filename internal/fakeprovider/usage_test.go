package fakeprovider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// long returns a user message of this many tokens: 4, and its bytes.
func long(mark string, tokens int) string {
	return content(`"` + mark + strings.Repeat("x", 4*(tokens-4)-4-len(mark)) + `"`)
}

func TestCachedTokens(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{"gpt-4o": 100_000, "gpt-5": 100_000}})
	a, b, c, d := long("a", 500), long("b", 523), long("c", 301), long("d", 300)
	tools := `"tools":[` + read + `]`
	declared := fakeprovider.CountText(`[` + read + `]`)
	for i, step := range []struct {
		name   string
		body   string
		prompt int
		cached int
	}{
		{"nothing is known", chat(a, b), 3 + 1023, 0},
		{"1,023 tokens are too few", chat(a, b), 3 + 1023, 0},
		{"one more message, nothing new to hit", chat(a, b, c), 3 + 1324, 0},
		{"the same again, in steps of 128", chat(a, b, c), 3 + 1324, 1280},
		{"it grows", chat(a, b, c, d), 3 + 1624, 1280},
		{"and again", chat(a, b, c, d, user), 3 + 1624 + 6, 1536},
		{"an earlier end of it", chat(a, b, c), 3 + 1324, 1280},
		{"changed in front", chat(d, b, c), 3 + 300 + 523 + 301, 0},
		{"changed in the middle: too little is left", chat(a, d, c, b), 3 + 1624, 0},
		{"changed at the end", chat(a, b, c, strings.Replace(d, "xd", "xe", 1), user), 3 + 1624 + 6, 1536},
		{"changed by one byte at the end", chat(a, b, c, long("D", 300)), 3 + 1624, 1280},
		{"with tools all is new", with(tools, a, b, c), 3 + 1324 + declared, 0},
		{"with the tools again", with(tools, a, b, c), 3 + 1324 + declared, (1324 + declared) / 128 * 128},
		{"options do not matter", with(`"temperature":1,"max_tokens":5`, a, b, c), 3 + 1324, 1280},
		{"spaces do not matter", strings.ReplaceAll(chat(a, b, c), `":`, `" : `), 3 + 1324, 1280},
		{"one text part is a string", chat(a, b, strings.Replace(strings.Replace(c, `"content":"`, `"content":[{"type":"text","text":"`, 1), `"}`, `"}]}`, 1)), 3 + 1324, 1280},
		{"another model knows nothing", strings.Replace(chat(a, b, c), "gpt-4o", "gpt-5", 1), 3 + 1324, 0},
	} {
		got := complete(t, s, step.body)
		require.Equal(t, step.prompt, got.Usage.Prompt, "%d: %s", i, step.name)
		require.Equal(t, step.cached, got.Usage.PromptDetails.Cached, "%d: %s", i, step.name)
		require.Equal(t, 1, got.Usage.Completion)
		require.Equal(t, step.prompt+1, got.Usage.Total)
		rec := s.Requests()[i]
		require.Equal(t, fakeprovider.Usage{Prompt: step.prompt, Cached: step.cached, Completion: 1}, rec.Usage)
		require.Equal(t, step.prompt, rec.Request.Tokens(), "a test can count the same")
	}
}
