package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
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
			Keep: 1, Strategy: summarize.Strategy{Chunks: 1}, Parallel: 3, NoFallback: true, Timeout: -1,
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
				return "It was long, and it was read to its end.", nil
			}
			close(first)
			<-second
			return "It was read.", nil
		}
		h := []message.Message{message.User("Why?"), said(filler + "the first"), said(filler + filler + "the second"), message.User("And now?")}
		mw := summarize.New(summarize.ByFunc(s), summarize.Options{Keep: 1, Strategy: summarize.Strategy{Chunks: 1}, Parallel: 2, Timeout: -1})
		_, events := fold(t, mw, h)
		told := kinds(events)
		begun := slices.Index(told[1:], summarize.Summarizing) + 1
		require.Positive(t, begun, "%v", told)
		require.Equal(t, slices.Concat(told[:begun], told[:begun], []middleware.EventKind{middleware.Edited}), told)
		require.Equal(t, summarize.Summarized, told[begun-1], "all of the first, then all of the second")
	})
}

// crowded is a store in which each content has the handle of another one.
type crowded struct{ *store.Memory }

func (crowded) Put(_ context.Context, _ message.ID, contents []store.Named) error {
	return fmt.Errorf("%s: %w", contents[0].Handle, store.ErrConflict)
}

// A prepared summary is not used if what it replaces has the handle of another
// content: nothing is removed, and the event names the handle.
func TestPreparedWithAConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		archive := crowded{store.NewMemory(0)}
		bg := newBackground(t.Context(), 2)
		small := writer(good)
		opts := advised()
		opts.Background = bg.Start
		mw := middleware.With(middleware.Env{Archive: archive}, summarize.New(summarize.By(small.Model, summarize.Ask{}), opts))
		h := history(24)
		apply(t, mw, h[:20])
		bg.Wait()
		require.Len(t, small.Requests(), 1)
		for range 2 {
			view, events := apply(t, mw, h[:30])
			failed := events[len(events)-1]
			require.Equal(t, middleware.Failed, failed.Kind)
			require.ErrorIs(t, failed.Err, store.ErrConflict)
			require.Regexp(t, "[a-z]{12}: another content has this handle", failed.Why)
			require.NoError(t, testkit.Same(h[:30], view))
		}
	})
}
