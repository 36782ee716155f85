package sqlstore

import (
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// BenchmarkWriters has 16 writers of two processes in one scope, and in 16 scopes, in turn:
//
//	LACONIC_POSTGRES=… go test -run '^$' -bench Writers -benchtime 10x ./store/sqlstore
func BenchmarkWriters(b *testing.B) {
	const writers = 16
	eachLarge(b, func(b *testing.B, d *database) {
		backends := []engine.Backend{d.backend(b), d.backend(b)}
		spent := map[int]time.Duration{}
		puts := 0
		for b.Loop() {
			puts += writers * 20
			for _, scopes := range []int{1, writers} {
				begin := time.Now()
				var all sync.WaitGroup
				var failed atomic.Pointer[error]
				for w := range writers {
					all.Go(func() {
						for range 20 {
							var row engine.Row
							_, _ = rand.Read(row.Rev[:]) // it returns no error
							row.Conversation, row.Data = message.ID{byte(w)}, make([]byte, 500)
							write := engine.Write{ID: row.Rev, Row: row}
							_, err := backends[w%2].Put(b.Context(), fmt.Sprint("tenant ", w%scopes), []engine.Write{write}, engine.Bounds{})
							if err != nil {
								failed.Store(&err)
							}
						}
					})
				}
				all.Wait()
				spent[scopes] += time.Since(begin)
				require.Nil(b, failed.Load())
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(puts)/spent[1].Seconds(), "puts/s-one-scope")
		b.ReportMetric(float64(puts)/spent[writers].Seconds(), "puts/s-16-scopes")
	})
}
