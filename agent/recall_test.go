package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens/bpe"
)

type args = map[string]any

// ask has a recall tool answer and returns the text.
func ask(t require.TestingT, tool agent.Tool, in args) string {
	return askIn(context.Background(), t, tool, in)
}

func askIn(ctx context.Context, t require.TestingT, tool agent.Tool, in args) string {
	arguments, err := json.Marshal(in)
	require.NoError(t, err)
	parts, err := tool.Call(ctx, string(arguments))
	require.NoError(t, err, "%s", arguments)
	require.Len(t, parts, 1)
	text, ok := parts[0].(message.Text)
	require.True(t, ok, "want text, got %T", parts[0])
	return text.Text
}

// keep puts a text and returns its handle as it stands in the placeholder.
func keep(t require.TestingT, s store.Store, text string) string {
	h, err := store.Keep(context.Background(), s, store.Content{Data: text})
	require.NoError(t, err)
	return h.String()
}

// numbered returns so many lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestRecallDefinition(t *testing.T) {
	t.Parallel()
	def := agent.Recall(store.NewMemory(0), agent.RecallOptions{}).Definition()
	require.Equal(t, store.RecallTool, def.Name, "placeholders name the tool")
	require.JSONEq(t, `{
		"type": "object",
		"properties": {
			"handle": {"type": "string", "description": "as in the placeholder"},
			"from": {"type": "integer", "description": "first line, from 1"},
			"to": {"type": "integer", "description": "last line"},
			"column": {"type": "integer", "description": "byte of the first line to begin at, from 1"},
			"search": {"type": "string", "description": "only lines with this text"},
			"pattern": {"type": "string", "description": "only lines that match this RE2 expression"}
		},
		"required": ["handle"],
		"additionalProperties": false
	}`, def.Parameters)
	require.LessOrEqual(t, bpe.Encoding("o200k_base").Count(def.Name+def.Description+def.Parameters), 150, "it is sent with each call")
}

func TestRecallWhole(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	for name, c := range map[string]struct{ content, want string }{
		"text":            {"a\r\n\tb 名前\n\n", "a\r\n\tb 名前\n\n"},
		"empty":           {"", "[the content is empty]"},
		"control":         {"\x1b[31mred\x1b[0m\rbar\a\u0085\x7f\n", `\x1b[31mred\x1b[0m\rbar\x07\u0085\x7f` + "\n"},
		"broken UTF-8":    {"caf\xe9 au lait\n", `caf\xe9 au lait` + "\n"},
		"NUL far behind":  {strings.Repeat("a", 8000) + "\x00", strings.Repeat("a", 8000) + `\x00`},
		"as much as fits": {strings.Repeat("a", 16_000), strings.Repeat("a", 16_000)},
	} {
		require.Equal(t, c.want, ask(t, agent.Recall(s, agent.RecallOptions{}), map[string]any{"handle": keep(t, s, c.content)}), name)
	}
}

// A handle may be in the form that gateways look for, in upper case, and behind the word that the placeholder has.
func TestRecallByHash(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	h, err := store.ParseHandle(keep(t, s, "abc"))
	require.NoError(t, err)
	for _, handle := range []string{
		archived.Hash(h), "hash=" + archived.Hash(h), strings.ToUpper(h.String()), "recall " + h.String(), " Recall  " + strings.ToUpper(h.String()),
		"recall hash=" + archived.Hash(h),
	} {
		require.Equal(t, "abc", ask(t, agent.Recall(s, agent.RecallOptions{}), args{"handle": handle}))
	}
	require.Contains(t, ask(t, agent.Recall(s, agent.RecallOptions{}), args{"handle": archived.Hash(h)[:22]}), "has other characters")
}

