package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

type query struct {
	Table  string            `json:"table" jsonschema:"the table to read"`
	Limit  int               `json:"limit,omitempty" jsonschema:"rows, at most"`
	Level  uint8             `json:"level,omitempty"`
	Fields []string          `json:"fields,omitempty"`
	Where  *where            `json:"where,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Box    [2]float64        `json:"box,omitzero"`
	Since  time.Time         `json:"since,omitzero"`
	Any    any               `json:"any,omitempty"`
}

type where struct {
	Column string `json:"column"`
	Value  any    `json:"value"`
}

func run[In, Out any](fn func(context.Context, In) (Out, error)) agent.Tool {
	return agent.NewTool("query", "Reads rows.", fn)
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	build := func() agent.Tool {
		return run(func(context.Context, query) (string, error) { return "", nil })
	}
	def := build().Definition()
	require.Equal(t, "query", def.Name)
	require.Equal(t, "Reads rows.", def.Description)
	require.JSONEq(t, `{
		"type": "object",
		"properties": {
			"table": {"type": "string", "description": "the table to read"},
			"limit": {"type": "integer", "description": "rows, at most"},
			"level": {"type": "integer", "minimum": 0, "maximum": 255},
			"fields": {"type": ["null", "array"], "items": {"type": "string"}},
			"where": {
				"type": ["null", "object"],
				"properties": {"column": {"type": "string"}, "value": true},
				"required": ["column", "value"],
				"additionalProperties": false
			},
			"labels": {"type": "object", "additionalProperties": {"type": "string"}},
			"box": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
			"since": {"type": "string"},
			"any": true
		},
		"required": ["table"],
		"additionalProperties": false
	}`, def.Parameters)
	for range 50 {
		require.Equal(t, def, build().Definition(), "the schema must be the same bytes each time")
	}
	require.Less(t, strings.Index(def.Parameters, `"table"`), strings.Index(def.Parameters, `"limit"`),
		"properties stand in the order of the fields")
}

func TestNewToolPanics(t *testing.T) {
	t.Parallel()
	type loop struct {
		Next *loop `json:"next"`
	}
	for want, build := range map[string]func(){
		"agent: NewTool: the name is empty":          func() { agent.NewTool("", "", func(context.Context, query) (string, error) { return "", nil }) },
		"agent: NewTool: query: the function is nil": func() { agent.NewTool[query, string]("query", "", nil) },
		"agent: NewTool: query: the arguments are of type string, want a struct or a map with string keys": func() {
			run(func(context.Context, string) (string, error) { return "", nil })
		},
		"agent: NewTool: query: ForType(struct { C chan int }): type chan int is unsupported by jsonschema": func() {
			run(func(context.Context, struct{ C chan int }) (string, error) { return "", nil })
		},
		"agent: NewTool: query: ForType(agent_test.loop): cycle detected for type agent_test.loop": func() {
			run(func(context.Context, loop) (string, error) { return "", nil })
		},
	} {
		require.PanicsWithValue(t, want, build)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	const fields = `"table", "limit", "level", "fields", "where", "labels", "box", "since", "any"`
	for name, c := range map[string]struct {
		arguments string
		want      []string // problems; nil: it runs
	}{
		"all": {`{"table": "users", "limit": 10, "level": 255, "fields": ["a"], "where": {"column": "a", "value": null},
			"labels": {"a": "b"}, "box": [1, 2.5], "since": "2026-01-02T03:04:05Z", "any": [1, "x"]}`, nil},
		"null where Go has a nil": {`{"table": "users", "fields": null, "where": null, "any": null}`, nil},
		"nothing":                 {``, []string{`"table" is missing, want string`}},
		"missing":                 {`{}`, []string{`"table" is missing, want string`}},
		"unknown":                 {`{"table": "users", "rows": 3}`, []string{`"rows" is unknown, want ` + fields}},
		"case counts":             {`{"Table": "users"}`, []string{`"table" is missing, want string`, `"Table" is unknown, want ` + fields}},
		"wrong type":              {`{"table": "users", "limit": "10"}`, []string{`"limit" is "10", want integer`}},
		"fraction":                {`{"table": "users", "limit": 1.5}`, []string{`"limit" is 1.5, want integer`}},
		"integer to JSON, not to Go": {
			`{"table": "users", "limit": 5.0}`,
			[]string{`"limit" is number 5.0, want int`},
		},
		"too large":       {`{"table": "users", "level": 256}`, []string{`"level" is 256, want at most 255`}},
		"negative":        {`{"table": "users", "level": -1}`, []string{`"level" is -1, want at least 0`}},
		"item":            {`{"table": "users", "fields": ["a", 2, true]}`, []string{`"fields[1]" is 2, want string`, `"fields[2]" is true, want string`}},
		"not an array":    {`{"table": "users", "fields": "a"}`, []string{`"fields" is "a", want array of string or null`}},
		"too few items":   {`{"table": "users", "box": [1]}`, []string{"validating root: validating /properties/box: minItems: array length 1 is less than 2"}},
		"nested missing":  {`{"table": "users", "where": {"value": 1}}`, []string{`"where.column" is missing, want string`}},
		"nested unknown":  {`{"table": "users", "where": {"column": "a", "value": 1, "op": "="}}`, []string{`"where.op" is unknown, want "column", "value"`}},
		"several at once": {`{"limit": "x", "rows": 1}`, []string{`"table" is missing, want string`, `"limit" is "x", want integer`, `"rows" is unknown, want ` + fields}},
		"not an object":   {`["users"]`, []string{`the value is ["users"], want object`}},
		"not JSON":        {`{"table": `, []string{`not valid JSON (unexpected end of JSON input), want a JSON object`}},
		"more behind it":  {`{"table": "users"} {}`, []string{`not valid JSON (invalid character '{' after top-level value), want a JSON object`}},
		"a bad date": {
			`{"table": "users", "since": "today"}`,
			[]string{`parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"`},
		},
		"long value": {
			`{"table": "users", "limit": "` + strings.Repeat("é", 100) + `"}`,
			[]string{`"limit" is "` + strings.Repeat("é", 29) + `…, want integer`},
		},
	} {
		called := false
		tool := run(func(context.Context, query) (string, error) {
			called = true
			return "rows", nil
		})
		parts, err := tool.Call(t.Context(), c.arguments)
		if c.want == nil {
			require.NoError(t, err, name)
			require.Equal(t, []message.Part{message.Text{Text: "rows"}}, parts, name)
			continue
		}
		require.False(t, called, "the function must not see arguments that do not fit")
		wrong, ok := errors.AsType[*agent.ArgumentsError](err)
		require.True(t, ok, "want an *ArgumentsError, got %v", err)
		require.Equal(t, c.want, wrong.Problems, name)
	}
}

func TestLargeNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	tool := run(func(_ context.Context, in struct {
		ID int64 `json:"id"`
	},
	) (int64, error) {
		return in.ID, nil
	})
	parts, err := tool.Call(t.Context(), `{"id": 9223372036854775807}`)
	require.NoError(t, err)
	require.Equal(t, []message.Part{message.Text{Text: "9223372036854775807"}}, parts)
}

func TestResults(t *testing.T) {
	t.Parallel()
	image := message.Media{Type: "image/png", Data: "\x89PNG"}
	for name, c := range map[string]struct {
		out  any
		want []message.Part
	}{
		"text":          {"a <b> \xff", []message.Part{message.Text{Text: "a <b> \xff"}}},
		"no text":       {"", []message.Part{message.Text{}}},
		"part":          {image, []message.Part{image}},
		"parts":         {[]message.Part{message.Text{Text: "a"}, image}, []message.Part{message.Text{Text: "a"}, image}},
		"no parts":      {[]message.Part(nil), nil},
		"number":        {3, []message.Part{message.Text{Text: "3"}}},
		"nothing":       {nil, []message.Part{message.Text{Text: "null"}}},
		"object":        {map[string]any{"b": "<&>", "a": []int{1, 2}}, []message.Part{message.Text{Text: `{"a":[1,2],"b":"<&>"}`}}},
		"slice of text": {[]string{"a", "b"}, []message.Part{message.Text{Text: `["a","b"]`}}},
	} {
		tool := run(func(context.Context, struct{}) (any, error) { return c.out, nil })
		parts, err := tool.Call(t.Context(), "")
		require.NoError(t, err, name)
		require.Equal(t, c.want, parts, name)
	}
}

