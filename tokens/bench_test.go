package tokens_test

import (
	"strings"
	"testing"

	"github.com/laconic-go/laconic/tokens"
)

func BenchmarkCounters(b *testing.B) {
	counters := []struct {
		name string
		c    tokens.Counter
	}{{"estimate", tokens.Estimate{}}, {"cautious", tokens.Cautious}, {"cjk15", tokens.CJK15}}
	for _, r := range references(b) {
		text := strings.Repeat(r.text, 1+100_000/len(r.text))
		for _, tt := range counters {
			b.Run(tt.name+"/"+r.kind, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					tt.c.Count(text)
				}
			})
		}
	}
}
