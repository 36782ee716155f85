package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
)

// taker takes out all old results, those that it has taken out already apart.
func taker(opts middleware.Options) middleware.Middleware {
	return middleware.Editing("taker", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		plan := &middleware.Plan{}
		for i, m := range v.Messages() {
			if m.Role != message.RoleTool || v.Protected(i) != (middleware.Protection{}) || v.Span(i).Edit != nil {
				continue
			}
			r, _ := m.Parts[0].(message.ToolResult)
			h, contents := v.Archive(i, r)
			r.Text = store.Placeholder("[gone]", h)
			e := middleware.RewriteOf(i, r)
			e.Archive = contents
			plan.Edits = append(plan.Edits, e)
		}
		return plan, nil
	}, opts)
}

// watched is a store that does something before each content that is put.
type watched struct {
	store.Store
	before func(ctx context.Context, n int) error
	puts   atomic.Int32 // contents
	calls  atomic.Int32
}

func (w *watched) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	w.calls.Add(1)
	for range contents {
		n := int(w.puts.Add(1))
		if w.before == nil {
			continue
		}
		if err := w.before(ctx, n); err != nil {
			return err
		}
	}
	return w.Store.Put(ctx, conversation, contents)
}

func archiving(s store.Store, opts middleware.Options) middleware.Middleware {
	return middleware.With(middleware.Env{Archive: s}, taker(opts))
}

// requireRecallable checks that each result of the history can be had, from the
// view or by the handle that stands there, and returns how many by a handle.
func requireRecallable(t require.TestingT, s store.Store, history, view []message.Message) (handles int) {
	require.Len(t, view, len(history))
	for i, m := range history {
		for was := range m.Results() {
			for is := range view[i].Results() {
				if was == is {
					continue
				}
				found := archived.In(is.Text)
				require.Len(t, found, 1, "%q has a handle", is.Text)
				c, err := s.Get(context.Background(), found[0])
				require.NoError(t, err)
				require.Equal(t, was.Text, c.Data)
				handles++
			}
		}
	}
	return handles
}

func TestArchiveThatFails(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		before func(context.Context, int) error
		want   string
	}{
		"at once":  {func(context.Context, int) error { return full }, "archive what is removed: the disk is full"},
		"at last":  {func(_ context.Context, n int) error { return map[bool]error{true: full}[n == 11] }, "archive what is removed: the disk is full"},
		"panics":   {func(context.Context, int) error { panic("no disk") }, "archive what is removed: store panicked: no disk"},
		"canceled": {func(context.Context, int) error { return context.Canceled }, "archive what is removed: context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := middlewaretest.ReAct{Rounds: 12}.Messages()
			req := &middleware.Request{Messages: h}
			open := func() *watched { return &watched{Store: store.NewMemory(0), before: c.before} }

			s := open()
			mw := archiving(s, middleware.Options{})
			sent, events, err := middleware.Apply(t.Context(), mw, req)
			require.NoError(t, err, "an archive that fails does not fail the call")
			require.NoError(t, testkit.Same(h, sent.Messages), "what cannot be kept stays")
			require.Len(t, events, 1)
			require.Equal(t, middleware.Failed, events[0].Kind)
			require.Contains(t, events[0].Why, c.want)
			s.before = nil
			sent, _, err = middleware.Apply(t.Context(), mw, req)
			require.NoError(t, err)
			require.Equal(t, 11, requireRecallable(t, s, h, sent.Messages), "once it works again, it is used")

			_, _, err = middleware.Apply(t.Context(), archiving(open(), middleware.Options{Strict: true, ForWindow: true}), req)
			require.ErrorContains(t, err, c.want, "under Strict the call fails")

			sent, events, err = middleware.Apply(t.Context(), archiving(open(), middleware.Options{ForWindow: true}), req)
			require.NoError(t, err)
			require.Len(t, events, 2)
			require.Contains(t, events[0].Why, "what is removed now is not kept: "+c.want)
			require.Equal(t, middleware.Edited, events[1].Kind, "the edit is made even so")
			for i, m := range sent.Messages[:len(h)-1] {
				for r := range m.Results() {
					require.Equal(t, "[gone]", r.Text, "message %d names no handle that leads nowhere", i)
				}
			}
		})
	}
}

// What is archived belongs to the conversation, so that it can be deleted with its journal.
func TestArchiveOfAConversation(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	mw := archiving(s, middleware.Options{})
	one := middlewaretest.ReAct{Rounds: 12}.Messages()
	two := slices.Clone(one)
	two[1] = message.User("Another question about the same pages.")
	for _, h := range [][]message.Message{one[:10], one, two[:8]} {
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err)
	}
	kept := func(h []message.Message) (n int) {
		for _, m := range h {
			for r := range m.Results() {
				if _, err := s.Get(t.Context(), s.Handle(store.Content{Data: r.Text}.Hash())); err == nil {
					n++
				}
			}
		}
		return n
	}
	require.Equal(t, 11, kept(one))
	require.NotEqual(t, journal.ConversationOf(one), journal.ConversationOf(two))
	require.NoError(t, s.Delete(t.Context(), "", journal.ConversationOf(one)))
	require.Equal(t, 2, kept(one), "the two results that the other conversation has archived, too")
	require.NoError(t, s.Delete(t.Context(), "", journal.ConversationOf(two)))
	require.Zero(t, kept(one))
}