func TestRecallParts(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Limit: 1000}) // 740 of them for lines, 125 for one of several
	log := keep(t, s, strings.Replace(numbered(900), "line 500\n", "line 500: ERROR\r\n", 1))
	row := `{"id":7,"name":"é"},` // 21 bytes
	line := strings.Repeat(row, 100) + `{"id":99}` + strings.Repeat(row, 100)
	long := keep(t, s, "short\n"+line+"\nlast")
	var hits, labelled string
	for i := range 7 { // 728 bytes
		hits += strings.Repeat("m", 100) + "\n"
		labelled += fmt.Sprintf("%d: %s\n", i+1, strings.Repeat("m", 100))
	}
	tight := keep(t, s, hits+strings.Repeat("a", 20)+"\nb\n")
	ends := keep(t, s, "END"+strings.Repeat("-", 1000)+"END")
	chinese, broken := keep(t, s, "订单"), keep(t, s, "a\xbf\xbfb and much that is text")
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"in the first letter":  {args{"handle": chinese, "column": 3}, "[lines 1-1 of 1 of " + chinese + "]\n订单"},
		"in the second letter": {args{"handle": chinese, "column": 5}, "[lines 1-1 of 1 of " + chinese + "]\n单"},
		"in what is no letter": {args{"handle": broken, "column": 3}, "[lines 1-1 of 1 of " + broken + "]\n\\xbfb and much that is text"},
		"all that fits":        {args{"handle": log}, "[lines 1-93 of 900 of " + log + "; more: from=94]\n" + strings.TrimSuffix(numbered(93), "\n")},
		"lines":                {args{"handle": log, "from": 499, "to": 501}, "[lines 499-501 of 900 of " + log + "]\nline 499\nline 500: ERROR\nline 501"},
		"search":               {args{"handle": log, "search": "ERROR"}, "[1 matching in lines 1-900 of 900 of " + log + "]\n498- line 498\n499- line 499\n500: line 500: ERROR\n501- line 501\n502- line 502"},
		"pattern":              {args{"handle": log, "pattern": "line (1|3|9|900)$"}, "[4 matching in lines 1-900 of 900 of " + log + "]\n1: line 1\n2- line 2\n3: line 3\n4- line 4\n5- line 5\n--\n7- line 7\n8- line 8\n9: line 9\n10- line 10\n11- line 11\n--\n898- line 898\n899- line 899\n900: line 900"},
		"in some lines":        {args{"handle": log, "search": "line 90", "from": 91, "to": 899}, "[no match in lines 91-899 of 900 of " + log + "; case counts, unless a pattern begins with (?i)]"},
		"no match":             {args{"handle": log, "search": "error"}, "[no match in lines 1-900 of 900 of " + log + "; case counts, unless a pattern begins with (?i)]"},
		"long line":            {args{"handle": long}, "[lines 1-3 of 3 of " + long + "]\nshort\n" + line[:125] + " […4084 more bytes: from=2 column=126]\nlast"},
		"in a long line": {args{"handle": long, "search": "99"}, "[1 matching in lines 1-3 of 3 of " + long + "]\n1- short\n2 (column 2075): " + line[2074:2199] +
			" […2010 more bytes: from=2 column=2200]\n3- last"},
		"no room for a line beside": {args{"handle": tight, "search": "m"}, "[7 matching in lines 1-9 of 9 of " + tight + "]\n" + strings.TrimSuffix(labelled, "\n")},
		"all of a long line": {args{"handle": ends, "search": "END"}, "[1 matching in lines 1-1 of 1 of " + ends + "]\n1: END" + strings.Repeat("-", 122) +
			" […881 more bytes: from=1 column=126]\n1 (column 973): " + strings.Repeat("-", 31) + "END"},
	} {
		require.Equal(t, c.want, ask(t, tool, c.args), name)
	}
}

// TestArchivePage keeps the program of docs/archive.md that of the example.
func TestArchivePage(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("recall_example_test.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/archive.md")
	require.NoError(t, err)
	_, program, ok := strings.Cut(string(source), "\t// Recall begins.\n")
	require.True(t, ok)
	program, _, ok = strings.Cut(program, "\n\t// Recall ends.")
	require.True(t, ok)
	program = strings.ReplaceAll("\n"+program, "\n\t", "\n")
	require.Contains(t, string(page), "```go"+program+"\n```", "docs/archive.md shows another program than the example")
}

