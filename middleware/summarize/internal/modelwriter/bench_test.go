package modelwriter_test

import (
	"fmt"
	"testing"

	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
)

func BenchmarkWrite(b *testing.B) {
	for _, messages := range []int{100, 2000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			brief := modelwriter.Request{Folded: middlewaretest.ReAct{Rounds: messages / 2}.Messages()[1:], Writer: modelwriter.Author{Model: say(good)}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ask(b.Context(), brief); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
