package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// These fill a database first, which takes minutes:
//
//	LACONIC_SOAK=1000000 LACONIC_POSTGRES=… LACONIC_REDIS=… go test -run '^$' -bench LargeFind -benchtime 1x -timeout 1h ./store/sqlstore
//	LACONIC_SOAK=100000 LACONIC_POSTGRES=… go test -run '^$' -bench LargeArchive -benchtime 1x -timeout 1h ./store/sqlstore

// soak returns how many rows are wanted.
func soak(b *testing.B) int {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("LACONIC_SOAK"))
	if err != nil {
		b.Skip("set LACONIC_SOAK to a number of rows to fill a large database and run this benchmark")
	}
	return n
}

func eachLarge(b *testing.B, do func(b *testing.B, d *database)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { do(b, sqliteDatabase(b)) })
	b.Run("postgres", func(b *testing.B) { do(b, postgresDatabase(b)) })
}

// position returns the ID of a message of a conversation.
func position(conversation, n int) message.ID {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(conversation))
	binary.BigEndian.PutUint64(b[8:], uint64(n))
	sum := sha256.Sum256(b[:])
	return message.ID(sum[:16])
}

// BenchmarkLargeFind has 10^6 entries of 10^4 conversations, and finds entries by the 200 IDs
// of a history, in the database and then in memory. An entry builds on up to 31 others.
func BenchmarkLargeFind(b *testing.B) {
	rows := soak(b)
	eachLarge(b, func(b *testing.B, d *database) {
		largeFind(b, d.engine(b, engine.Options{Limits: patient}), "tenant", rows, func() {
			if d.file == "" {
				d.exec(b, "vacuum (analyze) laconic_entries, laconic_heads")
			}
		})
		b.ReportMetric(d.megabytes(b), "MB")
	})
	b.Run("redis", func(b *testing.B) {
		if e, scope := redisEngine(b); e != nil {
			before := redisMegabytes(b)
			largeFind(b, e, scope, rows, func() {})
			b.ReportMetric(redisMegabytes(b)-before, "MB")
		}
	})
}

// redisMegabytes returns what the server has in memory.
func redisMegabytes(b *testing.B) float64 {
	b.Helper()
	o, err := redis.ParseURL(os.Getenv("LACONIC_REDIS"))
	require.NoError(b, err)
	c := redis.NewClient(o)
	defer c.Close() //nolint:errcheck // of a benchmark
	info, err := c.Info(b.Context(), "memory").Result()
	require.NoError(b, err)
	_, used, _ := strings.Cut(info, "used_memory:")
	used, _, _ = strings.Cut(used, "\r")
	n, err := strconv.ParseFloat(used, 64)
	require.NoError(b, err)
	return n / 1e6
}

