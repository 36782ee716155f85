package laconic_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
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

// TestPriceOfRecorded: on long recordings, Auto costs at most 1 % more at any prices than the best of the middlewares alone, and
// as many hard facts are in view as with the cheapest of them, but for one use.
func TestPriceOfRecorded(t *testing.T) {
	t.Parallel()
	recorded.Files(t)    // skips the test without recordings
	const long = 200_000 // bytes
	file, facts, n := filepath.Join(t.TempDir(), "talks"), filepath.Join(t.TempDir(), "facts"), 0
	var talks, uses bytes.Buffer
	for line := range recorded.Lines(t, "conversations.jsonl.gz") {
		if len(line) > long {
			n++
			if n%soak.Nth(6, 3) == 0 {
				talks.Write(line)
			}
		}
	}
	for line := range recorded.Lines(t, "facts.jsonl.gz") {
		uses.Write(line)
	}
	require.NoError(t, errors.Join(os.WriteFile(file, talks.Bytes(), 0o600), os.WriteFile(facts, uses.Bytes(), 0o600)))
	all, err := replay.Load(file)
	require.NoError(t, err)
	require.NoError(t, replay.LoadFacts(facts, all))
	chain := func(mw middleware.Middleware) replay.Chain {
		return replay.Chain{Priced: true, New: func(env middleware.Env, _ middleware.Model) middleware.Middleware { return middleware.With(env, mw) }}
	}
	chains := []replay.Chain{
		chain(laconic.Auto()),
		chain(microcompact.New(microcompact.Options{
			Trigger: trigger.Economy(trigger.EconomyOptions{}), KeepRounds: 6,
			Limit: microcompact.Limits{Results: 400, Arguments: 600}, Digest: 120,
		})),
		chain(contextedit.New(contextedit.Options{})),
	}
	for _, window := range []int{200_000, 32_000}[:soak.Of(2, 2)] {
		results, err := replay.Run(t.Context(), all, chains, replay.Options{Window: window, Brief: true})
		require.NoError(t, err)
		hard := func(r *replay.Result) (n int) {
			for _, talk := range r.Talks {
				n += talk.Hard.N
			}
			return n
		}
		for class, cost := range results[0].Cost {
			for _, other := range results[1:] {
				require.LessOrEqual(t, cost, 1.01*other.Cost[class], "%s in a window of %d", class, window)
			}
		}
		require.GreaterOrEqual(t, hard(results[0])+1, hard(results[1]), "at most one use of a fact less")
	}
}
