package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// FuzzIsObject compares with encoding/json.
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

// FuzzUnquote compares with encoding/json.
func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{
		`""`, `"a"`, `"\n\t\b\f\r\/\\\""`, `"\u0041\u00e9\u4e2d"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83d\u0041"`, `"\ude00x"`, `"\ud83d\ud83d\ude00"`, `"中\n文"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := jsonscan.Unquote(text)
		var want string
		if strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) && utf8.ValidString(text) && json.Unmarshal([]byte(text), &want) == nil {
			require.Equal(t, want, got, "%q", text)
		}
	})
}

func TestCheckTwice(t *testing.T) {
	t.Parallel()
	many := func(last string) string {
		var b strings.Builder
		for i := range 100 {
			b.WriteString(`"` + strings.Repeat("k", i+1) + `":[{"k":{}}],`)
		}
		return "{" + b.String() + `"` + last + `":0}`
	}
	for text, want := range map[string]bool{
		`{"a":1,"b":{"a":1}}`: false, `[{"a":1},{"a":1}]`: false, `{"a":1,"a":1}`: true, `{"a":1,"\u0061":1}`: true, `[0,{"x":[{"a":1,"b":2,"a":3}]}]`: true,
		many("b"): false, many("k"): true, many(strings.Repeat("k", 99)): true,
	} {
		end, twice := jsonscan.Check(text, 0)
		require.Equal(t, len(text), end, "%.60s", text)
		require.Equal(t, want, twice, "%.60s", text)
	}
	end, _ := jsonscan.Check(strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000), 0)
	require.Negative(t, end, "nested too deeply")
}
