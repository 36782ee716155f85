package fit_test

import (
	"fmt"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

var tools = []message.ToolDef{{Name: "read_log", Description: "Reads a page of the log.", Parameters: `{"type":"object"}`}}

// BenchmarkCall measures a call on a long conversation that has one more round each time, and one that has to shrink to a
// window.
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/fit
func BenchmarkCall(b *testing.B) {
	h := editortest.Conversation(editortest.Messages + 200)
	caller := func(window int) func() func([]message.Message) {
		return func() func([]message.Message) {
			return editortest.Caller(b, fit.New(fit.Options{}), &middleware.Budget{Window: window})
		}
	}
	b.Run("grown by a round", func(b *testing.B) { editortest.Growing(b, h, caller(1_000_000)) })
	for _, window := range []int{180_000, 50_000, 8_000} {
		b.Run(fmt.Sprintf("shrinks to %d", window), func(b *testing.B) {
			editortest.Once(b, h[:editortest.Messages], false, caller(window))
		})
	}
}
