package tests

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// TestHugeResults lets a tool give 10 MB, as lines, as one line, and as bytes that
// are no text; 100 MB with LACONIC_SOAK. Each editor takes it out and archives it,
// without more copies than there are steps, and what a model recalls of it is short.
//
//nolint:paralleltest // it counts what the process allocates
func TestHugeResults(t *testing.T) {
	if race.Enabled {
		t.Skip("it counts what the process allocates")
	}
	size := 10 << 20
	if soak.Enabled {
		size *= 10
	}
	for name, unit := range map[string]string{
		"lines": "2026-11-21 paper clips 7.00\n", "one line": `{"item":"paper clips","price":7.00},`, "bytes": "\x00\x01\x1b[31m\xff\xfe",
	} {
		huge := strings.Repeat(unit, size/len(unit))
		h := []message.Message{
			message.User("What is in it?"),
			message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: "{}"}), message.Result("c1", "read", huge),
			message.Assistant(message.ToolCall{ID: "c2", Name: "read", Arguments: "{}"}), message.Result("c2", "read", "ok"),
			message.Assistant(message.Text{Text: "It is long."}), message.User("And?"),
		}
		for editor, mw := range map[string]middleware.Middleware{
			"contextedit":  contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1000), Keep: -1}),
			"microcompact": microcompact.New(microcompact.Options{KeepRounds: 1}),
			"trim":         trim.New(trim.Options{PreserveStart: -1, PreserveEnd: 1, MinMessages: 1}),
			"fit":          fit.New(fit.Options{}),
		} {
			archive := store.NewMemory(2 * size)
			chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, mw)
			before := allocated()
			for _, n := range []int{3, len(h)} {
				sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h[:n], Budget: &middleware.Budget{Window: 100_000}})
				require.NoError(t, err)
				for _, e := range events {
					require.NoError(t, e.Err, "%s", e)
				}
				if n < len(h) {
					continue
				}
				require.Less(t, sent.View().Size().Tokens, 100_000, editor)
				requireRecalled(t, archive, sent.Messages)
			}
			copies := float64(allocated()-before) / float64(size)
			t.Logf("%s of %s: %.2f times as much as the result is allocated", editor, name, copies)
			require.Less(t, copies, 2.5, "%s of %s", editor, name)
		}
	}
}

// requireRecalled asks for what is kept under each handle of a view, in each way
// that there is.
func requireRecalled(t *testing.T, archive store.Store, view []message.Message) {
	t.Helper()
	tool, asked := agent.Recall(archive, agent.RecallOptions{}), 0
	for _, m := range view {
		for _, p := range m.Parts {
			for _, h := range archived.In(says(p)) {
				for _, args := range []string{``, `,"from":300000,"to":300100`, `,"column":9000000`, `,"search":"paper clips 7"`, `,"pattern":"no such [0-9]+ thing"`} {
					parts, err := tool.Call(t.Context(), `{"handle":"`+h.String()+`"`+args+`}`)
					require.NoError(t, err)
					require.LessOrEqual(t, len(says(parts[0])), 16_000)
					asked++
				}
			}
		}
	}
	require.Positive(t, asked, "there is a handle")
}

// allocated returns how many bytes the process has ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
