package react_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
)

func responds(resp *middleware.Response) middleware.Model {
	return func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return resp, nil
	}
}

func TestUselessAnswers(t *testing.T) {
	t.Parallel()
	text := message.Text{Text: "yes"}
	of := func(role message.Role, parts ...message.Part) *middleware.Response {
		return &middleware.Response{Message: message.Message{Role: role, Parts: parts}, Usage: message.Usage{Input: 7}}
	}
	for name, c := range map[string]struct {
		resp *middleware.Response
		want string
	}{
		"nothing at all": {nil, "neither an answer nor an error"},
		"zero response":  {&middleware.Response{}, `role "", want "assistant"`},
		"of the user":    {of(message.RoleUser, text), `role "user", want "assistant"`},
		"no parts":       {of(message.RoleAssistant), "empty message"},
		"blank":          {of(message.RoleAssistant, message.Text{Text: " \n"}), "empty message"},
		"nil part":       {of(message.RoleAssistant, text, nil), "nil part"},
		"pointer":        {of(message.RoleAssistant, &message.Text{Text: "yes"}), "unknown part"},
		"pointer call":   {of(message.RoleAssistant, text, &message.ToolCall{ID: "c"}), "unknown part"},
		"tool result":    {of(message.RoleAssistant, text, message.ToolResult{CallID: "c"}), "misplaced part"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := follow(t, react.Agent{Model: responds(c.resp)}.Run(t.Context(), message.User("go")))
			require.EqualError(t, tr.err, "react: answer of the model: "+c.want)
			require.Equal(t, middleware.Invalid, middleware.KindOf(tr.err))
			require.Equal(t, []string{"user go"}, sayAll(tr.end.History))
			require.Zero(t, tr.end.Steps)
			if c.resp != nil {
				require.Equal(t, c.resp.Usage, tr.end.Usage, "it was paid for")
			}
		})
	}
}

func TestAnswersArePutInOrder(t *testing.T) {
	t.Parallel()
	args := func(arguments string) message.ToolCall {
		return message.ToolCall{ID: "c", Name: "a", Arguments: arguments}
	}
	for name, c := range map[string]struct {
		parts []message.Part
		want  string
	}{
		"as it is":        {[]message.Part{message.Text{Text: "so:"}, args(` {"b": [1, 1e999, "\ud800"]}`)}, `assistant so: c:a {"b": [1, 1e999, "\ud800"]}`},
		"no arguments":    {[]message.Part{args("")}, "assistant c:a{}"},
		"blank arguments": {[]message.Part{args(" \n")}, "assistant c:a{}"},
		"null":            {[]message.Part{args("null")}, "assistant c:a{}"},
		"cut off":         {[]message.Part{args(`{"b": "x`)}, `assistant c:a{"invalid_json":"{\"b\": \"x"}`},
		"array":           {[]message.Part{args(`[1]`)}, `assistant c:a{"invalid_json":"[1]"}`},
		"prose":           {[]message.Part{args(`b=1`)}, `assistant c:a{"invalid_json":"b=1"}`},
		"duplicate ids":   {[]message.Part{call("c", "a"), call("c", "a"), call("d", "a"), call("c", "a")}, "assistant c:a{} call_1_2:a{} d:a{} call_1_4:a{}"},
		"empty ids":       {[]message.Part{call("", "a"), call("", "a")}, "assistant call_1_1:a{} call_1_2:a{}"},
		"ids in the way":  {[]message.Part{call("", "a"), call("call_1_1", "a"), call("call_1_1x", "a"), call("call_1_1", "a")}, "assistant call_1_1xx:a{} call_1_1:a{} call_1_1x:a{} call_1_4:a{}"},
		"empty name":      {[]message.Part{call("c", "")}, "assistant c:unnamed{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := message.Assistant(c.parts...)
			before := testkit.Clone([]message.Message{answer})
			a := react.Agent{Model: says(answer, message.Assistant(message.Text{Text: "done"})), Tools: []agent.Tool{gives("a", "1", 0)}}
			tr := follow(t, a.Run(t.Context(), message.User("go")))
			require.NoError(t, tr.err)
			require.Equal(t, c.want, say(tr.end.History[1]))
			require.Equal(t, before[0], answer, "the model's own message must not change")
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	in, none := message.Usage{Input: 3, Output: 1}, message.Usage{}
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		response message.Usage
		message  *message.Usage
		want     message.Usage
		kept     *message.Usage
	}{
		"in the response": {in, nil, in, &in},
		"in the message":  {none, &in, in, &in},
		"in both":         {in, &message.Usage{Input: 2}, in, &message.Usage{Input: 2}},
		"nowhere":         {none, nil, none, nil},
	} {
		m := message.Assistant(message.Text{Text: "yes"})
		m.Usage, m.Time = c.message, then
		tr := follow(t, react.Agent{Model: responds(&middleware.Response{Message: m, Usage: c.response})}.Run(t.Context(), message.User("go")))
		require.NoError(t, tr.err)
		require.Equal(t, c.want, tr.end.Usage, name)
		require.Equal(t, c.kept, tr.end.History[1].Usage, name)
		require.Equal(t, then, tr.end.History[1].Time, "a time that the model gave stays")
	}
}

// Whatever arguments and ids a model comes up with, the history stays whole.
func FuzzAnswer(f *testing.F) {
	f.Add("c", "c", "a", `{}`, `{"b": `)
	f.Add("", "call_1_1", "", "null", "[1]")
	f.Add("call_1_2", "", "\xff", "\xff", "{\"\xff\": 1}")
	f.Fuzz(func(t *testing.T, id1, id2, name, args1, args2 string) {
		a := react.Agent{
			Model: says(
				message.Assistant(
					message.ToolCall{ID: id1, Name: name, Arguments: args1},
					message.ToolCall{ID: id2, Name: "a", Arguments: args2},
					message.ToolCall{ID: id1, Name: "a", Arguments: args2},
				),
				message.Assistant(message.Text{Text: "done"}),
			),
			Tools: []agent.Tool{gives("a", "1", 0)},
		}
		tr := follow(t, a.Run(t.Context(), message.User("go")))
		require.NoError(t, tr.err)
		require.Len(t, tr.end.History, 6)
		for c := range tr.end.History[1].Calls() {
			require.NotEmpty(t, c.ID)
			require.NotEmpty(t, c.Name)
		}
	})
}
