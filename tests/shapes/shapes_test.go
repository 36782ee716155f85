// Package shapes shows that a request that a provider accepts goes out as it came: a corpus of shapes that clients send, requests by
// each API's reference, conversations that grow, and servers with rules of their own that no name tells.
package shapes

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// shape is a request that is accepted from its models.
type shape struct{ format, title, path, body string }

// models are the names that a shape holds for if its mark names no others: known, aliases, those of next year, behind prefixes, and
// names that nobody knows. A mark is "not" or "only" with names or one of these groups, or "path"; $N is the name in a path.
var models = map[string][]string{
	"@lax":      {"gpt-6.1-sol", "gpt-5.6", "gpt-5.4-mini", "gpt-7-sol", "openai/gpt-7-sol", "openrouter/openai/gpt-7-sol", "team-default", "azure/corp-prod-4"},
	"chat":      {"gpt-6.1-sol", "gpt-5.6", "gpt-7-sol", "openai/gpt-7-sol", "team-default", "azure/corp-prod-4", "openrouter/anthropic/claude-opus-7", "vertex_ai/gemini-5-x"},
	"responses": {"gpt-6.1-sol", "gpt-5.6", "gpt-5.3-codex", "gpt-7-sol", "openai/gpt-7-sol", "team-default", "corp-codex-prod", "grok-5"},
	"messages":  {"claude-opus-5-5", "claude-opus-4-8", "claude-sonnet-4-5", "claude-opus-7", "anthropic/claude-opus-7-20270301", "us.anthropic.claude-opus-5-5-v1:0", "team-default", "glm-5.3"},
	"@new":      {"claude-opus-5-5", "claude-opus-4-8", "claude-sonnet-5-5", "claude-fable-5-2", "claude-opus-7", "anthropic/claude-opus-7-20270301", "team-default", "router/fast"},
	"gemini":    {"gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.6-flash", "gemini-flash-latest", "gemini-4-argon", "gemini-5-x", "tunedModels/house-7", "projects/p/locations/global/publishers/google/models/gemini-5-x"},
	"ollama":    {"qwen3", "llama3.1:8b", "gpt-oss:20b", "qwen2.5-coder:7b", "glm-4.6:cloud", "qwen5:30b", "hf.co/house/mix:Q4_K_M", "team-default"},
}

// path of a request.
func path(format, name string, streamed bool) string {
	switch format {
	case "chat":
		return "/v1/chat/completions"
	case "responses", "messages":
		return "/v1/" + format
	case "ollama":
		return "/api/chat"
	}
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	if streamed {
		return "/v1beta/" + name + ":streamGenerateContent?alt=sse"
	}
	return "/v1beta/" + name + ":generateContent"
}

func picture() string {
	var b bytes.Buffer
	if err := png.Encode(&b, &image.RGBA{Pix: noise(7, 4*60*60), Stride: 4 * 60, Rect: image.Rect(0, 0, 60, 60)}); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func lines() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `%d: pump %d ran at \"%d\" rpm\n`, i, i%7, 1000+i*37)
	}
	return b.String()
}

// corpus calls f with each shape, for each of its names, whole and streamed. f returns what is wrong, or "".
func corpus(t *testing.T, f func(t *testing.T, name string, s shape) string) {
	t.Helper()
	fill := strings.NewReplacer("$PNG", picture(), "$LOG", lines(), "$SIG", base64.StdEncoding.EncodeToString(noise(3, 240)))
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	shapes := 0
	for _, file := range files {
		format := strings.TrimSuffix(filepath.Base(file), ".txtar")
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		shapes += len(archive.Files)
		for _, entry := range archive.Files {
			title, marks, _ := strings.Cut(entry.Name, "; ")
			names, own := models[format], ""
			for mark := range strings.SplitSeq(marks, "; ") {
				verb, rest, _ := strings.Cut(mark, " ")
				switch words := strings.Fields(rest); verb {
				case "path":
					own = rest
				case "only":
					names = words
					if group := models[words[0]]; group != nil {
						names = group
					}
				case "not":
					names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(words, n) })
				}
			}
			body := strings.TrimSuffix(fill.Replace(string(entry.Data)), "\n")
			t.Run(format+"/"+title, func(t *testing.T) {
				t.Parallel()
				wrong := map[string][]string{}
				for _, name := range names {
					for _, stream := range []string{"false", "true"} {
						s := shape{format: format, title: title, path: path(format, name, stream == "true"), body: strings.NewReplacer("$M", `"`+name+`"`, "$S", stream).Replace(body)}
						if own != "" {
							s.path = strings.ReplaceAll(own, "$N", name)
						}
						if w := f(t, name, s); w != "" {
							wrong[w] = append(wrong[w], name)
						}
					}
				}
				for w, names := range wrong {
					t.Errorf("%s: %s", strings.Join(slices.Compact(names), " "), w)
				}
			})
		}
	}
	require.GreaterOrEqual(t, shapes, 60)
}

