package middleware_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestDraftCommit(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 17, Result: 700}.Messages()
	grown := history
	history = history[:len(history)-2]
	for name, build := range map[string]func(l *layers) middleware.Middleware{
		"chain": func(l *layers) middleware.Middleware { return middleware.Chain(l.shorten(), l.fold()) },
		"alone": (*layers).fold,
		"with an Env": func(l *layers) middleware.Middleware {
			return middleware.With(middleware.Env{Scope: "a", Journal: journal.NewMemory(0)}, l.shorten(), l.fold())
		},
		"by hand": func(l *layers) middleware.Middleware {
			a, b := l.shorten(), l.fold()
			return func(next middleware.Model) middleware.Model { return a(b(next)) }
		},
		"an owner behind another": func(l *layers) middleware.Middleware {
			a, b := l.shorten(), middleware.With(middleware.Env{Scope: "b"}, l.fold())
			return func(next middleware.Model) middleware.Model { return a(b(next)) }
		},
		"changed between the editors": func(l *layers) middleware.Middleware {
			return middleware.Chain(l.shorten(), inject("Remember the budget."), l.fold())
		},
		"adopted and changed": func(l *layers) middleware.Middleware {
			return middleware.With(middleware.Env{HistoryIsView: true}, l.shorten(), addAtEnd, l.fold())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, same := &layers{}, &layers{}
			mw, called := build(l), build(same)
			d := drafted(t, mw, history)
			require.NotEmpty(t, d.Edits)
			want, events := sentBy(t, called, history)
			require.Equal(t, texts(events), texts(d.Events))
			require.NoError(t, testkit.Same(want[:d.After.Len()], messagesOf(d.After)))
			require.NoError(t, d.Commit(t.Context()))
			require.NoError(t, d.Commit(t.Context()), "once more")
			for _, h := range [][]message.Message{history, grown} {
				want, wantEvents := sentBy(t, called, h)
				got, events := sentBy(t, mw, h)
				require.NoError(t, testkit.Same(want, got), "a history of %d messages", len(h))
				require.Equal(t, texts(wantEvents), texts(events), "a history of %d messages", len(h))
			}
			require.Equal(t, same.paid.Load(), l.paid.Load(), "folds that were made")
			require.NoError(t, d.Commit(t.Context()), "after calls that have not edited")
		})
	}
}

// addAtEnd puts a message behind all others.
func addAtEnd(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		r := *req
		r.Messages = append(slices.Clip(req.Messages), message.User("Be brief."))
		return next(ctx, &r, emit)
	}
}

// both has editors that edit when forced only.
func (l *layers) both() middleware.Middleware {
	return middleware.Chain(
		middleware.Editing("clear", clearFirst, middleware.Options{Trigger: never}),
		folder("fold", 5, never, &l.paid), folder("fold, other words", 5, never, &l.paid), folder("fold more", 2, never, &l.paid),
	)
}

var never = trigger.Func(func(*middleware.View, func() *middleware.Plan) (bool, string, error) { return false, "", nil })

// moodyJournal fails while it is told to.
type moodyJournal struct {
	journal.Journal

	reads, writes atomic.Bool // whether they fail
}

var errMood = errors.New("not today")

func (j *moodyJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if j.reads.Load() {
		return journal.Found{}, errMood
	}
	return j.Journal.Find(ctx, scope, first, ids)
}

func (j *moodyJournal) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if j.writes.Load() {
		return journal.Entry{}, errMood
	}
	return j.Journal.Put(ctx, scope, writes)
}

func TestDraftWithAJournalThatFails(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	j := &moodyJournal{Journal: journal.NewMemory(0)}
	l := &layers{}
	mw := middleware.With(middleware.Env{Journal: j}, l.fold())

	j.reads.Store(true)
	d := drafted(t, mw, history)
	require.Equal(t, middleware.Failed, d.Events[0].Kind)
	require.ErrorIs(t, d.Events[0].Err, errMood)
	require.NotEmpty(t, d.Edits)
	j.reads.Store(false)

	j.writes.Store(true)
	require.ErrorIs(t, d.Commit(t.Context()), errMood)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, d.Commit(done), context.Canceled)
	j.writes.Store(false)
	require.NoError(t, d.Commit(t.Context()), "it may be repeated")
	got, events := sentBy(t, mw, history)
	require.Empty(t, events)
	require.NoError(t, testkit.Same(messagesOf(d.After), got))
	require.Equal(t, int64(1), l.paid.Load())
}

