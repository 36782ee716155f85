package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/failure"
	"github.com/laconic-go/laconic/tokens"
)

func BenchmarkZZ(b *testing.B) {
	var cleared []digest.Cleared
	var kept []string
	for i := range 994 {
		page := strings.Repeat(fmt.Sprintf("line %06d: exit status 2, see the log of step %d for details\n", i, i%7), 695/60+1)[:695]
		cleared = append(cleared, digest.Cleared{Text: page})
		kept = append(kept, fmt.Sprintf(`{"job":"nightly","page":%d,"path":"/var/log/ci/nightly/%06d.log"}`, i, i), "[cleared: recall kqvmzhtwrcxa]")
	}
	b.Run("Lines", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			digest.Lines(cleared, kept, digest.Options{Tokens: 40, Counter: tokens.Chars4})
		}
	})
	b.Run("Failure", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, c := range cleared {
				failure.In(c.Text)
			}
		}
	})
	b.Run("Upper", func(b *testing.B) { // unit
		for b.Loop() {
			n := 0
			for _, c := range cleared {
				for i := range len(c.Text) {
					if c.Text[i] > 'Z' {
						n++
					}
				}
			}
			_ = n
		}
	})
}
