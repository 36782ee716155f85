package otel

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// Journal returns a journal whose reads and writes are measured: laconic.journal.duration, by operation and error. It goes
// around [journal.Guard], so that the numbers are those that a chain waits for.
func Journal(j journal.Journal, o Options) (journal.Journal, error) {
	w, err := newWatch("journal", o)
	return watchedJournal{j, w}, err
}

// Archive returns an archive whose reads and writes are measured: laconic.archive.duration, by operation and error.
func Archive(s store.Store, o Options) (store.Store, error) {
	w, err := newWatch("archive", o)
	return watchedStore{s, w}, err
}

// watch measures calls.
type watch struct{ duration metric.Float64Histogram }

func newWatch(what string, o Options) (watch, error) {
	if o.Meters == nil {
		o.Meters = otel.GetMeterProvider()
	}
	h, err := o.Meters.Meter(library).Float64Histogram("laconic."+what+".duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of reads and writes of the "+what+"."), metric.WithExplicitBucketBoundaries(durationBuckets...))
	if err != nil {
		return watch{}, fmt.Errorf("otel: make instruments: %w", err)
	}
	return watch{h}, nil
}

func (w watch) note(ctx context.Context, operation string, start time.Time, err error) {
	w.duration.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(
		attribute.String("operation", operation), attribute.Bool("failed", err != nil)))
}

type watchedJournal struct {
	journal.Journal

	watch watch
}

// Find implements [journal.Journal].
func (j watchedJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	start := time.Now()
	found, err := j.Journal.Find(ctx, scope, first, ids)
	j.watch.note(ctx, "find", start, err)
	return found, err
}

// Put implements [journal.Journal].
func (j watchedJournal) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	start := time.Now()
	winner, err := j.Journal.Put(ctx, scope, writes)
	j.watch.note(ctx, "put", start, err)
	return winner, err
}

type watchedStore struct {
	store.Store

	watch watch
}

// Put implements [store.Store].
func (s watchedStore) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	start := time.Now()
	err := s.Store.Put(ctx, conversation, contents)
	s.watch.note(ctx, "put", start, err)
	return err
}

// Get implements [store.Store].
func (s watchedStore) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	start := time.Now()
	c, err := s.Store.Get(ctx, h)
	s.watch.note(ctx, "get", start, err)
	return c, err
}
