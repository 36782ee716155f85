package eino_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// The benchmarks measure what stands before a model call on a conversation of
// 2,000 messages and about 490,000 tokens, 20,000 of them in the last result.
// A result has 1,800 bytes, the mean of 12,196 results of recorded agents.
// They count a token for four bytes, keep the newest five rounds, and put a
// placeholder in the place of older results. A run:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./agent/eino
//
// `make bench-peers` compares with eino's own middlewares.
const (
	benchMessages = 2000
	benchKeep     = 5
	idle          = 1 << 40
	benchResult   = 1800    // bytes
	crossed       = 475_000 // tokens: the last result crosses it
)

func benchHistory() []*schema.Message {
	msgs := []*schema.Message{schema.SystemMessage("You fix builds."), schema.UserMessage("Why does the nightly build fail?")}
	for i := 0; len(msgs)+2 <= benchMessages; i++ {
		size := benchResult
		if len(msgs)+2 == benchMessages {
			size = 80_000
		}
		id := fmt.Sprintf("call_%06d", i)
		result := strings.Repeat(fmt.Sprintf("line %06d: exit status 2\n", i), size/24+1)[:size]
		msgs = append(msgs,
			schema.AssistantMessage("", []schema.ToolCall{{ID: id, Type: "function", Function: schema.FunctionCall{
				Name: "read_log", Arguments: fmt.Sprintf(`{"job":"nightly","page":%d}`, i),
			}}}),
			schema.ToolMessage(result, id, schema.WithToolName("read_log")))
	}
	return msgs
}

// mute answers at once.
type mute struct {
	answer *schema.Message
	asked  []*schema.Message // the newest request
}

func (m *mute) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	m.asked = in
	return m.answer, nil
}

// cleared returns how many results are cleared in the newest request.
func (m *mute) cleared() (n int) {
	for _, in := range m.asked {
		if in.Content == "[cleared]" {
			n++
		}
	}
	return n
}

func (m *mute) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return schema.StreamReaderFromArray([]*schema.Message{m.answer}), nil
}

func (m *mute) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

// IsCallbacksEnabled spares the benchmarks the callbacks.
func (m *mute) IsCallbacksEnabled() bool { return true }

// clears counts as eino's reduction does.
func clears(limit int) middleware.Middleware {
	return middleware.With(middleware.Env{Counter: tokens.Chars4},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(limit), Keep: benchKeep}))
}

func laconic(limit int) (model.ToolCallingChatModel, *mute) {
	inner := &mute{answer: schema.AssistantMessage("ok", nil)}
	return eino.Wrap(inner, clears(limit)), inner
}

func generate(b *testing.B, m model.BaseChatModel, msgs []*schema.Message) {
	b.Helper()
	if _, err := m.Generate(b.Context(), msgs); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAdapter takes a history through no middleware at all, for the
// second time.
func BenchmarkAdapter(b *testing.B) {
	msgs := benchHistory()
	m := eino.Wrap(&mute{answer: schema.AssistantMessage("ok", nil)})
	generate(b, m, msgs)
	b.ReportAllocs()
	for b.Loop() {
		generate(b, m, msgs)
	}
}

// BenchmarkLaconic: "idle" stays below the threshold; "clearing" is the call
// that crosses it, after one that did not; "cleared" is a call after that;
// "cold" clears a conversation that was never seen before.
func BenchmarkLaconic(b *testing.B) {
	msgs := benchHistory()
	b.Run("idle", func(b *testing.B) {
		m, inner := laconic(idle)
		generate(b, m, msgs)
		b.ReportAllocs()
		for b.Loop() {
			generate(b, m, msgs)
		}
		require.Zero(b, inner.cleared())
	})
	for name, before := range map[string]int{"clearing": benchMessages - 2, "cold": 0} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				m, inner := laconic(crossed)
				if before > 0 {
					generate(b, m, msgs[:before])
					require.Zero(b, inner.cleared())
				}
				runtime.GC() // what the preparation has left is not the call's
				b.StartTimer()
				generate(b, m, msgs)
				b.StopTimer()
				require.Equal(b, (benchMessages-2)/2-benchKeep, inner.cleared())
				b.StartTimer()
			}
		})
	}
	b.Run("cleared", func(b *testing.B) {
		m, inner := laconic(crossed)
		generate(b, m, msgs)
		b.ReportAllocs()
		for b.Loop() {
			generate(b, m, msgs)
		}
		require.Positive(b, inner.cleared())
	})
}