// A slow store is waited for, in one call for all contents, and nothing of it outlives
// the call.
func TestSlowArchive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open := func() *watched {
			return &watched{Store: store.NewMemory(0), before: func(ctx context.Context, n int) error {
				if n > 1 {
					return nil
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Minute):
					return nil
				}
			}}
		}
		s := open()
		h := middlewaretest.ReAct{Rounds: 41}.Messages()
		began := time.Now()
		sent, _, err := middleware.Apply(t.Context(), archiving(s, middleware.Options{}), &middleware.Request{Messages: h})
		require.NoError(t, err)
		require.Equal(t, 40, requireRecallable(t, s, h, sent.Messages))
		require.Equal(t, time.Minute, time.Since(began))
		require.Equal(t, int32(1), s.calls.Load(), "one call for 40 contents")

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, _, err = middleware.Apply(ctx, archiving(open(), middleware.Options{}), &middleware.Request{Messages: h})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// Another content may have the handle already. Nothing is removed then, and the event
// and the error of a draft name the handle.
func TestArchiveWithAConflict(t *testing.T) {
	t.Parallel()
	const twin, other, handle = "record 2151487002081378", "record 2846628441870815", "lmciwdehphqc"
	for name, put := range map[string][]string{"put before": {other}, "put at the same time": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := middlewaretest.ReAct{Rounds: 12}.Messages()
			for i, text := range []string{twin, other} {
				r := h[3+2*i].Parts[0].(message.ToolResult)
				r.Text = text
				h[3+2*i].Parts = []message.Part{r}
			}
			s := store.NewMemory(0)
			for _, text := range put {
				_, err := store.Keep(t.Context(), s, store.Content{Data: text})
				require.NoError(t, err)
			}
			mw := archiving(s, middleware.Options{})
			sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
			require.NoError(t, err)
			require.Equal(t, h, sent.Messages, "nothing is removed")
			require.Len(t, events, 1)
			require.Equal(t, middleware.Failed, events[0].Kind)
			require.ErrorIs(t, events[0].Err, store.ErrConflict)
			require.Contains(t, events[0].Why, handle+": another content has this handle")

			d, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h})
			require.NoError(t, err)
			err = d.Commit(t.Context())
			require.ErrorIs(t, err, store.ErrConflict)
			require.ErrorContains(t, err, handle)
			c, err := s.Get(t.Context(), store.HandleIn(nil, "", store.Content{Data: other}.Hash()))
			if put == nil {
				require.ErrorIs(t, err, store.ErrNotFound, "nothing of the plan is kept")
				return
			}
			require.NoError(t, err)
			require.Equal(t, other, c.Data, "what was put first is kept")
		})
	}
}

// TestArchiveRunsWithWhatIsGone: what another editor has removed without a trace, or
// has left a note of that leads nowhere, is kept by the fold that covers it, once.
func TestArchiveRunsWithWhatIsGone(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User("Count.")}
	for i := range 6 {
		h = append(h, message.Assistant(message.Text{Text: fmt.Sprintf("number %d of those that were counted", i)}))
	}
	h = append(h, message.User("Go on."))
	removes := middleware.Editing("remove", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < len(h) {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, 2, message.User("(two more)")), middleware.FoldOf(3, 4)}}, nil
	}, middleware.Options{})
	folds := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		runs := []message.Run{{First: 1, Last: v.Len() - 2}}
		handle, contents := v.ArchiveRuns(runs)
		return &middleware.Plan{Edits: []middleware.Edit{{
			Kind: journal.Fold, Runs: runs, Archive: contents, Messages: []message.Message{message.User(store.Placeholder("counted", handle))},
		}}}, nil
	}, middleware.Options{})
	archive := store.NewMemory(0)
	sent, events, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Archive: archive}, removes, folds), &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Len(t, sent.Messages, 3, "%v", events)
	handles := archived.In(sent.Messages[1].Text())
	require.Len(t, handles, 1)
	c, err := archive.Get(t.Context(), handles[0])
	require.NoError(t, err)
	at := -1
	for i := range 6 {
		k := strings.Index(c.Data, fmt.Sprintf("number %d of those", i))
		require.Greater(t, k, at, "number %d is kept, and in its place", i)
		require.Equal(t, 1, strings.Count(c.Data, fmt.Sprintf("number %d of those", i)), "number %d is kept once", i)
		at = k
	}
}

// TestArchiveOfNothing: an editor of one's own may put into a plan what nobody has
// told a handle of.
func TestArchiveOfNothing(t *testing.T) {
	t.Parallel()
	for name, contents := range map[string][]store.Named{
		"without a handle": {{}}, "without a handle, beside another": {{Handle: store.HandleIn(nil, "", store.Content{}.Hash())}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edits := func(opts middleware.Options) middleware.Middleware {
				return middleware.With(middleware.Env{Archive: store.NewMemory(0)}, middleware.Editing("e",
					func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
						e := middleware.FoldOf(v.Len()-3, v.Len()-3)
						e.Archive = contents
						return &middleware.Plan{Edits: []middleware.Edit{e}}, nil
					}, opts))
			}
			h := []message.Message{
				message.User("Why?"), message.Assistant(message.Text{Text: "Since it is."}),
				message.User("And why is it?"), message.Assistant(message.Text{Text: "It is so."}), message.User("Well."),
			}
			sent, events, err := middleware.Apply(t.Context(), edits(middleware.Options{}), &middleware.Request{Messages: h})
			require.NoError(t, err)
			require.Equal(t, h, sent.Messages, "nothing is edited")
			require.Len(t, events, 1)
			require.Equal(t, middleware.Failed, events[0].Kind, "%+v", events[0])
			require.ErrorContains(t, events[0].Err, "want")

			sent, events, err = middleware.Apply(t.Context(), edits(middleware.Options{ForWindow: true}), &middleware.Request{Messages: h})
			require.NoError(t, err)
			require.Equal(t, h, sent.Messages, "nothing is edited if the editor archives in a view without an archive")
			require.Len(t, events, 2)
			require.ErrorContains(t, events[1].Err, "there is no archive")
		})
	}
}
