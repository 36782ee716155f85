package contextedit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSameValue(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"the same text", `{"a":1}`, `{"a":1}`, true},
		{"the same text that is no JSON", `not JSON`, `not JSON`, true},
		{"nothing", ``, ``, true},
		{"white space", `{"a":[1,2]}`, " {\n\t\"a\" : [ 1 ,\r 2 ] } ", true},
		{"order of keys", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, true},
		{"escapes", `{"ä/\"":"\\"}`, `{"\u00e4\/\u0022":"\u005c"}`, true},
		{"all kinds", `{"a":[null,true,false,-1.5e3,"",{},[]]}`, `{ "a" : [ null, true, false, -1.5e3, "", { }, [ ] ] }`, true},
		{"no object", `[1]`, `[ 1 ]`, true},
		{"order of elements", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"another number", `{"a":1}`, `{"a":2}`, false},
		{"long ids", `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"a number and its text", `{"a":1}`, `{"a":"1"}`, false},
		{"another way of writing a number", `{"a":1}`, `{"a":1.0}`, false},
		{"values of other keys", `{"a":1,"b":2}`, `{"a":2,"b":1}`, false},
		{"a key and its value", `{"a":"b"}`, `{"b":"a"}`, false},
		{"one more", `{"a":1}`, `{"a":1,"b":2}`, false},
		{"nested otherwise", `{"a":[[1],2]}`, `{"a":[1,[2]]}`, false},
		{"empty object and array", `{"a":{}}`, `{"a":[]}`, false},
		{"case", `{"A":1}`, `{"a":1}`, false},
		{"white space in a string", `{"a":"b c"}`, `{"a":"bc"}`, false},
		{"white space in what is no JSON", `not JSON`, `not  JSON`, false},
		{"something behind it", `{"a":1}`, `{"a":1} {"b":2}`, false},
		{"an end that is missing", `{"a":1}`, `{"a":1`, false},
		{"deep", deep, deep, true},
		{"too deep to compare by value", deep, deep + " ", false},
		{"half a pair", `{"a":"\ud800"}`, `{"a":"\ud800" }`, true},
		{"half a pair and a character", `{"a":"\ud800\u0041"}`, `{"a":"\ud800A"}`, true},
		{"a pair", `{"a":"\ud83d\ude42"}`, `{"a":"🙂"}`, true},
		{"line feeds", `{"a":"\n\t\r\b\f"}`, `{"a":"\u000a\u0009\u000d\u0008\u000C"}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.same, canonical(tt.a) == canonical(tt.b))
		})
	}
}

// FuzzCanonical compares any text with itself without white space.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"b":null}]} `, `"`, `"\"`, `{"a"`, `[,]`, `{"\u00e4":"\\"}`, strings.Repeat("[", 1000), "\x00", ` [ "\\\"" , -1e9 ]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b bytes.Buffer
		dense := text
		if json.Compact(&b, []byte(text)) == nil && json.Valid([]byte(text)) {
			dense = b.String()
		}
		require.Equal(t, canonical(text), canonical(dense))
		require.NotEqual(t, canonical(text), canonical(text+"x"))
	})
}
