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
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"the same text that is no JSON", `not JSON`, `not JSON`, true},
		{"nothing", ``, ``, true},
		{"white space", `{"a":[1,2]}`, " {\n\t\"a\" : [ 1 ,\r 2 ] } ", true},
		{"order of keys", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, true},
		{"escapes", `{"ä/\"":"\\"}`, `{"\u00e4\/\u0022":"\u005c"}`, true},
		{"all kinds", `{"a":[null,true,false,-1.5e3,"",{},[]]}`, `{ "a" : [ null, true, false, -1.5e3, "", { }, [ ] ] }`, true},
		{"order of elements", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"long ids", `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"another way of writing a number", `{"a":1}`, `{"a":1.0}`, false},
		{"a key and its value", `{"a":"b"}`, `{"b":"a"}`, false},
		{"empty object and array", `{"a":{}}`, `{"a":[]}`, false},
		{"white space in a string", `{"a":"b c"}`, `{"a":"bc"}`, false},
		{"something behind it", `{"a":1}`, `{"a":1} {"b":2}`, false},
		{"deep", deep, deep, true},
		{"too deep to compare by value", deep, deep + " ", false},
		{"half a pair and a character", `{"a":"\ud800\u0041"}`, `{"a":"\ud800A"}`, true},
		{"a pair", `{"a":"\ud83d\ude42"}`, `{"a":"🙂"}`, true},
	} {
		require.Equal(t, tt.same, canonical(tt.a) == canonical(tt.b), tt.name)
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
