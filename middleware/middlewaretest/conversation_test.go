package middlewaretest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func TestReAct(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		in    middlewaretest.ReAct
		roles string
	}{
		{"zero", middlewaretest.ReAct{Rounds: 2}, "su|at|at"},
		{"parallel", middlewaretest.ReAct{Rounds: 2, Parallel: 3}, "su|attt|attt"},
		{"turns", middlewaretest.ReAct{Rounds: 4, PerTurn: 2}, "su|at|at|a|u|at|at"},
		{"answered", middlewaretest.ReAct{Rounds: 3, PerTurn: 2, Answered: true}, "su|at|at|a|u|at|a"},
		{"a full turn, answered", middlewaretest.ReAct{Rounds: 2, PerTurn: 2, Answered: true}, "su|at|at|a"},
	}
	for _, c := range cases {
		msgs := c.in.Messages()
		roles := ""
		for _, m := range msgs {
			roles += string(m.Role[0])
		}
		require.Equal(t, strings.ReplaceAll(c.roles, "|", ""), roles, c.name)
		require.NoError(t, message.Check(msgs), c.name)
		require.Equal(t, msgs, c.in.Messages(), "%s: twice the same", c.name)
	}
	short, long := middlewaretest.ReAct{Rounds: 3, PerTurn: 2}.Messages(), middlewaretest.ReAct{Rounds: 9, PerTurn: 2}.Messages()
	require.Equal(t, short, long[:len(short)])
	sized := middlewaretest.ReAct{Result: 1000, Thought: 100}.Messages()
	require.Len(t, sized[3].Parts[0].(message.ToolResult).Text, 1000)
	require.Len(t, sized[2].Text(), 100)
}
