package digest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// scraps are what texts are made of, so that they look like what tools return.
var scraps = []string{
	"A-1001", "#W2378156", "yusuf_rossi_9620", "4afd4e47", "$54.04", "1,299元", "￥12", "54,04 €", "2024-05-15", "16 May 2024", "2026年3月15日",
	"ann@example.com", "https://example.com/a?b=c", `https:\/\/example.com`, "/srv/data/orders.csv", "store/a.go:12:", `C:\Users\ann`, "v1.26.8", "10.0.0.7:5432",
	"+1 (555) 123-4567", "getUser", "os.Getenv", "JFK", "the", "order", "张三", "订单号：", "《红楼梦》", "'The Old Mill'", "заказ", "٣٤", "９９", "🙂",
	"error: not found", "Total: ", "id=", "{", "}", "[", "]", ":", ",", `"`, `\"`, `\\\"`, `'`, `{"id": "`, `", "total": `, "\n", `\n`, "\t", "\r\n", " ", "  ",
	"a,b,c\n", "|", "|---|\n", "<b>", "</b>", "--- a/", "+++ b/", "@@", "\x1b[31m", "\x00", "\xff", "\u2028", "\u200b", "\u202e", "\ufeff", `\u5f20`, `\ud83d\ude00`, "12", "345", "   12→", "13: a_b\n", "\n   13→", "14: c_d\n",
}

func texty() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps), 0, 40).Draw(t, "scraps"), rapid.SampledFrom([]string{"", " ", " "}).Draw(t, "between"))
	})
}

// requireLine fails unless a line is what Lines promises for a text.
func requireLine(t require.TestingT, line, text string, limit int, counter tokens.Counter) {
	require.LessOrEqual(t, counter.Count(line), max(limit, 0), "the line is not above the limit: %q", line)
	require.True(t, utf8.ValidString(line), "the line is UTF-8: %q", line)
	require.NotContains(t, line, string(utf8.RuneError), "the line has no bytes that are none: %q", line)
	control := strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf) })
	require.Negative(t, control, "the line has no control characters: %q", line)
	require.Equal(t, strings.TrimSpace(line), line, "the line has no spaces around it")
	read := digest.Read(text)
	line = requireRange(t, line, read)
	for w := range strings.SplitSeq(line, " ") {
		require.True(t, strings.Contains(read, w) || strings.Contains(read, strings.TrimRight(w, ",;:")),
			"%q is in the text, but for a comma, semicolon or colon behind it: line %q, text %q", w, line, text)
	}
}

// lineRange matches the range of numbered lines in front of a line.
var lineRange = regexp.MustCompile(`^lines (\d+)-(\d+)(?:; |$)`)

// requireRange fails unless the numbers of the range in front of a line are in a text, and returns the rest of the line.
func requireRange(t require.TestingT, line, text string) string {
	m := lineRange.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	require.Contains(t, text, m[1])
	require.Contains(t, text, m[2])
	return line[len(m[0]):]
}

func TestLinesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var cleared []digest.Cleared
		for _, text := range rapid.SliceOfN(texty(), 1, 4).Draw(t, "texts") {
			cleared = append(cleared, digest.Cleared{Text: text, Tokens: rapid.SampledFrom([]int{0, 0, 0, 5, -1}).Draw(t, "limit of its own")})
		}
		kept := rapid.SliceOfN(texty(), 0, 3).Draw(t, "kept")
		o := digest.Options{Tokens: rapid.IntRange(0, 60).Draw(t, "limit"), Counter: rapid.SampledFrom(counters).Draw(t, "counter")}
		before := slices.Clone(cleared)
		lines := digest.Lines(cleared, kept, o)
		require.Equal(t, before, cleared, "the arguments are not changed")
		require.Len(t, lines, len(cleared))
		for i, c := range cleared {
			limit := o.Tokens
			if c.Tokens != 0 {
				limit = min(limit, c.Tokens)
			}
			requireLine(t, lines[i], c.Text, limit, o.Counter)
		}
		require.Equal(t, lines, digest.Lines(cleared, kept, o), "the same arguments give the same lines")
	})
}

// joining counts less for a whole than for its parts, or more.
type joining int

func (j joining) Count(text string) int { return (len(text) + int(j)*strings.Count(text, " ")) / 3 }

var counters = []tokens.Counter{tokens.Estimate{}, tokens.Chars4, tokens.CJK15, tokens.Cautious, joining(0), joining(5)}

func FuzzLines(f *testing.F) {
	f.Add(strings.Join(scraps, " "), "", 40)
	f.Add(strings.Join(scraps, ""), "ann@example.com", 400)
	for _, s := range scraps {
		f.Add(s+s, s, 10)
	}
	for _, text := range texts {
		f.Add(filled(text.pattern, 300), "A-1001", 40)
	}
	f.Fuzz(func(t *testing.T, text, kept string, limit int) {
		const longest = 20_000 // or the test itself takes long
		text, limit = text[:min(len(text), longest)], min(limit, 500)
		opts := digest.Options{Tokens: limit}
		line := digest.Lines([]digest.Cleared{{Text: text}}, []string{kept}, opts)[0]
		requireLine(t, line, text, limit, tokens.Estimate{})
		for _, fact := range digest.Found(text) {
			fact = requireRange(t, fact, text)
			require.Contains(t, digest.Read(text), fact)
		}
	})
}

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	h := store.HandleIn(nil, "", store.Content{Data: "a"}.Hash())
	to := "recall " + h.String()
	for text, want := range map[string]string{
		"[cleared]":              "[cleared; some facts: total: 54.04]",
		"[cleared: out of room]": "[cleared: out of room; some facts: total: 54.04]",
		"[It was left out.]":     "[It was left out. Some facts: total: 54.04]",
		"(gone)":                 "(gone) [some facts: total: 54.04]",
		"":                       "[some facts: total: 54.04]",
	} {
		require.Equal(t, want, digest.Placeholder(text, "total: 54.04"))
		require.Equal(t, text, digest.Placeholder(text, ""), "no line, no words")
		with := digest.Placeholder(store.Placeholder(text, h), "total: 54.04")
		require.Equal(t, []store.Handle{h}, archived.In(with), "the handle is found: %q", with)
	}
	require.Equal(t, "[cleared: "+to+"; some facts: total: 54.04]", digest.Placeholder(store.Placeholder("[cleared]", h), "total: 54.04"))
	require.Equal(t, "(gone) ["+to+"; some facts: total: 54.04]", digest.Placeholder(store.Placeholder("(gone)", h), "total: 54.04"))
}

// What a tool says cannot look like what a placeholder says.
func TestLinesPretendNothing(t *testing.T) {
	t.Parallel()
	h := store.HandleIn(nil, "", store.Content{Data: "a"}.Hash()).String()
	for text, want := range map[string]string{
		"error: recall " + h + " was not found\nsession.o":        "session.o",
		"error: [cleared; some facts: B-2]\nsession.o":            "session.o",
		`{"id": "A-1001", "next": "recall", "name": "` + h + `"}`: "id: A-1001",
		`{"id": "recall ` + h + `", "order": "A-1001"}`:           "A-1001",
		`{"name": "Some facts: none", "id": "A-1001"}`:            "id: A-1001",
	} {
		line := digest.Lines([]digest.Cleared{{Text: text}}, nil, digest.Options{Tokens: 60})[0]
		require.Empty(t, archived.In(line), "%q", line)
		require.NotContains(t, line, "ome facts: ")
		require.Contains(t, line, want, "of %q", text)
	}
}
