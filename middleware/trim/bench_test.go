package trim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// The benchmarks measure a call on a long conversation: 2,000 messages, about 800
// kB and 200,000 tokens, in which each third page is asked for again later. A run to
// compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/trim

const (
	messages   = editortest.Messages
	resultSize = 720 // bytes
	never      = 1 << 40
)

// conversation returns a system prompt, a question and rounds of one call each.
func conversation(messages int) []message.Message {
	h := make([]message.Message, 0, messages)
	h = append(h, message.System("You fix builds."), message.User("Why does the nightly build fail?"))
	for i := 0; len(h)+2 <= messages; i++ {
		id := fmt.Sprintf("call_%06d", i)
		page := strings.Repeat(fmt.Sprintf("job-%06d: exit status 2\n", i), resultSize/23+1)[:resultSize]
		about := ""
		if i%3 == 0 {
			about = fmt.Sprintf(`,"like":"job-%06d"`, i/2)
		}
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"job":"nightly","page":%d%s}`, i, about)}),
			message.Result(id, "read_log", page))
	}
	return h
}

// caller returns a function that calls a model with trim.
func caller(tb testing.TB, opts trim.Options) func([]message.Message) {
	tb.Helper()
	return callerWith(tb, middleware.Env{}, opts)
}

func callerWith(tb testing.TB, env middleware.Env, opts trim.Options) func([]message.Message) {
	tb.Helper()
	return editortest.Caller(tb, middleware.With(env, trim.New(opts)), nil)
}

// BenchmarkIdle has nothing to do: the history is the one of the call before and
// one more round, as long as nothing has been removed, and when something has.
func BenchmarkIdle(b *testing.B) {
	h := conversation(messages + 200)
	editortest.Sizes(b, h[:messages])
	for name, opts := range map[string]trim.Options{
		"untouched": {Trigger: trigger.Tokens(never)},
		"trimmed":   {Trigger: trigger.Tokens(150_000)},
		"levels":    {Trigger: trigger.Tokens(never), Interval: 1},
	} {
		b.Run(name, func(b *testing.B) {
			editortest.Growing(b, h, func() func([]message.Message) { return caller(b, opts) })
		})
	}
	b.Run("walk", func(b *testing.B) {
		same := append([]message.Message(nil), h[:messages]...)
		for b.Loop() {
			if !editortest.Walk(h[:messages], same) {
				b.Fatal("not the same")
			}
		}
	})
}

// BenchmarkTrim removes about a ninth of the conversation, or half of it. The
// history is known but for its last round, or not at all. To look for the words of
// the results that are removed with half of it, and nothing else, is the least that it
// takes to find out that no message uses them.
func BenchmarkTrim(b *testing.B) {
	for _, s := range []string{"middle", "oldest", "hybrid"} {
		b.Run(s, func(b *testing.B) { trimming(b, trim.Options{Strategy: s}, true) })
	}
	b.Run("by age", func(b *testing.B) { trimming(b, trim.Options{Score: byAge}, true) })
	b.Run("half", func(b *testing.B) { trimming(b, trim.Options{TargetTokens: 100_000}, true) })
	b.Run("half, words alone", func(b *testing.B) {
		h := conversation(messages)[messages/2:]
		for b.Loop() {
			n := 0
			for _, m := range h {
				for r := range m.Results() {
					n += wordsOf(r.Text)
				}
			}
			if n == 0 {
				b.Fatal("no words")
			}
		}
	})
	b.Run("all that may go", func(b *testing.B) { trimming(b, trim.Options{TargetTokens: 1}, true) })
	b.Run("note", func(b *testing.B) { trimming(b, trim.Options{Note: "[gone]"}, true) })
	b.Run("archived", func(b *testing.B) {
		trimmingWith(b, func() middleware.Env { return middleware.Env{Archive: store.NewMemory(0)} }, trim.Options{}, true)
	})
	b.Run("cold", func(b *testing.B) { trimming(b, trim.Options{}, false) })
}

// wordsOf counts the words of a text.
func wordsOf(text string) int {
	n, inside := 0, false
	for i := range len(text) {
		is := text[i] > ' '
		if is && !inside {
			n++
		}
		inside = is
	}
	return n
}

func trimming(b *testing.B, opts trim.Options, known bool) {
	b.Helper()
	trimmingWith(b, func() middleware.Env { return middleware.Env{} }, opts, known)
}

func trimmingWith(b *testing.B, env func() middleware.Env, opts trim.Options, known bool) {
	b.Helper()
	opts.Trigger = trigger.Messages(messages)
	editortest.Once(b, conversation(messages), known, func() func([]message.Message) { return callerWith(b, env(), opts) })
}
