package trim_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// requireReachable checks that all that is not in the view can be read by the one
// handle in it.
func requireReachable(t *testing.T, s store.Store, history []message.Message, sent *middleware.Request) {
	t.Helper()
	v := sent.View()
	kept := make([]bool, len(history))
	var all strings.Builder
	for i, m := range v.Messages() {
		span := v.Span(i)
		if span.Edit == nil {
			kept[span.First] = true
			continue
		}
		named := store.HandlesIn(m.Text())
		require.Len(t, named, 1, "%q names a handle", m.Text())
		require.Zero(t, all.Len(), "there is one note")
		appendReachable(t, &all, s, named[0])
	}
	for i, m := range history {
		if !kept[i] {
			require.Contains(t, all.String(), "["+string(m.Role)+"]\n\n"+m.Text(), "message %d was removed", i)
		}
	}
}

// appendReachable appends what is kept under a handle, and under those in it.
func appendReachable(t *testing.T, b *strings.Builder, s store.Store, h store.Handle) {
	t.Helper()
	c, err := s.Get(t.Context(), h)
	require.NoError(t, err)
	for _, before := range store.HandlesIn(c.Data) {
		appendReachable(t, b, s, before)
	}
	b.WriteString(c.Data + "\n\n")
}

// broken is an archive that rejects all contents.
type broken struct{ *store.Memory }

func (broken) Put(context.Context, store.Content) (store.Handle, error) {
	return store.Handle{}, errors.New("no space left on device")
}

func TestNothingIsRemovedWithoutItsArchive(t *testing.T) {
	t.Parallel()
	h := conversation(40)
	mw := middleware.With(middleware.Env{Archive: broken{store.NewMemory(0)}}, trim.New(trim.Options{Trigger: trigger.Messages(20)}))
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Equal(t, h, sent.Messages)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Failed, events[0].Kind)
	require.ErrorContains(t, events[0].Err, "no space left on device")
}

// A conversation that was trimmed without an archive has notes without a handle. What
// they replace is archived with the next removal.
func TestNotesOfBeforeTheArchive(t *testing.T) {
	t.Parallel()
	journal, archive := journal.NewMemory(0), store.NewMemory(0)
	mw := trim.New(trim.Options{Trigger: trigger.Messages(20), TargetTokens: 3000, Note: "(gone)"})
	h := conversation(60)
	sent, _, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: journal, Scope: "a"}, mw), &middleware.Request{Messages: h[:40]})
	require.NoError(t, err)
	require.Less(t, len(sent.Messages), 40)
	sent, _, err = middleware.Apply(t.Context(), middleware.With(middleware.Env{Journal: journal, Scope: "a", Archive: archive}, mw),
		&middleware.Request{Messages: h})
	require.NoError(t, err)
	v := sent.View()
	for i, m := range v.Messages() {
		if v.Span(i).Edit == nil {
			continue
		}
		c, err := archive.Get(t.Context(), store.HandlesIn(m.Text())[0])
		require.NoError(t, err)
		require.Contains(t, c.Data, "job-000002", "what was removed without an archive is archived now")
		require.NotContains(t, c.Data, "(gone)")
		return
	}
	require.Fail(t, "nothing was removed")
}