func largeFind(b *testing.B, e *engine.Engine, scope string, rows int, filled func()) {
	b.Helper()
	const entries, finds, parallel = 100, 20_000, 4
	ctx, conversations := b.Context(), rows/entries
	memory := journal.NewMemory(1 << 40)
	var all sync.WaitGroup
	for g := range parallel {
		all.Go(func() {
			for c := g; c < conversations; c += parallel {
				var writes []journal.Write
				for n := range entries {
					en := rewrite(message.ID{}, fmt.Sprintf("[result %d of conversation %d cleared: recall kqvmzhtwrcxa]", n, c))
					if n%journal.Internals(inside.Key{}).MaxDepth() > 0 {
						en.Base = writes[n-1].Entry.Rev
						en.Rev = journal.Internals(inside.Key{}).RevisionOf(&en)
					}
					writes = append(writes, journal.Write{ID: position(c, 2*n), Conversation: position(c, 0), Entry: en})
				}
				_, err := e.Journal().Put(ctx, scope, writes)
				if err == nil {
					_, err = memory.Put(ctx, scope, writes)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	filled()
	for b.Loop() {
		var times, inMemory []time.Duration
		for range finds {
			c, ids := rand.IntN(conversations), make([]message.ID, 200)
			for i := range ids {
				ids[i] = position(c, i)
			}
			ids = ids[:1+rand.IntN(len(ids))]
			begin := time.Now()
			found, err := e.Journal().Find(ctx, scope, message.ID{}, ids)
			times = append(times, time.Since(begin))
			require.NoError(b, err)
			require.Len(b, found.Entries, (len(ids)-1)/2%journal.Internals(inside.Key{}).MaxDepth()+1)
			begin = time.Now()
			_, err = memory.Find(ctx, scope, message.ID{}, ids)
			inMemory = append(inMemory, time.Since(begin))
			require.NoError(b, err)
		}
		percentiles(b, "", times)
		percentiles(b, "memory-", inMemory)
	}
	list, err := e.List(ctx, scope)
	require.NoError(b, err)
	require.Len(b, list, conversations)
}

func percentiles(b *testing.B, what string, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	for name, at := range map[string]int{"min-µs": 0, "p50-µs": len(times) / 2, "p99-µs": len(times) * 99 / 100} {
		b.ReportMetric(float64(times[at].Nanoseconds())/1000, what+name)
	}
}

// megabytes returns the size of a database.
func (d *database) megabytes(b *testing.B) float64 {
	b.Helper()
	if d.file != "" {
		info, err := os.Stat(d.file)
		require.NoError(b, err)
		return float64(info.Size()) / 1e6
	}
	var n float64
	require.NoError(b, d.raw.QueryRowContext(b.Context(), `select sum(pg_total_relation_size(oid)) from pg_class
where relnamespace = current_schema()::regnamespace and relkind = 'r'`).Scan(&n))
	return n / 1e6
}

// large returns a text of 10 kB that is different for each n and compresses a little.
func large(n int) store.Content {
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	data := make([]byte, 7500)
	_, _ = r.Read(data) // it returns no error
	return store.Content{Data: base64.StdEncoding.EncodeToString(data)}
}

// BenchmarkLargeArchive has two replicas that put the same 10^5 contents of 10 kB, 1 GB, at the
// same time in batches of four. Each is stored once, and all are read back.
func BenchmarkLargeArchive(b *testing.B) {
	const batch = 4
	contents := soak(b)
	eachLarge(b, func(b *testing.B, d *database) {
		ctx, begin := b.Context(), time.Now()
		archives := make([]store.Store, 2)
		for i := range archives {
			archives[i] = d.engine(b, engine.Options{Secret: []byte("secret"), Limits: patient}).Archive("tenant")
		}
		var all sync.WaitGroup
		var times []time.Duration
		for i, a := range archives {
			all.Go(func() {
				for n := 0; n < contents; n += batch {
					named := make([]store.Named, batch)
					for k := range named {
						c := large((n + k + i*batch*10) % contents) // one is a little ahead
						named[k] = store.Named{Content: c, Hash: c.Hash(), Handle: a.Handle(c.Hash())}
					}
					begin := time.Now()
					if err := a.Put(context.WithoutCancel(ctx), position(n/1000, 0), named); err != nil {
						b.Error(err)
						return
					}
					if i == 0 {
						times = append(times, time.Since(begin))
					}
				}
			})
		}
		all.Wait()
		b.ReportMetric(time.Since(begin).Seconds(), "put-seconds")
		percentiles(b, "", times)
		var rows int
		require.NoError(b, d.open(b).QueryRowContext(ctx, "select count(*) from laconic_contents").Scan(&rows))
		require.Equal(b, contents, rows, "each content is stored once")
		begin = time.Now()
		for n := range contents {
			c := large(n)
			got, err := archives[n%2].Get(ctx, archives[0].Handle(c.Hash()))
			require.NoError(b, err)
			require.Equal(b, 0, strings.Compare(c.Data, got.Data), "content %d", n)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "get-seconds")
		b.ReportMetric(d.megabytes(b), "MB")
		for b.Loop() {
		}
	})
}
