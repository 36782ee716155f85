package tests

import (
	"fmt"
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
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

const mega = 1 << 20

// heap returns the bytes that are in use, all garbage collected. With the race detector,
// which has memory of its own, the test is skipped.
func heap(t *testing.T) int {
	t.Helper()
	if race.Enabled {
		t.Skip("measures memory, without the race detector")
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// held returns about how many bytes a journal in memory keeps.
func held(j journal.Journal) int {
	bytes, _ := journal.InMemory(j)
	return bytes
}

// long is a conversation of so many rounds, with texts of its own.
func long(name string, rounds int) []message.Message {
	h := []message.Message{message.User("question of " + name)}
	for i := range rounds {
		id := fmt.Sprintf("c%d", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: `{"page":1}`}),
			message.Result(id, "read", strings.Repeat(fmt.Sprintf("%s %d ", name, i), 40)))
	}
	return h
}

// The tests of memory are not parallel: they measure the heap of the process.

func TestMemoryBound(t *testing.T) { //nolint:paralleltest // measures the heap
	const limit = mega / 2 // more than the newest entry with those that it builds on
	history := long("bound", 700)
	before := heap(t)
	memory := journal.NewMemory(limit)
	chain := middleware.With(middleware.Env{Journal: memory}, editor{name: "fold", plan: folds(2)}.middleware())
	for i := 5; i < len(history); i += 2 {
		view(t, chain, history[:i])
		require.LessOrEqual(t, held(memory), limit, "the journal keeps its bound at every moment")
	}
	kept := heap(t) - before
	t.Logf("heap %d kB at a bound of %d kB for the journal", kept>>10, limit>>10)
	require.Less(t, kept, 8*mega)
	runtime.KeepAlive(chain)
	runtime.KeepAlive(history)
}

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
	if soak.Enabled() {
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
			most := 2.5
			if editor == "fit" && name == "bytes" {
				most++ // fit makes it UTF-8
			}
			require.Less(t, copies, most, "%s of %s", editor, name)
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

// turns is a conversation of several turns of several rounds each, with the
// positions at which a model is called.
func turns(n, rounds int) (history []message.Message, calls []int) {
	for i := range n {
		history = append(history, message.User(fmt.Sprintf("question %d", i)))
		for k := range rounds {
			calls = append(calls, len(history))
			id := fmt.Sprintf("c%d.%d", i, k)
			history = append(history,
				message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"page":%d}`, k)}),
				message.Result(id, "read", strings.Repeat(fmt.Sprintf("page %d of %d. ", k, i), 30)))
		}
		calls = append(calls, len(history))
		history = append(history, message.Assistant(message.Text{Text: fmt.Sprintf("answer %d", i)}))
	}
	return history, calls
}
