package microcompact

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %05d: exit status 2\n", i)
	}
	return b.String()
}

func TestEndsCutAtLines(t *testing.T) {
	t.Parallel()
	text := numbered(2000) // of 7 tokens each
	short := ends(tokens.Chars4, text, 1000, store.Handle{})
	head, rest, _ := strings.Cut(short, "[truncated here: ")
	mark, tail, _ := strings.Cut(rest, "]\n")
	require.True(t, strings.HasPrefix(text, head))
	require.True(t, strings.HasSuffix(text, tail))
	require.True(t, strings.HasSuffix(head, "\n"), "the head ends where a line ends: …%q", head[max(0, len(head)-20):])
	require.True(t, strings.HasPrefix(tail, "line "), "the tail begins where a line begins: %q…", tail[:min(20, len(tail))])
	left := len(text) - len(head) - len(tail)
	require.Equal(t, fmt.Sprintf("%d chars, %d lines", left, left/26), mark, "what is left out")
	n := tokens.Chars4.Count(short)
	require.LessOrEqual(t, n, 1000)
	require.Greater(t, n, 900, "no more is left out than has to be")
	require.InDelta(t, len(head), len(tail), 60, "as much of the one as of the other")
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		limit int
	}{
		"one long line":           {strings.Repeat("x", 50_000), 1000},
		"Chinese":                 {strings.Repeat("构建失败，退出状态二。", 2000), 1000},
		"emoji":                   {strings.Repeat("😀👍🏽", 5000), 1000},
		"bytes that are no text":  {strings.Repeat("\xff\x80\x81", 9000), 1000},
		"a long line at each end": {strings.Repeat("x", 9000) + numbered(100) + strings.Repeat("y", 9000), 1000},
		"head light, tail dense":  {strings.Repeat("hello ", 5000) + strings.Repeat("你好。", 5000), 1000},
		"carriage returns":        {strings.ReplaceAll(numbered(2000), "\n", "\r\n"), 1000},
		"JSON":                    {"{" + strings.Repeat(`"key":"value",`, 5000) + `"last":1}`, 1000},
		"empty lines":             {strings.Repeat("\n", 50_000), 1000},
		"a limit of few":          {numbered(2000), 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, by := range []tokens.Counter{tokens.Chars4, tokens.Estimate{}, tokens.Cautious, tokens.CJK15} {
				short := ends(by, c.text, c.limit, store.Handle{})
				require.Equal(t, by.Count(c.text) > c.limit, short != c.text, "what is above the limit becomes shorter, by %T", by)
				requireEnds(t, by, c.text, short, c.limit)
			}
		})
	}
}

func TestEndsStays(t *testing.T) {
	t.Parallel()
	by := tokens.Chars4
	for name, c := range map[string]struct {
		text  string
		limit int
	}{
		"nothing":              {"", 10},
		"at the limit":         {strings.Repeat("x", 400), 100},
		"no room for the mark": {strings.Repeat("x", 400), 5},
		"no tokens at all":     {strings.Repeat("x", 404), 0},
	} {
		require.Equal(t, c.text, ends(by, c.text, c.limit, store.Handle{}), name)
	}
}

var markForm = regexp.MustCompile(`\[truncated here: (\d+) chars(?:, (\d+) lines?)?\]`)

// requireEnds checks what holds for head and tail of any text.
func requireEnds(t require.TestingT, by tokens.Counter, text, short string, limit int) {
	if text == short {
		return
	}
	require.Less(t, len(short), len(text), "in bytes")
	require.Less(t, by.Count(short), by.Count(text), "in tokens, by %T", by)
	require.LessOrEqual(t, by.Count(short), limit+limit/20+2, "by %T", by) // counts of pieces may add up to a little more
	at := markForm.FindStringSubmatchIndex(short)
	require.NotNil(t, at, "there is a mark")
	head, tail := short[:at[0]], short[at[1]:]
	if !strings.HasPrefix(text, head) {
		head = strings.TrimSuffix(head, "\n")
	}
	if !strings.HasSuffix(text, tail) || len(head)+len(tail) > len(text) {
		tail = strings.TrimPrefix(tail, "\n")
	}
	require.True(t, strings.HasPrefix(text, head))
	require.True(t, strings.HasSuffix(text, tail))
	left := text[len(head) : len(text)-len(tail)]
	chars, err := strconv.Atoi(short[at[2]:at[3]])
	require.NoError(t, err)
	require.InDelta(t, utf8.RuneCountInString(left), chars, 2, "what is left out, but for line ends beside the mark")
	if utf8.ValidString(text) {
		require.True(t, utf8.ValidString(short), "no character is cut")
	}
}

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]removed{
		"[truncated: 0 chars]":                   {},
		"[truncated: 201 chars]":                 {chars: 201},
		"[truncated: 1 attachment]":              {attachments: 1},
		"[truncated: 7 chars, 2 attachments]":    {chars: 7, attachments: 2},
		"[truncated here: 7 chars]":              {chars: 7, middle: true},
		"[truncated here: 7000 chars, 1 line]":   {chars: 7000, lines: 1, middle: true},
		"[truncated here: 7000 chars, 90 lines]": {chars: 7000, lines: 90, middle: true},
	} {
		require.Equal(t, want, g.placeholder())
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Report{
		"":         {},
		"1 result": {Results: 1},
		"2 results, the arguments of 3 calls and 4 texts": {Results: 2, Arguments: 3, Texts: 4},
		"the arguments of 1 call and 1 text":              {Arguments: 1, Texts: 1},
	} {
		require.Equal(t, want, r.list())
	}
}
