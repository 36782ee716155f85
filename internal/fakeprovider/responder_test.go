package fakeprovider_test

import (
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
