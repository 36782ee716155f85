package wire_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

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
