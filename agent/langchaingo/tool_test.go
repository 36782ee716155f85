package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
)

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
		require.Equal(t, "look", made.Name())
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
