package middlewaretest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
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

func TestPrefixes(t *testing.T) {
	t.Parallel()
	lengths := func(msgs []message.Message) (out []int) {
		for p := range middlewaretest.Prefixes(msgs) {
			require.Equal(t, len(p), cap(p), "no room for an append")
			out = append(out, len(p))
		}
		return out
	}
	require.Equal(t, []int{2, 4, 6}, lengths(middlewaretest.ReAct{Rounds: 2}.Messages()))
	require.Equal(t, []int{2, 4, 6}, lengths(middlewaretest.ReAct{Rounds: 2, Answered: true}.Messages()))
	require.Empty(t, lengths(nil))
	for range middlewaretest.Prefixes(middlewaretest.ReAct{}.Messages()) {
		break
	}
}

func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	msgs := middlewaretest.ReAct{Rounds: 1}.Messages()
	msgs[2].Usage = &message.Usage{Input: 1}
	c := middlewaretest.Clone(msgs)
	require.Equal(t, msgs, c)
	c[0].Parts[0] = message.Text{Text: "other"}
	c[2].Usage.Input = 2
	require.Equal(t, 1, msgs[2].Usage.Input)
	require.NotEqual(t, msgs[0], c[0])
	require.Nil(t, middlewaretest.Clone(nil))
}

func TestSame(t *testing.T) {
	t.Parallel()
	a := middlewaretest.ReAct{Rounds: 1}.Messages()
	require.NoError(t, middlewaretest.Same(a, middlewaretest.Clone(a)))
	require.EqualError(t, middlewaretest.Same(a, a[:3]),
		`3 messages, want 4; the first missing one is `+
			`tool[ToolResult{"c1.1" "list_files" "Result c1.1: line 1 of the log says nothing new; line 2 of t"}]`)
	require.ErrorContains(t, middlewaretest.Same(a[:3], a), "4 messages, want 3; the first additional one is tool")
	b := middlewaretest.Clone(a)
	r := b[3].Parts[0].(message.ToolResult)
	r.Text = r.Text[:200] + "!" + r.Text[201:]
	b[3].Parts[0] = r
	require.ErrorContains(t, middlewaretest.Same(a, b), "message 3 of 4 is tool…")
	require.ErrorContains(t, middlewaretest.Same(a, b), "!", "the place that is different")
	b = middlewaretest.Clone(a)
	b[1].Name = "ada"
	require.EqualError(t, middlewaretest.Same(a, b), `message 1 of 4 is by "ada", want by ""`)
	b = middlewaretest.Clone(a)
	b[1].Hints.Pinned = true
	require.NoError(t, middlewaretest.Same(a, b), "remarks are not what a model sees")
}

// frozen returns a request with unused memory behind its slices.
func frozen() *middleware.Request {
	msgs := middlewaretest.ReAct{Rounds: 2}.Messages()
	msgs[2].Usage = &message.Usage{Input: 1}
	msgs[1].Parts = append(make([]message.Part, 0, 2), msgs[1].Parts...)
	return &middleware.Request{
		Messages: append(make([]message.Message, 0, 10), msgs...),
		Tools:    []message.ToolDef{{Name: "read"}},
		Budget:   &middleware.Budget{Window: 100},
		Force:    []string{"a"},
		Params:   map[string]int{"a": 1},
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(r *middleware.Request)
		want   string
	}{
		{"nothing", func(*middleware.Request) {}, ""},
		{"a part", func(r *middleware.Request) { r.Messages[1].Parts[0] = message.Text{Text: "?"} }, "message 1 is user"},
		{"usage", func(r *middleware.Request) { r.Messages[2].Usage.Input = 2 }, "message 2 has other remarks"},
		{"a hint", func(r *middleware.Request) { r.Messages[2].Hints.Memory = true }, "message 2 has other remarks"},
		{"fewer messages", func(r *middleware.Request) { r.Messages = r.Messages[1:] }, "the request has 5 messages"},
		{"after the messages", func(r *middleware.Request) { _ = append(r.Messages, message.User("?")) }, "after the messages"},
		{"after parts", func(r *middleware.Request) { _ = append(r.Messages[1].Parts, message.Text{}) }, "after the parts"},
		{"a tool", func(r *middleware.Request) { r.Tools[0].Name = "write" }, "field Tools"},
		{"the budget", func(r *middleware.Request) { r.Budget.Window = 99 }, "field Budget of the request is {99 0}, want {100 0}"},
		{"a name", func(r *middleware.Request) { r.Force[0] = "b" }, "field Force"},
		{"other options", func(r *middleware.Request) { r.Params = map[string]int{"a": 1} }, "field Params"},
		{"options of another type", func(r *middleware.Request) { r.Params = "a" }, "field Params"},
		{"no options", func(r *middleware.Request) { r.Params = nil }, "field Params"},
	}
	for _, c := range cases {
		req := frozen()
		changed := middlewaretest.Freeze(req)
		c.change(req)
		if c.want == "" {
			require.NoError(t, changed(), c.name)
			continue
		}
		require.ErrorContains(t, changed(), c.want, c.name)
	}
	require.NoError(t, middlewaretest.Freeze(&middleware.Request{})())
	require.NoError(t, middlewaretest.Freeze(&middleware.Request{Params: 0.5})())
}
