package gateway

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
)

// series is a metric: its name, what it counts, and its labels.
type series struct {
	name, kind, help string
	labels           []string
}

// other is the label of what is of no known format or reason.
const other = "other"

// reasons are the labels of what package wire gives as the reason why a request passed untouched, by its beginning.
var reasons = []struct{ begins, label string }{
	{"token counting", "token_counting"},
	{"a batch", "batch"},
	{"the path is of no known API", "path"},
	{"the body is compressed", "compressed"},
	{"the body is signed", "signed"},
	{"the headers have a digest", "digest"},
	{"the body is longer", "too_long"},
	{"previous_response_id", "provider_state"},
	{"conversation", "provider_state"},
	{"item_reference", "provider_state"},
	{"cachedContent", "provider_state"},
	{"background", "background"},
	{"codec: ", "unreadable"},
	{"the chain failed", chainFailed},
	{"audit", "audit"},
}

// reasonOf returns the label of a reason; "" of none.
func reasonOf(why string) string {
	if why == "" {
		return ""
	}
	for _, r := range reasons {
		if strings.HasPrefix(why, r.begins) {
			return r.label
		}
	}
	return other
}

func outcome(err error) string {
	if err != nil {
		return "failed"
	}
	return "done"
}

// metrics are the numbers of a gateway.
type metrics struct {
	all []interface{ write(w *strings.Builder) }

	requests, passed, tokensBefore, tokensAfter, edits, retries, compactions *counter
	storeErrors, failures, warnings, audits, reloads, active                 *counter

	broken, saved *counter
	added         *histogram
	ledger        ledger
	failure       atomic.Pointer[failure] // the last one of a store; nil: none
}

// failure is one of a store: "archive: full".
type failure struct {
	what string
	at   time.Time
}

// recent is how long a failure of a store counts as going on.
const recent = time.Minute

// lost returns the failure of a store that goes on; "": none.
func (m *metrics) lost() string {
	if f := m.failure.Load(); f != nil && time.Since(f.at) < recent {
		return f.what
	}
	return ""
}

// newMetrics returns them. Values of labels are words of this package and names of middlewares: there is a fixed number.
func newMetrics() *metrics {
	added := series{"laconic_added_seconds", "histogram", "Time added until the answer began, without the upstream.", nil}
	m := &metrics{added: &histogram{series: added}}
	for _, c := range []struct {
		at **counter
		series
	}{
		{&m.requests, series{
			"laconic_requests_total", "counter", "Requests by format and result: edited, unchanged, " +
				"passed (untouched), refused (by the upstream), failed (no answer), broken (in the middle), rejected (too many at once).",
			[]string{"format", "result"},
		}},
		{&m.passed, series{"laconic_passed_total", "counter", "Requests that passed untouched, by reason.", []string{"reason"}}},
		{&m.tokensBefore, series{"laconic_tokens_before_total", "counter", "Prompt tokens that would have been sent without edits.", nil}},
		{&m.tokensAfter, series{"laconic_tokens_after_total", "counter", "Prompt tokens that were sent.", nil}},
		{&m.edits, series{"laconic_edits_total", "counter", "Edits by middleware.", []string{"middleware"}}},
		{&m.retries, series{"laconic_retries_total", "counter", "Requests for which the upstream was asked again.", nil}},
		{&m.compactions, series{"laconic_compactions_total", "counter", "Requests for compactions that native has made.", nil}},
		{&m.storeErrors, series{"laconic_store_errors_total", "counter", "Errors of the journal and the archive.", []string{"store"}}},
		{&m.failures, series{"laconic_failures_total", "counter", "Requests in which a layer failed, by what.", []string{"failed"}}},
		{&m.warnings, series{"laconic_warnings_total", "counter", "Events that a person should look at, by kind.", []string{"kind"}}},
		{&m.broken, series{"laconic_cache_broken_total", "counter", "Requests in which edits have broken the cached prefix.", nil}},
		{&m.saved, series{"laconic_saved_dollars", "gauge", "Estimate of what edits save; negative: of what they cost.", nil}},
		{&m.audits, series{"laconic_audits_total", "counter", "Audits by result: edited, unchanged, failed.", []string{"result"}}},
		{&m.reloads, series{"laconic_reloads_total", "counter", "Reloads of the chain file, by result.", []string{"result"}}},
		{&m.active, series{"laconic_active_requests", "gauge", "Requests that are being answered.", nil}},
	} {
		*c.at = &counter{series: c.series, values: map[[2]string]float64{}}
		m.all = append(m.all, *c.at)
	}
	m.all = append(m.all, m.added)
	return m
}

