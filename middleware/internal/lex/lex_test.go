package lex_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// TestRead compares the items of a text with "kind text" of each: quotations, names, numbers.
func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                      nil,
		"It is done and well-known.":            nil,
		"见 a/b.go，共 １，２９９ 元":                    {"path a/b.go", "number 1,299 元"},
		"main.go:42 and refund.go:7:24":         {"name main.go:42", "name refund.go:7:24"},
		"https://example.com/a/b?c=1, done":     {"link https://example.com/a/b?c=1"},
		`C:\data\in.csv`:                        {`path C:\data\in.csv`},
		"getUser user_name #W12 v1.2.3":         {"name getUser", "name user_name", "name #W12", "name v1.2.3"},
		"--force, 9f3c2ab and a@b.example":      {"name --force", "name 9f3c2ab", "link a@b.example"},
		"TypeScript, GraphQL, e.g. in the U.S.": nil,
		"TypeError: x is null, see `go test`.":  {"code go test", "name TypeError"},
		"他说“不要推送”，见「main」":                      {"quotation 不要推送", "quotation main"},
		"“never … main”":                        {"quotation never", "quotation main"},
		"an open \"quotation":                   nil,
		"2026-11-17T02:00:01Z":                  {"date 2026-11-17", "date 02:00:01Z"},
		"17 November 2026, 下午2点05分":             {"date 17 November 2026", "date 2点05"},
		"$5.50, 35 s, 三千五百元, 十五分钟":              {"number $5.50", "number 35 s", "number 三千五百元", "number 十五分钟"},
		"千万不要，一致同意":                             nil,
	} {
		var got []string
		for _, it := range lex.Read(text).Items {
			got = append(got, fmt.Sprint(it.Kind, " ", it.Text))
		}
		assert.Equal(t, want, got, text)
	}
}

// TestSame compares the normalised tokens of texts that mean the same.
func TestSame(t *testing.T) {
	t.Parallel()
	words := func(text string) []string {
		read := lex.Tokenize(text)
		return read.WordsIn(0, len(read.Folded))
	}
	for _, same := range [][]string{
		{"48213", "48,213", "48'213", "48\u202f213", "４８２１３", "四万八千二百一十三"},
		{"0xDEADBEEF", "0xdeadbeef"},
		{"don't", "don’t", "DONT"},
		{`a\b`, "a/b"},
		{"12.50", "12.5", "12,5\u200b0"},
		{"__init__", "init"},
		{"a—b", "a-b"},
		{"二〇二六", "2026"},
		{"１５", "十五"},
	} {
		for _, other := range same[1:] {
			require.Equal(t, words(same[0]), words(other), "%s, %s", same[0], other)
		}
	}
	require.NotEqual(t, words("1.5"), words("15"))
	require.NotEqual(t, words("一"), words("1"), "一 is more often a word")
}

// TestValues compares dimension and size of amounts.
func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1536 KB": "bytes 1.536e+06", "35 seconds": "time 35", "1.2k rows": " 1200", "80 %": "ratio 80", "5 a": " 5", "€3": "money 3", "十五分钟": "time 900",
		"3 个月": "time 7.776e+06", "1.2.3": "", "14:05": "14:05", "3 pm": "15:00", "12 am": "00:00", "周三": "-3", "two": "",
	} {
		got := ""
		for _, v := range lex.Values(lex.Tokens(nil, lex.Fold(text))) {
			switch {
			case v.Clock != "":
				got = v.Clock
			case v.Date.Day != 0:
				got = fmt.Sprint(v.Date.Day)
			case len(v.Units) > 0:
				got = fmt.Sprint(v.Units[0].Dimension, " ", v.Value*v.Units[0].Size)
			case v.Has:
				got = fmt.Sprint(" ", v.Value)
			}
		}
		assert.Equal(t, want, got, text)
	}
}

func TestIsHan(t *testing.T) {
	t.Parallel()
	for r, want := range map[rune]bool{'中': true, 'か': true, 'カ': true, '〇': true, '한': false, 'é': false, '，': false, '7': false, unicode.MaxRune: false} {
		require.Equal(t, want, lex.IsHan(r), string(r))
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"a `b", "“c", "1,2.3", "2026-1-1", "C:\\a", "三千", "a/b.go:1", "\xff", "$5 USD", "1:1 pm", "E: x", "--", "-a", "#", "~", "@", "\u1100"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		read := lex.Read(s)
		require.Equal(t, read.Folded, lex.Fold(read.Folded), "folded twice")
		at := 0
		for i := range read.Tokens {
			tok := &read.Tokens[i]
			require.Empty(t, strings.TrimSpace(read.Folded[at:tok.From]), "only space is between tokens")
			require.NotEmpty(t, tok.Raw)
			require.Equal(t, tok.Glued, at == tok.From && i > 0)
			at = tok.To()
			require.Equal(t, read.Folded[tok.From:at], tok.Raw)
		}
		require.Empty(t, strings.TrimSpace(read.Folded[at:]))
		for _, it := range read.Items {
			require.LessOrEqual(t, it.From, it.To)
			require.Equal(t, strings.TrimSpace(read.Folded[it.From:it.To]), it.Text)
			require.True(t, len(it.Words) > 0 || it.Kind == lex.Number || it.Kind == lex.Date)
		}
	})
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": "b"}`:                 `{"a": "b"}`,
		`\u5f20\u4e09`:               "张三",
		`{\"a\": \"\\u5f20\"}`:       `{"a": "张"}`,
		`https:\/\/example.com\/a`:   "https://example.com/a",
		`\ud83d\ude00`:               `\ud83d\ude00`,
		`\u0041\u000a\u202e`:         `\u0041\u000a\u202e`,
		`\u12`:                       `\u12`,
		`a\nb\\nc\`:                  "a\nb\nc\\",
		`say \"hi\" \\u5f20`:         `say "hi" 张`,
		`C:\\new\\table.txt and \\d`: `C:\\new\\table.txt and \\d`,
	} {
		require.Equal(t, want, lex.Unescape(text), "the characters of %s", text)
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	for shape, words := range map[lex.Shape]string{
		lex.ShapeNone:   "the The and don't of a x ready-to-ship and/or",
		lex.ShapeNumber: "1633 54.04 -5 15% 1,299 12kB 3rd 9c0 15:00 12:30:05 1.2.3 127.0.0.1 10.0.0.7:5432",
		lex.ShapeMoney:  "$54.04 $1,299",
		lex.ShapeDate:   "2024-05-15 2024/5/15 15.05.2024 5/15/2024 2024-05-15T12:18:24Z",
		lex.ShapeLink:   "https://example.com/a?b=c ftp://x.org ann@example.com ann.b+c@mail.example.co.uk",
		lex.ShapePath:   "/a/b.go a/b_c ./run.sh ../up/x ~/notes/a src/ /usr/local/bin a/b/c example.com/a/b",
		lex.ShapeID:     "HAT045 #W123 #42 credit_card_7815826 4OG6T3 INV-2024-17 user12345 +15551234567 138-1234-5678 4afd4e47 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
		lex.ShapeSymbol: "getUser get_user os.Getenv std::sort __init__ utf8 v2 v1.26.8 main.go report_2026.pdf localhost:8080",
		lex.ShapeCode:   "JFK USE",
	} {
		for w := range strings.FieldsSeq(words) {
			require.Equal(t, shape, lex.ShapeOf(w), "what %s looks like", w)
		}
	}
}
