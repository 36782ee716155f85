package tests

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
)

// A misspelt name of a tool protects nothing, so the chain says it once, as soon as a tool is called.
func TestMisspeltTools(t *testing.T) {
	t.Parallel()
	file, err := chainfile.Parse("chain.yaml", []byte("protect: [serch]\nwindow: 9000\nchain: [{use: contextedit}]"))
	require.NoError(t, err)
	cases := []struct {
		name  string
		chain middleware.Middleware
		want  []string
	}{
		{
			"contextedit", contextedit.New(contextedit.Options{ExcludeTools: []string{"serch", "Web-Search"}, ClearInputsOf: []string{"web_search", "read"}}),
			[]string{"contextedit: misconfigured: ClearInputsOf: no tool read is declared or called; did you mean docs__read?; " +
				"ExcludeTools: no tool serch is declared or called; did you mean search?; " +
				"ExcludeTools: no tool Web-Search is declared or called; did you mean web_search?"},
		},
		{
			"only", contextedit.New(contextedit.Options{Only: []string{"pay"}}),
			[]string{"contextedit: misconfigured: Only: no tool pay is declared or called"},
		},
		{
			"microcompact", microcompact.New(microcompact.Options{Protect: []string{"serch"}}),
			[]string{"microcompact: misconfigured: Protect: no tool serch is declared or called; did you mean search?"},
		},
		{"right names", contextedit.New(contextedit.Options{ExcludeTools: []string{"search", "web_search"}, Only: []string{"docs__read"}}), nil},
		{
			"Env", middleware.With(middleware.Env{Protect: []string{"serch"}}, contextedit.New(contextedit.Options{})),
			[]string{"middleware.With: misconfigured: Protect: no tool serch is declared or called; did you mean search?"},
		},
		{
			"chain file", file.With(middleware.Env{}),
			[]string{"middleware.With: misconfigured: Protect: no tool serch is declared or called; did you mean search?"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			model := middleware.Chain(middleware.Observe(func(_ context.Context, e middleware.Event) {
				if e.Kind == middleware.Misconfigured {
					got = append(got, e.String())
				}
			}), c.chain)(testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}))
			tools := []message.ToolDef{{Name: "search"}, {Name: "docs__read"}}
			question := []message.Message{message.User("a"), message.User("b")}
			called := []message.Message{
				message.User("a"),
				{Role: message.RoleAssistant, Parts: []message.Part{message.ToolCall{ID: "1", Name: "web_search", Arguments: "{}"}}},
				{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "1", Text: "b"}}},
			}
			for _, req := range []*middleware.Request{
				{Messages: question, Tools: tools}, // no tool is called yet, and it may be one of the server's
				{Messages: called},                 // nothing is declared
				{Messages: called, Tools: tools},
				{Messages: append(called[:3:3], message.User("c")), Tools: tools}, // it is said already
			} {
				_, err := model(t.Context(), req, nil)
				require.NoError(t, err)
				if len(req.Tools) == 0 || len(req.Messages) == 2 {
					require.Empty(t, got)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}
