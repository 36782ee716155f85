package tokens_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

// counters returns all that the package has, by name.
func counters() map[string]tokens.Counter {
	all := map[string]tokens.Counter{"Chars4": tokens.Chars4, "CJK15": tokens.CJK15, "Cautious": tokens.Cautious, "Estimate": tokens.Estimate{}}
	for _, f := range tokens.Families() {
		all["Estimate of "+f], _ = estimateFor(f)
	}
	for name, c := range all {
		all["Memo of "+name] = tokens.Memo(c)
	}
	return all
}

func FuzzCount(f *testing.F) {
	for _, text := range []string{
		"", "\x00", "a", "\xff", "\xe4\xbd", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\u2028", "\ufeff", "你好", "é", "e\u0301", "👩‍💻", "\r\n\r\n",
		strings.Repeat("-", 300), strings.Repeat("\t", 300), strings.Repeat("1", 300), strings.Repeat("A", 300), "aB1 \n中。é🎉\xff",
		strings.Repeat("toolu_01XyPCJU7Ec7Ad ", 9) + strings.Repeat("kqvmzhtwrcxa ", 9), strings.Repeat("Zwölf ", 30) + strings.Repeat("==- ", 30),
	} {
		f.Add(text)
	}
	all := counters()
	f.Fuzz(func(t *testing.T, text string) {
		blocks, bytes := tokens.Milli(text)
		require.Equal(t, bytes, blocks, "%q in blocks and byte by byte", text)
		for name, c := range all {
			n := c.Count(text)
			require.GreaterOrEqual(t, n, 0, "%s of %q", name, text)
			require.Equal(t, n, c.Count(strings.Clone(text)), "%s of %q is not the same twice", name, text)
			if text == "" {
				require.Zero(t, n, name)
			}
			// No tokenizer has more tokens than bytes; the largest rates are twice the base.
			require.LessOrEqual(t, n, 4*len(text), "%s of %q", name, text)
		}
	})
}

func FuzzMedia(f *testing.F) {
	f.Add("image/png", "\x89PNG\r\n\x1a\n", "")
	f.Add("image/jpeg", "\xff\xd8\xff\xc0\x00\x11", "")
	f.Add("image/gif", "GIF89a\xff\xff\xff\xff", "")
	f.Add("", webpOf("VP8X", 24, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), "")
	f.Add("application/pdf", "%PDF-1.7", "data:;base64,AAAA")
	f.Add("text/plain", "", "data:image/gif;base64,R0lGODlh/////w==")
	f.Fuzz(func(t *testing.T, mime, data, url string) {
		p := message.Media{Type: mime, Data: data, URL: url}
		for _, family := range tokens.Families() {
			m, _ := tokens.MeterFor(family)
			n := m.Part(p)
			require.GreaterOrEqual(t, n, 0, family)
			require.LessOrEqual(t, n, 50_000+4*len(data), family)
			require.Equal(t, n, m.Part(p), family)
		}
	})
}
