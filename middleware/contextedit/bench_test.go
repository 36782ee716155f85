package contextedit_test

import (
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// The benchmarks measure a call on a long conversation. A run to compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/contextedit

const never = 1 << 30

// caller returns a function that calls a model behind contextedit.
func caller(tb testing.TB, env middleware.Env, at middleware.Trigger) func([]message.Message) {
	tb.Helper()
	return editortest.Caller(tb, middleware.With(env, contextedit.New(contextedit.Options{Trigger: at})), nil)
}

// BenchmarkIdle has nothing to do: the history is the one of the call before and one more round.
func BenchmarkIdle(b *testing.B) {
	h := editortest.Conversation(editortest.Messages + 200)
	editortest.Sizes(b, h[:editortest.Messages])
	for name, at := range map[string]middleware.Trigger{
		"untouched":         trigger.Tokens(never),
		"edited":            trigger.Tokens(150_000),
		"untouched/economy": trigger.Economy(trigger.EconomyOptions{Read: 1e-9, Write: 1}),
		"edited/economy":    trigger.Economy(trigger.EconomyOptions{Read: 0.1, Write: 1.25}),
	} {
		b.Run(name, func(b *testing.B) {
			editortest.Growing(b, h, func() func([]message.Message) { return caller(b, middleware.Env{}, at) })
		})
	}
}

// BenchmarkClear clears all but five of 999 results.
func BenchmarkClear(b *testing.B) {
	editortest.Edits(b, func(b *testing.B, env middleware.Env) func([]message.Message) {
		b.Helper()
		return caller(b, env, trigger.Messages(editortest.Messages))
	})
}

// full is met when there are 100 tokens a message.
func full(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	return v.Size().Tokens > 100*v.Len(), "", nil
}

// TestIdleAllocations checks that the allocations of an idle call do not depend
// on the length of the history.
//
//nolint:paralleltest // AllocsPerRun counts those of the whole process
func TestIdleAllocations(t *testing.T) {
	const spread, most = 6, 50 // some more with the race detector
	for name, at := range map[string]middleware.Trigger{
		"untouched":                    trigger.Tokens(never),
		"edited":                       trigger.All(trigger.Messages(100), trigger.Func(full)),
		"edited, trigger is still met": trigger.Messages(100),
	} {
		editortest.RequireFewAllocations(t, name, spread, most, func(int) func([]message.Message) { return caller(t, middleware.Env{}, at) })
	}
}
