package sqlstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
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
	_ "github.com/laconic-go/laconic/store/redisstore" // redis:
)

// The benchmarks measure whole model calls on conversations of up to 80 messages, with a
// model that answers at once. Each operation makes one call with each journal in turn; that in
// Redis is one of package redisstore. A run:
//
//	LACONIC_POSTGRES=… LACONIC_REDIS=… go test -run '^$' -bench Call -benchtime 2000x ./store/sqlstore

// redisEngine returns an engine of Redis and a scope that is removed after the test; nil if
// there is no server.
func redisEngine(b *testing.B) (e *engine.Engine, scope string) {
	b.Helper()
	url := os.Getenv("LACONIC_REDIS")
	if url == "" || testing.Short() {
		return nil, ""
	}
	e, err := engine.Open(b.Context(), url, engine.Options{Limits: patient})
	require.NoError(b, err)
	scope = "bench-" + rand.Text()
	b.Cleanup(func() {
		require.NoError(b, e.Delete(context.Background(), scope))
		require.NoError(b, e.Close())
	})
	return e, scope
}

// counting counts the calls of a journal.
type counting struct {
	journal.Journal

	finds, puts atomic.Int64
}

func (c *counting) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	c.finds.Add(1)
	return c.Journal.Find(ctx, scope, first, ids)
}

func (c *counting) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	c.puts.Add(1)
	return c.Journal.Put(ctx, scope, writes)
}

// subject is a journal with the times of calls.
type subject struct {
	name    string
	scope   string
	journal *counting
	archive store.Store
	trips   *trips // of PostgreSQL
	chains  []middleware.Model
	times   []time.Duration
}

// subjects returns the journals that are measured, each with some chains of that many
// replicas.
func subjects(
	b *testing.B, replicas int, at middleware.Trigger, archive bool, answer func(h []message.Message) message.Message,
) []*subject {
	b.Helper()
	all := []*subject{{name: "memory", journal: &counting{Journal: journal.NewMemory(0)}, archive: store.NewMemory(0)}}
	add := func(e *engine.Engine, s subject) {
		s.journal, s.archive = &counting{Journal: e.Journal()}, e.Archive(s.scope)
		all = append(all, &s)
	}
	add(sqliteDatabase(b).engine(b, engine.Options{Limits: patient}), subject{name: "sqlite"})
	if !testing.Short() && postgresIsSet() {
		r := &trips{}
		e, err := engine.New(r.open(b, postgresDatabase(b)), engine.Options{Limits: patient})
		require.NoError(b, err)
		add(e, subject{name: "postgres", trips: r})
	}
	if e, scope := redisEngine(b); e != nil {
		add(e, subject{name: "redis", scope: scope})
	}
	for _, s := range all {
		for range replicas {
			env := middleware.Env{Journal: s.journal, Scope: s.scope}
			if archive {
				env.Archive = s.archive
			}
			mw := contextedit.New(contextedit.Options{Trigger: at, Keep: -1})
			model := func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
				return &middleware.Response{Message: answer(req.View().History()), Stop: middleware.StopTools}, nil
			}
			s.chains = append(s.chains, middleware.With(env, mw)(model))
		}
	}
	return all
}

// round is the assistant message after a history, and its result.
func round(n int) []message.Message {
	id := fmt.Sprintf("call_%06d", n)
	return []message.Message{
		message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, n)}),
		message.Result(id, "read_log", strings.Repeat(fmt.Sprintf("%06d: exit status 2\n", n), 36)),
	}
}

// BenchmarkCall makes calls that read nothing (the history grows by the chain's own answer),
// that read (another replica had the conversation before), that write an edit each, and that
// archive what it removes, too.
func BenchmarkCall(b *testing.B) {
	never, always := trigger.Messages(1<<30), trigger.Messages(1)
	for _, c := range []struct {
		name     string
		replicas int
		at       middleware.Trigger
		archive  bool
	}{{"idle", 1, never, false}, {"handover", 2, never, false}, {"edit", 1, always, false}, {"archive", 1, always, true}} {
		b.Run(c.name, func(b *testing.B) {
			const rounds = 40
			answer := func(h []message.Message) message.Message { return round(len(h) / 2)[0] }
			all := subjects(b, c.replicas, c.at, c.archive, answer)
			h, n := []message.Message(nil), 0
			for b.Loop() {
				if len(h) == 0 || len(h) >= 2*rounds {
					n++
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
				s.report(b)
			}
		})
	}
}

// report gives the least and the median time of a call in microseconds, and how often the
// journal was read and written.
func (s *subject) report(b *testing.B) {
	b.Helper()
	slices.Sort(s.times)
	n := float64(len(s.times))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(s.times[0].Nanoseconds())/1000, s.name+"-min-µs")
	b.ReportMetric(float64(s.times[len(s.times)/2].Nanoseconds())/1000, s.name+"-median-µs")
	if s.name == "sqlite" { // they are equal for all
		b.ReportMetric(float64(s.journal.finds.Load())/n, "finds/call")
		b.ReportMetric(float64(s.journal.puts.Load())/n, "puts/call")
	}
	if s.trips != nil {
		b.ReportMetric(float64(s.trips.Load())/n, "trips/call")
	}
}
