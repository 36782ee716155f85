package laconic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	middlewaretest.Suite{
		New: laconic.Auto, Repairs: true, Histories: [][]message.Message{logs(30)},
	}.Test(t)
}

// logs is a conversation in which an agent reads logs.
func logs(n int) []message.Message {
	h := []message.Message{message.User("Which build has failed?")}
	for i := range n {
		id := "build-" + strings.Repeat("a", i+1)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
			message.Result(id, "read", "id: W-77"+id+"\n"+strings.Repeat("step: ok\n", 700)))
	}
	return h
}

// TestHandles: placeholders have handles only if the request declares the tool that reads them, into the archive of the Env around
// Auto if there is one.
func TestHandles(t *testing.T) {
	t.Parallel()
	own := store.NewMemory(0)
	for name, c := range map[string]struct {
		env  middleware.Env
		tool string
		want bool
	}{
		"no tool":                   {tool: "read"},
		"no tool, but an archive":   {tool: "read", env: middleware.Env{Archive: own}},
		"the tool":                  {tool: store.RecallTool, want: true},
		"of a server of MCP":        {tool: "mcp__laconic__" + store.RecallTool, want: true},
		"an Env without an archive": {tool: store.RecallTool, env: middleware.Env{Scope: "a"}, want: true},
		"the archive of the Env":    {tool: store.RecallTool, env: middleware.Env{Archive: own}, want: true},
		"a tool of a name like it":  {tool: "recall_memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := &middleware.Request{Messages: logs(40), Model: "gpt-4.1-mini", Tools: []message.ToolDef{{Name: c.tool}}}
			sent, events, err := middleware.Apply(t.Context(), middleware.With(c.env, laconic.Auto()), req)
			require.NoError(t, err)
			for _, e := range events {
				require.NotEqual(t, middleware.Misconfigured, e.Kind, "%v", e)
			}
			shortened, handles := 0, 0
			for _, m := range sent.Messages {
				for r := range m.Results() {
					if len(r.Text) < 1000 {
						shortened++
						require.Contains(t, r.Text, "W-77", "a fact stays")
					}
					for _, h := range archived.In(r.Text) {
						handles++
						_, err := sent.View().Env().Archive.Get(t.Context(), h)
						require.NoError(t, err)
						if c.env.Archive != nil {
							_, err = own.Get(t.Context(), h)
							require.NoError(t, err)
						}
					}
				}
			}
			require.Positive(t, shortened)
			require.Equal(t, c.want, handles > 0)
		})
	}
}
