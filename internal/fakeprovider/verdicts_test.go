package fakeprovider_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

var update = flag.Bool("update", false, "rewrite testdata/verdicts.txt")

// TestVerdicts changes each field of valid requests, one at a time, and compares the verdicts of the server with
// those in testdata/verdicts.txt. A rule that is lost or weakened shows as a changed line.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for i, body := range []string{
		with(`"tools":[`+read+`],"tool_choice":{"type":"function","function":{"name":"read","arguments":""}},"parallel_tool_calls":true`,
			sys, `{"role":"user","name":"ann","content":"go"}`, `{"role":"assistant","content":"well","reasoning_content":"hm"}`, user, callAB, resultA, `{"role":"tool","name":"read","tool_call_id":"b","content":[{"type":"text","text":"B"}]}`),
		with(`"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}`, `{"role":"developer","content":"Be brief."}`,
			content(`[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}},{"type":"input_audio","input_audio":{"data":"AA"}},{"type":"file","file":{"file_id":"f"}}]`),
			`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"no"}]}`, user, `{"role":"assistant","refusal":"no","audio":{"id":"a"},"annotations":[]}`),
		with(`"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","required":["a"],"properties":{"a":{"type":["array","null"],"items":{"type":"string"}},"b":{"type":"object","properties":{"c":true}}}}}}],`+
			`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`, user),
		with(`"audio":{},"frequency_penalty":0.5,"logit_bias":{},"logprobs":true,"max_completion_tokens":5,"metadata":{},"modalities":[],"n":1,"prediction":{},"presence_penalty":1,`+
			`"prompt_cache_key":"k","prompt_cache_retention":"r","reasoning_effort":"low","response_format":{},"safety_identifier":"s","seed":7,"service_tier":"t","stop":"x","store":true,`+
			`"temperature":1,"top_logprobs":2,"top_p":0.5,"user":"u","verbosity":"v","web_search_options":{}`, user),
		with(`"max_tokens":5,"tools":[`+read+`],"tool_choice":"auto"`, user),
	} {
		fmt.Fprintf(&got, "# request %d\n", i)
		for _, m := range mutations(t, body) {
			fmt.Fprintf(&got, "%s: %s\n", m.name, verdict(m.body))
		}
	}
	const file = "testdata/verdicts.txt"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	require.Len(t, gotLines, len(wantLines))
	for i := range wantLines {
		require.Equal(t, wantLines[i], gotLines[i])
	}
}

// verdict returns status, code and param of a strict server, and of a lenient one if it accepts the request.
func verdict(body string) string {
	r, err := fakeprovider.Parse([]byte(body))
	if err != nil {
		return refusal(err)
	}
	strict, lenient := r.Check(fakeprovider.Options{}), r.Check(fakeprovider.Options{Lenient: true})
	switch {
	case strict == nil && lenient == nil:
		return "accepted"
	case lenient == nil:
		return refusal(strict) + ", accepted if lenient"
	}
	return refusal(strict)
}

func refusal(err error) string {
	e, ok := errors.AsType[*fakeprovider.Error](err)
	if !ok {
		return err.Error()
	}
	return strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Code, " ", e.Param))
}

type mutation struct{ name, body string }

// mutations returns the request with each of its values removed or replaced, and with a further field in each object.
func mutations(t *testing.T, body string) []mutation {
	t.Helper()
	var root any
	require.NoError(t, json.Unmarshal([]byte(body), &root))
	var all []mutation
	add := func(name string) {
		b, err := json.Marshal(root)
		require.NoError(t, err)
		all = append(all, mutation{name, string(b)})
	}
	var visit func(path string, value any, set func(any))
	visit = func(path string, value any, set func(any)) {
		for _, other := range []any{nil, 7, "", "x y", []any{}, map[string]any{}} {
			set(other)
			b, err := json.Marshal(other)
			require.NoError(t, err)
			add(path + " = " + string(b))
		}
		set(value)
		switch v := value.(type) {
		case map[string]any:
			v["odd"] = 1
			add(path + ".odd added")
			delete(v, "odd")
			for _, name := range slices.Sorted(maps.Keys(v)) {
				child := v[name]
				delete(v, name)
				add(path + "." + name + " removed")
				v[name] = child
				visit(path+"."+name, child, func(x any) { v[name] = x })
			}
		case []any:
			for i, child := range v {
				visit(fmt.Sprintf("%s[%d]", path, i), child, func(x any) { v[i] = x })
				set(append(slices.Clone(v[:i]), v[i+1:]...))
				add(fmt.Sprintf("%s[%d] removed", path, i))
				set(value)
			}
		}
	}
	visit("", root, func(x any) { root = x })
	return all
}

// long returns a user message of this many tokens: 4, and its bytes.
func long(mark string, tokens int) string {
	return content(`"` + mark + strings.Repeat("x", 4*(tokens-4)-4-len(mark)) + `"`)
}