// event counts what the chain reports.
func (m *metrics) event(ctx context.Context, e middleware.Event) {
	switch e.Kind { //nolint:exhaustive // the others are not counted
	case middleware.Edited:
		m.edits.add(1, e.By)
	case middleware.Called:
		m.tokensBefore.add(float64(e.Before))
		m.tokensAfter.add(float64(e.After))
		m.book(ctx, e.Call)
	case middleware.Failed:
		if e.Reason == "journal" { // errors of the archive are counted where it is called
			exchangeOf(ctx).fails(m, "journal", e.Err)
		}
	}
	if e.By == "wire" && e.Kind == middleware.Notice { // its texts have nothing of the request
		exchangeOf(ctx).note(e.Why)
	}
	if e.Warning() {
		m.warnings.add(1, string(e.Kind))
	}
}

// book counts what the edits of a call cost and save.
func (m *metrics) book(ctx context.Context, c *report.Call) {
	if breaks(c) {
		m.broken.add(1)
	}
	if c.Bill.Estimated {
		m.saved.add(c.Bill.NotSpentEstimate.Dollars())
	}
	x, b := exchangeOf(ctx), m.ledger.book(c)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.balance = b
}

// write writes all metrics as text for Prometheus.
func (m *metrics) write(w *strings.Builder) {
	for _, one := range m.all {
		one.write(w)
	}
}

// counter is a metric with a number for each tuple of labels.
type counter struct {
	series

	mu     sync.Mutex
	values map[[2]string]float64 // by the values of the labels
}

// add adds a number under the values of the labels, of which there are at most two.
func (c *counter) add(n float64, labels ...string) {
	var key [2]string
	copy(key[:], labels)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] += n
}

func (c *counter) set(n float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[[2]string{}] = n
}

func (c *counter) write(w *strings.Builder) {
	c.head(w)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.labels) == 0 {
		fmt.Fprintf(w, "%s %s\n", c.name, number(c.values[[2]string{}]))
		return
	}
	var lines []string
	for values, n := range c.values {
		var labels []string
		for i, name := range c.labels {
			labels = append(labels, fmt.Sprintf("%s=%q", name, values[i]))
		}
		lines = append(lines, fmt.Sprintf("%s{%s} %s\n", c.name, strings.Join(labels, ","), number(n)))
	}
	slices.Sort(lines)
	w.WriteString(strings.Join(lines, ""))
}

func (s series) head(w *strings.Builder) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", s.name, s.help, s.name, s.kind)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// bounds are the upper bounds of the buckets of added time.
var bounds = []time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond,
	2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, time.Second,
}

// histogram is a metric of durations.
type histogram struct {
	series

	mu      sync.Mutex
	buckets [12]int // the last one is above all bounds
	sum     time.Duration
}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(bounds, d)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buckets[i]++
	h.sum += d
}

func (h *histogram) write(w *strings.Builder) {
	h.head(w)
	h.mu.Lock()
	defer h.mu.Unlock()
	total := 0
	for i, n := range h.buckets {
		bound := "+Inf"
		if i < len(bounds) {
			bound = number(bounds[i].Seconds())
		}
		total += n
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", h.name, bound, total)
	}
	fmt.Fprintf(w, "%s_sum %s\n%s_count %d\n", h.name, number(h.sum.Seconds()), h.name, total)
}