// A request that its provider accepts arrives byte for byte, and nothing but notices is said.
func TestShapesPassAsTheyCame(t *testing.T) {
	t.Parallel()
	corpus(t, func(t *testing.T, _ string, s shape) string {
		t.Helper()
		c := newClient(&provider{}, fit.New(fit.Options{}))
		status, got := c.send(t, s.path, s.body)
		require.Equal(t, 200, status)
		require.Contains(t, got, "Done.")
		return c.harm(s.body)
	})
}

// An editor of results changes results, in the form that the API has for them, and nothing else.
func TestEditorsChangeResultsOnly(t *testing.T) {
	t.Parallel()
	edited := make(chan string, 10_000)
	t.Run("shapes", func(t *testing.T) {
		t.Parallel()
		corpus(t, func(t *testing.T, name string, s shape) string {
			t.Helper()
			c := newClient(&provider{}, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: -1}), fit.New(fit.Options{}))
			status, _ := c.send(t, s.path, s.body)
			require.Equal(t, 200, status)
			sent := c.to.sent[len(c.to.sent)-1]
			d := comparison{bound: bound(s.format, name)}
			d.compare("", parse(s.body), parse(sent))
			if d.edited {
				edited <- s.format + "/" + s.title
			}
			if sent != s.body && !d.edited && d.wrong == nil {
				return "no result was changed, but " + difference(s.body, sent)
			}
			return strings.Join(d.wrong, "; ")
		})
	})
	t.Cleanup(func() {
		close(edited)
		of := map[string]bool{}
		for s := range edited {
			of[s] = true
		}
		require.Greater(t, len(of), 15, "shapes whose results were edited: the trigger is met in all of them")
	})
}

// bound reports whether a model may accept thinking only behind what it was made with: Claude from 5.1 on, and so what is behind an alias.
func bound(format, name string) bool {
	return format == "messages" && !strings.Contains(name, "-4-") && !strings.HasPrefix(name, "glm")
}

// comparison finds what was changed outside of results.
type comparison struct {
	bound  bool // thinking behind a changed result may be left out
	edited bool // a result was changed
	wrong  []string
}

func (d *comparison) expectf(ok bool, where, format string, args ...any) {
	if !ok {
		d.wrong = append(d.wrong, where+": "+fmt.Sprintf(format, args...))
	}
}

func (d *comparison) compare(where string, a, b any) {
	switch a := a.(type) {
	case obj:
		o := obj0(b)
		both, payload := maps.Clone(a), payloadOf(a)
		maps.Copy(both, o)
		for _, key := range slices.Sorted(maps.Keys(both)) {
			_, had := a[key]
			_, has := o[key]
			d.expectf(had == has, where+"."+key, "was there %v, is there %v", had, has)
			if key == payload && had {
				d.result(where+"."+key, a[key], o[key])
			} else if had && has {
				d.compare(where+"."+key, a[key], o[key])
			}
		}
	case arr:
		b, thinks := list(b), func(v any) bool { return strings.HasSuffix(text(at(v, "type")), "thinking") }
		if len(a) != len(b) && d.bound && d.edited {
			a, b = slices.DeleteFunc(slices.Clone(a), thinks), slices.DeleteFunc(slices.Clone(b), thinks)
		}
		d.expectf(len(a) == len(b), where, "%d items became %d", len(a), len(b))
		for i := range min(len(a), len(b)) {
			d.compare(fmt.Sprintf("%s[%d]", where, i), a[i], b[i])
		}
	default:
		d.expectf(a == b, where, "%.60v became %.60v", a, b)
	}
}

// result compares what a tool has returned. What it holds beside texts and media stays, and so does its form.
func (d *comparison) result(where string, a, b any) {
	if write(a) == write(b) {
		return
	}
	d.edited = true
	known := []string{"", "text", "image", "document", "input_text", "input_image", "input_file", "image_url"}
	for _, p := range list(a) {
		same := func(q any) bool { return write(p) == write(q) }
		d.expectf(slices.Contains(known, text(at(p, "type"))) || slices.ContainsFunc(list(b), same), where, "%.80v was lost", p)
	}
	_, object := a.(obj)
	_, still := b.(obj)
	d.expectf(object == still, where, "another form of result")
	for i, p := range list(a) { // of a shell
		d.expectf(at(p, "stdout") == nil || i < len(list(b)) && len(obj0(list(b)[i])) == len(obj0(p)), where, "a shell's output must have stdout, stderr and outcome")
	}
}

