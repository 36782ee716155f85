package eino_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// The benchmarks measure what stands before a model call on a conversation of
// 2,000 messages and about 490,000 tokens, 20,000 of them in the last result.
// A result has 1,800 bytes, the mean of 12,196 results of recorded agents.
// Both count a token for four bytes, keep the newest five rounds, and put a
// placeholder in the place of older results. A run to compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./agent/eino
const (
	benchMessages = 2000
	benchKeep     = 5
	idle          = 1 << 40
	benchResult   = 1800    // bytes
	crossed       = 475_000 // tokens: the last result crosses it, for both counters
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

// copies returns the messages in memory of their own, as reduction writes into
// what it is given.
func copies(msgs []*schema.Message) []*schema.Message {
	out := make([]*schema.Message, len(msgs))
	for i, m := range msgs {
		c := *m
		c.ToolCalls = append([]schema.ToolCall(nil), m.ToolCalls...)
		out[i] = &c
	}
	return out
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
		if in.Content == contextedit.DefaultPlaceholder {
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

// clears counts as eino does.
func clears(limit int) middleware.Middleware {
	return middleware.With(middleware.Env{Counter: tokens.Chars4{}},
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

// BenchmarkCore is contextedit alone, on the same conversation in our words.
func BenchmarkCore(b *testing.B) {
	msgs, err := eino.Import(benchHistory())
	require.NoError(b, err)
	ok := &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}
	var asked []message.Message
	core := func(limit int) func(b *testing.B, msgs []message.Message) {
		m := clears(limit)(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			asked = req.Messages
			return ok, nil
		})
		return func(b *testing.B, msgs []message.Message) {
			b.Helper()
			_, err := m(b.Context(), &middleware.Request{Messages: msgs}, nil)
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("idle", func(b *testing.B) {
		call := core(idle)
		call(b, msgs)
		b.ReportAllocs()
		for b.Loop() {
			call(b, msgs)
		}
	})
	b.Run("clearing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			call := core(crossed)
			call(b, msgs[:benchMessages-2])
			runtime.GC()
			b.StartTimer()
			call(b, msgs)
			b.StopTimer()
			require.Equal(b, message.Result("call_000000", "read_log", contextedit.DefaultPlaceholder), asked[3])
			b.StartTimer()
		}
	})
}

// BenchmarkEinoReduction is the same work done by eino's own middleware. It
// writes into the messages that it is given; with a floor, of one token here,
// it copies them first, as that may undo the work.
func BenchmarkEinoReduction(b *testing.B) {
	msgs := benchHistory()
	with := func(tokens, atLeast int64) adk.ChatModelAgentMiddleware {
		mw, err := reduction.New(b.Context(), &reduction.Config{
			SkipTruncation: true, MaxTokensForClear: tokens, ClearRetentionSuffixLimit: benchKeep, ClearAtLeastTokens: atLeast,
		})
		require.NoError(b, err)
		return mw
	}
	rewrite := func(b *testing.B, mw adk.ChatModelAgentMiddleware, state *adk.ChatModelAgentState) *adk.ChatModelAgentState {
		b.Helper()
		_, after, err := mw.BeforeModelRewriteState(b.Context(), state, &adk.ModelContext{})
		if err != nil {
			b.Fatal(err)
		}
		return after
	}
	cleared := func(state *adk.ChatModelAgentState) (n int) {
		for _, m := range state.Messages {
			if m.Role == schema.Tool && len(m.Content) < benchResult {
				n++
			}
		}
		return n
	}
	b.Run("idle", func(b *testing.B) {
		mw, state := with(idle, 0), &adk.ChatModelAgentState{Messages: copies(msgs)}
		b.ReportAllocs()
		for b.Loop() {
			state = rewrite(b, mw, state)
		}
		require.Zero(b, cleared(state))
	})
	for name, atLeast := range map[string]int64{"clearing": 0, "clearing/floor": 1} {
		b.Run(name, func(b *testing.B) {
			mw := with(crossed, atLeast)
			before := &adk.ChatModelAgentState{Messages: copies(msgs[:benchMessages-2])}
			require.Zero(b, cleared(rewrite(b, mw, before)), "the call before stays below")
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				state := &adk.ChatModelAgentState{Messages: copies(msgs)}
				runtime.GC()
				b.StartTimer()
				state = rewrite(b, mw, state)
				b.StopTimer()
				require.Equal(b, (benchMessages-2)/2-benchKeep, cleared(state))
				b.StartTimer()
			}
		})
	}
	b.Run("cleared", func(b *testing.B) {
		mw := with(crossed, 0)
		state := rewrite(b, mw, &adk.ChatModelAgentState{Messages: copies(msgs)})
		b.ReportAllocs()
		for b.Loop() {
			state = rewrite(b, mw, state)
		}
	})
}
