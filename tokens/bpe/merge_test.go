package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
)

var vocabularies = map[string]func() *vocabulary{"o200k_base": o200k, "cl100k_base": cl100k}

func ranksOf(tb testing.TB, name string) map[string]int {
	tb.Helper()
	ranks, err := tiktoken_loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	require.NoError(tb, err)
	return ranks
}

// plainMerge is the rule word for word. It also returns the ranks of the joins.
func plainMerge(ranks map[string]int, text string) (tokens []string, joins []int) {
	var borders []int
	for i := range len(text) + 1 {
		borders = append(borders, i)
	}
	for {
		lowest, at := -1, 0
		for i := range len(borders) - 2 {
			if r, ok := ranks[text[borders[i]:borders[i+2]]]; ok && (lowest < 0 || r < lowest) {
				lowest, at = r, i+1
			}
		}
		if lowest < 0 {
			break
		}
		joins = append(joins, lowest)
		borders = slices.Delete(borders, at, at+1)
	}
	for i := range len(borders) - 1 {
		tokens = append(tokens, text[borders[i]:borders[i+1]])
	}
	return tokens, joins
}

// TestRanksRise shows what makes merging in windows and in any order of equal
// ranks exact: each token of each vocabulary is made by joins of rising ranks.
func TestRanksRise(t *testing.T) {
	t.Parallel()
	for name := range vocabularies {
		ranks := ranksOf(t, name)
		for token, rank := range ranks {
			if rank%soak.Nth(8, 1) != 0 || race.Enabled && rank%20 != 0 {
				continue
			}
			tokens, joins := plainMerge(ranks, token)
			if len(tokens) != 1 || !slices.IsSorted(joins) {
				require.Failf(t, "wrong order", "%s: %q merges to %q by joins of the ranks %v: want itself, by rising ranks", name, token, tokens, joins)
			}
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	for name, v := range vocabularies {
		v, ranks := v(), ranksOf(t, name)
		for token, rank := range ranks {
			for _, text := range []string{token, token + "xxxxxxxxxxxxxxxx"} { // at the end of a text, and far from it
				if got := v.rank(text, 0, len(token)); got != uint32(rank) {
					require.Failf(t, "wrong rank", "%s: %q has rank %d, want %d", name, token, got, rank)
				}
			}
			for _, text := range []string{token + "\x00", "\xff" + token, token[1:], token + token} {
				if text == "" {
					continue
				}
				want, ok := ranks[text]
				if got := v.rank(text, 0, len(text)); ok && got != uint32(want) || !ok && got != none {
					require.Failf(t, "wrong rank", "%s: %q has rank %d, want %d, %v", name, text, got, want, ok)
				}
			}
		}
	}
}

// TestMergeInWindows merges in windows that are far too small, so that the
// tokens at their ends are wrong again and again, and larger ones are needed.
func TestMergeInWindows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 3000 / soak.Every(10)
	if race.Enabled {
		rounds = 100
	}
	for name, v := range vocabularies {
		ranks := ranksOf(t, name)
		m := merger{vocabulary: v()}
		for range rounds {
			text := mixed(r, 1+r.IntN(150))
			want, _ := plainMerge(ranks, text)
			for _, window := range []int{4, 8, 13, 16, 32, 64, 512} {
				require.Equal(t, len(want), m.merge(text, 0, len(text), window), "%s: %q in windows of %d: want %q", name, text, window, want)
			}
			require.Equal(t, len(want), m.merge("中 "+text+"中", 4, 4+len(text), 512), "%s: %q between others", name, text)
		}
	}
}

// mixed returns some symbols of a small alphabet, so that they repeat.
func mixed(r *rand.Rand, n int) string {
	alphabets := []string{"a", "ab", "abc", "etaoin", "-=", " \n", "01", "aB", "的一是", "中国人民今天天气很好，。", " 的ab", "привет", "สวัสดี", "한국어", "😀👍\u200d", "abcdefghijklmnopqrstuvwxyz"}
	symbols := alphabets[r.IntN(len(alphabets))]
	if r.IntN(3) == 0 {
		symbols += alphabets[r.IntN(len(alphabets))]
	}
	runes := []rune(symbols)
	var b strings.Builder
	for range n {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

// TestSolid completes all tokens that break characters to texts in which they
// could split single tokens, and finds them whole.
func TestSolid(t *testing.T) {
	t.Parallel()
	for name, v := range vocabularies {
		v, ranks := v(), ranksOf(t, name)
		m := merger{vocabulary: v}
		solid := 0
		begin, end := map[string][]string{"": {""}}, map[string][]string{"": {""}} // what completes the first and last bytes of characters
		for r := rune(0x3000); r < 0xa000; r++ {
			if v.singleTokens[r/64]>>(r%64)&1 == 0 {
				continue
			}
			solid++
			c := string(r)
			if _, ok := ranks[c]; !ok {
				require.Failf(t, "no token", "%s: %s is a single token and not a token", name, c)
			}
			for _, i := range []int{1, 2} {
				begin[c[:i]] = append(begin[c[:i]], c[i:])
				end[c[i:]] = append(end[c[i:]], c[:i])
			}
		}
		t.Logf("%s: %d single tokens", name, solid)
		for token := range ranks {
			head := 0
			for head < len(token) && head < 3 && !utf8.RuneStart(token[head]) {
				head++
			}
			tail := len(token)
			for i := max(head, len(token)-2); i < tail; i++ {
				if utf8.RuneStart(token[i]) && !utf8.FullRuneInString(token[i:]) {
					tail = i
				}
			}
			befores, behinds := end[token[:head]], begin[token[tail:]]
			if head == 0 && tail == len(token) || len(befores) == 0 || len(behinds) == 0 {
				continue
			}
			if race.Enabled && len(token)%4 != 0 {
				continue
			}
			for i := range min(max(len(befores), len(behinds)), 4) {
				text := befores[(i*7+1)%len(befores)] + token + behinds[(i*5+1)%len(behinds)]
				for _, text := range []string{text, "人" + text + "在"} {
					want, _ := plainMerge(ranks, text)
					if got := m.merge(text, 0, len(text), window); got != len(want) {
						require.Failf(t, "a character broke", "%s: %q has %d tokens, want %q", name, text, got, want)
					}
				}
			}
		}
	}
}

// TestWindowsStaySmall shows that time is linear: what is one piece of 200 kB
// is merged in windows of the first size, whatever it is.
func TestWindowsStaySmall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	size := 200_000
	if race.Enabled {
		size = 20_000
	}
	letters := make([]byte, size)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	for name, v := range vocabularies {
		for _, text := range []string{
			strings.Repeat("a", size), strings.Repeat(" ", size), strings.Repeat("\n", size), strings.Repeat("-", size),
			strings.Repeat("ab", size/2), strings.Repeat("中", size/3), strings.Repeat("天地", size/6), string(letters),
		} {
			m := merger{vocabulary: v()}
			m.merge(text, 0, len(text), window)
			require.LessOrEqual(t, len(m.parts[:cap(m.parts)]), 2*window, "%s: %q… needs no larger window", name, text[:6])
		}
	}
}