// What is wrong is said in words: none of this ends a run.
func TestRecallProblems(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Limit: 1000})
	log, empty := keep(t, s, numbered(900)), keep(t, s, "")
	gone := store.HandleIn(nil, "", store.Content{Data: "gone"}.Hash()).String()
	foreign, err := store.Keep(t.Context(), s.Scope("another tenant"), store.Content{Data: "secret"})
	require.NoError(t, err)
	image, err := store.Keep(t.Context(), s, store.Content{Type: "image/png", Data: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR and more"})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"malformed":        {args{"handle": "../../etc/passwd"}, `[handle "../../etc/passwd" has other characters than the letters a to z, want 12 letters a to z as in the placeholder]`},
		"mistyped":         {args{"handle": gone[:11] + "a"}, `[handle "` + gone[:11] + `a" is mistyped: its last letter does not fit the others, want 12 letters a to z as in the placeholder]`},
		"unknown":          {args{"handle": gone}, "[nothing is kept under " + gone + ": it was given up since, or never put into this archive; call the tool that gave it again]"},
		"another tenant's": {args{"handle": foreign.String()}, "[nothing is kept under " + foreign.String() + ": it was given up since, or never put into this archive; call the tool that gave it again]"},
		"binary":           {args{"handle": image.String(), "search": "x"}, "[" + image.String() + " is binary and cannot be shown: image/png, 25 bytes, beginning with 89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52]"},
		"mostly broken":    {args{"handle": keep(t, s, "ab\xff\xfe")}, "[" + keep(t, s, "ab\xff\xfe") + " is binary and cannot be shown: of unknown type, 4 bytes, beginning with 61 62 ff fe]"},
		"empty":            {args{"handle": empty, "from": 7, "search": "x"}, "[the content is empty]"},
		"negative":         {args{"handle": log, "from": -3}, "[from=-3 to=0 column=0: want numbers from 1]"},
		"behind the end":   {args{"handle": log, "from": 901}, "[from=901 is behind the end: " + log + " has 900 lines]"},
		"backwards":        {args{"handle": log, "from": 7, "to": 5}, "[from=7 is behind to=5]"},
		"no such column":   {args{"handle": log, "from": 7, "column": 7}, "[column=7 is behind the end of line 7 of " + log + ", which has 6 bytes]"},
		"both":             {args{"handle": log, "search": "a", "pattern": "b"}, "[search and pattern are both given, want one of them]"},
		"two lines":        {args{"handle": log, "search": "line 1\nline 2"}, "[search has a line break, want text that stands in one line]"},
		"no RE2":           {args{"handle": log, "pattern": "a(?=\x07)"}, "[pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`; want RE2 syntax, or plain text in search]"},
		"long":             {args{"handle": log, "pattern": strings.Repeat("x", 500)}, "[no match in lines 1-900 of 900 of " + log + "; case counts, unless a pattern begins with (?i)]"},
		"too long":         {args{"handle": log, "pattern": strings.Repeat("(", 501)}, "[pattern has 501 bytes, want at most 500]"},
	} {
		require.Equal(t, c.want, ask(t, tool, c.args), name)
	}
}

func TestRecallMedia(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Media: true})
	for contentType, shown := range map[string]bool{
		"image/png": true, "audio/wav": true, "video/mp4": true, "application/pdf": true, "application/zip": false, "imagery/x": false, "": false,
	} {
		h, err := store.Keep(t.Context(), s, store.Content{Type: contentType, Data: "\x00\x01"})
		require.NoError(t, err)
		parts, err := tool.Call(t.Context(), `{"handle": "`+h.String()+`"}`)
		require.NoError(t, err)
		require.Len(t, parts, 1)
		if shown {
			require.Equal(t, message.Media{Type: contentType, Data: "\x00\x01"}, parts[0])
		} else {
			require.Contains(t, parts[0].(message.Text).Text, "is binary and cannot be shown")
		}
	}
	h, err := store.Keep(t.Context(), s, store.Content{Type: "image/svg+xml", Data: "<svg/>"})
	require.NoError(t, err)
	require.Equal(t, "<svg/>", ask(t, tool, args{"handle": h.String()}), "a picture that is text is shown as text")
}

// failing is a store that does not work.
type failing struct {
	store.Store
	err error
}

func (f failing) Get(context.Context, store.Handle) (store.Content, error) {
	return store.Content{}, f.err
}

func TestRecallFromAStoreThatFails(t *testing.T) {
	t.Parallel()
	h := store.HandleIn(nil, "", store.Content{Data: "x"}.Hash()).String()
	arguments := `{"handle": "` + h + `"}`
	broken := errors.New("the disk is on fire")
	parts, err := agent.Recall(failing{err: broken}, agent.RecallOptions{}).Call(t.Context(), arguments)
	require.ErrorIs(t, err, broken)
	require.Nil(t, parts)

	answer := ask(t, agent.Recall(failing{err: fmt.Errorf("store: get: %w", store.ErrDamaged)}, agent.RecallOptions{}), args{"handle": h})
	require.Equal(t, "[what is kept under "+h+" is damaged; call the tool that gave it again]", answer)
}

