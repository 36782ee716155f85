package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// FuzzIsObject compares with encoding/json: the fast path must give the
// same result.
func FuzzIsObject(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, ` { } `, `[]`, `{"a":1}`, `{"a":-0.5,"b":[true,false,null,"x"],"c":{"d":{}}}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":1e5}`,
		`{"a":"\u00e9\n"}`, "{\"a\":\"\x00\"}", "{\"a\":\"\xff\"}", `{"a":tru}`, `{"a":nulll}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{}{}`, `{"a":[1,]}`,
		`{"a":[}`, `{"a`, `{"a":"b`, "\u00a0{}", `{"a":1 2}`, `{"a":[[[[[[[[[[1]]]]]]]]]]}`, `{"a":[[[[[[[[[[1]]]]]]]]]}`, `{"a":truefalse}`, `{"a":12 }`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{")
		require.Equal(t, want, jsonscan.IsObject(text), "%q", text)
	})
}

// FuzzMembers compares with encoding/json, and reads invalid text without a panic.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"a":1}`, `{ "a" : [1, {"b": "]}"}], "\u0063" :"\\\"" , "d":null }`, `{"a":{"a":{"a":[]}},"b":"\\"}`,
		`{"a`, `{"a":`, `{"a":1`, `{"a":"\`, `{"a":[`, `{"a" "b"`, `{"a":,}`, `{"a":1,,"b":2}`, `["a":1]`, `{]}`, `{"a":}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := map[string]string{}
		for key, value := range jsonscan.Members(text, 0) {
			got[jsonscan.Unquote(key.In(text))] = value.In(text)
			for item := range jsonscan.Items(text, value.From) {
				require.NotEmpty(t, item.In(text))
			}
		}
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || !strings.HasPrefix(text, "{") || !utf8.ValidString(text) {
			return
		}
		require.Len(t, got, len(want))
		for key, value := range want {
			require.Equal(t, string(value), got[key], "the value of %q in %q", key, text)
		}
	})
}

// FuzzItems compares with encoding/json.
func FuzzItems(f *testing.F) {
	for _, seed := range []string{`[]`, `[1]`, `[ 1 , "]" , [2,[]] , {"a":[]}, null ]`, `[`, `[1`, `[1,`, `["`, `[,]`, `[[`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got []string
		for item := range jsonscan.Items(text, 0) {
			got = append(got, item.In(text))
		}
		var want []json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || !strings.HasPrefix(text, "[") {
			return
		}
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, string(want[i]), got[i])
		}
	})
}
