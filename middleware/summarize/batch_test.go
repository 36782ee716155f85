package summarize_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/store"
)

// Where one of several summaries fails, none of the others is waited for, and its
// error is told, not that of one that was called off for it.
func TestChunksFailTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := func(ctx context.Context, f *summarize.Fold) (string, error) {
			if strings.Contains(f.Messages[len(f.Messages)-1].Text(), "the second") {
				return "", errors.New("out of paper")
			}
			<-ctx.Done()
			return "", ctx.Err()
		}
		h := []message.Message{message.User("Why?"), said(filler + "the first"), said(filler + "the second"), said(filler + "the third"), message.User("And now?")}
		mw := summarize.New(summarize.ByFunc(s), summarize.Options{
			Keep: 1, Strategy: summarize.Chunks(1), Parallel: 3, NoFallback: true, Timeout: -1,
		})
		view, events := fold(t, mw, h)
		require.Len(t, view, len(h), "nothing is folded")
		last := events[len(events)-1]
		require.Equal(t, middleware.Failed, last.Kind)
		require.Contains(t, last.Why, "out of paper")
	})
}

// What there is to tell of several summaries is told in their order, whichever is
// ready first.
func TestChunksAreToldInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := make(chan struct{}), make(chan struct{})
		s := func(_ context.Context, f *summarize.Fold) (string, error) {
			if strings.Contains(f.Messages[0].Text(), "the second") {
				<-first
				close(second)
				return "It was read, at length, and in the end understood.", nil
			}
			close(first)
			<-second
			return "It was read.", nil
		}
		h := []message.Message{message.User("Why?"), said(filler + "the first"), said(filler + filler + "the second"), message.User("And now?")}
		mw := summarize.New(summarize.ByFunc(s), summarize.Options{Keep: 1, Strategy: summarize.Chunks(1), Parallel: 2, Timeout: -1})
		_, events := fold(t, mw, h)
		told := kinds(events)
		begun := slices.Index(told[1:], summarize.Summarizing) + 1
		require.Positive(t, begun, "%v", told)
		require.Equal(t, slices.Concat(told[:begun], told[:begun], []middleware.EventKind{middleware.Edited}), told)
		require.Equal(t, summarize.Summarized, told[begun-1], "all of the first, then all of the second")
	})
}

// crowded is a store in which other contents have the handles that it tells.
type crowded struct {
	contents map[store.Handle]store.Content
}

func (crowded) Handle(c store.Content) store.Handle { return store.Handles("", c)[0] }

func (s crowded) Put(_ context.Context, c store.Content) (store.Handle, error) {
	h := store.Handles("", c)[1]
	s.contents[h] = c
	return h, nil
}

func (s crowded) Get(_ context.Context, h store.Handle) (store.Content, error) {
	c, ok := s.contents[h]
	if !ok {
		return c, store.ErrNotFound
	}
	return c, nil
}

// A summary that was prepared is of no use if it names a handle that another content
// turns out to have.
func TestPreparedUnderAnotherHandle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		archive := crowded{map[store.Handle]store.Content{}}
		bg := summarize.NewBackground(t.Context(), 2)
		small := writer(good)
		opts := advised()
		opts.Background = bg.Go
		mw := middleware.With(middleware.Env{Archive: archive}, summarize.New(summarize.By(small.Model(), summarize.Ask{}), opts))
		h := history(24)
		apply(t, mw, h[:20])
		bg.Wait()
		require.Len(t, small.Requests(), 1)
		view, events := apply(t, mw, h[:30])
		require.Equal(t, middleware.Failed, events[len(events)-1].Kind, "the archive has told another handle")
		require.NoError(t, middlewaretest.Same(h[:30], view))
		for range 2 { // what the next plan folds beside it has such a handle as well
			view, _ = apply(t, mw, h[:30])
		}
		handles := store.HandlesIn(summaryIn(t, view, h).Text())
		require.Len(t, handles, 1)
		_, err := archive.Get(t.Context(), handles[0])
		require.NoError(t, err, "the handle of the view leads to what is gone")
	})
}