// goneAway is a store whose caller goes while it looks.
type goneAway struct {
	store.Store
	cancel context.CancelFunc
}

func (g goneAway) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	defer g.cancel()
	return g.Store.Get(ctx, h)
}

func TestSearchStopsWithItsContext(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := agent.Recall(goneAway{s, cancel}, agent.RecallOptions{}).Call(ctx, `{"handle": "`+keep(t, s, numbered(10))+`", "search": "x"}`)
	require.ErrorIs(t, err, context.Canceled)
}

// A search also looks in the contents whose handles a content has, as that behind a note
// does, and names those that match.
func TestSearchFollowsHandles(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	image, err := store.Keep(t.Context(), s, store.Content{Type: "image/png", Data: "needle\x00"})
	require.NoError(t, err)
	gone := store.HandleIn(nil, "", store.Content{Data: "a needle that was deleted"}.Hash())
	content := "[removed before this, oldest first]"
	var with []string
	for i := range 120 {
		text := fmt.Sprintf("line 1\nline %d\n", i)
		if i%2 == 0 {
			text += "a needle\n"
			with = append(with, "recall "+keep(t, s, text))
		}
		content += "\nrecall " + keep(t, s, text)
	}
	content += fmt.Sprintf("\nrecall %s\nrecall %s\nan end\n", image, gone)
	h := keep(t, s, content)
	tool := agent.Recall(s, agent.RecallOptions{})
	require.Equal(t, "[no match in lines 1-124 of 124 of "+h+"; case counts, unless a pattern begins with (?i)]\n[also matching: "+
		strings.Join(with, ", ")+"]", ask(t, tool, args{"handle": h, "search": "needle"}))
	require.Equal(t, ask(t, tool, args{"handle": h, "search": "needle"}), ask(t, tool, args{"handle": h, "pattern": "needl[e]"}))
	require.NotContains(t, ask(t, tool, args{"handle": h, "search": "nothing of the kind"}), "also matching")
	require.NotContains(t, ask(t, tool, args{"handle": h, "search": "end", "from": 2}), "also matching", "a range is of this content")
	require.Equal(t, content, ask(t, tool, args{"handle": h}))

	short := ask(t, agent.Recall(s, agent.RecallOptions{Limit: 1000}), args{"handle": h, "search": "needle"})
	require.LessOrEqual(t, len(short), 1000)
	require.Contains(t, short, strings.Join(with[:10], ", "))
	require.Contains(t, short, fmt.Sprintf(" and %d more]", len(with)-strings.Count(short, "recall ")))

	large := keep(t, s, strings.Repeat("line\n", 20_000)+"a needle\n")
	h = keep(t, s, "recall "+large+"\n")
	require.Contains(t, ask(t, tool, args{"handle": h, "pattern": "[a-z]{400}"}), "[1 more are not searched, since the pattern is too slow]")
}

// A slow expression is not searched for in much text, and a model is told what is
// possible.
func TestPatternThatIsTooSlow(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Limit: 1000})
	line := strings.Repeat("-", 99) + "\n"
	const slow = "Q[a-z]{1000}" // 1,003 instructions, of which most are not run where there is no Q
	const steps, most = 1003, 1 << 25 / 1003
	fits := strings.Repeat(line, most/100) + strings.Repeat("-", most%100-1)
	require.Contains(t, ask(t, tool, args{"handle": keep(t, s, fits), "pattern": slow}), "[no match in lines")
	more := keep(t, s, fits+"-")
	refused := fmt.Sprintf("[pattern is too slow for %d bytes, as it may take %d steps for each, and the limit "+
		"is 33554432: want plain text in search, at most %d bytes by from and to, or a simpler pattern]", most+1, steps, most)
	require.Equal(t, refused, ask(t, tool, args{"handle": more, "pattern": slow}))
	for name, in := range map[string]args{
		"from":              {"from": 2, "pattern": slow},
		"to":                {"to": most / 100, "pattern": slow},
		"column":            {"column": 2, "pattern": slow},
		"plain text":        {"search": "Q"},
		"a simpler pattern": {"pattern": "Q[a-z]+"},
	} {
		in["handle"] = more
		require.Contains(t, ask(t, tool, in), "[no match in lines", name)
	}

	empty := keep(t, s, strings.Repeat("\n", most+1))
	require.Equal(t, refused, ask(t, tool, args{"handle": empty, "pattern": slow}), "a line without letters takes steps too")
}

