package editortest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// Messages is the length of the long conversation of benchmarks: about 800 kB and 200,000 tokens.
const Messages = 2000

// Conversation returns a system prompt, a question and rounds of one call each. Results have 720 bytes.
func Conversation(messages int) []message.Message {
	h := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	for i := 0; len(h)+2 <= messages; i++ {
		id := fmt.Sprintf("call_%06d", i)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"job":"nightly","page":%d}`, i)}),
			message.Result(id, "read_log", strings.Repeat(fmt.Sprintf("nightly %06d: exit status 2\n", i), 24)))
	}
	return h
}

// Caller returns a function that calls a model behind a middleware. The model does nothing.
func Caller(tb testing.TB, mw middleware.Middleware, budget *middleware.Budget) func([]message.Message) {
	tb.Helper()
	model, ctx := mw(Silent), tb.Context()
	return func(h []message.Message) {
		if _, err := model(ctx, &middleware.Request{Messages: h, Budget: budget}, nil); err != nil {
			tb.Fatal(err)
		}
	}
}

// Growing measures calls with a history that has one more round each time, for a hundred rounds around the length of
// the long conversation. The caller is made anew when it has had them all.
func Growing(b *testing.B, h []message.Message, caller func() func([]message.Message)) {
	b.Helper()
	b.ReportAllocs()
	call := caller()
	call(h[:Messages-100])
	n := Messages - 100
	for b.Loop() {
		n += 2
		if n > Messages+100 {
			b.StopTimer()
			call = caller()
			n = Messages - 100
			call(h[:n])
			n += 2
			b.StartTimer()
		}
		call(h[:n])
	}
}

// Once measures the call of a new caller with a history, which it has had before without its last two messages if it is
// known.
func Once(b *testing.B, h []message.Message, known bool, caller func() func([]message.Message)) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		call := caller()
		if known {
			call(h[:len(h)-2])
		}
		runtime.GC() // what the preparation has left is not the call's
		b.StartTimer()
		call(h)
	}
}

// Edits measures the first edit of the long conversation: known but for its last round, never seen, and known with an archive
// that gets what is removed.
func Edits(b *testing.B, caller func(b *testing.B, env middleware.Env) func([]message.Message)) {
	b.Helper()
	for _, c := range []struct {
		name            string
		known, archived bool
	}{{"known", true, false}, {"cold", false, false}, {"archived", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			Once(b, Conversation(Messages), c.known, func() func([]message.Message) {
				var env middleware.Env
				if c.archived {
					env.Archive = store.NewMemory(0)
				}
				return caller(b, env)
			})
		})
	}
}

// Silent is a model that does nothing.
func Silent(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
	return &middleware.Response{}, nil
}

// Sizes checks that the long conversation has its size.
func Sizes(tb testing.TB, h []message.Message) {
	tb.Helper()
	n := tokens.Meter{Counter: tokens.Chars4}.Request(h, nil)
	if len(h) != Messages || n < 190_000 || n > 230_000 {
		tb.Fatalf("%d messages, %d tokens", len(h), n)
	}
}

// RequireFewAllocations checks that a call on a conversation that nothing has to be done for makes about as many
// allocations at 2,000 messages as at 100, and fewer than most.
func RequireFewAllocations(t *testing.T, name string, spread, most float64,
	caller func(messages int) func([]message.Message),
) {
	t.Helper()
	var allocs []float64
	for _, n := range []int{100, Messages} {
		h, call := Conversation(n), caller(n)
		call(h[:n-2])
		call(h)
		allocs = append(allocs, testing.AllocsPerRun(50, func() { call(h) }))
	}
	t.Logf("%s: %v allocations", name, allocs)
	require.InDelta(t, allocs[0], allocs[1], spread, "%s: allocations at 100 and at 2,000 messages", name)
	require.Less(t, allocs[1], most, name)
}
