package testkit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func TestPrefixes(t *testing.T) {
	t.Parallel()
	lengths := func(msgs []message.Message) (out []int) {
		for p := range testkit.Prefixes(msgs) {
			require.Equal(t, len(p), cap(p), "no room for an append")
			out = append(out, len(p))
		}
		return out
	}
	require.Equal(t, []int{2, 4, 6}, lengths(middlewaretest.ReAct{Rounds: 2}.Messages()))
	require.Equal(t, []int{2, 4, 6}, lengths(middlewaretest.ReAct{Rounds: 2, Answered: true}.Messages()))
	require.Empty(t, lengths(nil))
	for range testkit.Prefixes(middlewaretest.ReAct{}.Messages()) {
		break
	}
}

func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	msgs := middlewaretest.ReAct{Rounds: 1}.Messages()
	msgs[2].Usage = &message.Usage{Input: 1}
	c := testkit.Clone(msgs)
	require.Equal(t, msgs, c)
	c[0].Parts[0] = message.Text{Text: "other"}
	c[2].Usage.Input = 2
	require.Equal(t, 1, msgs[2].Usage.Input)
	require.NotEqual(t, msgs[0], c[0])
	require.Nil(t, testkit.Clone(nil))
}

func TestSame(t *testing.T) {
	t.Parallel()
	a := middlewaretest.ReAct{Rounds: 1}.Messages()
	require.NoError(t, testkit.Same(a, testkit.Clone(a)))
	require.EqualError(t, testkit.Same(a, a[:3]),
		`3 messages, want 4; the first missing one is `+
			`tool[ToolResult{"c1.1" "list_files" "Result c1.1: line 1 of the log says nothing new; line 2 of t"}]`)
	require.ErrorContains(t, testkit.Same(a[:3], a), "4 messages, want 3; the first additional one is tool")
	b := testkit.Clone(a)
	r := b[3].Parts[0].(message.ToolResult)
	r.Text = r.Text[:200] + "!" + r.Text[201:]
	b[3].Parts[0] = r
	require.ErrorContains(t, testkit.Same(a, b), "message 3 of 4 is tool…")
	require.ErrorContains(t, testkit.Same(a, b), "!", "the place that is different")
	b = testkit.Clone(a)
	b[1].Name = "ada"
	require.EqualError(t, testkit.Same(a, b), `message 1 of 4 is by "ada", want by ""`)
	b = testkit.Clone(a)
	b[1].Hints.Pinned = true
	require.NoError(t, testkit.Same(a, b), "remarks are not what a model sees")
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
		changed := testkit.Freeze(req)
		c.change(req)
		if c.want == "" {
			require.NoError(t, changed(), c.name)
			continue
		}
		require.ErrorContains(t, changed(), c.want, c.name)
	}
	require.NoError(t, testkit.Freeze(&middleware.Request{})())
	require.NoError(t, testkit.Freeze(&middleware.Request{Params: 0.5})())
}

// TestShowAnyPart has each kind of part, and each field that is not a text.
func TestShowAnyPart(t *testing.T) {
	t.Parallel()
	parts := []message.Part{
		message.Text{Text: "ä"},
		message.Thinking{Text: "hm", Signature: "s"},
		message.Media{Type: "image/png", Data: "\x89", Name: "n"},
		message.ToolCall{ID: "c", Name: "read", Arguments: "{}"},
		message.ToolResult{CallID: "c", Name: "read", Text: "no", Error: true},
		message.ToolResult{CallID: "c", Content: message.Opaque{Kind: "k", Data: "{}"}},
		nil,
	}
	m := message.Message{Role: message.RoleTool, Parts: parts}
	require.Equal(t, `tool[Text{"\u00e4"} Thinking{"hm" "s"} Media{"image/png" "" "\x89" "n"} ToolCall{"c" "read" "{}"}`+
		` ToolResult{"c" "read" "no"}+error ToolResult{"c" "" ""}+Opaque{"k" "{}"} <nil>]`, testkit.Show(m))
	for i, p := range parts {
		other := m
		other.Parts = append(append([]message.Part{}, parts[:i]...), message.Text{Text: "other"})
		err := testkit.Same([]message.Message{m}, []message.Message{other})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "%!", "%v", p)
	}
}
