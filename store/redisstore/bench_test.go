package redisstore_test

import (
	"context"
	"crypto/sha256"
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

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/redisstore"
)

// patient has the time limit of a machine with much to do.
var patient = store.Limits{Timeout: time.Minute}

// subject is a journal with chains on it, and the times of their calls.
type subject struct {
	name   string
	chains []middleware.Model
	times  []time.Duration
}

func newSubject(name string, j journal.Journal, replicas int, at middleware.Trigger) *subject {
	s := &subject{name: name}
	for range replicas {
		model := func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			return &middleware.Response{Message: round(len(req.View().History()) / 2)[0], Stop: middleware.StopTools}, nil
		}
		mw := contextedit.New(contextedit.Options{Trigger: at, Keep: -1})
		s.chains = append(s.chains, middleware.With(middleware.Env{Journal: j, Scope: "s"}, mw)(model))
	}
	return s
}

// round is the answer to a history, and the result that follows it.
func round(n int) []message.Message {
	id := fmt.Sprintf("call_%06d", n)
	return []message.Message{
		message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, n)}),
		message.Result(id, "read_log", strings.Repeat(fmt.Sprintf("%06d: exit status 2\n", n), 36)),
	}
}

// BenchmarkCall makes calls on conversations of up to 80 messages, in turn with each journal:
// those that read nothing (the history grows by the chain's own answer), that read (another
// replica had the conversation before), and that write an edit each.
//
//	LACONIC_REDIS=… go test -run '^$' -bench Call -benchtime 2000x ./store/redisstore
func BenchmarkCall(b *testing.B) {
	never, always := trigger.Messages(1<<40), trigger.Messages(1)
	for _, c := range []struct {
		name     string
		replicas int
		at       middleware.Trigger
	}{{"idle", 1, never}, {"handover", 2, never}, {"edit", 1, always}} {
		b.Run(c.name, func(b *testing.B) {
			backend := open(b)
			var counted trips
			redisstore.Client(backend).AddHook(&counted)
			e, err := engine.New(backend, engine.Options{Limits: patient})
			require.NoError(b, err)
			all := []*subject{
				newSubject("memory", journal.NewMemory(0), c.replicas, c.at), newSubject("redis", e.Journal(), c.replicas, c.at),
			}
			var h []message.Message
			for n := 0; b.Loop(); n++ {
				if len(h) == 0 || len(h) >= 80 {
					h = []message.Message{message.System("You fix builds."), message.User(fmt.Sprintf("Why does build %d fail?", n))}
					for len(h) < 10 {
						h = append(h, round(len(h)/2)...)
					}
				} else {
					h = append(h, round(len(h)/2)...)
				}
				for _, s := range all {
					begin := time.Now()
					_, err := s.chains[len(h)/2%c.replicas](b.Context(), &middleware.Request{Messages: slices.Clip(h)}, nil)
					s.times = append(s.times, time.Since(begin))
					require.NoError(b, err)
				}
			}
			for _, s := range all {
				slices.Sort(s.times)
				b.ReportMetric(float64(s.times[0].Nanoseconds())/1000, s.name+"-min-µs")
				b.ReportMetric(float64(s.times[len(s.times)/2].Nanoseconds())/1000, s.name+"-median-µs")
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(counted.n.Load())/float64(len(all[1].times)), "trips/call")
		})
	}
}

// position returns the ID of a message of a conversation.
func position(conversation, n int) message.ID {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(conversation))
	binary.BigEndian.PutUint64(b[8:], uint64(n))
	sum := sha256.Sum256(b[:])
	return message.ID(sum[:16])
}

// BenchmarkLargeFind has 10^6 entries of 10^4 conversations, and finds entries by the up to
// 200 IDs of a history. An entry builds on up to 31 others. It fills the server first:
//
//	LACONIC_SOAK=1 LACONIC_REDIS=… go test -run '^$' -bench Large -benchtime 1x ./store/redisstore
func BenchmarkLargeFind(b *testing.B) {
	if os.Getenv("LACONIC_SOAK") == "" {
		b.Skip("set LACONIC_SOAK=1 to fill a server with 10^6 entries and run this benchmark")
	}
	const conversations, entries, finds, parallel = 10_000, 100, 20_000, 4
	backend := open(b)
	before := memory(b, backend)
	e, err := engine.New(backend, engine.Options{Limits: patient})
	require.NoError(b, err)
	var all sync.WaitGroup
	for g := range parallel {
		all.Go(func() {
			for c := g; c < conversations; c += parallel {
				if _, err := e.Journal().Put(b.Context(), "tenant", entriesOf(c, entries)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	for b.Loop() {
		times := make([]time.Duration, 0, finds)
		for range finds {
			c, n := rand.IntN(conversations), 1+rand.IntN(2*entries)
			ids := make([]message.ID, n)
			for i := range ids {
				ids[i] = position(c, i)
			}
			begin := time.Now()
			found, err := e.Journal().Find(b.Context(), "tenant", ids)
			times = append(times, time.Since(begin))
			require.NoError(b, err)
			require.Len(b, found.Entries, (n-1)/2%journal.MaxDepth+1)
		}
		slices.Sort(times)
		for name, at := range map[string]int{"min-µs": 0, "p50-µs": finds / 2, "p99-µs": finds * 99 / 100} {
			b.ReportMetric(float64(times[at].Nanoseconds())/1000, name)
		}
	}
	b.ReportMetric((memory(b, backend)-before)/1e6, "MB")
	b.ReportMetric(0, "ns/op")
}

// entriesOf returns entries for every second message of a conversation.
func entriesOf(c, n int) (writes []journal.Write) {
	for i := range n {
		e := journal.Entry{Edits: []*journal.Record{{
			Middleware: "contextedit", Kind: journal.Rewrite, Runs: []message.Run{{First: 2*i + 1, Last: 2*i + 1}}, ID: position(c, 2*i),
			Parts: []message.Part{message.ToolResult{
				CallID: fmt.Sprintf("call_%06d", i), Name: "read_log",
				Text: fmt.Sprintf("[result %d of conversation %d cleared: recall kqvmzhtwrcxa]", i, c),
			}}, HistoryLen: 2*i + 2,
		}}}
		if i%journal.MaxDepth > 0 {
			e.Base, e.Depth = writes[i-1].Entry.Rev, i%journal.MaxDepth
		}
		e.Rev = e.Sum()
		writes = append(writes, journal.Write{ID: position(c, 2*i), Conversation: position(c, 0), Entry: e})
	}
	return writes
}

// memory returns the bytes that a server has in use.
func memory(b *testing.B, backend engine.Backend) float64 {
	b.Helper()
	info, err := redisstore.Client(backend).Info(b.Context(), "memory").Result()
	require.NoError(b, err)
	_, rest, _ := strings.Cut(info, "used_memory:")
	number, _, _ := strings.Cut(rest, "\r")
	n, err := strconv.ParseFloat(number, 64)
	require.NoError(b, err)
	return n
}
