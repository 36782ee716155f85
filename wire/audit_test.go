package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/wire"
)

// TestAudit sends ten conversations in turn, with and without an audit: an audit sends what came, and tells what would have been
// done. Its chain takes a second for each event, for which no request waits.
func TestAudit(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, audit bool) (came, sent []string, decisions []wire.Decision) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{answer: func(_ int, body string) *http.Response { // a provider for which a token is four bytes
				return reply(http.StatusOK, strings.Replace(whole, "50", strconv.Itoa(len(body)/4), 1))
			}}
			opts := r.options()
			opts.Audit = audit
			slow := middleware.Observe(func(context.Context, middleware.Event) { time.Sleep(time.Second) }) //nolint:forbidigo // in synctest
			rt, start := wire.Transport(r, opts, append(r.chain(), slow)...), time.Now()
			for n := range 50 {
				for talk := range 10 {
					body := strings.Replace(rounds(n/10+1, fmt.Sprint(n%10)+long), "go on", fmt.Sprint("talk ", talk), 1)
					_, answer := do(t, rt, post(t, chatURL, body))
					require.Contains(t, answer, `"content":"ok"`)
					came = append(came, body)
				}
				time.Sleep(time.Minute) //nolint:forbidigo // in synctest; else more would wait than an audit follows
			}
			synctest.Wait()
			require.Equal(t, audit, time.Since(start) == 50*time.Minute, "only an audit adds nothing")
			sent = r.bodies
			for _, d := range r.decisions {
				d.Added = 0
				if d.Audit == audit {
					decisions = append(decisions, d)
				}
			}
		})
		return came, sent, decisions
	}
	_, edited, want := run(t, false)
	came, sent, got := run(t, true)
	require.Equal(t, came, sent)
	require.NotEqual(t, came, edited)
	for i := range got {
		require.True(t, got[i].Audit)
		got[i].Audit = false
	}
	require.Equal(t, want, got)
}
