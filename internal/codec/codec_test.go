package codec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

var bodies = flag.Uint64("bodies", 120, "generated bodies of each format")

// chains edit small conversations.
func chains() map[string]middleware.Middleware {
	return map[string]middleware.Middleware{
		"rewrites": middleware.Chain(
			microcompact.New(microcompact.Options{Trigger: trigger.Rounds(1), KeepRounds: 1, Batch: microcompact.Batch{Results: 1}}),
			contextedit.New(contextedit.Options{Trigger: trigger.Rounds(1), Keep: 1, ClearToolInputs: true}),
		),
		"folds": middleware.Chain(
			contextedit.New(contextedit.Options{Trigger: trigger.Rounds(1), Keep: 1}),
			trim.New(trim.Options{Trigger: trigger.Rounds(1), TargetTokens: 1, PreserveStart: -1, PreserveEnd: 2, MinMessages: -1, Note: "(gone)"}),
		),
	}
}

func each(t *testing.T, test func(t *testing.T, f *codec.Format)) {
	t.Helper()
	for _, f := range codec.Formats() {
		t.Run(f.Name, func(t *testing.T) { test(t, f) })
	}
}

func apply(t require.TestingT, chain middleware.Middleware, b *codec.Body) *middleware.Request {
	out, _, err := middleware.Apply(context.Background(), chain, b.Request())
	require.NoError(t, err)
	return out
}

// What a chain has made of a body is what is read from the JSON that is sent, and all that was not edited is the same.
func TestEditedBodies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *codec.Format) {
		t.Parallel()
		edited := map[string]int{}
		for seed := range *bodies {
			for name, chain := range chains() {
				text := newGenerator(f, seed).body()
				b, err := f.Decode([]byte(text))
				require.NoError(t, err, "seed %d: %s", seed, text)
				require.Equal(t, 500, b.MaxTokens)
				require.Equal(t, f == codec.Ollama, b.Window == 9000)
				require.NoError(t, message.Check(b.Request().Messages), "seed %d: %s", seed, text)
				got, err := b.Encode(b.Request())
				require.NoError(t, err)
				require.Equal(t, text, got, "seed %d: unedited, it is sent byte for byte", seed)
				req := apply(t, chain, b)
				got, err = b.Encode(req)
				require.NoError(t, err, "seed %d, %s: %s", seed, name, text)
				if got == text {
					continue
				}
				edited[name]++
				compareView(t, f, req, got, fmt.Sprintf("seed %d, %s\n%s\n%s", seed, name, text, got))
				compareJSON(t, req, text, got, name == "rewrites", fmt.Sprintf("seed %d, %s\n%s\n%s", seed, name, text, got))
			}
		}
		require.Greater(t, edited["rewrites"], int(*bodies)/3)
		require.Greater(t, edited["folds"], int(*bodies)/10)
	})
}

// compareView checks that a body has the messages of a view. IDs that a body does not have may differ.
func compareView(t *testing.T, f *codec.Format, req *middleware.Request, text, about string) {
	t.Helper()
	b, err := f.Decode([]byte(text))
	require.NoError(t, err, about)
	got, want := content(b.Request().Messages, f), content(req.Messages, f)
	require.Equal(t, want, got, about)
}

