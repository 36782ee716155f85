package shorten_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
)

// within returns what is enough for a limit of bytes.
func within(limit int) func(string) bool {
	return func(short string) bool { return len(short) <= limit }
}

func TestValues(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	edit := `{"path":"` + x(90) + `","old":"` + x(300) + `","new":"` + x(400) + `"}`
	command := `{"command":"cat > a.go <<'EOF' && ls\n` + x(500) + `\nEOF"}`
	likely := shorten.Likely
	for name, c := range map[string]struct {
		in        string
		handle    store.Handle
		keepLines bool
		limit     int
		want      string
		n         int
	}{
		"enough as it is":               {in: edit, limit: 900, want: edit},
		"the longest":                   {in: edit, limit: 800, want: `{"path":"` + x(90) + `","old":"` + x(300) + `","new":"[truncated: 400 chars]"}`, n: 1},
		"the two longest":               {in: edit, limit: 300, want: `{"path":"` + x(90) + `","old":"[truncated: 300 chars]","new":"[truncated: 400 chars]"}`, n: 2},
		"all":                           {in: edit, want: `{"path":"[truncated: 90 chars]","old":"[truncated: 300 chars]","new":"[truncated: 400 chars]"}`, n: 3},
		"all but lines":                 {in: edit, keepLines: true, want: `{"path":"` + x(90) + `","old":"[truncated: 300 chars]","new":"[truncated: 400 chars]"}`, n: 2},
		"a value of 60 and one of 61":   {in: `{"a":"` + x(60) + `","b":"` + x(61) + `"}`, want: `{"a":"` + x(60) + `","b":"[truncated: 61 chars]"}`, n: 1},
		"a line of 200 and one of 201":  {in: `{"a":"` + x(200) + `","b":"` + x(201) + `"}`, keepLines: true, want: `{"a":"` + x(200) + `","b":"[truncated: 201 chars]"}`, n: 1},
		"two lines are longer than one": {in: `{"a":"` + x(150) + `","b":"` + x(40) + `\n` + x(40) + `"}`, limit: 230, want: `{"a":"` + x(150) + `","b":"[truncated: 81 chars]"}`, n: 1},
		"one handle":                    {in: edit, handle: likely, keepLines: true, want: `{"path":"` + x(90) + `","old":"[truncated: 300 chars]","new":"[truncated: 400 chars; recall ` + likely.String() + `]"}`, n: 2},
		"the first line of a command":   {in: command, keepLines: true, want: `{"command":"cat > a.go <<'EOF' && ls\n[truncated: 505 chars]"}`, n: 1},
		"of a command, with a handle":   {in: command, handle: likely, keepLines: true, want: `{"command":"cat > a.go <<'EOF' && ls\n[truncated: 505 chars; recall ` + likely.String() + `]"}`, n: 1},
		"a command without its line":    {in: command, want: `{"command":"[truncated: 529 chars]"}`, n: 3},
		"a text that is no command":     {in: `{"text":"first\n` + x(500) + `"}`, keepLines: true, want: `{"text":"[truncated: 506 chars]"}`, n: 1},
		"a command of one long line":    {in: `{"cmd":"` + x(1000) + `"}`, keepLines: true, want: `{"cmd":"` + x(200) + `\n[truncated: 800 chars]"}`, n: 1},
		"less of a long line":           {in: `{"cmd":"` + x(1000) + `"}`, limit: 120, want: `{"cmd":"` + x(60) + `\n[truncated: 940 chars]"}`, n: 2},
		"a command of one line":         {in: `{"code":"` + x(200) + `"}`, keepLines: true, want: `{"code":"` + x(200) + `"}`},
		"a command of several lines":    {in: `{"code":"` + x(50) + `\n` + x(50) + `"}`, keepLines: true, want: `{"code":"` + x(50) + `\n` + x(50) + `"}`},
		"what has a placeholder":        {in: `{"command":"ls ` + x(60) + `\n[truncated: 505 chars]","path":"` + x(70) + `"}`, want: `{"command":"ls ` + x(60) + `\n[truncated: 505 chars]","path":"[truncated: 70 chars]"}`, n: 1},
		"the handle is there":           {in: `{"a":"[truncated: 90 chars; recall ` + likely.String() + `]","b":"` + x(90) + `"}`, handle: likely, want: `{"a":"[truncated: 90 chars; recall ` + likely.String() + `]","b":"[truncated: 90 chars]"}`, n: 1},
		"equally long ones, in order":   {in: `{"b":"` + x(90) + `","a":"` + x(90) + `"}`, limit: 130, want: `{"b":"[truncated: 90 chars]","a":"` + x(90) + `"}`, n: 1},
		"a list":                        {in: `{"a":[` + strings.Repeat("1,", 200) + `1]}`, keepLines: true, want: `{"a":"[truncated: 403 chars]"}`, n: 1},
		"code points":                   {in: `{"a":"` + strings.Repeat("好", 60) + `","b":"` + strings.Repeat(`\n`, 61) + `"}`, want: `{"a":"` + strings.Repeat("好", 60) + `","b":"[truncated: 61 chars]"}`, n: 1},
		"the rest is as it was written": {in: `{ "a\u0062": 1.50, "b": "` + x(99) + `" }`, want: `{"a\u0062":1.50,"b":"[truncated: 99 chars]"}`, n: 1},
		"no object":                     {in: `["` + x(100) + `"]`, want: `["` + x(100) + `"]`, n: -1},
		"no JSON":                       {in: `{"a":"` + x(100), want: `{"a":"` + x(100), n: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			short, n := shorten.Values(c.in, c.handle, c.keepLines, within(c.limit))
			require.Equal(t, c.want, short)
			require.Equal(t, c.n, n)
		})
	}
}

type pair struct{ key, text string }

// pairs returns keys and values in order: a text as it is decoded, all others as they are written.
func pairs(t require.TestingT, text string) (all []pair) {
	d := json.NewDecoder(strings.NewReader(text))
	_, err := d.Token()
	require.NoError(t, err)
	for d.More() {
		key, err := d.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
		p := pair{key: fmt.Sprint(key), text: string(value)}
		_ = json.Unmarshal(value, &p.text)
		all = append(all, p)
	}
	return all
}

func FuzzValues(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":"b"}`, `{"a":1,"a":2}`, `{"command":"\ud83d\ude00\u12"}`, "{\"a\":\"\xff\"}", `{"code":"` + strings.Repeat("x", 300) + `"}`,
		`{"command":"a\n` + strings.Repeat("x", 70) + `","n":` + strings.Repeat("1", 70) + `}`,
	} {
		f.Add(seed, 40, true)
		f.Add(seed, 0, false)
	}
	f.Fuzz(func(t *testing.T, in string, limit int, keepLines bool) {
		short, n := shorten.Values(in, shorten.Likely, keepLines, within(limit))
		isObject := json.Valid([]byte(in)) && strings.HasPrefix(strings.TrimLeft(in, " \t\r\n"), "{")
		require.Equal(t, isObject, n >= 0)
		if !isObject {
			require.Equal(t, in, short)
			return
		}
		require.True(t, json.Valid([]byte(short)), "%s", short)
		keys := func(text string) (all []string) {
			for _, p := range pairs(t, text) {
				all = append(all, p.key)
			}
			return all
		}
		require.True(t, slices.Equal(keys(in), keys(short)), "the same keys in the same order")
		require.LessOrEqual(t, strings.Count(short, shorten.Likely.String()), 1+strings.Count(in, shorten.Likely.String()))
	})
}
