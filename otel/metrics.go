package otel

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
)

// instruments are the metrics. Their attributes are names of models, middlewares, kinds and reasons: few values each.
type instruments struct {
	tokens   metric.Int64Histogram
	duration metric.Float64Histogram
	first    metric.Float64Histogram
	added    metric.Float64Histogram

	before, after, prefix, freed, edited, refused, storeErrors, warnings, retries, notFitting metric.Int64Counter

	cost     metric.Float64Counter
	notSpent metric.Float64UpDownCounter

	labels sync.Map     // labelled → *labels
	kept   atomic.Int64 // number of them
}

// labelled is what the attributes of a call depend on.
type labelled struct{ provider, model, purpose, failure string }

// labels are the attributes of calls, made once.
type labels struct {
	call, input, output []metric.RecordOption
	cost                []metric.AddOption
}

func (i *instruments) labelsOf(c *report.Call, err error) *labels {
	key := labelled{provider: providerOf(c), model: c.Model, purpose: c.Purpose}
	if err != nil { // by kind of error or by model, but not by both: there would be too many series
		key.model, key.failure = "", kindOf(err)
	}
	if l, ok := i.labels.Load(key); ok {
		return l.(*labels) //nolint:errcheck,forcetypeassert // the map has only these
	}
	common := []attribute.KeyValue{operationName.String(operation), providerName.String(key.provider), requestModel.String(key.model)}
	if key.failure != "" {
		common[len(common)-1] = errorType.String(key.failure)
	}
	set := func(attrs ...attribute.KeyValue) []metric.RecordOption {
		return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attrs...))}
	}
	l := &labels{
		call:   set(common...),
		cost:   []metric.AddOption{metric.WithAttributes(requestModel.String(c.Model), purpose.String(key.purpose))},
		input:  set(append(slices.Clip(common), tokenType.String("input"))...),
		output: set(append(slices.Clip(common), tokenType.String("output"))...),
	}
	const most = 1000 // names of models may come from anywhere
	if i.kept.Add(1) <= most {
		i.labels.Store(key, l)
	}
	return l
}

// The buckets that the conventions ask for, and those of the time in the chain.
var (
	tokenBuckets    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	durationBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	addedBuckets    = []float64{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}
)

func newInstruments(m metric.Meter) (*instruments, error) {
	i := new(instruments)
	var errs []error
	histogram := func(at *metric.Float64Histogram, name, help string, buckets []float64) {
		h, err := m.Float64Histogram(name,
			metric.WithUnit("s"), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(buckets...))
		*at, errs = h, append(errs, err)
	}
	counter := func(at *metric.Int64Counter, name, help string) {
		c, err := m.Int64Counter(name, metric.WithDescription(help))
		*at, errs = c, append(errs, err)
	}
	var err error
	i.tokens, err = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of model calls, as providers report them."), metric.WithExplicitBucketBoundaries(tokenBuckets...))
	errs = append(errs, err)
	histogram(&i.duration, "gen_ai.client.operation.duration", "Duration of model calls.", durationBuckets)
	histogram(&i.first, "gen_ai.client.operation.time_to_first_chunk", "Time to the first piece of an answer.", durationBuckets)
	histogram(&i.added, "laconic.added", "Time in the chain before a model call.", addedBuckets)
	counter(&i.before, "laconic.tokens.before", "Prompt tokens that would have been sent without edits.")
	counter(&i.after, "laconic.tokens.after", "Prompt tokens that were sent.")
	counter(&i.prefix, "laconic.tokens.prefix", "First prompt tokens that are the same as in the call before.")
	counter(&i.freed, "laconic.tokens.freed", "Tokens by which edits have shortened a prompt when they were made, by middleware.")
	counter(&i.edited, "laconic.edits", "Edits by middleware.")
	counter(&i.refused, "laconic.refusals", "Plans that were refused, and failures, by middleware and reason.")
	counter(&i.storeErrors, "laconic.store.errors", "Errors of the journal and the archive.")
	counter(&i.warnings, "laconic.warnings", "Events that a person should look at, by kind.")
	counter(&i.retries, "laconic.retries", "Model calls that were made again for the same request.")
	counter(&i.notFitting, "laconic.calls.not_fitting", "Calls whose whole history is longer than the window.")
	i.cost, err = m.Float64Counter("laconic.cost", metric.WithDescription("Dollars spent, by reported usage."))
	errs = append(errs, err)
	i.notSpent, err = m.Float64UpDownCounter("laconic.cost.not_spent_estimate", metric.WithDescription(
		"Estimated dollars that the same calls would have cost more with the whole history; negative if editing costs more."))
	return i, errors.Join(append(errs, err)...)
}

// call takes a model call.
func (i *instruments) call(ctx context.Context, c *report.Call, err error) {
	l := i.labelsOf(c, err)
	i.duration.Record(ctx, c.Duration.Seconds(), l.call...)
	if c.First > 0 {
		i.first.Record(ctx, c.First.Seconds(), l.call...)
	}
	if u := c.Usage; err == nil && u.Input+u.Output > 0 {
		i.tokens.Record(ctx, int64(u.Input), l.input...)
		i.tokens.Record(ctx, int64(u.Output), l.output...)
	}
	if c.Bill.Known {
		i.cost.Add(ctx, c.Bill.Spent.Dollars(), l.cost...)
	}
	if c.Purpose != "main" {
		return
	}
	if c.Attempt > 1 {
		i.retries.Add(ctx, 1)
	}
	i.added.Record(ctx, c.Chain.Seconds())
	i.before.Add(ctx, int64(c.History))
	i.after.Add(ctx, int64(c.View))
	i.prefix.Add(ctx, int64(c.Cache.Prefix))
	if c.Bill.Estimated {
		i.notSpent.Add(ctx, c.Bill.NotSpentEstimate.Dollars())
	}
	if c.Bill.NotFitting {
		i.notFitting.Add(ctx, 1)
	}
}

// event takes an event of the chain.
func (i *instruments) event(ctx context.Context, e *middleware.Event) {
	by := metric.WithAttributes(middlewareName.String(e.By))
	switch e.Kind { //nolint:exhaustive // the others are counted as warnings alone
	case middleware.Called:
		return // it is counted when it ends
	case middleware.Edited:
		i.edited.Add(ctx, 1, by)
		i.freed.Add(ctx, int64(max(0, e.Before-e.After)), by)
	case middleware.Refused, middleware.Failed:
		i.refused.Add(ctx, 1, by, metric.WithAttributes(reason.String(e.Reason)))
		if e.Kind == middleware.Failed && (e.Reason == "journal" || e.Reason == "archive") {
			i.storeErrors.Add(ctx, 1, metric.WithAttributes(attribute.String("store", e.Reason)))
		}
	}
	if e.Warning() {
		i.warnings.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", string(e.Kind))))
	}
}
