package middlewaretest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
)

func TestRecorder(t *testing.T) {
	t.Parallel()
	var rec Recorder
	require.Empty(t, rec.Events())
	edited := middleware.Event{Kind: middleware.Edited, By: "a", Why: "cleared", Before: 9, After: 5}
	refused := middleware.Event{Kind: middleware.Refused, By: "b", Why: "too long", Before: 5, After: 5}
	rec.events = []middleware.Event{edited, refused, edited}
	require.Equal(t, []middleware.Event{edited, refused, edited}, rec.Events())
	require.Equal(t, []middleware.Event{refused}, rec.Events(middleware.Refused))
	require.Equal(t, rec.Events(), rec.Events(middleware.Refused, middleware.Edited))
	require.Empty(t, rec.Events(middleware.Notice))
	rec.Events()[0].By = "changed"
	require.Equal(t, "a", rec.Events()[0].By, "the slice belongs to the caller")
	require.Len(t, rec.take(), 3)
	require.Empty(t, rec.Events())
}
