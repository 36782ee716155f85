// Package otel reports chains to OpenTelemetry: spans, and metrics by the conventions for generative AI.
//
//	observe, err := otel.New(otel.Options{})
//	…
//	model := middleware.With(middleware.Env{}, observe, contextedit.New(contextedit.Options{}), fit.New(fit.Options{}))(provider)
//
// The middleware comes first. A request has a span of its own, laconic.request, with an event for each event of the chain.
// Each model call is a child of it, which begins where the request leaves the chain: a call that is made again is a second
// child, and so is each model call for a summary. One that is made in the background has a span without a parent, with a link
// to the request for which it is made.
//
// Spans and metrics have names and numbers only. No text of a conversation is in them; see [Options.Texts].
package otel

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
)

// library is the name of the tracer and of the meter.
const library = "github.com/laconic-go/laconic/otel"

// Options set where spans and metrics go. The zero value is the global providers.
type Options struct {
	Tracers trace.TracerProvider // nil: otel.GetTracerProvider()
	Meters  metric.MeterProvider // nil: otel.GetMeterProvider()

	// Conversation sets gen_ai.conversation.id in spans, to the name of the conversation or the ID of its first message. It
	// is never in a metric.
	Conversation bool

	// Texts adds the sentences of events and errors to spans. They have numbers and names, and an error may have what a
	// provider or a store puts into it. Without it, an event has its kind, its middleware and its numbers.
	Texts bool
}

// New returns a middleware that reports all that happens inside it. It is safe for concurrent use, and changes no request. The
// error is that of the meter.
func New(o Options) (middleware.Middleware, error) {
	if o.Tracers == nil {
		o.Tracers = otel.GetTracerProvider()
	}
	if o.Meters == nil {
		o.Meters = otel.GetMeterProvider()
	}
	m, err := newInstruments(o.Meters.Meter(library))
	if err != nil {
		return nil, fmt.Errorf("otel: make instruments: %w", err)
	}
	r := &reporter{Options: o, tracer: o.Tracers.Tracer(library), instruments: m}
	around, observe := middleware.Around(r.around), middleware.Observe(r.observe)
	return func(next middleware.Model) middleware.Model { return r.request(observe(around(next))) }, nil
}

// reporter turns events and model calls into spans and metrics.
type reporter struct {
	Options
	*instruments

	tracer trace.Tracer
}

// request makes the span of a request.
func (r *reporter) request(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if req.Dry() {
			return next(ctx, req, emit)
		}
		ctx, span := r.tracer.Start(ctx, "laconic.request")
		defer span.End()
		resp, err := next(ctx, req, emit)
		if err != nil {
			r.failed(span, err)
		}
		return resp, err
	}
}

// failed notes an error.
func (r *reporter) failed(span trace.Span, err error) {
	if !span.IsRecording() {
		return
	}
	text := ""
	if r.Texts {
		text = err.Error()
	}
	span.SetAttributes(errorType.String(kindOf(err)))
	span.SetStatus(codes.Error, text)
}

// kindOf returns a word for an error.
func kindOf(err error) string {
	if kind := middleware.KindOf(err); kind != middleware.Unknown {
		return string(kind)
	}
	return "_OTHER"
}

// around makes the span of a model call.
func (r *reporter) around(ctx context.Context, c report.Call) (context.Context, func(report.Call, error)) {
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
	attrs := make([]attribute.KeyValue, 0, 8) //nolint:mnd // as many as follow
	attrs = append(attrs, operationName.String(operation), providerName.String(providerOf(&c)), requestModel.String(c.Model),
		purpose.String(c.Purpose), attempt.Int(c.Attempt))
	if c.Stream {
		attrs = append(attrs, requestStream.Bool(true))
	}
	if r.Conversation && c.Conversation != "" {
		attrs = append(attrs, conversationID.String(c.Conversation))
	}
	if origin := report.Origin(ctx); origin != nil {
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(origin)))
	}
	ctx, span := r.tracer.Start(ctx, spanName(c.Model), append(opts, trace.WithAttributes(attrs...))...)
	return ctx, func(c report.Call, err error) {
		defer span.End()
		r.call(ctx, &c, err)
		if !span.IsRecording() {
			return
		}
		span.SetAttributes(results(&c)...)
		if err != nil {
			r.failed(span, err)
		}
	}
}

// spanName returns the name of the span of a model call: the operation and the model.
func spanName(model string) string {
	if model == "" {
		return operation
	}
	return operation + " " + model
}

func providerOf(c *report.Call) string {
	if c.Provider == "" {
		return "_OTHER"
	}
	return c.Provider
}

// results returns what is known after a call. What a provider has not reported is left out.
func results(c *report.Call) []attribute.KeyValue {
	attrs := make([]attribute.KeyValue, 0, 24) //nolint:mnd // as many as follow
	text := func(key attribute.Key, value string) {
		if value != "" {
			attrs = append(attrs, key.String(value))
		}
	}
	number := func(key attribute.Key, value int) {
		if value > 0 {
			attrs = append(attrs, key.Int(value))
		}
	}
	text(responseModel, c.Answered)
	text(responseID, c.ID)
	if c.Stop != "" {
		attrs = append(attrs, finishReasons.StringSlice([]string{c.Stop}))
	}
	if c.First > 0 {
		attrs = append(attrs, timeToFirstChunk.Float64(c.First.Seconds()))
	}
	number(inputTokens, c.Usage.Input)
	number(outputTokens, c.Usage.Output)
	number(cacheReadTokens, c.Usage.CacheRead)
	number(cacheWriteTokens, c.Usage.CacheWrite)
	number(reasoningTokens, c.Usage.Thinking)
	if c.Bill.Known {
		attrs = append(attrs, cost.Float64(c.Bill.Spent.Dollars()))
	}
	if c.Purpose != "main" {
		return attrs
	}
	if c.Edits > 0 {
		attrs = append(attrs, compacted.Bool(true))
	}
	if c.Bill.Estimated {
		attrs = append(attrs, notSpentEstimate.Float64(c.Bill.NotSpentEstimate.Dollars()))
	}
	if c.Bill.NotFitting {
		attrs = append(attrs, notFitting.Bool(true))
	}
	text(prefixBroken, c.Cache.Broken)
	return append(attrs, tokensBefore.Int(c.History), tokensAfter.Int(c.View), edits.Int(c.Edits), prefixTokens.Int(c.Cache.Prefix))
}

// observe takes an event of the chain.
func (r *reporter) observe(ctx context.Context, e middleware.Event) {
	r.event(ctx, &e)
	span := trace.SpanFromContext(ctx)
	if e.Kind == middleware.Called || !span.IsRecording() { // a call has a span of its own
		return
	}
	attrs := make([]attribute.KeyValue, 0, 8) //nolint:mnd // as many as follow
	attrs = append(attrs, middlewareName.String(e.By))
	if e.Reason != "" {
		attrs = append(attrs, reason.String(e.Reason))
	}
	if e.Before > 0 || e.After > 0 {
		attrs = append(attrs, tokensBefore.Int(e.Before), tokensAfter.Int(e.After))
	}
	if len(e.Edits) > 0 {
		attrs = append(attrs, edits.Int(len(e.Edits)))
	}
	if e.Err != nil {
		attrs = append(attrs, errorType.String(kindOf(e.Err)))
	}
	if r.Texts {
		attrs = append(attrs, why.String(e.String()))
	}
	span.AddEvent("laconic."+string(e.Kind), trace.WithAttributes(attrs...))
}
