package shorten_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
)

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text       string
		head, tail int
		want       string
	}{
		"at line ends":               {strings.Repeat("abc\n", 12), 18, 17, strings.Repeat("abc\n", 4) + "[16]\n" + strings.Repeat("abc\n", 4)},
		"a line end costs too much":  {"one two three\nfour five\n", 6, 6, "one tw\n[12]\n five\n"},
		"between characters":         {"äöüß", 3, 3, "ä\n[4]\nß"},
		"invalid UTF-8":              {strings.Repeat("\x80", 20), 8, 7, strings.Repeat("\x80", 8) + "\n[5]\n" + strings.Repeat("\x80", 7)},
		"no head":                    {"abcdef", 0, 2, "[4]\nef"},
		"no tail":                    {"abcdef", 2, 0, "ab\n[4]\n"},
		"neither":                    {"abcdef", 0, 0, "[6]\n"},
		"less than nothing":          {"abcdef", -5, -5, "[6]\n"},
		"all":                        {"abcdef", 3, 3, "abcdef"},
		"more than all":              {"abcdef", 9, 9, "abcdef"},
		"nothing":                    {"", 3, 3, ""},
		"a line end next to the cut": {"ab\n\ncd", 3, 1, "ab\n[2]\nd"},
		"a line end is left out":     {"word \n\n", 5, 1, "word \n[1]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, shorten.Ends(c.text, c.head, c.tail, mark))
		})
	}
}

// mark contains the number of bytes that are left out.
func mark(left string) string { return fmt.Sprintf("[%d]", len(left)) }

// TestShares asks for shares of a room, as whole numbers of tokens.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		share       float64
		room        int
		least, most int
	}{
		{0.9, 1000, 900, 900},
		{0.55, 100, 55, 55},
		{0.8, 999, 800, 799},
		{1, 128_000, 128_000, 128_000},
		{1.0 / 3, 10, 4, 3},
	} {
		require.Equal(t, tt.least, shorten.AtLeast(tt.share, tt.room), "%v of %d or more", tt.share, tt.room)
		require.Equal(t, tt.most, shorten.AtMost(tt.share, tt.room), "%v of %d or less", tt.share, tt.room)
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes         []int
		allowed, want int
	}{
		{[]int{10, 10}, 20, 20},
		{[]int{30, 30}, 8, 4},
		{[]int{50, 2}, 20, 18},
		{[]int{50, 40, 3}, 43, 20},
		{[]int{1600, 1600}, 1740, 870},
		{[]int{100, 10}, 0, 0},
		{[]int{100, 10}, -50, 0},
		{nil, 5, 0},
		{[]int{100}, 40, 40},
		{[]int{10, 100}, 60, 50},
		{[]int{100, 10, 100}, 110, 50},
		{[]int{50, 50}, 60, 30},
		{[]int{1, 2, 1000}, 500, 497},
	} {
		require.Equal(t, c.want, shorten.Level(c.sizes, c.allowed), "%v to %d", c.sizes, c.allowed)
	}
}

// mixed has two results in five pieces, and a text between them.
var mixed = []message.Part{
	message.ToolResult{CallID: "a", Name: "read", Text: "one"},
	message.ToolResult{CallID: "a", Name: "read", Content: message.Media{Type: "image/png", Data: "."}},
	message.ToolResult{CallID: "b", Name: "read", Text: "other"},
	message.Text{Text: "between"},
	message.ToolResult{CallID: "a", Name: "read", Text: "two"},
	message.ToolResult{CallID: "a", Name: "read", Text: "three", Error: true},
}

// many returns the parts with others after them.
func many(parts []message.Part) []message.Part {
	out := slices.Clone(parts)
	for i := range 20 {
		out = append(out, message.ToolResult{CallID: fmt.Sprint(i)}, message.ToolCall{ID: fmt.Sprint(i)})
	}
	return out
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for _, parts := range [][]message.Part{mixed, many(mixed), mixed} {
		var at []int
		for i, r := range shorten.Pieces(parts, "a") {
			require.Equal(t, mixed[i], message.Part(r))
			at = append(at, i)
		}
		require.Equal(t, []int{0, 1, 4, 5}, at)
		require.Equal(t, []message.Part{mixed[0], mixed[1], mixed[4], mixed[5]}, shorten.Result(parts, "a"))
		require.Equal(t, mixed[2:3], shorten.Result(parts, "b"))
		require.Equal(t, []string{"a", "b"}, slices.Collect(shorten.CallIDs(parts))[:2])
		require.True(t, shorten.Failed(parts, "a"))
		require.False(t, shorten.Failed(parts, "b"))
		require.Empty(t, shorten.Result(parts, "c"))
	}
	require.Equal(t, []string{"a", "b"}, slices.Collect(shorten.CallIDs(mixed)))
	require.Len(t, slices.Collect(shorten.CallIDs(many(mixed))), 22)
	require.Equal(t, mixed[2:3], shorten.Result(mixed[2:3], "b"))
	require.Empty(t, shorten.Result(mixed[2:3], "a"))
}

func TestCall(t *testing.T) {
	t.Parallel()
	call := message.ToolCall{ID: "b", Name: "read", Arguments: "{}"}
	few := []message.Part{message.Text{Text: "b"}, message.ToolResult{CallID: "b"}, message.ToolCall{ID: "a"}, call, message.ToolCall{ID: "b"}}
	for _, parts := range [][]message.Part{few, many(few)} {
		require.Equal(t, call, shorten.Call(parts, "b"), "the first of two")
		require.Zero(t, shorten.Call(parts, "c"))
	}
}

func TestWithoutThinking(t *testing.T) {
	t.Parallel()
	text, thought := message.Text{Text: "so"}, message.Thinking{Text: "because"}
	parts, ok := shorten.WithoutThinking(message.Assistant(thought, text, thought))
	require.True(t, ok)
	require.Equal(t, []message.Part{text}, parts)
	_, ok = shorten.WithoutThinking(message.Assistant(text))
	require.False(t, ok, "there is no thinking")
	_, ok = shorten.WithoutThinking(message.Assistant(thought))
	require.False(t, ok, "the rest would be empty")
}

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
		"a command without its line":    {in: command, want: `{"command":"[truncated: 529 chars]"}`, n: 2},
		"a text that is no command":     {in: `{"text":"first\n` + x(500) + `"}`, keepLines: true, want: `{"text":"[truncated: 506 chars]"}`, n: 1},
		"a command of one long line":    {in: `{"cmd":"` + x(1000) + `"}`, keepLines: true, want: `{"cmd":"` + x(200) + `\n[truncated: 800 chars]"}`, n: 1},
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
