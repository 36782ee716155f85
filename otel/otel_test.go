package otel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/otel"
	"github.com/laconic-go/laconic/store"
)

// secret is in each text of the conversation, and in no span or metric.
const secret = "xyzzy"

// rounds returns a history of so many tool calls.
func rounds(n int) []message.Message {
	h := []message.Message{message.User(secret + " look it up")}
	for i := range n {
		id := fmt.Sprintf("c%03d", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: `{"q":"` + secret + `"}`}),
			message.Result(id, "read", strings.Repeat(secret+" of a file ", 200)))
	}
	return h
}

// bench is a chain with exporters in memory.
type bench struct {
	spans   *tracetest.InMemoryExporter
	options otel.Options
	text    func() string // of /metrics
}

func newBench(t *testing.T) *bench {
	t.Helper()
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	require.NoError(t, err)
	b := &bench{spans: tracetest.NewInMemoryExporter()}
	b.options = otel.Options{
		Tracers: trace.NewTracerProvider(trace.WithSyncer(b.spans)), Meters: metric.NewMeterProvider(metric.WithReader(reader)),
	}
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)
	b.text = func() string {
		resp, err := http.Get(server.URL) //nolint:noctx // a test
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(data)
	}
	return b
}

func (b *bench) chain(t *testing.T, model middleware.Model, env middleware.Env, mws ...middleware.Middleware) middleware.Model {
	t.Helper()
	observe, err := otel.New(b.options)
	require.NoError(t, err)
	return middleware.With(env, append([]middleware.Middleware{observe}, mws...)...)(model)
}

func answer(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
	return &middleware.Response{
		Message: message.Assistant(message.Text{Text: secret}), Stop: middleware.StopEnd, ID: "msg_1", Model: "claude-sonnet-4-5-20250929",
		Usage: message.Usage{Input: 1000, CacheRead: 800, CacheWrite: 200, Output: 20},
	}, nil
}

func attributes(s tracetest.SpanStub) map[attribute.Key]any {
	all := map[attribute.Key]any{}
	for _, a := range s.Attributes {
		all[a.Key] = a.Value.AsInterface()
	}
	return all
}

// TestSpans has an edit, a model call that fails and is made again, and summaries.
func TestSpans(t *testing.T) {
	t.Parallel()
	b, n := newBench(t), 0
	parent := ""
	model := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		parent = oteltrace.SpanContextFromContext(ctx).SpanID().String()
		n++
		if n == 1 {
			return nil, errors.New("prompt is too long: 9000 tokens > 8000 maximum " + secret)
		}
		return answer(ctx, req, emit)
	}
	writer := summarize.By(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{
			Message: message.Assistant(message.Text{Text: "Goal: the files were read.\nNext steps: read on"}),
			Usage:   message.Usage{Input: 500, Output: 30},
		}, nil
	}, summarize.Ask{Model: "claude-haiku-4-5"})
	run := b.chain(t, model, middleware.Env{}, summarize.New(writer, summarize.Options{Trigger: trigger.Tokens(3000)}), fit.New(fit.Options{}))
	_, err := run(t.Context(), &middleware.Request{
		Messages: rounds(20), Model: "claude-sonnet-4-5", Conversation: "c1", Budget: &middleware.Budget{Window: 40_000},
	}, nil)
	require.NoError(t, err)
	spans := b.spans.GetSpans()
	var names []string
	for _, s := range spans {
		names = append(names, s.Name+" "+s.SpanKind.String()+" "+s.Status.Code.String())
		if s.Name != "laconic.request" {
			require.Equal(t, spans[len(spans)-1].SpanContext.SpanID(), s.Parent.SpanID(), "a child of the request")
		}
	}
	require.Equal(t, "laconic.request internal Unset", names[len(names)-1])
	require.Contains(t, names, "chat claude-haiku-4-5 client Unset", "a summary")
	var main []tracetest.SpanStub
	for _, s := range spans {
		if s.Name == "chat claude-sonnet-4-5" {
			main = append(main, s)
		}
	}
	require.Len(t, main, 2, "the retry is a second span: %v", names)
	require.Equal(t, "Error", main[0].Status.Code.String())
	require.Equal(t, parent, main[1].SpanContext.SpanID().String(), "the model runs inside of it")
	got := attributes(main[1])
	for key, want := range map[attribute.Key]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-sonnet-4-5",
		"gen_ai.response.model": "claude-sonnet-4-5-20250929", "gen_ai.response.id": "msg_1",
		"gen_ai.usage.input_tokens": int64(1000), "gen_ai.usage.output_tokens": int64(20),
		"gen_ai.usage.cache_read.input_tokens": int64(800), "gen_ai.usage.cache_write.input_tokens": int64(200),
		"gen_ai.conversation.compacted": true, "laconic.attempt": int64(2), "laconic.purpose": "main",
		"laconic.cost": (800*0.3 + 200*3.75 + 20*15) / 1e6,
	} {
		require.Equal(t, want, got[key], "%s", key)
	}
	require.NotContains(t, got, attribute.Key("gen_ai.conversation.id"), "by option only")
	require.NotContains(t, got, attribute.Key("gen_ai.request.stream"))
	require.NotContains(t, attributes(main[0]), attribute.Key("gen_ai.usage.input_tokens"), "not reported")
	var events []string
	for _, e := range spans[len(spans)-1].Events {
		events = append(events, e.Name)
	}
	require.Contains(t, events, "laconic.edited")
	require.Contains(t, events, "laconic.summarized")
	require.NotContains(t, fmt.Sprint(spans), secret, "no text of the conversation")
	require.NotContains(t, b.text(), secret)
}

