package bpe_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/tokens/bpe"
)

// BenchmarkCount measures the counter beside tiktoken-go on the same texts.
func BenchmarkCount(b *testing.B) {
	s := sampled(b)
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		c := bpe.Encoding(encoding)
		o := oracle(b, encoding)
		for _, text := range []struct{ name, text string }{
			{"prose", s.Prose},
			{"code", s.Code},
			{"json", s.JSON},
			{"chinese", s.Chinese},
			{"message-13B", "Hello, world!"},
			{"message-200B", s.Prose[:200]},
			{"message-2kB", s.Prose[:2000]},
			{"message-8kB-json", s.JSON[:8000]},
			{"message-600B-chinese", s.Chinese[:600]},
		} {
			b.Run(encoding+"/"+text.name+"/laconic", func(b *testing.B) {
				b.SetBytes(int64(len(text.text)))
				b.ReportAllocs()
				for b.Loop() {
					c.Count(text.text)
				}
			})
			b.Run(encoding+"/"+text.name+"/tiktoken-go", func(b *testing.B) {
				b.SetBytes(int64(len(text.text)))
				b.ReportAllocs()
				for b.Loop() {
					o.EncodeOrdinary(text.text)
				}
			})
		}
	}
}

// BenchmarkDegenerate measures texts of 200 kB of which tiktoken-go, which is
// quadratic, takes up to half a minute each.
func BenchmarkDegenerate(b *testing.B) {
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		c := bpe.Encoding(encoding)
		for name, text := range degenerate(200_000) {
			b.Run(encoding+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					c.Count(text)
				}
			})
		}
	}
}

// degenerate returns texts that are one piece each, or nearly.
func degenerate(size int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, size)
	for i := range random {
		random[i] = byte(r.IntN(256))
	}
	letters := make([]byte, size)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	return map[string]string{
		"letter":    strings.Repeat("a", size),
		"spaces":    strings.Repeat(" ", size),
		"newlines":  strings.Repeat("\n", size),
		"dashes":    strings.Repeat("-", size),
		"ideograph": strings.Repeat("中", size/3),
		"letters":   string(letters),
		"base64":    base64.StdEncoding.EncodeToString(random)[:size],
	}
}

// BenchmarkLoad measures what the first count costs.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bpe.Load(name)
			}
		})
	}
}
