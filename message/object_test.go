package message

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzIsObject compares with encoding/json: the quick look may not tell
// anything else.
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
		require.Equal(t, want, isObject(text), "%q", text)
	})
}
