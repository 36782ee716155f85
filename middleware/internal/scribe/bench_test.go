package scribe_test

import (
	"fmt"
	"testing"

	"github.com/laconic-go/laconic/middleware/internal/scribe"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func BenchmarkWrite(b *testing.B) {
	for _, messages := range []int{100, 2000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			brief := scribe.Brief{Folded: middlewaretest.ReAct{Rounds: messages / 2}.Messages()[1:], Writer: scribe.Author{Model: say(good)}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scribe.Write(b.Context(), brief); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