// Whatever a model writes, it is told what is wrong, or the function runs.
func FuzzArguments(f *testing.F) {
	f.Add(`{"table": "users", "fields": [1], "where": {}, "labels": {"a": null}, "box": [], "since": 1}`)
	f.Add(`{"table": "users", "limit": 1e999, "level": -0.5, "any": {"\xff": [[]]}}`)
	f.Add(`{"table": `)
	called := false
	tool := run(func(context.Context, query) (string, error) {
		called = true
		return "rows", nil
	})
	f.Fuzz(func(t *testing.T, arguments string) {
		called = false
		_, err := tool.Call(t.Context(), arguments)
		require.Equal(t, err == nil, called)
		if err == nil {
			return
		}
		wrong, ok := errors.AsType[*agent.ArgumentsError](err)
		require.True(t, ok)
		require.NotEmpty(t, wrong.Problems)
		require.NotContains(t, err.Error(), "validating root", "the problems are explained in our words")
	})
}

// An answer has a third of a byte for each token of the room, and at most the limit.
func TestRecallFollowsTheRoom(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	h := keep(t, s, strings.Repeat("a line of a long file\n", 5000))
	for _, c := range []struct{ room, limit, most int }{
		{0, 0, 16_000}, {8_500, 0, 2_833}, {8_500, 2_000, 2_000}, {200, 0, 1_000}, {1_000_000, 0, 16_000}, {1_000_000, 20_000, 20_000},
	} {
		ctx := agent.InConversation(t.Context(), agent.Conversation{Room: c.room})
		answer := askIn(ctx, t, agent.Recall(s, agent.RecallOptions{Limit: c.limit}), args{"handle": h})
		require.LessOrEqual(t, len(answer), c.most, "%+v", c)
		require.Greater(t, len(answer), c.most-300, "%+v", c)
		require.Regexp(t, `^\[lines 1-\d+ of 5000 of \w+; more: from=\d+\]\n`, answer)
	}
}

// An answer that the conversation had before has a note, and no more bytes than allowed.
func TestRecallNotesRepeatedAnswers(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	h := keep(t, s, strings.Repeat("a line of a long file\n", 500))
	tool := agent.Recall(s, agent.RecallOptions{})
	var history []message.Message
	for n := range 4 {
		ctx := agent.InConversation(t.Context(), agent.Conversation{Room: 6000, History: append([]message.Message{message.User("Go on.")}, history...)})
		answer := askIn(ctx, t, tool, args{"handle": h, "from": 3})
		require.LessOrEqual(t, len(answer), 2000)
		note := fmt.Sprintf("\n[%d earlier calls had this answer. Write down what you need of it, since it may be cleared again; "+
			"for less at a time, use from and to, or search]", n)
		require.Equal(t, n > 0, strings.HasSuffix(answer, note), "%s", answer)
		require.NotContains(t, askIn(ctx, t, tool, args{"handle": h, "from": 4}), "earlier calls", "another part")
		call := message.ToolCall{ID: "c", Name: store.RecallTool, Arguments: fmt.Sprintf(`{"handle": %q, "from": 3}`, h)}
		if n == 0 { // another call and another tool under the same ID
			history = append(history, message.Assistant(message.ToolCall{ID: "c", Name: "read", Arguments: call.Arguments}),
				message.Result("c", "read", answer))
		}
		history = append(history, message.Assistant(call), message.Result("c", store.RecallTool, answer))
	}
}
