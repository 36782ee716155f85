package lex_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

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

func TestFault(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"a.go:3: error: undefined: x": "error: undefined: x",
		"KeyError: 'x'":               "KeyError: 'x'",
		"错误：没有这个订单":                   "错误：没有这个订单",
		"the terror of it":            "",
		"std::error::x":               "",
		"":                            "",
	} {
		msg, ok := lex.Fault(line)
		require.Equal(t, want, msg, "the message in %q", line)
		require.Equal(t, want != "", ok, "whether there is one in %q", line)
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
