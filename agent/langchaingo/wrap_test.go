package langchaingo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestWhatMiddlewaresSee(t *testing.T) {
	t.Parallel()
	schema := map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}}
	options := []llms.CallOption{
		llms.WithFunctions([]llms.FunctionDefinition{{Name: "old", Description: "Old."}}),
		llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "read", Parameters: schema}}, {Type: "web_search"}}),
		llms.WithTemperature(0.5),
	}
	var seen *middleware.Request
	inner := gives(says("ok"), says("ok"))
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "session 7")
	session := func(ctx context.Context) string { id, _ := ctx.Value(key{}).(string); return id }
	budget := &middleware.Budget{Window: 1000}
	llm := langchaingo.Options{Model: "usual", Budget: budget, Conversation: session}.
		Wrap(inner, watch(func(req *middleware.Request) { seen = req }))
	budget.Window = -1 // it is the caller's
	_, err := llm.GenerateContent(ctx, []llms.MessageContent{human("Hi")}, options...)
	require.NoError(t, err)
	require.Equal(t, []message.Message{message.User("Hi")}, seen.Messages)
	require.Equal(t, []message.ToolDef{
		{Name: "old", Description: "Old."},
		{Name: "read", Parameters: `{"properties":{"path":{"type":"string"}},"type":"object"}`},
		{Name: "web_search"},
	}, seen.Tools)
	require.Equal(t, "usual", seen.Model)
	require.Equal(t, 1000, seen.Budget.Window)
	require.Equal(t, "session 7", seen.Conversation)
	require.InDelta(t, 0.5, langchaingo.CallOptions(seen).Temperature, 0)
	require.Empty(t, inner.last().options.Model, "the model is not told what it is called")
	var plain llms.CallOptions
	for _, o := range options {
		o(&plain)
	}
	require.Equal(t, plain, inner.last().options)

	_, err = prompt(llm, "Hi", llms.WithModel("other"))
	require.NoError(t, err)
	require.Equal(t, "other", seen.Model)
	require.Equal(t, []message.Message{message.User("Hi")}, seen.Messages)
	require.Zero(t, langchaingo.CallOptions(&middleware.Request{Params: 1}))
}

// with changes the request on its way.
func with(change func(*middleware.Request)) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			change(&r)
			return next(ctx, &r, emit)
		}
	}
}

