package fakeprovider_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// think asks a responder directly.
func think(t *testing.T, b fakeprovider.Responder, body string) fakeprovider.Reply {
	t.Helper()
	r, err := fakeprovider.Parse([]byte(body))
	require.NoError(t, err)
	return b(t.Context(), r)
}

func TestToolLoop(t *testing.T) {
	t.Parallel()
	b := fakeprovider.ToolLoop{
		Tool: "read", Calls: 5, Parallel: 2,
		Arguments: func(n int) string { return fmt.Sprintf(`{"p":%d}`, 10*n) },
		Answer:    fakeprovider.Recall(regexp.MustCompile(`code (\d+)`)),
	}.Responder()
	tools := `"tools":[` + read + `]`
	messages := []string{user}
	var made []fakeprovider.Call
	for range 3 {
		reply := think(t, b, with(tools, messages...))
		var calls, results []string
		for _, c := range reply.Calls {
			made = append(made, c)
			calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, c.ID, c.Name, c.Arguments))
			results = append(results, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"code %d, code %d"}`, c.ID, len(made), 100+len(made)))
		}
		messages = append(append(messages, calling(strings.Join(calls, ","))), results...)
	}
	require.Equal(t, []fakeprovider.Call{
		{ID: "step_1", Name: "read", Arguments: `{"p":10}`},
		{ID: "step_2", Name: "read", Arguments: `{"p":20}`},
		{ID: "step_3", Name: "read", Arguments: `{"p":30}`},
		{ID: "step_4", Name: "read", Arguments: `{"p":40}`},
		{ID: "step_5", Name: "read", Arguments: `{"p":50}`},
	}, made, "the last message has the one call that is left")
	require.Equal(t, "105", think(t, b, with(tools, messages...)).Text, "the newest match")
	require.Equal(t, "105", think(t, b, chat(messages...)).Text, "a request without the tool is answered")
	// What the middle said does not matter, what the newest call says does.
	require.Equal(t, "105", think(t, b, with(tools, append([]string{user}, messages[len(messages)-2:]...)...)).Text)
	require.Equal(t, "step_1", think(t, b, with(tools, user)).Calls[0].ID, "a view without calls begins again")
}

func TestToolLoopDefaults(t *testing.T) {
	t.Parallel()
	b := fakeprovider.ToolLoop{Tool: "read", Calls: 1}.Responder()
	tools := `"tools":[` + read + `]`
	require.Equal(t, []fakeprovider.Call{{ID: "step_1", Name: "read", Arguments: `{"n": 1}`}}, think(t, b, with(tools, user)).Calls)
	done := with(tools, user, calling(`{"id":"step_1","type":"function","function":{"name":"read","arguments":"{}"}}`), `{"role":"tool","tool_call_id":"step_1","content":"A"}`)
	require.Equal(t, "done", think(t, b, done).Text)
	require.Equal(t, "done", think(t, b, chat(user)).Text)
}

func TestRecall(t *testing.T) {
	t.Parallel()
	group := fakeprovider.Recall(regexp.MustCompile(`port (\d+)`))
	require.Equal(t, "2", think(t, group, chat(content(`"port 1"`), content(`"port 3, port 2"`), user)).Text)
	require.Equal(t, "7", think(t, group, chat(`{"role":"system","content":"port 7"}`, user)).Text)
	require.Equal(t, fakeprovider.NotInView, think(t, group, chat(user, `{"role":"assistant","content":"port 9"}`, user)).Text, "its own words do not count")
	require.Equal(t, "port 1", think(t, fakeprovider.Recall(regexp.MustCompile(`port \d`)), chat(content(`"port 1"`))).Text, "without a group, all of it")
}

func TestTool(t *testing.T) {
	t.Parallel()
	r, err := fakeprovider.Parse([]byte(with(`"tools":[`+read+`],"tool_choice":"auto"`, user, callAB, resultA, resultB)))
	require.NoError(t, err)
	require.Equal(t, "read", r.Tool("read").Name)
	require.Nil(t, r.Tool("write"))
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, &fakeprovider.Error{Code: "c", Param: "p", Message: "m"}, `status 400, code "c", param "p": m`)
	require.Equal(t, 2, think(t, func(context.Context, *fakeprovider.Request) fakeprovider.Reply {
		return fakeprovider.Reply{Calls: []fakeprovider.Call{{Name: "read", Arguments: "{}"}}}
	}, chat(user)).Tokens())
}
