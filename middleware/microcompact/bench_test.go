package microcompact_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// The benchmarks measure a call on a long conversation: 2,000 messages, about 800
// kB and 200,000 tokens. A run to compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/microcompact

const (
	messages   = editortest.Messages
	resultSize = 720 // bytes
	keptRounds = 4
	never      = 1 << 40
)

// conversation returns a system prompt, a question and rounds of one call each.
func conversation(messages int) []message.Message { return conversationOf(messages, resultSize) }

func conversationOf(messages, size int) []message.Message {
	h := make([]message.Message, 0, messages)
	h = append(h, message.System("You fix builds."), message.User("Why does the nightly build fail?"))
	for i := 0; len(h)+2 <= messages; i++ {
		id := fmt.Sprintf("call_%06d", i)
		page := strings.Repeat(fmt.Sprintf("nightly %06d: exit status 2\n", i), size/22+1)[:size]
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"job":"nightly","page":%d}`, i)}),
			message.Result(id, "read_log", page))
	}
	return h
}

// talk returns a conversation without tools.
func talk(messages int) []message.Message {
	h := []message.Message{message.System("You fix builds.")}
	for i := 0; len(h)+2 <= messages; i++ {
		h = append(h, message.User(fmt.Sprintf("And build %d?", i)), message.Assistant(message.Text{Text: strings.Repeat("It fails. ", 70)}))
	}
	return h
}

// caller returns a function that calls a model behind microcompact.
func caller(tb testing.TB, opts microcompact.Options) func([]message.Message) {
	tb.Helper()
	return callerWith(tb, middleware.Env{}, opts)
}

func callerWith(tb testing.TB, env middleware.Env, opts microcompact.Options) func([]message.Message) {
	tb.Helper()
	return editortest.Caller(tb, middleware.With(env, microcompact.New(opts)), &middleware.Budget{Window: never})
}

// growing calls the model with a history that has one more round each time.
func growing(b *testing.B, h []message.Message, opts microcompact.Options) {
	b.Helper()
	editortest.Growing(b, h, func() func([]message.Message) { return caller(b, opts) })
}

// BenchmarkIdle has nothing to do: the history is the one of the call before and
// one more round, nothing in it is long, all that is may stay, or there is no tool.
func BenchmarkIdle(b *testing.B) {
	editortest.Sizes(b, conversation(messages))
	b.Run("short", func(b *testing.B) { growing(b, conversationOf(messages+200, 180), microcompact.Options{}) })
	b.Run("protected", func(b *testing.B) {
		growing(b, conversation(messages+200), microcompact.Options{Protect: []string{"read_log"}})
	})
	b.Run("trigger not met", func(b *testing.B) {
		growing(b, conversation(messages+200), microcompact.Options{Trigger: trigger.Tokens(never)})
	})
	b.Run("batch not full", func(b *testing.B) { // it is for the first 1,000 rounds
		growing(b, conversation(messages+200), microcompact.Options{Batch: microcompact.Batch{Results: 500}})
	})
	b.Run("batch not full, with facts", func(b *testing.B) {
		growing(b, conversation(messages+200), microcompact.Options{Batch: microcompact.Batch{Results: 500}, Digest: 40})
	})
	b.Run("talk", func(b *testing.B) { growing(b, talk(messages+200), microcompact.Options{}) })
}

// BenchmarkAll shortens all but four of 999 rounds at once. The history is known
// but for its last round, or not at all; what is removed is archived, or is not. To hash
// it, and nothing else, is the least that archiving takes.
func BenchmarkAll(b *testing.B) {
	for _, c := range []struct {
		name            string
		known, archived bool
	}{{"known", true, false}, {"cold", false, false}, {"archived", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			h := conversation(messages)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				var env middleware.Env
				if c.archived {
					env.Archive = store.NewMemory(0)
				}
				call := callerWith(b, env, microcompact.Options{Trigger: trigger.Messages(messages)})
				if c.known {
					call(h[:messages-2])
				}
				runtime.GC() // what the preparation has left is not the call's
				b.StartTimer()
				call(h)
			}
		})
	}
	b.Run("hash alone", func(b *testing.B) {
		archive, h := store.NewMemory(0), conversation(messages)
		b.ReportAllocs()
		for b.Loop() {
			for _, m := range h[:len(h)-2*keptRounds] {
				for r := range m.Results() {
					archive.Handle(store.Content{Data: r.Text}.Hash())
				}
			}
		}
	})
}

// TestIdleAllocations checks that the allocations of an idle call, and of one that
// shortens one round, do not depend on the length of the history.
//
//nolint:paralleltest // AllocsPerRun counts those of the whole process
func TestIdleAllocations(t *testing.T) {
	const spread, most = 2, 60
	for name, opts := range map[string]microcompact.Options{
		"nothing to do":   {Limit: microcompact.Limits{Results: resultSize}},
		"a batch to come": {Batch: microcompact.Batch{Results: 5}},
		"all is done":     {},
	} {
		editortest.RequireFewAllocations(t, name, spread, most, conversation, func(int) func([]message.Message) { return caller(t, opts) })
	}
}