// TestSummaryInTheBackground has a span without a parent, and a link to the request.
func TestSummaryInTheBackground(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var tasks []func(context.Context)
	writer := summarize.By(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "Goal: the files were read.\nNext steps: read on"})}, nil
	}, summarize.Ask{Model: "claude-haiku-4-5"})
	run := b.chain(t, answer, middleware.Env{}, summarize.New(writer, summarize.Options{
		Trigger: trigger.Tokens(1 << 20), Soft: trigger.Tokens(3000),
		Background: func(task func(context.Context)) bool {
			tasks = append(tasks, task)
			return true
		},
	}))
	_, err := run(t.Context(), &middleware.Request{Messages: rounds(20), Model: "claude-sonnet-4-5"}, nil)
	require.NoError(t, err)
	require.Len(t, tasks, 1)
	before := b.spans.GetSpans()
	request := before[len(before)-1]
	tasks[0](t.Context())
	spans := b.spans.GetSpans()[len(before):]
	require.NotEmpty(t, spans)
	for _, s := range spans {
		require.Equal(t, "chat claude-haiku-4-5", s.Name)
		require.False(t, s.Parent.IsValid())
		require.Len(t, s.Links, 1)
		require.Equal(t, request.SpanContext.SpanID(), s.Links[0].SpanContext.SpanID())
	}
}

// TestMetrics compares numbers in the text for Prometheus, and counts the series of ten models and six middlewares.
func TestMetrics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared, err := otel.Journal(journal.NewMemory(0), b.options)
	require.NoError(t, err)
	archive, err := otel.Archive(store.NewMemory(0), b.options)
	require.NoError(t, err)
	var fail error
	model := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if fail != nil {
			return nil, fail
		}
		if emit != nil {
			require.NoError(t, emit(middleware.Delta{Text: "o"}))
		}
		return answer(ctx, req, emit)
	}
	mws := []middleware.Middleware{contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2000)})}
	bad := func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, 1)}}, nil
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		mws = append(mws, middleware.Editing(name, bad, middleware.Options{}))
	}
	run := b.chain(t, model, middleware.Env{Journal: shared, Archive: archive}, append(mws, fit.New(fit.Options{}))...)
	names := []string{
		"claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5", "gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-5", "gpt-5-mini", "o3",
	}
	emit := func(middleware.Delta) error { return nil }
	for _, name := range names {
		for n := 10; n < 13; n++ {
			_, err := run(t.Context(), &middleware.Request{Messages: rounds(n), Model: name, Conversation: name}, emit)
			require.NoError(t, err)
		}
	}
	for _, kind := range []middleware.ErrorKind{middleware.RateLimited, middleware.Unavailable, middleware.Denied, middleware.Invalid, ""} {
		fail = &middleware.Error{Kind: kind, Err: errors.New(secret)}
		_, err := run(t.Context(), &middleware.Request{Messages: rounds(12), Model: names[0]}, nil)
		require.Error(t, err)
	}
	text := b.text()
	require.NotContains(t, text, secret)
	series := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	t.Logf("%d series", series)
	require.LessOrEqual(t, series, 1000)
	value := func(pattern string) string {
		m := regexp.MustCompile("(?m)^" + pattern + `.*? (\S+)$`).FindStringSubmatch(text)
		require.NotNil(t, m, "%s in\n%s", pattern, text)
		return m[1]
	}
	require.Equal(t, "3000", value(`gen_ai_client_token_usage_sum\{.*gen_ai_request_model="gpt-4o",.*input`), "three calls")
	require.Equal(t, "3", value(`laconic_edits_total\{laconic_middleware="contextedit"`))
	require.Equal(t, "pairs", regexp.MustCompile(`laconic_refusals_total\{laconic_middleware="a",laconic_reason="(\w+)"`).FindStringSubmatch(text)[1])
}

// TestDashboard has a query for known metrics only.
func TestDashboard(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	known := "laconic_journal_duration laconic_archive_duration"
	for _, name := range []string{"metrics.go", "names.go", "../internal/gateway/metrics.go"} {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		known += strings.ReplaceAll(string(source), ".", "_")
	}
	queries := regexp.MustCompile(`(laconic|gen_ai)_[a-z_]+`).FindAllString(string(data), -1)
	require.NotEmpty(t, queries)
	for _, q := range queries {
		for _, suffix := range []string{"_bucket", "_total", "_seconds", "_sum", "_count"} {
			q = strings.TrimSuffix(q, suffix)
		}
		require.Contains(t, known, q)
	}
}
