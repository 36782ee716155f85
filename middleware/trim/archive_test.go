package trim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
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
	all := ""
	for i, m := range v.Messages() {
		span := v.Span(i)
		if span.Edit == nil {
			kept[span.First] = true
			continue
		}
		named := archived.In(m.Text())
		require.Len(t, named, 1, "%q names a handle", m.Text())
		require.Empty(t, all, "there is one note")
		all = reachable(t, s, named[0])
	}
	for i, m := range history {
		if !kept[i] {
			require.Contains(t, all, "["+string(m.Role)+"]\n\n"+m.Text(), "message %d was removed", i)
		}
	}
}

// reachable returns what at most two recalls return: of a handle, and of those in its content.
func reachable(t *testing.T, s store.Store, h store.Handle) string {
	t.Helper()
	c, err := s.Get(t.Context(), h)
	require.NoError(t, err)
	all := []string{c.Data}
	for _, before := range archived.In(c.Data) {
		c, err := s.Get(t.Context(), before)
		require.NoError(t, err)
		all = append(all, c.Data)
	}
	return strings.Join(all, "\n\n") + "\n\n"
}

// broken is an archive that rejects all contents.
type broken struct{ *store.Memory }

func (broken) Put(context.Context, message.ID, []store.Named) error {
	return errors.New("no space left on device")
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
		c, err := archive.Get(t.Context(), archived.In(m.Text())[0])
		require.NoError(t, err)
		require.Contains(t, c.Data, "job-000002", "what was removed without an archive is archived now")
		require.NotContains(t, c.Data, "(gone)")
		return
	}
	require.Fail(t, "nothing was removed")
}

// What was read from the archive is removed after the rest, as long as the rest is larger.
func TestRecalledRoundsAreRemovedLast(t *testing.T) {
	t.Parallel()
	round := func(i int, tool, arguments string) []message.Message {
		id := fmt.Sprintf("c%d", i)
		return []message.Message{
			message.Assistant(message.ToolCall{ID: id, Name: tool, Arguments: arguments}),
			message.Result(id, tool, strings.Repeat(fmt.Sprintf("line of result %d\n", i), 40)),
		}
	}
	handle := store.HandleIn(nil, "", store.Content{Data: "some"}.Hash()).String()
	for name, c := range map[string]struct {
		recalled int // of 12 rounds, the first ones after one other
		kept     bool
	}{
		"one": {1, true}, "most": {8, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := []message.Message{message.User("Audit it.")}
			for i := range 12 {
				tool, arguments := "read", "{}"
				if 1 <= i && i <= c.recalled {
					tool, arguments = store.RecallTool, fmt.Sprintf(`{"handle":%q}`, handle)
				}
				h = append(h, round(i, tool, arguments)...)
			}
			mw := middleware.With(middleware.Env{Archive: store.NewMemory(0)},
				trim.New(trim.Options{Strategy: "oldest", Trigger: trigger.Messages(20), TargetTokens: 1000}))
			sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
			require.NoError(t, err)
			require.Less(t, len(sent.Messages), len(h)-6)
			require.Equal(t, c.kept, slices.ContainsFunc(sent.Messages, h[4].Equal), "the recalled result is in the view")
		})
	}
}
