package bpe_test

import (
	"encoding/base64"
	"fmt"
	"go/build"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/samples"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

var _ tokens.Counter = bpe.Encoding("o200k_base")

func TestCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text          string
		o200k, cl100k int
	}{
		{"", 0, 0},
		{"a", 1, 1},
		{"Hello, world!", 4, 4},
		{"<|endoftext|>", 7, 7},
		{"今天天气很好，我们去公园。", 9, 15},
		{"\x00", 1, 1},
		{strings.Repeat("\x00", 16), 8, 16},
		{"it's IT'S", 3, 4},
		{strings.Repeat("a", 200_000), 25_000, 25_000},
		{strings.Repeat(" ", 200_000), 1_563, 1_563},
		{strings.Repeat("\n", 200_000), 12_500, 6_250},
		{strings.Repeat("-", 200_000), 3_125, 3_125},
		{strings.Repeat("中", 66_666), 66_666, 66_666},
	} {
		short := c.text[:min(len(c.text), 40)]
		require.Equal(t, c.o200k, bpe.Encoding("o200k_base").Count(c.text), "o200k_base: %q", short)
		require.Equal(t, c.o200k, bpe.Encoding("o200k_harmony").Count(c.text), "o200k_harmony: %q", short)
		require.Equal(t, c.cl100k, bpe.Encoding("cl100k_base").Count(c.text), "cl100k_base: %q", short)
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, name := range bpe.Encodings() {
		require.Equal(t, name, bpe.Encoding(name).Name())
	}
	first, again := bpe.Encoding("o200k_base"), bpe.Encoding("o200k_base")
	require.Same(t, first, again)
	for _, name := range []string{"", "o200k", "O200K_BASE", "gpt-4o"} {
		require.PanicsWithValue(t, fmt.Sprintf("bpe: Encoding: unknown name %q, want one of o200k_base, o200k_harmony, cl100k_base", name),
			func() { bpe.Encoding(name) })
	}
	bpe.Encodings()[0] = "changed"
	require.Equal(t, "o200k_base", bpe.Encodings()[0], "the caller owns the names")
}

func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\xff", "a\xe4\xb8", "\xe4\xb8中", "\xed\xa0\x80", "\xed\xa0\xbd\xed\xb8\x80", "ok\xc0\x80", "\x80\x80\x80", strings.Repeat("\xff", 1000)} {
		require.False(t, utf8.ValidString(text))
		sent := string([]rune(text)) // what encoding/json makes of it
		for _, name := range bpe.Encodings() {
			c := bpe.Encoding(name)
			require.Equal(t, c.Count(sent), c.Count(text), "%s: %.20q counts like %.20q", name, text, sent)
		}
		require.Equal(t, len(oracle(t, "o200k_base").EncodeOrdinary(text)), bpe.Encoding("o200k_base").Count(text), "%.20q", text)
	}
}

// TestGenerated compares with tiktoken-go on texts that are put together at
// random, other ones in each encoding.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string]int{"o200k_base": 320_000, "cl100k_base": 320_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if race.Enabled || !soak.Enabled() {
				texts /= 40
			}
			c, o := bpe.Encoding(name), oracle(t, name)
			r := rand.New(rand.NewPCG(4, uint64(len(name))))
			size := 0
			for range texts {
				text := snippet(r)
				size += len(text)
				requireCount(t, c, o, text)
			}
			t.Logf("%d texts of %d bytes", texts, size)
		})
	}
}

// TestSamples compares with tiktoken-go on source code, prose and JSON.
func TestSamples(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("under the race detector it takes half a minute, for one goroutine")
	}
	s := sampled(t)
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		c, o := bpe.Encoding(name), oracle(t, name)
		for _, text := range []string{s.Code, s.Prose, s.JSON, s.Chinese} {
			text = text[:len(text)/4]
			requireCount(t, c, o, text)
			total := 0
			for line := range strings.Lines(text) {
				total += c.Count(line)
			}
			require.GreaterOrEqual(t, total, c.Count(text)*9/10, "%s: lines count alone nearly as together", name)
		}
	}
}

func FuzzCount(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		f.Add(snippet(r))
	}
	f.Add("it'ſ \xff\xe4\xb8")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 { // beyond, the reference is quadratic
			return
		}
		for _, name := range []string{"o200k_base", "cl100k_base"} {
			c := bpe.Encoding(name)
			requireCount(t, c, oracle(t, name), text)
		}
	})
}

// requireCount fails unless the counter counts as tiktoken-go does. They are
// known to differ in 'ſ alone, see TestSplitLongS.
func requireCount(tb testing.TB, c *bpe.Counter, o *tiktoken.Tiktoken, text string) {
	tb.Helper()
	if strings.Contains(text, "'ſ") {
		return
	}
	if want, got := len(o.EncodeOrdinary(text)), c.Count(text); got != want {
		require.Failf(tb, "wrong count", "%s: %q has %d tokens, want %d", c.Name(), text, got, want)
	}
}

