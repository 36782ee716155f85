package microcompact_test

import (
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// The benchmarks measure a call on a long conversation. A run to compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/microcompact

const never = 1 << 30

// caller returns a function that calls a model behind microcompact.
func caller(tb testing.TB, env middleware.Env, opts microcompact.Options) func([]message.Message) {
	tb.Helper()
	return editortest.Caller(tb, middleware.With(env, microcompact.New(opts)), &middleware.Budget{Window: never})
}

// BenchmarkAll shortens all but four of 999 rounds at once.
func BenchmarkAll(b *testing.B) {
	editortest.Edits(b, func(b *testing.B, env middleware.Env) func([]message.Message) {
		b.Helper()
		return caller(b, env, microcompact.Options{Trigger: trigger.Messages(editortest.Messages)})
	})
}

// TestIdleAllocations checks that the allocations of an idle call, and of one that
// shortens one round, do not depend on the length of the history.
//
//nolint:paralleltest // AllocsPerRun counts those of the whole process
func TestIdleAllocations(t *testing.T) {
	const spread, most = 2, 60
	for name, opts := range map[string]microcompact.Options{
		"nothing to do":   {Limit: microcompact.Limits{Results: 720}},
		"a batch to come": {Batch: microcompact.Batch{Results: 5}},
		"all is done":     {},
	} {
		editortest.RequireFewAllocations(t, name, spread, most, func(int) func([]message.Message) { return caller(t, middleware.Env{}, opts) })
	}
}
