package trim_test

import (
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// The benchmarks measure a call on a long conversation. A run to compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/trim

// BenchmarkIdle has nothing to do: the history is the one of the call before and one more round, as long as nothing has
// been removed, and when something has.
func BenchmarkIdle(b *testing.B) {
	h := editortest.Conversation(editortest.Messages + 200)
	editortest.Sizes(b, h[:editortest.Messages])
	for name, opts := range map[string]trim.Options{
		"untouched": {Trigger: trigger.Tokens(1 << 30)},
		"trimmed":   {Trigger: trigger.Tokens(150_000)},
		"levels":    {Trigger: trigger.Tokens(1 << 30), Interval: 1},
	} {
		b.Run(name, func(b *testing.B) {
			editortest.Growing(b, h, func() func([]message.Message) { return editortest.Caller(b, trim.New(opts), nil) })
		})
	}
}

// BenchmarkTrim removes about a ninth of the conversation, half of it, or all that may go. The history is known but for its
// last round.
func BenchmarkTrim(b *testing.B) {
	for name, opts := range map[string]trim.Options{
		"middle": {Strategy: "middle"}, "oldest": {Strategy: "oldest"}, "hybrid": {}, "by age": {Score: byAge},
		"half": {TargetTokens: 100_000}, "all that may go": {TargetTokens: 1}, "archived": {Note: "[gone]"},
	} {
		b.Run(name, func(b *testing.B) {
			opts.Trigger = trigger.Messages(editortest.Messages)
			editortest.Once(b, editortest.Conversation(editortest.Messages), true, func() func([]message.Message) {
				var env middleware.Env
				if name == "archived" {
					env.Archive = store.NewMemory(0)
				}
				return editortest.Caller(b, middleware.With(env, trim.New(opts)), nil)
			})
		})
	}
}
