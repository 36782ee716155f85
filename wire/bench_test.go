package wire_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/wire"
)

// stub answers at once.
type stub struct{}

func (stub) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	return reply(http.StatusOK, whole), nil
}

// line makes a chat of 2,000 messages one of 800 kB.
var line = strings.Repeat("some words of a result\n", 28)

// BenchmarkRoundTrip measures what a transport adds. The metric min-µs is the least of all requests, which is what a busy
// machine shows best.
func BenchmarkRoundTrip(b *testing.B) {
	clears := func() middleware.Middleware {
		return contextedit.New(contextedit.Options{Trigger: trigger.Rounds(900), Keep: 10})
	}
	idle := func() middleware.Middleware {
		return contextedit.New(contextedit.Options{Trigger: trigger.Rounds(100_000)})
	}
	for _, c := range []struct {
		name   string
		rounds int
		chain  func() middleware.Middleware
		fresh  bool
	}{
		{"20 messages, known", 10, idle, false},
		{"2000 messages, known", 1000, idle, false},
		{"2000 messages, 990 known edits", 1000, clears, false},
		{"2000 messages, never seen", 1000, idle, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			var added time.Duration
			opts := wire.Options{Observe: func(_ context.Context, d wire.Decision) { added = d.Added }}
			body := rounds(c.rounds, line)
			rt, least := wire.Transport(stub{}, opts, c.chain()), time.Hour
			do(b, rt, post(b, chatURL, body))
			do(b, rt, post(b, chatURL, body))
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if c.fresh {
					rt = wire.Transport(stub{}, opts, c.chain())
				}
				do(b, rt, post(b, chatURL, body))
				least = min(least, added)
			}
			b.ReportMetric(float64(least.Nanoseconds())/1e3, "min-µs")
		})
	}
}

// drip is a stream of which each read gives a frame.
type drip struct{ frames []string }

func (d *drip) Read(p []byte) (int, error) {
	if len(d.frames) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.frames[0])
	d.frames = d.frames[1:]
	return n, nil
}

func (d *drip) Close() error { return nil }

// BenchmarkStream measures how much later the first byte of a stream and each other frame reach the client than by the
// transport below, in one run: first-µs is the difference of the least times, frame-µs that of the least medians.
func BenchmarkStream(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d messages", 2*n), func(b *testing.B) { benchmarkStream(b, rounds(n, line)) })
	}
}

func benchmarkStream(b *testing.B, body string) {
	b.Helper()
	frames := make([]string, 200)
	for i := range frames {
		frames[i] = fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word %d\"}}]}\n\n", i)
	}
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		resp := reply(http.StatusOK, "data:")
		resp.ContentLength, resp.Body = -1, &drip{frames: frames}
		return resp, nil
	})
	rt := wire.Transport(base, wire.Options{}, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(100_000)}))
	buffer := make([]byte, 4<<10)
	stream := func(rt http.RoundTripper) (first time.Duration, frame []time.Duration) {
		req := post(b, chatURL, body)
		start := time.Now()
		resp, err := rt.RoundTrip(req)
		require.NoError(b, err)
		for range frames {
			asked := time.Now()
			_, err := resp.Body.Read(buffer)
			require.NoError(b, err)
			frame = append(frame, time.Since(asked))
			if first == 0 {
				first = time.Since(start)
			}
		}
		require.NoError(b, resp.Body.Close())
		slices.Sort(frame)
		return first, frame
	}
	stream(rt)
	least := func(d *time.Duration, is time.Duration) { *d = min(*d, is) }
	bare, with := [2]time.Duration{time.Hour, time.Hour}, [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		first, frame := stream(base)
		least(&bare[0], first)
		least(&bare[1], frame[len(frame)/2])
		first, frame = stream(rt)
		least(&with[0], first)
		least(&with[1], frame[len(frame)/2])
	}
	b.ReportMetric(float64((with[0]-bare[0]).Nanoseconds())/1e3, "first-µs")
	b.ReportMetric(float64((with[1]-bare[1]).Nanoseconds())/1e3, "frame-µs")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// heap returns the bytes that are in use.
func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What a transport keeps of a conversation that grows is not the bodies of all its requests.
func TestMemoryOfOneConversation(t *testing.T) { //nolint:paralleltest // the heap is that of the process
	rt := wire.Transport(stub{}, wire.Options{}, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(100_000)}))
	do(t, rt, post(t, chatURL, rounds(1, "first")))
	before, size := heap(), 0
	for i := 1; i <= 51; i++ {
		body := rounds(i*20, line)
		size = len(body)
		do(t, rt, post(t, chatURL, body))
	}
	kept := heap() - before
	t.Logf("a body of %d kB, %d kB are kept", size>>10, kept>>10)
	require.Less(t, float64(kept), 2.5*float64(size))
	runtime.KeepAlive(rt)
}

var conversations = flag.Int("conversations", 2000, "conversations of 100 kB that are kept in memory")

// The memory of many conversations has a limit.
func TestMemoryOfManyConversations(t *testing.T) { //nolint:paralleltest // the heap is that of the process
	n := *conversations
	if testing.Short() {
		n = 300
	} else if n > soak.Of(n, 2) {
		t.Skip("fewer conversations show no limit: runs with LACONIC_ALL=1")
	}
	rt := wire.Transport(stub{}, wire.Options{}, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(100_000)}))
	before := heap()
	for i := range n {
		do(t, rt, post(t, chatURL, rounds(120, fmt.Sprint(i)+line)))
	}
	kept := heap() - before
	t.Logf("%d conversations, %d MB are kept", n, kept>>20)
	require.Less(t, kept, int64(200<<20))
	runtime.KeepAlive(rt)
}
