package microcompact

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/store"
)

func TestShortArguments(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", 100)
	for _, c := range []struct {
		name, in string
		limit    int
		want     string // "": stays
	}{
		{"at the limit", `{"a":"` + x + `"}`, 108, ""},
		{"above it", `{"a":"` + x + `"}`, 107, `{"a":"[truncated: 100 chars]"}`},
		{"a value of 60 and one of 61", `{"a":"` + x[:60] + `","b":"` + x[:61] + `"}`, 120, `{"a":"` + x[:60] + `","b":"[truncated: 61 chars]"}`},
		{"the same keys in their order", `{"z":"` + x + `","a":1,"m":"` + x + `","":null}`, 100, `{"z":"[truncated: 100 chars]","a":1,"m":"[truncated: 100 chars]","":null}`},
		{"keys twice", `{"a":"` + x + `","a":"` + x + `"}`, 100, `{"a":"[truncated: 100 chars]","a":"[truncated: 100 chars]"}`},
		{"still too long", `{"a":"` + x + `"}`, 29, `{"truncated": 108}`},
		{"short values, too many", `{"a":"` + x[:60] + `","b":"` + x[:60] + `"}`, 100, `{"truncated": 135}`},
		{"would be longer", `{"a":1}`, 3, ""},
		{"as long", `{"a":12345678901}`, 3, ""},
		{"white space alone", `{ "a" : ` + strings.Repeat(" ", 100) + `[1, 2] }`, 20, `{"a":[1, 2]}`},
		{"an empty object", "{" + strings.Repeat("\n", 100) + "}", 20, "{}"},
		{"nested", `{"a":{"b":[1,"` + x + `",{"c":"}]"}]},"d":[],"e":{}}`, 100, `{"a":"[truncated: 123 chars]","d":[],"e":{}}`},
		{"a huge number", `{"n":` + strings.Repeat("9", 100) + `,"m":-12e-7}`, 60, `{"n":"[truncated: 100 chars]","m":-12e-7}`},
		{"a long integer stays as it is", `{"n":12345678901234567890,"a":"` + x + `"}`, 100, `{"n":12345678901234567890,"a":"[truncated: 100 chars]"}`},
		{"literals", `{"a":true,"b":false,"c":null,"d":"` + x + `"}`, 100, `{"a":true,"b":false,"c":null,"d":"[truncated: 100 chars]"}`},
		{"escaped quotes and brackets", `{"a\"}":"` + x + `\"}\\","b":"\\"}`, 100, `{"a\"}":"[truncated: 103 chars]","b":"\\"}`},
		{"Chinese", `{"文":"` + strings.Repeat("好", 61) + `"}`, 60, `{"文":"[truncated: 61 chars]"}`},
		{"Chinese within the limit of values", `{"文":"` + strings.Repeat("好", 60) + `"}`, 68, ""},
		{"escapes are characters", `{"a":"` + strings.Repeat(`\u4f60`, 60) + `"}`, 400, ""},
		{"sixty escapes stay", `{"a":"` + strings.Repeat(`\n`, 60) + `","b":"` + x + `"}`, 200, `{"a":"` + strings.Repeat(`\n`, 60) + `","b":"[truncated: 100 chars]"}`},
		{"a pair of surrogates is one", `{"a":"` + strings.Repeat(`\ud83d\ude00`, 61) + `"}`, 200, `{"a":"[truncated: 61 chars]"}`},
		{"half a pair is one", `{"a":"` + strings.Repeat(`\ud83d`, 61) + `"}`, 200, `{"a":"[truncated: 61 chars]"}`},
		{"emoji", `{"a":"` + strings.Repeat("😀", 61) + `"}`, 60, `{"a":"[truncated: 61 chars]"}`},
		{"bytes that are no text", `{"a":"` + strings.Repeat("\xff", 100) + `"}`, 60, `{"a":"[truncated: 100 chars]"}`},
		{"a list", "[" + strings.Repeat("1,", 50) + "1]", 60, `{"truncated": 103}`},
		{"no JSON", `{"a":"` + x, 60, `{"truncated": 106}`},
		{"two objects", `{"a":"` + x + `"}{}`, 60, `{"truncated": 110}`},
		{"nothing", "", 1, ""},
		{"white space", strings.Repeat(" ", 100), 60, `{"truncated": 100}`},
		{"deeper than encoding/json goes", `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, 60, `{"truncated": 40006}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := shortArguments(c.in, c.limit, store.Handle{})
			if c.want == "" {
				require.False(t, ok, "want it to stay, got %s", got)
				return
			}
			require.True(t, ok)
			require.Equal(t, c.want, got)
			requireShortArguments(t, c.in, c.limit)
		})
	}
}

