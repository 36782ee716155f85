package microcompact

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

func TestShortArguments(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", 100)
	for _, c := range []struct {
		name, in string
		limit    int
		want     string // "": stays
	}{
		{"at the limit", `{"a":"` + x + `"}`, 108, ""},
		{"a value of 60 and one of 61", `{"a":"` + x[:60] + `","b":"` + x[:61] + `"}`, 120, `{"a":"` + x[:60] + `","b":"[truncated: 61 chars]"}`},
		{"still too long", `{"a":"` + x + `"}`, 29, `{"truncated": 108}`},
		{"short values, too many", `{"a":"` + x[:60] + `","b":"` + x[:60] + `"}`, 100, `{"truncated": 135}`},
		{"would be longer", `{"a":1}`, 3, ""},
		{"white space alone", `{ "a" : ` + strings.Repeat(" ", 100) + `[1, 2] }`, 20, `{"a":[1, 2]}`},
		{"an empty object", "{" + strings.Repeat("\n", 100) + "}", 20, "{}"},
		{"nested", `{"a":{"b":[1,"` + x + `",{"c":"}]"}]},"d":[],"e":{}}`, 100, `{"a":"[truncated: 123 chars]","d":[],"e":{}}`},
		{"a huge number", `{"n":` + strings.Repeat("9", 100) + `,"m":-12e-7}`, 60, `{"n":"[truncated: 100 chars]","m":-12e-7}`},
		{"escaped quotes and brackets", `{"a\"}":"` + x + `\"}\\","b":"\\"}`, 100, `{"a\"}":"[truncated: 103 chars]","b":"\\"}`},
		{"escapes are characters", `{"a":"` + strings.Repeat(`\u4f60`, 60) + `"}`, 400, ""},
		{"Chinese within the limit of values", `{"文":"` + strings.Repeat("好", 60) + `"}`, 68, ""},
		{"a pair of surrogates is one", `{"a":"` + strings.Repeat(`\ud83d\ude00`, 61) + `"}`, 200, `{"a":"[truncated: 61 chars]"}`},
		{"bytes that are no text", `{"a":"` + strings.Repeat("\xff", 100) + `"}`, 60, `{"a":"[truncated: 100 chars]"}`},
		{"a list", "[" + strings.Repeat("1,", 50) + "1]", 60, `{"truncated": 103}`},
		{"no JSON", `{"a":"` + x, 60, `{"truncated": 106}`},
		{"nothing", "", 1, ""},
		{"deeper than encoding/json goes", `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, 60, `{"truncated": 40006}`},
	} {
		got, ok := shortArguments(c.in, c.limit, store.Handle{})
		if c.want == "" {
			require.False(t, ok, "want it to stay, got %s", got)
			continue
		}
		require.True(t, ok, c.name)
		require.Equal(t, c.want, got, c.name)
		requireShortArguments(t, c.in, c.limit)
	}
}

// requireShortArguments checks what holds for any arguments.
func requireShortArguments(t require.TestingT, in string, limit int) {
	short, ok := shortArguments(in, limit, store.Handle{})
	if n := utf8.RuneCountInString(in); n <= limit {
		require.False(t, ok, "within the limit")
		return
	}
	if !ok {
		return
	}
	require.True(t, json.Valid([]byte(short)), "want valid JSON, got %s", short)
	require.Equal(t, byte('{'), short[0])
	require.Less(t, len(short), len(in), "of %s", short)
	require.Less(t, utf8.RuneCountInString(short), utf8.RuneCountInString(in), "never longer")
	if short == fmt.Sprintf(`{"truncated": %d}`, utf8.RuneCountInString(in)) {
		return
	}
	require.LessOrEqual(t, utf8.RuneCountInString(short), limit, "within the limit: %s", short)
	require.Equal(t, keys(t, in), keys(t, short), "the same keys in the same order")
}

// keys returns the keys of an object in order.
func keys(t require.TestingT, text string) (all []string) {
	d := json.NewDecoder(strings.NewReader(text))
	_, err := d.Token()
	require.NoError(t, err)
	for d.More() {
		key, err := d.Token()
		require.NoError(t, err)
		all = append(all, fmt.Sprint(key))
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
	}
	_, err = d.Token()
	require.NoError(t, err)
	_, err = d.Token()
	require.ErrorIs(t, err, io.EOF)
	return all
}

func FuzzShortArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":"b"}`, `{"a":1,"a":2}`, `{"a":"\ud83d\ude00\u12"}`, `{"a":{"b":["}"]}}`, `[1]`, "{\"a\":\"\xff\"}", ` { "a" : -1e9 } `, `{"a":"\\"}`, `{"":""}`, `null`,
		`{"a":"` + strings.Repeat("x", 70) + `","n":` + strings.Repeat("1", 70) + `}`,
	} {
		f.Add(seed, 5)
		f.Add(seed, 40)
	}
	f.Fuzz(func(t *testing.T, in string, limit int) {
		limit = max(1, limit%500)
		requireShortArguments(t, in, limit)
	})
}

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
		"emoji":                   {strings.Repeat("😀👍🏽", 5000), 1000},
		"a long line at each end": {strings.Repeat("x", 9000) + numbered(100) + strings.Repeat("y", 9000), 1000},
		"carriage returns":        {strings.ReplaceAll(numbered(2000), "\n", "\r\n"), 1000},
		"empty lines":             {strings.Repeat("\n", 50_000), 1000},
	} {
		for _, by := range []tokens.Counter{tokens.Chars4, tokens.Estimate{}, tokens.Cautious, tokens.CJK15} {
			short := ends(by, c.text, c.limit, store.Handle{})
			require.Equal(t, by.Count(c.text) > c.limit, short != c.text, "%s: what is above the limit becomes shorter, by %T", name, by)
			requireEnds(t, by, c.text, short, c.limit)
		}
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
		"[truncated: 1 attachment]":              {attachments: 1},
		"[truncated: 7 chars, 2 attachments]":    {chars: 7, attachments: 2},
		"[truncated here: 7000 chars, 1 line]":   {chars: 7000, lines: 1, middle: true},
		"[truncated here: 7000 chars, 90 lines]": {chars: 7000, lines: 90, middle: true},
	} {
		require.Equal(t, want, g.placeholder())
	}
}
