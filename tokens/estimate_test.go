package tokens_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/tokens"
)

// reference is a text whose exact counts are known.
type reference struct {
	kind, text    string
	o200k, cl100k int
}

func references(tb testing.TB) []reference {
	tb.Helper()
	data, err := os.ReadFile("testdata/texts.txtar")
	require.NoError(tb, err)
	var all []reference
	for _, f := range txtar.Parse(data).Files {
		name := strings.Fields(f.Name)
		require.Len(tb, name, 3, "want kind, o200k_base and cl100k_base, got %q", f.Name)
		r := reference{kind: name[0], text: string(f.Data)}
		r.o200k, err = strconv.Atoi(name[1])
		require.NoError(tb, err)
		r.cl100k, err = strconv.Atoi(name[2])
		require.NoError(tb, err)
		all = append(all, r)
	}
	return all
}

func TestEstimateIsNear(t *testing.T) {
	t.Parallel()
	cl100k, ok := estimateFor("cl100k_base")
	require.True(t, ok)
	var guessed, exact, chars int
	for _, r := range references(t) {
		o, c := tokens.Estimate{}.Count(r.text), cl100k.Count(r.text)
		require.InEpsilon(t, r.o200k, o, 0.25, "%s: o200k_base has %d tokens, the estimate is %d", r.kind, r.o200k, o)
		require.InEpsilon(t, r.cl100k, c, 0.25, "%s: cl100k_base has %d tokens, the estimate is %d", r.kind, r.cl100k, c)
		guessed += abs(o-r.o200k) + abs(c-r.cl100k)
		chars += abs(tokens.Chars4.Count(r.text)-r.o200k) + abs(tokens.Chars4.Count(r.text)-r.cl100k)
		exact += r.o200k + r.cl100k
	}
	require.Less(t, 100*guessed, 12*exact, "the estimates are off by 12 % on average at most")
	require.Less(t, 2*guessed, chars, "an estimate is at least twice as near as four characters a token")
}

func TestEstimateOfChineseInBothEncodings(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("日志里应该写清楚是哪一个请求被拒绝了", 100)
	cl100k, _ := estimateFor("cl100k_base")
	require.Equal(t, 1301, tokens.Estimate{}.Count(text), "0.723 for each of 1,800 ideographs")
	require.Equal(t, 1919, cl100k.Count(text), "1.066 for each")
}

func TestEstimateFeatures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                         0,
		" ":                        1, // a text has one at least
		"word":                     1,
		"interface":                1,
		"getUserName":              3,
		"HTTPServer":               1,
		"two words":                2,
		"123":                      1,
		"123456":                   3,
		"\n\n\n":                   1,
		strings.Repeat("-", 80):    3,
		strings.Repeat("─", 80):    21,
		strings.Repeat("\x00", 80): 74,
		"上下文":                      2,
		"ấy ứng ở":                 3,
		"\xff\xfe":                 2,
		"🎉":                        2,
	} {
		require.Equal(t, want, tokens.Estimate{}.Count(text), "%q", text)
	}
}

func TestEstimateFor(t *testing.T) {
	t.Parallel()
	_, ok := tokens.MeterFor("no such family")
	require.False(t, ok)

	english, chinese := references(t)[0].text, strings.Repeat("每个任务都要重新下载", 20)
	base := tokens.Estimate{}
	for _, f := range tokens.Families() {
		e, ok := estimateFor(f)
		require.True(t, ok, f)
		require.GreaterOrEqual(t, e.Count(english), base.Count(english), "%s: no known tokenizer needs less", f)
		require.GreaterOrEqual(t, e.Count(chinese), base.Count(chinese), "%s: no known tokenizer needs less", f)
	}
	claude, _ := estimateFor("claude-4.7")
	require.False(t, tokens.Fitted("claude-4.7"), "its tokenizer is not public")
	require.InEpsilon(t, 1.6*float64(base.Count(english)), claude.Count(english), 0.02)
	require.InEpsilon(t, 1.92*float64(base.Count(chinese)), claude.Count(chinese), 0.02)
	for _, f := range []string{"o200k_base", "cl100k_base", "gpt-5"} {
		require.True(t, tokens.Fitted(f), f)
	}
}

// estimateFor returns the estimate of a family.
func estimateFor(family string) (tokens.Counter, bool) {
	m, ok := tokens.MeterFor(family)
	return m.Counter, ok
}

func framingOf(family string) (tokens.Framing, bool) {
	m, ok := tokens.MeterFor(family)
	return m.Framing, ok
}

func abs(n int) int { return max(n, -n) }
