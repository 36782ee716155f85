package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/store"
)

func BenchmarkStore(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"2kB", 2_000}, {"1MB", 1_000_000}} {
		text := strings.Repeat("0123456789abcde\n", size.bytes/16+1)[:size.bytes-12]
		for name, open := range map[string]func() store.Store{
			"Memory": func() store.Store { return store.NewMemory(0) },
			"Dir":    func() store.Store { return openDir(b, b.TempDir()) },
		} {
			b.Run(name+"/Put/"+size.name, func(b *testing.B) {
				s := open()
				b.SetBytes(int64(size.bytes))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					put(b, s, store.Content{Data: fmt.Sprintf("%012d", i) + text})
				}
			})
			b.Run(name+"/PutAgain/"+size.name, func(b *testing.B) {
				s := open()
				put(b, s, store.Content{Data: text})
				b.SetBytes(int64(size.bytes))
				b.ReportAllocs()
				for b.Loop() {
					put(b, s, store.Content{Data: text})
				}
			})
			b.Run(name+"/Get/"+size.name, func(b *testing.B) {
				s := open()
				h := put(b, s, store.Content{Data: text})
				b.SetBytes(int64(size.bytes))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Get(b.Context(), h); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