// Edits that a call could not write are kept by the Commit of a draft.
func TestDraftCommitKeepsWhatACallCouldNot(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	j := &moodyJournal{Journal: journal.NewMemory(0)}
	l := &layers{}
	build := func() middleware.Middleware { return middleware.With(middleware.Env{Journal: j}, l.fold()) }
	mw := build()
	j.writes.Store(true)
	want, _ := sentBy(t, mw, history)
	j.writes.Store(false)
	d := drafted(t, mw, history)
	require.Empty(t, d.Edits)
	require.NoError(t, testkit.Same(want, messagesOf(d.Before)))
	require.NoError(t, d.Commit(t.Context()))
	got, events := sentBy(t, build(), history)
	require.Empty(t, events)
	require.NoError(t, testkit.Same(want, got))
}

// A draft outlives what the journal has forgotten meanwhile.
func TestDraftCommitAfterTheJournalForgot(t *testing.T) {
	t.Parallel()
	whole := middlewaretest.ReAct{Rounds: 24, Result: 700}.Messages()
	journal := journal.NewMemory(0)
	l := &layers{}
	mw := middleware.With(middleware.Env{Journal: journal, Scope: "a"}, l.shorten(), l.fold())
	sentBy(t, mw, whole[:20])
	d := drafted(t, mw, whole)
	require.NoError(t, journal.Delete(t.Context(), "a"))
	require.NoError(t, d.Commit(t.Context()))
	fresh := middleware.With(middleware.Env{Journal: journal, Scope: "a"}, l.shorten(), l.fold())
	got, events := sentBy(t, fresh, whole)
	require.Empty(t, events)
	require.NoError(t, testkit.Same(messagesOf(d.After), got))
}

// The edits of a first editor cannot be changed once a second one has worked on
// what a middleware between them made of it.
func TestDraftOfMessagesChangedBetweenEditors(t *testing.T) {
	t.Parallel()
	l := &layers{}
	d := drafted(t, middleware.Chain(l.shorten(), inject("Remember the budget."), l.fold()), middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages())
	require.Equal(t, "shorten", d.Edits[0].By)
	_, err := d.Without(0)
	require.ErrorContains(t, err, "was made before a middleware that changed the messages")
	require.Equal(t, middleware.Invalid, middleware.KindOf(err))
	i := foldOfThem(t, d)
	require.Equal(t, []message.Run{{First: 3, Last: 22}}, d.Edits[i].Runs, "positions of what the second was given")
	e, err := d.Refold(i, message.User("[earlier work]"))
	require.NoError(t, err)
	require.Equal(t, "[earlier work]", e.After.At(3).Text())
}

// often leaves out the warnings that come once in each conversation, and once in
// each draft.
func often(events []middleware.Event) []middleware.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e middleware.Event) bool { return e.Kind == middleware.Notice })
}

// A conversation led through a chain with drafts on the way, some dropped, some
// committed in the place of a call, is what it is without.
func TestDraftsAtRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		react := middlewaretest.ReAct{
			Rounds: rapid.IntRange(4, 20).Draw(t, "rounds"), Parallel: rapid.IntRange(1, 2).Draw(t, "parallel"),
			PerTurn: rapid.IntRange(1, 20).Draw(t, "rounds a turn"), Thought: rapid.SampledFrom([]int{0, 200}).Draw(t, "thought"),
			Result: rapid.SampledFrom([]int{100, 500, 900}).Draw(t, "result"), Answered: true,
		}
		env := middleware.Env{HistoryIsView: rapid.Bool().Draw(t, "adopts")}
		build := func(l *layers) middleware.Middleware {
			return middleware.With(env, l.shorten(), middleware.Chain(l.fold()), l.foldMore())
		}
		l, same := &layers{}, &layers{}
		drafts, calls := build(l), build(same)
		paid := int64(0)
		for h := range testkit.Prefixes(react.Messages()) {
			force := rapid.SampledFrom([][]string{nil, nil, nil, {"fold more"}, {"*"}}).Draw(t, "force")
			what := rapid.SampledFrom([]string{"call", "draft", "draft and commit"}).Draw(t, "what")
			if what != "call" {
				before := l.paid.Load()
				d := drafted(t, drafts, h, force...)
				if what == "draft" {
					paid += l.paid.Load() - before
				} else {
					want, events := sentBy(t, calls, h, force...)
					require.NoError(t, testkit.Same(want, messagesOf(d.After)))
					require.Equal(t, texts(often(events)), texts(often(d.Events)))
					require.NoError(t, d.Commit(context.Background()))
					force = nil
				}
			}
			want, wantEvents := sentBy(t, calls, h, force...)
			got, events := sentBy(t, drafts, h, force...)
			require.NoError(t, testkit.Same(want, got), "%s, then a call, with %d messages", what, len(h))
			require.Equal(t, texts(often(wantEvents)), texts(often(events)), "%s, then a call, with %d messages", what, len(h))
		}
		require.Equal(t, same.paid.Load()+paid, l.paid.Load(), "folds that were made")
	})
}
