package fakeprovider_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
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
