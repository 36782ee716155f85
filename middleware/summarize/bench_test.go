package summarize_test

import (
	"testing"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// The benchmarks measure a call on a conversation of 2,000 messages. A run to
// compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/summarize

const never = 1 << 30

// caller returns a function that calls a model behind summarize.
func caller(tb testing.TB, opts summarize.Options) func([]message.Message, ...string) {
	tb.Helper()
	model := summarize.New(summarize.ByRules(), opts)(testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: "done"})}))
	return func(h []message.Message, force ...string) {
		if _, err := model(tb.Context(), &middleware.Request{Messages: h, Force: force}, nil); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkIdle has nothing to do: nothing has been folded, something has, or the
// soft threshold is reached as well.
func BenchmarkIdle(b *testing.B) {
	h := work(2002)
	for name, opts := range map[string]summarize.Options{
		"untouched": {Trigger: trigger.Tokens(never)},
		"folded":    {Trigger: trigger.Messages(1000)},
		"advised":   {Trigger: trigger.Tokens(never), Soft: trigger.Messages(1000)},
	} {
		b.Run(name, func(b *testing.B) {
			call := caller(b, opts)
			call(h[:1998])
			call(h[:2000])
			b.ReportAllocs()
			for b.Loop() {
				call(h[:2000])
			}
		})
	}
}

// BenchmarkFold folds all but six messages, by rules.
func BenchmarkFold(b *testing.B) {
	h := work(2000)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		call := caller(b, summarize.Options{Trigger: trigger.Tokens(never)})
		call(h[:1998])
		b.StartTimer()
		call(h, "summarize")
	}
}
