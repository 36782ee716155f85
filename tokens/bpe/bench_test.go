package bpe_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// BenchmarkCount measures the counters beside tiktoken-go on the same texts: the table of docs/internals/tokens.md.
func BenchmarkCount(b *testing.B) {
	s := sampled(b)
	for _, by := range []struct {
		name  string
		count func(text string) int
	}{
		{"CJK15", tokens.CJK15.Count},
		{"Cautious", tokens.Cautious.Count},
		{"Estimate", tokens.Estimate{}.Count},
		{"bpe", bpe.Encoding("o200k_base").Count},
		{"tiktoken-go", func(text string) int { return len(oracle(b, "o200k_base").EncodeOrdinary(text)) }},
	} {
		for name, text := range map[string]string{"prose": s.Prose, "code": s.Code, "JSON": s.JSON, "Chinese": s.Chinese} {
			b.Run(by.name+"/"+name, func(b *testing.B) { measure(b, text, by.count) })
		}
	}
}

// BenchmarkDegenerate measures texts of 200 kB that are one piece each, of which tiktoken-go, which is quadratic, takes
// up to half a minute each.
func BenchmarkDegenerate(b *testing.B) {
	const size = 200_000
	count := bpe.Encoding("o200k_base").Count
	for name, text := range map[string]string{
		"letter":    strings.Repeat("a", size),
		"spaces":    strings.Repeat(" ", size),
		"ideograph": strings.Repeat("中", size/3),
		"base64":    base64.StdEncoding.EncodeToString(hashes(size / 4 * 3)),
	} {
		b.Run(name, func(b *testing.B) { measure(b, text, count) })
	}
}

func measure(b *testing.B, text string, count func(string) int) {
	b.Helper()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		count(text)
	}
}