var (
	pageNote   = regexp.MustCompile(`^\[lines (\d+)-(\d+) of (\d+) of [a-z]{12}(?:; more: from=(\d+)(?: column=(\d+))?)?\]\n`)
	searchNote = regexp.MustCompile(`^\[(\d+) matching in lines \d+-\d+ of \d+ of [a-z]{12}(?:; more: the same with from=(\d+)(?: column=(\d+))?)?\]\n`)
	lineMark   = regexp.MustCompile(` \[…(\d+) more bytes: from=(\d+)(?: column=(\d+))?\]$`)
	searchLine = regexp.MustCompile(`^(\d+)(?: \(column \d+\))?([:-]) `)
)

func number(t require.TestingT, digits string) int {
	if digits == "" {
		return 0
	}
	n, err := strconv.Atoi(digits)
	require.NoError(t, err)
	return n
}

// text draws lines, some of them long, of letters that no note has.
func text(t *rapid.T) string {
	lines := rapid.SliceOfN(rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("xyzé名\t")), 0, 30, -1),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.StringOfN(rapid.RuneFrom([]rune("xyz名")), 1, 20, -1).Draw(t, "piece"), rapid.IntRange(1, 200).Draw(t, "times"))
		}),
	), 1, 60).Draw(t, "lines")
	return strings.Join(lines, "\n")
}

// Who follows the notes reads all of a text, in answers that are never longer
// than agreed.
func TestAllOfATextCanBeRead(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Limit: 1000})
	rapid.Check(t, func(t *rapid.T) {
		text := text(t)
		handle := keep(t, s, text)
		// read returns the lines of one answer, and the arguments for more.
		read := func(in args) (lines []string, more args) {
			in["handle"] = handle
			answer := ask(t, tool, in)
			require.LessOrEqual(t, len(answer), 1000)
			note := pageNote.FindStringSubmatch(answer)
			if note == nil {
				require.Equal(t, cmp.Or(text, "[the content is empty]"), answer, "an answer without a note is the whole text")
				answer = text
				return strings.Split(answer, "\n"), nil
			}
			lines = strings.Split(answer[len(note[0]):], "\n")
			require.Len(t, lines, number(t, note[2])-number(t, note[1])+1, "the note says how many lines there are: %s", note[0])
			if note[4] != "" {
				more = args{"from": number(t, note[4])}
			}
			return lines, more
		}
		var got []string
		asked := 0
		for more := (args{}); more != nil; asked++ {
			require.Less(t, asked, 10_000, "each answer goes on where the one before ended")
			var lines []string
			lines, more = read(more)
			for _, line := range lines {
				for mark := lineMark.FindStringSubmatch(line); mark != nil; mark = lineMark.FindStringSubmatch(line) {
					line = strings.TrimSuffix(line, mark[0])
					rest, _ := read(args{"from": number(t, mark[2]), "to": number(t, mark[2]), "column": number(t, mark[3])})
					require.NotEmpty(t, rest[0])
					require.Less(t, len(line), len(text), "each answer goes on where the one before ended")
					line += rest[0]
				}
				got = append(got, line)
			}
		}
		if strings.HasSuffix(text, "\n") && len(got) == strings.Count(text, "\n") {
			got = append(got, "") // what stands behind the last line break is no line
		}
		require.Equal(t, text, strings.Join(got, "\n"))
	})
}

// Who follows the notes of a search finds each line that matches, and is told
// at once how many there are.
func TestAllMatchesCanBeFound(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Limit: 1000})
	rapid.Check(t, func(t *rapid.T) {
		text := text(t)
		handle := keep(t, s, text)
		what := rapid.SampledFrom([]string{"search", "pattern"}).Draw(t, "what")
		word := rapid.StringOfN(rapid.RuneFrom([]rune("xyz名")), 1, 3, -1).Draw(t, "word")
		var want []int
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, word) {
				want = append(want, i+1)
			}
		}
		var got []int
		in := args{"handle": handle, what: word}
		for asked := 0; ; asked++ {
			require.Less(t, asked, 10_000, "each answer goes on where the one before ended")
			answer := ask(t, tool, in)
			require.LessOrEqual(t, len(answer), 1000)
			note := searchNote.FindStringSubmatch(answer)
			if note == nil {
				require.True(t, answer == "[the content is empty]" || strings.HasPrefix(answer, "[no match in "), answer)
				break
			}
			if asked == 0 {
				require.Equal(t, len(want), number(t, note[1]))
			}
			got = append(got, matches(t, answer[len(note[0]):])...)
			if note[2] == "" {
				break
			}
			in["from"], in["column"] = number(t, note[2]), number(t, note[3])
		}
		require.Equal(t, want, slices.Compact(got))
	})
}

