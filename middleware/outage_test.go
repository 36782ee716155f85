package middleware_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// line is the connection of a journal and an archive to their database.
type line struct {
	journal.Journal
	store.Store

	takes atomic.Int64 // each call, a time.Duration
	fails atomic.Int64 // so many of the next calls
	calls atomic.Int64
}

func newLine() *line { return &line{Journal: journal.NewMemory(0), Store: store.NewMemory(0)} }

func (l *line) pass(ctx context.Context) error {
	l.calls.Add(1)
	select {
	case <-time.After(time.Duration(l.takes.Load())):
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.fails.Add(-1) >= 0 {
		return errors.New("connection reset")
	}
	return nil
}

// onLine is a journal on a line.
type onLine struct{ *line }

func (l onLine) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if err := l.pass(ctx); err != nil {
		return journal.Found{}, err
	}
	return l.Journal.Find(ctx, scope, first, ids)
}

func (l onLine) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if err := l.pass(ctx); err != nil {
		return journal.Entry{}, err
	}
	return l.Journal.Put(ctx, scope, writes)
}

func (l onLine) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	return l.Journal.Delete(ctx, scope, conversations...)
}

// archiveOnLine is an archive on a line.
type archiveOnLine struct{ *line }

func (l archiveOnLine) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	if err := l.pass(ctx); err != nil {
		return err
	}
	return l.Store.Put(ctx, conversation, contents)
}

func (l *line) env() middleware.Env {
	return middleware.Env{Journal: journal.Guard(onLine{l}, store.Limits{}), Archive: store.Guard(archiveOnLine{l}, store.Limits{})}
}

// keeper folds the oldest round that is there, for a price.
func keeper(made *int) middleware.Middleware {
	return middleware.Editing("keeper", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		i := oldestResult(v)
		if i < 0 || i > v.Len()-4 {
			return nil, nil
		}
		fold := middleware.FoldOf(i-1, i)
		h, contents := v.ArchiveRuns(fold.Runs)
		fold.Archive, fold.Estimate = contents, 5
		fold.Make = func(context.Context) ([]message.Message, error) {
			*made++
			return []message.Message{message.User(store.Placeholder("[a round]", h))}, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{fold}}, nil
	}, middleware.Options{MinCalls: 1})
}

// An archive that does not answer is no reason to pause, and nothing is paid for meanwhile.
func TestOutageIsNoAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, takes := range []time.Duration{0, time.Hour} {
			l, made, c := newLine(), 0, newChat()
			mw := middleware.With(l.env(), keeper(&made))
			require.Len(t, only(c.call(t, mw), middleware.Edited), 1)
			l.takes.Store(int64(takes))
			l.fails.Store(1 << 60)
			for range 8 { // in one turn
				events := c.call(t, mw)
				require.NotEmpty(t, only(events, middleware.Failed))
				require.Empty(t, only(events, middleware.Paused))
				require.Equal(t, 1, made, "no fold is made that cannot be kept")
			}
			l.takes.Store(0)
			l.fails.Store(0)
			<-time.After(time.Second)
			for range 2 {
				require.Len(t, only(c.call(t, mw), middleware.Edited), 1, "it answers again")
			}
			require.Equal(t, 3, made)
		}
	})
}

// An archive that answers that it is full is asked three times in a turn.
func TestAnAnswerIsAnAttempt(t *testing.T) {
	t.Parallel()
	made, c := 0, newChat()
	archive := &watched{Store: store.NewMemory(0), before: func(context.Context, int) error { return errors.New("full") }}
	mw := middleware.With(middleware.Env{Archive: archive}, keeper(&made))
	for range 3 {
		require.NotEmpty(t, only(c.call(t, mw), middleware.Failed))
	}
	require.Empty(t, only(c.call(t, mw), middleware.Failed))
	require.EqualValues(t, 3, archive.calls.Load())
}

// Journal and archive have one limit of time in a call.
func TestTimeOfACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, made, c := newLine(), 0, newChat()
		mw := middleware.With(l.env(), keeper(&made))
		took := func() time.Duration {
			start := time.Now()
			c.call(t, mw)
			return time.Since(start)
		}
		l.takes.Store(int64(300 * time.Millisecond))
		require.Equal(t, 900*time.Millisecond, took(), "read, archive, write")
		l.takes.Store(int64(400 * time.Millisecond))
		require.Equal(t, time.Second, took())
		l.takes.Store(int64(time.Hour))
		require.Equal(t, time.Second, took(), "not a second for each of them")

		c = begunWith("Another one.")
		<-time.After(time.Hour)
		require.Equal(t, 5*time.Second, took(), "the first read is worth more")
		require.LessOrEqual(t, took(), time.Second, "the second one is not")
	})
}

// A first read that fails is repeated, since without it the whole prompt changes.
func TestFirstReadIsRepeated(t *testing.T) {
	t.Parallel()
	l, made, c := newLine(), 0, newChat()
	mw := func() middleware.Middleware { return middleware.With(l.env(), keeper(&made)) }
	c.call(t, mw())
	before, _, err := middleware.Apply(t.Context(), mw(), &middleware.Request{Messages: c.history})
	require.NoError(t, err)
	l.fails.Store(1)
	restarted := mw()
	after, events, err := middleware.Apply(t.Context(), restarted, &middleware.Request{Messages: c.history})
	require.NoError(t, err)
	require.Empty(t, only(events, middleware.Failed))
	require.NoError(t, testkit.Same(before.Messages, after.Messages))
	l.fails.Store(1)
	c.history = append(c.history, message.Assistant(message.Text{Text: "by another process"}))
	require.NotEmpty(t, only(c.again(t, restarted), middleware.Failed), "a later read is not repeated")
}
