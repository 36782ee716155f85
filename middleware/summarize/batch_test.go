package summarize_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/store"
)

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