func TestWhatMiddlewaresChange(t *testing.T) {
	t.Parallel()
	recall := message.ToolDef{Name: "recall", Parameters: `{"type":"object","required":["handle"]}`}
	add := func(r *middleware.Request) { r.Tools = append(slices.Clip(r.Tools), recall) }
	read := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: "read", Strict: true}}
	old := llms.FunctionDefinition{Name: "old", Strict: true}
	added := &llms.FunctionDefinition{Name: "recall", Parameters: map[string]any{"type": "object", "required": []any{"handle"}}}
	for name, c := range map[string]struct {
		options []llms.CallOption
		change  func(*middleware.Request)
		want    llms.CallOptions
	}{
		"a tool more": {
			options: []llms.CallOption{llms.WithTools([]llms.Tool{read})}, change: add,
			want: llms.CallOptions{Tools: []llms.Tool{read, {Type: "function", Function: added}}},
		},
		"a tool beside functions": {
			options: []llms.CallOption{llms.WithFunctions([]llms.FunctionDefinition{old})}, change: add,
			want: llms.CallOptions{Functions: []llms.FunctionDefinition{old, *added}},
		},
		"a tool beside both": {
			options: []llms.CallOption{llms.WithFunctions([]llms.FunctionDefinition{old}), llms.WithTools([]llms.Tool{read})}, change: add,
			want: llms.CallOptions{Functions: []llms.FunctionDefinition{old}, Tools: []llms.Tool{read, {Type: "function", Function: added}}},
		},
		"the first tool": {
			change: func(r *middleware.Request) { r.Tools = []message.ToolDef{{Name: "look"}} },
			want: llms.CallOptions{Tools: []llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
				Name: "look", Parameters: map[string]any{"type": "object", "properties": map[string]any{}},
			}}}},
		},
		"no tools": {
			options: []llms.CallOption{llms.WithTools([]llms.Tool{read}), llms.WithFunctions([]llms.FunctionDefinition{old})},
			change:  func(r *middleware.Request) { r.Tools = nil },
			want:    llms.CallOptions{},
		},
		"another model": {
			options: []llms.CallOption{llms.WithModel("a")},
			change:  func(r *middleware.Request) { r.Model = "b" },
			want:    llms.CallOptions{Model: "b"},
		},
		"options": {
			options: []llms.CallOption{llms.WithModel("a")},
			change:  func(r *middleware.Request) { r.Params = []llms.CallOption{llms.WithMaxTokens(7)} },
			want:    llms.CallOptions{MaxTokens: 7},
		},
		"no options": {
			options: []llms.CallOption{llms.WithModel("a")},
			change:  func(r *middleware.Request) { r.Params = nil },
			want:    llms.CallOptions{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := gives(says("ok"))
			_, err := langchaingo.Wrap(inner, with(c.change)).GenerateContent(t.Context(), []llms.MessageContent{human("Hi")}, c.options...)
			require.NoError(t, err)
			require.Equal(t, c.want, inner.last().options)
		})
	}
	for want, change := range map[string]func(*middleware.Request){
		"langchaingo: Request.Params is of type int, want []llms.CallOption": func(r *middleware.Request) { r.Params = 1 },
		`langchaingo: tool "x": parameters: unexpected end of JSON input`:    func(r *middleware.Request) { r.Tools = []message.ToolDef{{Name: "x", Parameters: "{"}} },
		`langchaingo: tool "x": parameters are null, want a JSON schema`: func(r *middleware.Request) {
			r.Tools = []message.ToolDef{{Name: "x", Parameters: "null"}}
		},
		"langchaingo: message 1: the speaker's name \"Ann\" has no place in a message of langchaingo: put it into the text": func(r *middleware.Request) {
			r.Messages = append(r.Messages[:1:1], message.Message{Role: message.RoleUser, Name: "Ann", Parts: []message.Part{message.Text{Text: "Hi"}}})
		},
	} {
		inner := gives()
		_, err := langchaingo.Wrap(inner, with(change)).GenerateContent(t.Context(), []llms.MessageContent{human("Hi")})
		require.EqualError(t, err, want)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err))
		require.Empty(t, inner.asked)
	}
	_, err := langchaingo.Wrap(gives()).GenerateContent(t.Context(), []llms.MessageContent{human("Hi")},
		llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "x", Parameters: func() {}}}}))
	require.ErrorContains(t, err, `langchaingo: tool "x": parameters: json: unsupported type`)
}

// What surrounds an edited part, and what stands beside it, stays.
func TestEditsKeepTheRest(t *testing.T) {
	t.Parallel()
	cached := llms.WithCacheControl(llms.ToolCallResponse{ToolCallID: "1", Content: "many words of a long result"}, &llms.CacheControl{Type: "ephemeral"})
	image := llms.ImageURLWithDetailPart("http://x/a.png", "low")
	history := []llms.MessageContent{
		{Role: llms.ChatMessageTypeGeneric, Parts: []llms.ContentPart{llms.TextPart("Go"), image}},
		calling("1", "look", `{"path":"some/long/path"}`),
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{cached}},
		calling("2", "look", `{"a":2}`), result("2", "look", "new"),
		human("and"),
	}
	was, err := json.Marshal(history)
	require.NoError(t, err)
	inner := gives(says("ok"))
	editor := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1, ClearToolInputs: true})
	_, err = langchaingo.Wrap(inner, editor).GenerateContent(t.Context(), history)
	require.NoError(t, err)
	got := inner.last().msgs
	require.Len(t, got, len(history))
	for _, i := range []int{0, 3, 4, 5} {
		require.Same(t, &history[i].Parts[0], &got[i].Parts[0], "message %d is not edited", i)
	}
	require.Equal(t, "{}", sentCall(t, got))
	require.Equal(t, llms.WithCacheControl(
		llms.ToolCallResponse{ToolCallID: "1", Name: "look", Content: "[cleared]"}, cached.CacheControl), got[2].Parts[0])
	now, err := json.Marshal(history)
	require.NoError(t, err)
	require.Equal(t, was, now, "the caller's own is not written to")
}