func TestCachedTokens(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{"gpt-4o": 100_000, "gpt-5": 100_000}})
	a, b, c, d := long("a", 500), long("b", 523), long("c", 301), long("d", 300)
	tools := `"tools":[` + read + `]`
	declared := fakeprovider.CountText(`[` + read + `]`)
	for i, step := range []struct {
		name   string
		body   string
		prompt int
		cached int
	}{
		{"nothing is known", chat(a, b), 3 + 1023, 0},
		{"one more message, nothing new to hit", chat(a, b, c), 3 + 1324, 0},
		{"the same again, in steps of 128", chat(a, b, c), 3 + 1324, 1280},
		{"it grows", chat(a, b, c, d), 3 + 1624, 1280},
		{"changed in front", chat(d, b, c), 3 + 300 + 523 + 301, 0},
		{"changed by one byte at the end", chat(a, b, c, long("D", 300)), 3 + 1624, 1280},
		{"with tools all is new", with(tools, a, b, c), 3 + 1324 + declared, 0},
		{"spaces do not matter", strings.ReplaceAll(chat(a, b, c), `":`, `" : `), 3 + 1324, 1280},
		{"one text part is a string", chat(a, b, strings.Replace(strings.Replace(c, `"content":"`, `"content":[{"type":"text","text":"`, 1), `"}`, `"}]}`, 1)), 3 + 1324, 1280},
		{"another model knows nothing", strings.Replace(chat(a, b, c), "gpt-4o", "gpt-5", 1), 3 + 1324, 0},
	} {
		got := complete(t, s, step.body)
		require.Equal(t, step.prompt, got.Usage.Prompt, "%d: %s", i, step.name)
		require.Equal(t, step.cached, got.Usage.PromptDetails.Cached, "%d: %s", i, step.name)
		require.Equal(t, 1, got.Usage.Completion)
		require.Equal(t, step.prompt+1, got.Usage.Total)
		rec := s.Requests()[i]
		require.Equal(t, fakeprovider.Usage{Prompt: step.prompt, Cached: step.cached, Completion: 1}, rec.Usage)
		require.Equal(t, step.prompt, rec.Request.Tokens(), "a test can count the same")
	}
}

const streamed = `"stream":true,"stream_options":{"include_usage":true}`

func TestStream(t *testing.T) {
	t.Parallel()
	reply := fakeprovider.Reply{
		Text: strings.Repeat("Zürich, ", 20),
		Calls: []fakeprovider.Call{
			{ID: "x", Name: "read", Arguments: `{"path":"` + strings.Repeat("a/", 30) + `"}`},
			{Name: "read", Arguments: `{}`},
		},
	}
	s := start(t, fakeprovider.Script(reply), fakeprovider.Options{})
	resp, err := post(t.Context(), client(t), s, with(streamed+`,"tools":[`+read+`]`, user))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, resp.Header.Get("Content-Type"), "text/event-stream")
	chunks, done, err := readStream(t, resp.Body)
	require.NoError(t, err)
	require.True(t, done, "a stream ends with [DONE]")

	var text strings.Builder
	var calls []call
	texts, fragments := 0, 0
	for _, c := range chunks[:len(chunks)-2] {
		require.Equal(t, "chat.completion.chunk", c.Object)
		require.Equal(t, chunks[0].ID, c.ID, "one id for all events")
		require.Contains(t, c.raw, `"usage":null`, "usage is null but for the last event")
		d := c.Choices[0].Delta
		require.Equal(t, c.raw == chunks[0].raw, d.Role == "assistant", "the role comes first, and once")
		if d.Content != nil {
			texts++
			text.WriteString(*d.Content)
		}
		for _, part := range d.Calls {
			if part.ID != "" {
				require.Equal(t, len(calls), *part.Index, "calls are numbered")
				calls = append(calls, part)
				continue
			}
			fragments++
			require.NotContains(t, c.raw, `"name"`, "a fragment has no name")
			calls[*part.Index].Function.Arguments += part.Function.Arguments
		}
	}
	require.Equal(t, reply.Text, text.String())
	require.Greater(t, texts, 2, "text comes in several pieces")
	require.Len(t, calls, 2)
	require.Greater(t, fragments, 2, "arguments come in several fragments")
	require.Equal(t, reply.Calls[0].Arguments, calls[0].Function.Arguments)
	require.NotEmpty(t, calls[1].ID, "a call without an id gets one")
	require.Equal(t, "tool_calls", *chunks[len(chunks)-2].Choices[0].Finish)
	last := chunks[len(chunks)-1]
	require.NotNil(t, last.Choices, "choices is an empty list, not null")
	require.Empty(t, last.Choices)
	require.Equal(t, s.Requests()[0].Usage.Prompt, last.Usage.Prompt)
	require.Equal(t, reply.Tokens(), last.Usage.Completion)
	require.Equal(t, last.Usage.Prompt+last.Usage.Completion, last.Usage.Total)
}
