package jsonedit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/jsonedit"
)

func TestObject(t *testing.T) {
	t.Parallel()
	o := jsonedit.ParseObject(`{ "a" : 1.0,
  "b" : [true] }`)
	for want, got := range map[string]jsonedit.Object{
		"{ \"a\" : \"x\",\n  \"b\" : [true] }":              o.Set("a", `"x"`),
		"{ \"a\" : 1.0,\n  \"b\" : [true],\n  \"c\" : {} }": o.Set("c", `{}`), // the white space of the last member
		"{ \"b\" : [true] }":                                o.Remove("a"),
		"{ \"a\" : 1.0 }":                                   o.Remove("b"),
		o.Raw:                                               o.Remove("c"),
		`{"a":1}`:                                           jsonedit.ParseObject(`{}`).Set("a", "1"),
	} {
		require.Equal(t, want, got.Raw)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	l := jsonedit.ParseList(`[ 1 ,2, 3]`)
	require.Equal(t, `[ a ,b, c]`, l.With([]string{"a", "b", "c"}))
	require.Equal(t, `[ a ,b]`, l.With([]string{"a", "b"}), "the first separator")
	require.Equal(t, `[a,b]`, jsonedit.ParseList(`[]`).With([]string{"a", "b"}))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	before, value, after, err := jsonedit.Check([]byte(" {\"a\":1E400}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{" ", `{"a":1E400}`, "\n"}, []string{before, value, after})
	for text, want := range map[string]string{
		"":                       "empty",
		"{\"a\":\n tru}":         "line 2, column 5: not JSON: invalid character '}' in literal true (expecting 'e')",
		`{"a":[`:                 "line 1, column 7: not JSON: it ends in the middle",
		"{} {}":                  "line 1, column 4: a second JSON value begins here: want one conversation, not one a line",
		"{}x":                    "line 1, column 3: there is text after the JSON: want none",
		`{"a":[{"b":1,"b":2}]}`:  "line 1, column 14: a[0].b is here twice: want each key once",
		"{\"\xff\":1}":           "line 1, column 3: not UTF-8",
		strings.Repeat("[", 2e4): "line 1, column 10001: not JSON: invalid character '[' exceeded max depth",
	} {
		_, _, _, err := jsonedit.Check([]byte(text))
		require.EqualError(t, err, want, "%.40q", text)
	}
}