func TestHints(t *testing.T) {
	t.Parallel()
	inner := gives(says("ok"), says("ok"))
	hints := func(m llms.MessageContent) (h message.Hints) {
		r, ok := m.Parts[0].(llms.ToolCallResponse)
		h.Pinned = ok && r.ToolCallID == "c0"
		if m.Role == llms.ChatMessageTypeHuman {
			h.Memory, h.Priority = true, message.PriorityLow
		}
		return h
	}
	var got []message.Hints
	see := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			got = append(got, req.Messages[0].Hints)
			return next(ctx, req, emit)
		}
	}
	llm := langchaingo.Options{Hints: hints}.Wrap(inner, see, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(100), Keep: 1}))
	history := []llms.MessageContent{human("Read all.")}
	for i := range 4 {
		id := fmt.Sprint("c", i)
		call := llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: "{}"}}
		history = append(history, llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{call}},
			result(id, "read", strings.Repeat("line ", 100)))
	}
	for range 2 {
		_, err := llm.GenerateContent(t.Context(), history)
		require.NoError(t, err)
		sent := inner.last().msgs
		require.Equal(t, history[2], sent[2])
		require.NotEqual(t, history[4], sent[4])
	}
	require.Equal(t, []message.Hints{{Memory: true, Priority: message.PriorityLow}, {Memory: true, Priority: message.PriorityLow}}, got)
}

// sentCall returns the arguments of the call in the second message.
func sentCall(t *testing.T, msgs []llms.MessageContent) string {
	t.Helper()
	c, ok := msgs[1].Parts[0].(llms.ToolCall)
	require.True(t, ok)
	require.Equal(t, "function", c.Type)
	return c.FunctionCall.Arguments
}

func TestRestoredArguments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ wrote, back, want string }{
		"spelled its own way":      {`{"__arg1": "a\tb"}`, "a\tb", `{"__arg1":"a\tb"}`},
		"a value that is JSON":     {`{"__arg1":"{\"a\":1}"}`, `{"a":1}`, `{"a":1}`},
		"an empty value":           {`{"__arg1":""}`, "", "{}"},
		"other fields":             {`{"path":"a"}`, `{"path":"a"}`, `{"path":"a"}`},
		"no string":                {`{"__arg1":1}`, `{"__arg1":1}`, `{"__arg1":1}`},
		"no JSON":                  {"2+2", "2+2", `{"__arg1":"2+2"}`},
		"nothing":                  {"", "", "{}"},
		"written by another agent": {`{"__arg1":"else"}`, "<a>\n", `{"__arg1":"<a>\n"}`},
		"an array":                 {"[1]", "[1]", `{"__arg1":"[1]"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := gives(calls("call_1", "look", c.wrote), says("ok"), says("ok"))
			llm := langchaingo.Wrap(inner)
			_, err := llm.GenerateContent(t.Context(), []llms.MessageContent{human("Go")})
			require.NoError(t, err)
			history := []llms.MessageContent{human("Go"), calling("call_1", "look", c.back), result("call_1", "", "seen")}
			for range 2 {
				_, err = llm.GenerateContent(t.Context(), history)
				require.NoError(t, err)
				require.Equal(t, c.want, sentCall(t, inner.last().msgs))
				require.NoError(t, message.Check(mustImport(t, inner.last().msgs)))
			}
			require.Equal(t, c.back, sentCall(t, history), "the caller's own is not written to")
		})
	}
}

func TestBadMessages(t *testing.T) {
	t.Parallel()
	part := func(p llms.ContentPart) []llms.MessageContent {
		return []llms.MessageContent{human("Go"), {Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextPart("a"), p}}}
	}
	for want, msgs := range map[string][]llms.MessageContent{
		`langchaingo: message 1: part 1: is nil, want some content`:                             part(nil),
		`langchaingo: message 1: part 1: call "1" has no function, want its name and arguments`: part(llms.ToolCall{ID: "1"}),
	} {
		inner := gives()
		_, err := langchaingo.Wrap(inner).GenerateContent(t.Context(), msgs)
		require.EqualError(t, err, want)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err))
		require.Empty(t, inner.asked)
		_, err = langchaingo.Import(msgs)
		require.EqualError(t, err, want)
	}
	_, err := langchaingo.Wrap(gives()).GenerateContent(t.Context(), part(llms.WithCacheControl(nil, nil)))
	require.ErrorContains(t, err, "message 1: part 1: is nil")
}