// ranges are scripts and symbols, to draw characters from.
var ranges = [][2]rune{
	{'a', 'z'},
	{'a', 'z'},
	{'A', 'Z'},
	{'0', '9'},
	{'!', '/'},
	{':', '@'},
	{0, 0x1f},
	{0xa0, 0x17f},
	{0x300, 0x36f},
	{0x400, 0x4ff},
	{0x600, 0x6ff},
	{0x900, 0x97f},
	{0xe00, 0xe5b},
	{0x2000, 0x206f},
	{0x2100, 0x218f},
	{0x2500, 0x27bf},
	{0x3000, 0x30ff},
	{0x4e00, 0x9fff},
	{0xac00, 0xd7a3},
	{0xff00, 0xffef},
	{0x1f300, 0x1f6ff},
	{0x20000, 0x2a6df},
}

var phrases = []string{
	"'s", "'S", "'T", "'re", "'VE", "'ll", "'Ll", "'m", "'d", "'x", "don't", "I'M", "’s", " ", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", " \n ", "\t\t", "\u00a0", "\u3000", "\u2028", "\u0085", "\ufeff",
	"//", "/*", "*/", "https://example.org/a?b=c&d=%20", "func (s *Server) ", "return err\n}\n\n", "if x := f(); x != nil {\n\t\t", "{\"id\": 17, \"name\": null},", "</div>", "__init__", "camelCaseName", "HTTPServer", "XMLhttpRequest",
	"\u200d", "\ufe0f", "👩‍👩‍👧", "🏳️‍🌈", "🇩🇪", "👍🏽", "e\u0301", "\u0301", "ﬁ", "ǅ", "ʰ", "Ⅷ", "½", "٣٤", "१२३", "，", "。", "的", "我们", "今天天气", "ありがとう", "カタカナ", "안녕하세요", "สวัสดี", "Привет", "مرحبا", "שלום", "नमस्ते",
	"�", "\x00", "...", "---", "====", "1234567", "3.14", "0x7fff", "the", " quick", " brown", "<|endoftext|>", "aaaaaaaaaaaaaaaa", "\\n",
}

// snippet returns a short text of several kinds of pieces.
func snippet(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		switch r.IntN(8) {
		case 0, 1, 2:
			b.WriteString(phrases[r.IntN(len(phrases))])
		case 3, 4:
			in := ranges[r.IntN(len(ranges))]
			for range 1 + r.IntN(7) {
				b.WriteRune(in[0] + r.Int32N(in[1]-in[0]+1))
			}
		case 5:
			for range 1 + r.IntN(6) {
				b.WriteRune([]rune(" \n\t\r\u3000")[r.IntN(5)])
			}
		case 6:
			b.WriteString(strings.Repeat(phrases[r.IntN(len(phrases))], 1+r.IntN(4)))
		case 7:
			raw := make([]byte, r.IntN(20))
			for i := range raw {
				raw[i] = byte(r.IntN(256))
			}
			if r.IntN(2) == 0 {
				b.Write(raw[:len(raw)/4]) // invalid
			} else {
				b.WriteString(base64.StdEncoding.EncodeToString(raw))
			}
		}
	}
	return b.String()
}

// oracle returns tiktoken-go's encoder, made once from the embedded
// vocabularies.
func oracle(tb testing.TB, encoding string) *tiktoken.Tiktoken {
	tb.Helper()
	oracles.Lock()
	defer oracles.Unlock()
	if o := oracles.made[encoding]; o != nil {
		return o
	}
	ranks, err := tiktoken_loader.NewOfflineLoader().LoadTiktokenBpe(encoding + ".tiktoken")
	require.NoError(tb, err)
	core, err := tiktoken.NewCoreBPE(ranks, map[string]int{"<|endoftext|>": 1 << 20}, bpe.Patterns[encoding])
	require.NoError(tb, err)
	oracles.made[encoding] = tiktoken.NewTiktoken(core, &tiktoken.Encoding{Name: encoding}, nil)
	return oracles.made[encoding]
}

var oracles = struct {
	sync.Mutex
	made map[string]*tiktoken.Tiktoken
}{made: map[string]*tiktoken.Tiktoken{}}

// sampled returns texts of a megabyte each. Without the source of Go there is nothing to
// sample, and the test is skipped.
func sampled(tb testing.TB) samples.Texts {
	tb.Helper()
	s, err := samples.Read()
	require.NoError(tb, err)
	if s.Code == "" {
		tb.Skipf("no source of Go in %s", build.Default.GOROOT)
	}
	return s
}