// matches returns the numbers of the lines that match. Lines follow one
// another, or there is a mark between.
func matches(t require.TestingT, shown string) (numbers []int) {
	last := 0
	for line := range strings.Lines(shown) {
		if line == "--\n" {
			last = -1
			continue
		}
		label := searchLine.FindStringSubmatch(line)
		require.NotNil(t, label, "want a line number: %s", line)
		n := number(t, label[1])
		if last > 0 {
			require.Contains(t, []int{last, last + 1}, n, "lines are left out without a mark:\n%s", shown)
		}
		require.False(t, n == last && label[2] == "-", "line %d is shown twice:\n%s", n, shown)
		if last = n; label[2] == ":" {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// requireClean requires what each answer promises: it is bounded, and there is
// nothing in it that does not print.
func requireClean(t require.TestingT, answer string, limit int) {
	require.LessOrEqual(t, len(answer), limit)
	require.True(t, utf8.ValidString(answer), "an answer is UTF-8")
	for _, r := range strings.ReplaceAll(answer, "\r\n", "\n") {
		require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t', "%q is not shown as it is", r)
	}
}

// An answer that is archived and recalled is the same answer, with the same
// handle: however often it is cleared, nothing piles up.
func TestAnswersAreRecalledAsTheyWere(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Limit: 1000})
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.OneOf(
			rapid.Custom(text),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 3000), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte("ab \r\n\t\x1b\x07\xff\u0085")), 0, 3000), func(b []byte) string { return string(b) }),
			rapid.String(),
		).Draw(t, "content")
		in := args{"handle": keep(t, s, content)}
		for _, name := range []string{"from", "to", "column"} {
			if n := rapid.IntRange(-1, 50).Draw(t, name); n > 0 {
				in[name] = n
			}
		}
		if rapid.Bool().Draw(t, "searching") {
			in["search"] = rapid.SampledFrom([]string{"x", "a", "yz", "\x1b"}).Draw(t, "search")
		}
		answer := ask(t, tool, in)
		requireClean(t, answer, 1000)
		again := keep(t, s, answer)
		require.Equal(t, answer, ask(t, tool, args{"handle": again}))
	})
}

// Whatever a model writes and whatever was archived, it gets an answer or is
// told what is wrong with its arguments.
func FuzzRecall(f *testing.F) {
	handle := store.HandleIn(nil, "", store.Content{Data: numbered(300)}.Hash()).String()
	for _, arguments := range []string{
		`{"handle": "` + handle + `"}`,
		`{"handle": "` + handle + `", "from": 3, "to": 4, "column": 2}`,
		`{"handle": "` + handle + `", "search": "9", "from": -1}`,
		`{"handle": "` + handle + `", "pattern": "(1|2)+$"}`,
		`{"handle": 12}`, `{}`, `[`, `{"handle": "../../etc/passwd"}`,
	} {
		f.Add(arguments, numbered(300))
	}
	f.Add(`{"handle": "`+handle+`"}`, "\x00\xff")
	s := store.NewMemory(0)
	tool := agent.Recall(s, agent.RecallOptions{Limit: 1000})
	f.Fuzz(func(t *testing.T, arguments, content string) {
		kept := keep(t, s, content)
		parts, err := tool.Call(t.Context(), strings.ReplaceAll(arguments, handle, kept))
		if err != nil {
			wrong, ok := errors.AsType[*agent.ArgumentsError](err)
			require.True(t, ok, "want an *ArgumentsError, got %v", err)
			require.NotEmpty(t, wrong.Problems)
			return
		}
		require.Len(t, parts, 1)
		requireClean(t, parts[0].(message.Text).Text, 1000)
	})
}