// content is what messages are compared by: neighbours of one role may be one message on the wire.
func content(msgs []message.Message, f *codec.Format) (all []string) {
	for i, m := range msgs {
		if f == codec.Gemini && current(msgs, i) {
			continue // its calls are put back
		}
		for _, p := range m.Parts {
			s := fmt.Sprintf("%s %T %v", m.Role, p, p)
			oneText := f == codec.Gemini || f == codec.Ollama
			if oneText {
				s = regexp.MustCompile(`no-id:\S*`).ReplaceAllString(s, "")
			}
			if n := len(all); oneText && m.Role == message.RoleTool && n > 0 && len(m.Parts) > 1 && strings.HasPrefix(s, "tool") {
				if r := p.(message.ToolResult); r.Content == nil && p != m.Parts[0] { // texts are one text
					all[n-1] = strings.Replace(all[n-1], " <nil>", "\n"+r.Text+" <nil>", 1)
					continue
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// current reports whether a message with calls is in the current turn.
func current(msgs []message.Message, i int) bool {
	return msgs[i].HasCalls() && !slices.ContainsFunc(msgs[i:], func(m message.Message) bool { return m.Role == message.RoleUser })
}

var unknown = regexp.MustCompile(`"x_\d+"`)

// compareJSON compares by encoding/json alone: what stands beside the list is the same, and so is each value of the list
// that the text before has as well. If nothing is removed, all unknown members are there.
func compareJSON(t *testing.T, req *middleware.Request, before, after string, keeps bool, about string) {
	t.Helper()
	was, is := members(t, before), members(t, after)
	require.ElementsMatch(t, slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is)), about)
	list := ""
	for _, name := range []string{"messages", "input", "contents"} {
		if _, ok := was[name]; ok {
			list = name
		}
	}
	for name := range was {
		if name != list {
			require.Equal(t, string(was[name]), string(is[name]), "%s: %s", name, about)
		}
	}
	var old, now []json.RawMessage
	require.NoError(t, json.Unmarshal(was[list], &old))
	require.NoError(t, json.Unmarshal(is[list], &now))
	left := map[string]bool{}
	for _, v := range old {
		left[string(v)] = true
	}
	changed, edits := 0, map[*journal.Record]bool{}
	for i := range req.Messages {
		if e := req.View().Span(i).Edit; e != nil {
			edits[e] = true
		}
	}
	for _, v := range now {
		if !left[string(v)] {
			changed++
		}
	}
	require.LessOrEqual(t, changed, 3*len(edits)+cacheMarks(before), "more values are changed than there are edits: %s", about)
	if keeps {
		require.Len(t, now, len(old), about)
		for i := range old {
			compareMarks(t, string(old[i]), string(now[i]), about)
		}
	}
}

func cacheMarks(text string) int { return strings.Count(text, "cache_control") }

// compareMarks checks that a value still has the unknown members of all but the parts of its content.
func compareMarks(t *testing.T, was, is, about string) {
	t.Helper()
	if was == is {
		return
	}
	has := unknown.FindAllString(was, -1)
	for _, mark := range unknown.FindAllString(is, -1) {
		require.Contains(t, has, mark, about)
	}
	for _, mark := range outer(t, was) {
		require.Contains(t, is, mark, about)
	}
}

// outer are the unknown members of a value outside of its parts.
func outer(t *testing.T, value string) (marks []string) {
	t.Helper()
	for name := range members(t, value) {
		if strings.HasPrefix(name, "x_") {
			marks = append(marks, `"`+name+`"`)
		}
	}
	return marks
}

func members(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&all))
	return all
}

// A conversation that grows through one memo reads as one that is read at once.
func TestMemo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *codec.Format) {
		t.Parallel()
		memo := codec.NewMemo(1<<20, nil)
		for seed := range *bodies / 4 {
			g := newGenerator(f, seed)
			text := g.body()
			for _, body := range prefixes(t, f, text) {
				got, err := memo.Decode(f, "m", body)
				require.NoError(t, err)
				want, err := f.Decode([]byte(body))
				require.NoError(t, err)
				require.Equal(t, want.Tools, got.Tools)
				require.Equal(t, want.Request().Messages, got.Request().Messages, "seed %d: %s", seed, body)
				out, err := got.Encode(got.Request())
				require.NoError(t, err)
				require.Equal(t, body, out)
			}
		}
	})
}

// A request that is sent again is read as before, also if a member beside the list is another one, and a member without a value
// is an error, as in a first request.
func TestMemoSentAgain(t *testing.T) {
	t.Parallel()
	memo := codec.NewMemo(1<<20, nil)
	const known = `"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`
	for range 3 {
		for _, other := range []string{"", `,"tools":null`, `,"tools":[{"type":"function","function":{"name":"f"}}]`, `,"model":"n"`, `,"":1`} {
			body := `{` + known + other + `}`
			got, err := memo.Decode(codec.Chat, "m", body)
			require.NoError(t, err)
			want, err := codec.Chat.Decode([]byte(body))
			require.NoError(t, err)
			require.Equal(t, want.Tools, got.Tools, body)
			require.Equal(t, want.Request().Messages, got.Request().Messages)
			out, err := got.Encode(got.Request())
			require.NoError(t, err)
			require.Equal(t, body, out)
		}
		for _, other := range []string{`,"tools":`, `,"":`, `,"system":`, `,"user":`} {
			_, err := memo.Decode(codec.Chat, "m", `{`+known+other+`}`)
			require.ErrorContains(t, err, "not JSON", other)
		}
		for more, want := range map[string]string{
			`{"role":"user","content":"` + "\xff" + `"}`: "not UTF-8", `{"role":"user","role":"user","content":"c"}`: "is here twice",
		} {
			_, err := memo.Decode(codec.Chat, "m", `{`+strings.TrimSuffix(known, "]")+`,`+more+`]}`)
			require.ErrorContains(t, err, want, more)
		}
	}
}

// prefixes are bodies with more and more of the values of a list.
func prefixes(t *testing.T, f *codec.Format, text string) (all []string) {
	t.Helper()
	list := map[string]string{"chat": "messages", "messages": "messages", "responses": "input", "gemini": "contents", "ollama": "messages"}[f.Name]
	var values []json.RawMessage
	raw := members(t, text)[list]
	require.NoError(t, json.Unmarshal(raw, &values))
	for n := 1; n <= len(values); n++ {
		part := "[" + string(bytes.Join(toBytes(values[:n]), []byte(", "))) + "]"
		all = append(all, strings.Replace(text, string(raw), part, 1))
	}
	return append(all, all[len(all)/2], all[len(all)-1])
}

func toBytes(values []json.RawMessage) [][]byte {
	out := make([][]byte, len(values))
	for i := range values {
		out[i] = values[i]
	}
	return out
}

func FuzzDecode(f *testing.F) {
	for _, format := range codec.Formats() {
		for seed := range uint64(20) {
			f.Add(newGenerator(format, seed).body())
		}
	}
	edits := chains()
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range codec.Formats() {
			b, err := format.Decode([]byte(text))
			if err != nil {
				continue
			}
			require.True(t, json.Valid([]byte(text)))
			got, err := b.Encode(b.Request())
			require.NoError(t, err)
			require.Equal(t, text, got)
			if message.Check(b.Request().Messages) != nil {
				continue
			}
			for _, chain := range edits {
				if got, err = b.Encode(apply(t, chain, b)); err == nil {
					require.True(t, json.Valid([]byte(got)), "%s", got)
				}
			}
		}
	})
}
