package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// recalls is a model that reads pages, reads the first one again once it is
// cleared, reads on until that is cleared in turn, and answers with what it read.
// It writes the one argument of recall as it is told.
func recalls(t *testing.T, pages int, argument func(handle string) string) *model {
	t.Helper()
	m := &model{}
	m.answer = func(_ context.Context, msgs []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		require.Len(t, o.Functions, 2, "the model knows both tools")
		view := mustImport(t, msgs)
		require.NoError(t, message.Check(view))
		asked, first := map[string]int{}, ""
		for _, m := range view {
			for r := range m.Results() {
				asked[r.Name]++
				if handles := archived.In(r.Text); len(handles) > 0 && first == "" {
					first = handles[0].String()
				}
			}
		}
		id := fmt.Sprint("call_", len(view))
		switch {
		case first != "" && asked[store.RecallTool] == 0:
			return calls(id, store.RecallTool, fmt.Sprintf(`{ "__arg1": %q}`, argument(first))), nil
		case asked["read_page"] < pages:
			return calls(id, "read_page", fmt.Sprintf(`{"__arg1": "page \"%d\""}`, asked["read_page"]+1)), nil
		}
		return says("done"), nil
	}
	return m
}

// An agent of langchaingo reads again what the chain around its model has cleared.
func TestToolRecalls(t *testing.T) {
	t.Parallel()
	for name, argument := range map[string]func(handle string) string{
		"plain":     func(handle string) string { return handle },
		"arguments": func(handle string) string { return fmt.Sprintf(`{"handle":%q,"search":"page"}`, handle) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := store.NewMemory(0)
			recall, err := langchaingo.Tool(agent.Recall(archive, agent.RecallOptions{}))
			require.NoError(t, err)
			inner := recalls(t, 8, argument)
			llm := langchaingo.Wrap(inner, middleware.With(middleware.Env{Archive: archive},
				contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1000), Keep: 2, Digest: -1})))
			executor := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(llm, []tools.Tool{page{99}, recall}), agents.WithMaxIterations(20))
			answer, err := chains.Run(t.Context(), executor, "Who broke the build?")
			require.NoError(t, err)
			require.Equal(t, "done", answer)

			first := "page 1: " + strings.Repeat("all is well ", 60)
			read := false
			for _, a := range inner.asked {
				for _, m := range mustImport(t, a.msgs) {
					for r := range m.Results() {
						read = read || r.Name == store.RecallTool && strings.Contains(r.Text, first)
					}
				}
			}
			require.True(t, read, "the first page was cleared, and the model has read it again")
			handle := store.HandleIn(nil, "", store.Content{Data: first}.Hash()).String()
			var again []string
			for _, m := range mustImport(t, inner.last().msgs) {
				for r := range m.Results() {
					if r.Name == store.RecallTool {
						again = append(again, r.Text)
					}
				}
			}
			require.Equal(t, []string{"[cleared: recall " + handle + "]"}, again, "what was recalled and is cleared in turn is under the handle that was asked for")
		})
	}
}

// fixed is a tool that always answers the same, and remembers what it was asked.
type fixed struct {
	def   message.ToolDef
	parts []message.Part
	err   error
	asked *string
}

func (f fixed) Definition() message.ToolDef { return f.def }

func (f fixed) Call(_ context.Context, arguments string) ([]message.Part, error) {
	if f.asked != nil {
		*f.asked = arguments
	}
	return f.parts, f.err
}

const (
	nothing    = `{"type":"object","properties":{}}`
	pathMode   = `{"type":"object","properties":{"path":{"type":"string","description":"the file"},"mode":{"type":["null","string"]}},"required":["path"],"additionalProperties":false}`
	number     = `{"type":"object","properties":{"page":{"type":"integer","description":"from 1"}},"required":["page"]}`
	maybe      = `{"type":"object","properties":{"all":{"type":"boolean"}}}`
	anyValue   = `{"type":"object","properties":{"value":true},"required":["value"]}`
	names      = `{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}}},"required":["names"]}`
	several    = `{"type":"object","properties":{"path":{"type":"string"},"to":{"type":"string","enum":["a", "b"]},"deep":{"description":"how far"}},"required":["path","to"]}`
	own        = `{"type":"object","properties":{"__arg1":{"type":"string"}},"required":["__arg1"]}`
	anyField   = `{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}`
	definition = `{"type":"object","properties":{"at":{"$ref":"#/$defs/at"}},"required":["at"],"$defs":{"at":{"type":"string"}}}`
)

func TestToolInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ parameters, input, want string }{
		{pathMode, "a.go", `{"path":"a.go"}`},
		{pathMode, " a.go\n", `{"path":"a.go"}`},
		{pathMode, `" a.go\n"`, `{"path":"a.go"}`},
		{pathMode, "' a.go '", `{"path":"a.go"}`},
		{pathMode, `"a\tb"`, `{"path":"a\tb"}`},
		{pathMode, "'a.go'", `{"path":"a.go"}`},
		{pathMode, "`a.go`", `{"path":"a.go"}`},
		{pathMode, `"a" or "b"`, `{"path":"\"a\" or \"b\""}`},
		{pathMode, "'", `{"path":"'"}`},
		{pathMode, "```", "{\"path\":\"```\"}"},
		{pathMode, "", `{}`},
		{pathMode, `{"path": "a.go", "mode": "r"}`, `{"path": "a.go", "mode": "r"}`},
		{pathMode, "```json\n{\"path\": \"a.go\"}\n```", `{"path": "a.go"}`},
		{pathMode, "```{\"path\": \"a.go\"}```", `{"path": "a.go"}`},
		{pathMode, `"{\"path\": \"a.go\"}"`, `{"path": "a.go"}`},
		{pathMode, `{"path": `, `{"path":`},
		{pathMode, `{"__arg1": "a.go"}`, `{"path":"a.go"}`},
		{pathMode, `{"__arg1": {"path": "a.go"}}`, `{"path": "a.go"}`},
		{pathMode, `{"__arg1": "{\"path\": \"a.go\"}"}`, `{"path": "a.go"}`},
		{pathMode, `{"__arg1": "a.go", "mode": "r"}`, `{"__arg1": "a.go", "mode": "r"}`},
		{number, "3", `{"page":3}`},
		{number, `"3"`, `{"page":3}`},
		{number, "9223372036854775807", `{"page":9223372036854775807}`},
		{maybe, "true", `{"all":true}`},
		{anyValue, "3", `{"value":"3"}`},
		{names, `["a"]`, `{"names":["a"]}`},
		{definition, "here", `{"at":"here"}`},
		{own, "x", `{"__arg1":"x"}`},
		{own, `{"__arg1": "x"}`, `{"__arg1": "x"}`},
		{strings.Replace(own, "required", "examples", 1), `{"__arg1": "x"}`, `{"__arg1": "x"}`},
		{nothing, "None", `{}`},
		{several, `{"path": "a"}`, `{"path": "a"}`},
		{anyField, `{"a": 1}`, `{"a": 1}`},
	} {
		var got string
		made, err := langchaingo.Tool(fixed{def: message.ToolDef{Name: "look", Parameters: c.parameters}, asked: &got})
		require.NoError(t, err, c.parameters)
		answer, err := made.Call(t.Context(), c.input)
		require.NoError(t, err)
		require.Empty(t, answer, "%s with %s", c.parameters, c.input)
		require.Equal(t, c.want, got, "%s with %s", c.parameters, c.input)
	}
}

func TestToolAnswers(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]fixed{
		"": {},
		"a\n[image/png, 3 bytes, cannot be shown here]\n[cannot be shown here]": {parts: []message.Part{
			message.Text{Text: "a"}, message.Media{Type: "image/png", Data: "png"}, message.Opaque{Kind: "x"},
		}},
		"error: no such page; want 1 to 3": {err: errors.New("no such page; want 1 to 3")},
	} {
		made, err := langchaingo.Tool(f)
		require.NoError(t, err)
		got, err := made.Call(t.Context(), "{}")
		require.NoError(t, err, "an error would end the run")
		require.Equal(t, want, got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	made, err := langchaingo.Tool(fixed{err: context.Canceled})
	require.NoError(t, err)
	_, err = made.Call(ctx, "{}")
	require.ErrorIs(t, err, context.Canceled, "who is gone needs no answer")
}

// Whatever a model writes, the tool is given a JSON object, or what the model
// meant to be one; and what is one already is left alone.
func FuzzToolInput(f *testing.F) {
	for _, input := range []string{
		"a", `"a"`, "'", "``", "```json\n{}\n```", `{"__arg1":{"__arg1":"a"}}`, `{"__arg1":"{"}`, `"\"{\""`, "[1", "\xff", `{"page":1}`, "1e999", "-", "null",
	} {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		for _, parameters := range []string{pathMode, number, names, nothing, several, own} {
			got := "{}"
			made, err := langchaingo.Tool(fixed{def: message.ToolDef{Name: "look", Parameters: parameters}, asked: &got})
			require.NoError(t, err)
			answer, err := made.Call(t.Context(), input)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(got, "{"), got)
			require.Equal(t, answer != "", strings.HasPrefix(answer, "error: the input is "), answer)
			if !json.Valid([]byte(got)) || strings.Contains(got, "__arg1") {
				continue
			}
			again := got
			_, err = made.Call(t.Context(), again)
			require.NoError(t, err)
			require.Equal(t, again, got, "arguments are passed on as they are")
		}
	})
}