// requireShortArguments checks what holds for any arguments.
func requireShortArguments(t require.TestingT, in string, limit int) {
	short, ok := shortArguments(in, limit, store.Handle{})
	if n := utf8.RuneCountInString(in); n <= limit {
		require.False(t, ok, "within the limit")
		return
	}
	if !ok {
		return
	}
	require.True(t, json.Valid([]byte(short)), "want valid JSON, got %s", short)
	require.Equal(t, byte('{'), short[0])
	require.Less(t, len(short), len(in), "of %s", short)
	require.Less(t, utf8.RuneCountInString(short), utf8.RuneCountInString(in), "never longer")
	if short == fmt.Sprintf(`{"truncated": %d}`, utf8.RuneCountInString(in)) {
		return
	}
	require.LessOrEqual(t, utf8.RuneCountInString(short), limit, "within the limit: %s", short)
	require.Equal(t, keys(t, in), keys(t, short), "the same keys in the same order")
}

// keys returns the keys of an object in order.
func keys(t require.TestingT, text string) (all []string) {
	d := json.NewDecoder(strings.NewReader(text))
	_, err := d.Token()
	require.NoError(t, err)
	for d.More() {
		key, err := d.Token()
		require.NoError(t, err)
		all = append(all, fmt.Sprint(key))
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
	}
	_, err = d.Token()
	require.NoError(t, err)
	_, err = d.Token()
	require.ErrorIs(t, err, io.EOF)
	return all
}

func TestShortArgumentsOfAnyObject(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(
		rapid.StringN(0, 100, -1), rapid.StringMatching(`[a-z"\\\n{}\[\],: ]{0,80}`),
		rapid.StringMatching(`[你好世界。😀e\x{301}]{0,90}`),
	)
	rapid.Check(t, func(r *rapid.T) {
		var value func(depth int) any
		value = func(depth int) any {
			switch kind := rapid.IntRange(0, 7).Draw(r, "kind"); {
			case kind == 0 && depth > 0:
				return []any{value(depth - 1), value(depth - 1)}
			case kind == 1 && depth > 0:
				return map[string]any{text.Draw(r, "key"): value(depth - 1)}
			case kind == 2:
				return nil
			case kind == 3:
				return rapid.Bool().Draw(r, "bool")
			case kind == 4:
				return json.Number(rapid.StringMatching(`-?[1-9][0-9]{0,90}(\.[0-9]{1,9})?`).Draw(r, "number"))
			}
			return text.Draw(r, "text")
		}
		var b strings.Builder
		space := rapid.SampledFrom([]string{"", " ", "\n\t"})
		b.WriteString(space.Draw(r, "space") + "{")
		for i := range rapid.IntRange(0, 6).Draw(r, "members") {
			if i > 0 {
				b.WriteString(space.Draw(r, "space") + ",")
			}
			key, err := json.Marshal(text.Draw(r, "key"))
			require.NoError(r, err)
			v, err := json.Marshal(value(2))
			require.NoError(r, err)
			b.WriteString(space.Draw(r, "space") + string(key) + space.Draw(r, "space") + ":" + space.Draw(r, "space") + string(v))
		}
		b.WriteString(space.Draw(r, "space") + "}")
		in := b.String()
		require.True(r, json.Valid([]byte(in)))
		requireShortArguments(r, in, rapid.IntRange(1, 300).Draw(r, "limit"))
	})
}

func FuzzShortArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":"b"}`, `{"a":1,"a":2}`, `{"a":"\ud83d\ude00\u12"}`, `{"a":{"b":["}"]}}`, `[1]`, "{\"a\":\"\xff\"}", ` { "a" : -1e9 } `, `{"a":"\\"}`, `{"":""}`, `null`,
		`{"a":"` + strings.Repeat("x", 70) + `","n":` + strings.Repeat("1", 70) + `}`,
	} {
		f.Add(seed, 5)
		f.Add(seed, 40)
	}
	f.Fuzz(func(t *testing.T, in string, limit int) {
		limit = max(1, limit%500)
		requireShortArguments(t, in, limit)
	})
}