// payloadOf returns the member of a result that has what the tool returned; "" if this is no result.
func payloadOf(o obj) string {
	kind := text(o["type"])
	switch {
	case o["role"] == "tool", o["role"] == "function" && o["content"] != nil, kind == "tool_result":
		return "content"
	case kind == "program_output":
		return "result"
	case strings.HasSuffix(kind, "_output") && o["tools"] == nil:
		return "output"
	case o["response"] != nil && o["name"] != nil:
		return "response"
	}
	return ""
}

// TestWhatIsSurelyBrokenIsRepaired has requests that the API, or the provider of the model, refuses: only what is broken
// changes, before anything is sent. Each is from a public report.
func TestWhatIsSurelyBrokenIsRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ format, model, was, want string }{
		"the turn of a model at the end (crewAI 6984)": {
			"gemini", "gemini-2.5-flash", `{"contents":[{"role":"user","parts":[{"text":"plan"}]},{"role":"model","parts":[{"text":"Thought"}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"plan"}]},{"role":"model","parts":[{"text":"Thought"}]},{"role":"user","parts":[{"text":"(continue)"}]}]}`,
		},
		"Messages of other models": {
			"messages", "kimi-k2.5", `{"model":"kimi-k2.5","max_tokens":9,"messages":[{"role":"assistant","content":"hello"},{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"look"}]},{"role":"assistant","content":[{"type":"tool_use","id":"functions.view:0","name":"view","input":{},"x":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions.view:0","content":"x"}]}]}`,
			`{"model":"kimi-k2.5","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"(conversation continues)"}]},{"role":"assistant","content":"hello"},{"role":"user","content":[{"type":"text","text":"look"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_abe8c178ecb4110f9267bd38","name":"view","input":{},"x":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_abe8c178ecb4110f9267bd38","content":"x"}]}]}`,
		},
		"a late system message, a model that takes none (Claude before 4.8)": {
			"messages", "claude-opus-4-5", `{"model":"claude-opus-4-5","system":"s","messages":[{"role":"user","content":"hi"},{"role":"system","content":"agents: a"},{"role":"user","content":"go"}]}`,
			`{"model":"claude-opus-4-5","system":"s\n\nagents: a","messages":[{"role":"user","content":"hi"},{"role":"user","content":"go"}]}`,
		},
		"the same behind blocks": {
			"messages", "claude-opus-4-5", `{"model":"claude-opus-4-5","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},{"role":"system","content":"agents: a"}]}`,
			`{"model":"claude-opus-4-5","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}},{"type":"text","text":"agents: a"}],"messages":[{"role":"user","content":"hi"}]}`,
		},
		"an ID of an earlier turn (Switchyard 502)": {
			"messages", "claude-sonnet-4-5", `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"one"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"two"}]}]}`,
			`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"one"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_27aefdeeb68eebb10483d45e","name":"r","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_27aefdeeb68eebb10483d45e","content":"two"}]}]}`,
		},
		"calls without thinking (nanobot 3453)": {
			"chat", "deepseek-v4-pro", `{"model":"deepseek-v4-pro","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"c2","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":"y"}]}`,
			`{"model":"deepseek-v4-pro","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}],"reasoning_content":" "},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"c2","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":"y"}]}`,
		},
		"a second system message, a chat template (Qwen 244)": {
			"chat", "qwen3.8-27b", `{"model":"qwen3.8-27b","messages":[{"role":"system","content":"be terse"},{"role":"user","content":"a"},{"role":"system","content":"use tool A"},{"role":"user","content":"b"}]}`,
			`{"model":"qwen3.8-27b","messages":[{"role":"system","content":"be terse\nuse tool A"},{"role":"user","content":"a"},{"role":"user","content":"b"}]}`,
		},
		"a result whose call is gone (OpenMinis 222)": {
			"chat", "team-default", `{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"gone","content":"42 rows"},{"role":"user","content":"b"}]}`,
			`{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"user","content":"(result of an unknown call \"gone\")\n42 rows"},{"role":"user","content":"b"}]}`,
		},
		"a call that nothing answers": {
			"chat", "team-default", `{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"user","content":"b"}]}`,
			`{"model":"team-default","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"r","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"no result: the call was interrupted"},{"role":"user","content":"b"}]}`,
		},
		"two answers in a row, the second with a call and its signature": {
			"gemini", "gemini-3-pro", `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"a","thoughtSignature":"c2lnMQ=="}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2lnMg==","x":1}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"a","thoughtSignature":"c2lnMQ=="},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2lnMg==","x":1}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &provider{}
			newClient(to, fit.New(fit.Options{})).send(t, path(c.format, c.model, false), c.was)
			require.Len(t, to.sent, 1)
			require.Equal(t, c.want, to.sent[0])
		})
	}
}
