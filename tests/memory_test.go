package tests

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
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

// summarizer folds what lies before the newest question once the view is
// longer than a limit, and counts how often it does.
type summarizer struct {
	limit  int  // tokens
	reach  int  // how many of the newest units stay
	beyond bool // it also folds rounds behind the newest question
	made   atomic.Int64
}

func (s *summarizer) middleware() middleware.Middleware {
	return middleware.Editing("summarizer", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		l := lookAt(v)
		question := 0
		for i, m := range l.msgs {
			if m.Role == message.RoleUser {
				question = i
			}
		}
		var runs []message.Run
		for _, u := range l.free() {
			if u.Last < question || s.beyond {
				runs = append(runs, u.Run)
			}
		}
		if len(runs) <= s.reach {
			return nil, nil
		}
		runs = runs[:len(runs)-s.reach]
		return &middleware.Plan{Edits: []middleware.Edit{{
			Kind: journal.Fold, Runs: runs, Estimate: 10,
			Make: func(context.Context) ([]message.Message, error) {
				s.made.Add(1)
				return []message.Message{message.User("Summary " + l.mark(runs...))}, nil
			},
		}}}, nil
	}, middleware.Options{Trigger: trigger.Tokens(s.limit)})
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

func TestSystemPromptVoidsNothing(t *testing.T) {
	t.Parallel()
	history, calls := turns(5, 4)
	plain := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 2}), (&summarizer{limit: 900, reach: 1}).middleware())
	clock := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 2}), (&summarizer{limit: 900, reach: 1}).middleware())
	for k, n := range calls {
		want, wantEvents := view(t, plain, append([]message.Message{message.System("It is 10:00.")}, history[:n]...))
		system := []message.Message{message.System(fmt.Sprintf("It is 10:%02d.", k))}
		got, events := view(t, clock, append(system, history[:n]...))
		require.Equal(t, told(wantEvents), told(events), "a clock in the system prompt changes no edit, at %d", n)
		requireSame(t, want[1:], got[1:], "a clock in the system prompt changes nothing else, at %d", n)
		requireSame(t, system, got[:1], "the system prompt is that of this call")
		more := append(slices.Clone(system), message.System("more"))
		got, events = view(t, clock, append(more, history[:n]...))
		require.Empty(t, events, "one more system message makes no edit necessary, at %d", n)
		requireSame(t, want[1:], got[2:], "one more system message changes nothing else, at %d", n)
	}
}

// TestAdoptedPlaceholders shows what Adopts is for: an edit made by a
// middleware is known as one when the view comes back.
func TestAdoptedPlaceholders(t *testing.T) {
	t.Parallel()
	whole, _ := turns(3, 4)
	chain := middleware.With(middleware.Env{HistoryIsView: true},
		contextedit.New(contextedit.Options{Trigger: trigger.Messages(8), Keep: 2}), (&summarizer{limit: 300, reach: 2}).middleware())
	first, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: whole})
	require.NoError(t, err)
	second, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: first.Messages})
	require.NoError(t, err)
	require.Zero(t, count(events, middleware.Edited), "nothing is left to edit, got %v", events)
	require.Len(t, second.Messages, len(first.Messages))
	for i := range first.Messages {
		made, known := first.View().Span(i).Edit, second.View().Span(i).Edit
		require.Equal(t, made == nil, known == nil, "message %d: an edited message is known as edited", i)
		if made != nil {
			require.Equal(t, made.Middleware, known.Middleware, "message %d: and by whom", i)
			require.Equal(t, made.Kind, known.Kind, "message %d: and how", i)
		}
	}
}
