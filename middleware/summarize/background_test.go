package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// advised are options of a soft threshold at 20 messages and a hard one at 30.
func advised() summarize.Options {
	return summarize.Options{Soft: trigger.Messages(20), Trigger: trigger.Messages(30), Keep: 4}
}

// prepares returns a middleware that prepares its summaries in the background, which a scripted model writes.
func prepares(t *testing.T) (bg *background, small *middlewaretest.Scripted, mw middleware.Middleware) {
	t.Helper()
	bg, small = newBackground(t.Context(), 2), writer(good)
	opts := advised()
	opts.Background = bg.Start
	return bg, small, summarize.New(summarize.By(small.Model, summarize.Ask{}), opts)
}

// apply runs a chain over a history.
func apply(t *testing.T, mw middleware.Middleware, h []message.Message) ([]message.Message, []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return sent.Messages, events
}

func TestPreparedInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bg, small, mw := prepares(t)
		h := history(24)

		_, events := apply(t, mw, h[:20])
		require.Equal(t, []middleware.EventKind{summarize.Advised}, kinds(events))
		bg.Wait()
		require.Len(t, small.Requests(), 1, "it is prepared")
		_, events = apply(t, mw, h[:24])
		require.Equal(t, []middleware.EventKind{summarize.Summarizing, summarize.Attempted}, kinds(events), "what it took is told by the next call")
		_, events = apply(t, mw, h[:25])
		require.Empty(t, events, "and not once more")

		view, events := apply(t, mw, h[:30])
		require.Len(t, small.Requests(), 1, "what was prepared is enough")
		require.Equal(t, []middleware.EventKind{summarize.Summarized, middleware.Edited}, kinds(events), "that it is made is told when it is used")
		require.Contains(t, summaryIn(t, view, h).Text(), good)
		require.NoError(t, testkit.Same(h[16:30], view[len(view)-14:]), "what came since stays")

		_, events = apply(t, mw, h[:30])
		require.Empty(t, events)
	})
}

// What fails in the background is no loss: the fold makes the summary itself.
func TestPreparationFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		bg := newBackground(ctx, 1)
		calls := 0
		opts := advised()
		opts.Background = bg.Start
		mw := summarize.New(summarize.ByFunc(func(ctx context.Context, f *summarize.Fold) (string, error) {
			calls++
			switch {
			case calls <= 2:
				return "", errors.New("not now")
			case calls == 4:
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "The log was read.", nil
		}), opts)
		h := history(64)
		apply(t, mw, h[:20])
		bg.Wait()
		_, events := apply(t, mw, h[:22])
		require.Contains(t, kinds(events), summarize.Attempted, "what was tried is told")
		_, events = apply(t, mw, h[:23])
		require.Empty(t, events, "once")
		view, _ := apply(t, mw, h[:30])
		require.Contains(t, summaryIn(t, view, h).Text(), "The log was read.")

		// A task ends with its context.
		_, events = apply(t, mw, h[:48])
		require.Equal(t, []middleware.EventKind{summarize.Advised}, kinds(events))
		synctest.Wait()
		cancel()
		bg.Wait()
	})
}

// background runs tasks, at most as many at the same time as newBackground is given.
type background struct {
	sync.WaitGroup

	Start func(task func(ctx context.Context)) bool
}

func newBackground(ctx context.Context, most int) *background {
	b, slots := &background{}, make(chan struct{}, most)
	b.Start = func(task func(ctx context.Context)) bool {
		select {
		case slots <- struct{}{}:
		default:
			return false
		}
		b.Go(func() {
			defer func() { <-slots }()
			task(ctx)
		})
		return true
	}
	return b
}

// talk returns a history whose first question, or that of all, is its own.
func talk(name string, all bool) []message.Message {
	h := middlewaretest.ReAct{Rounds: 24, PerTurn: 4, Result: 500, Answered: true}.Messages()
	for i, m := range h {
		if m.Role == message.RoleUser && (all || i == 1) {
			h[i] = message.User(name + ": " + m.Text())
		}
		if m.Role == message.RoleTool && all {
			r, _ := m.Parts[0].(message.ToolResult)
			h[i] = message.Result(r.CallID, r.Name, name+": "+r.Text)
		}
	}
	return h
}

// summariser is a model that counts how often it is asked.
type summariser struct{ asked atomic.Int32 }

func (s *summariser) model(_ context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	s.asked.Add(1)
	return &middleware.Response{
		Message: message.Assistant(message.Text{Text: good}), Stop: middleware.StopEnd, Usage: message.Usage{Input: 1000, Output: 100},
	}, nil
}

// attempted returns the events that tell of requests.
func attempted(events []middleware.Event) (out []middleware.Event) {
	for _, e := range events {
		if e.Kind == summarize.Attempted {
			out = append(out, e)
		}
	}
	return out
}

// Whatever becomes of a preparation, the next call of the conversation tells what
// was asked, once, though it makes no fold itself.
func TestPreparationIsTold(t *testing.T) {
	t.Parallel()
	model := func(text string, err error) middleware.Model {
		if err != nil {
			return middlewaretest.Fail(err)
		}
		return testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd})
	}
	const begun, asked = summarize.Summarizing, summarize.Attempted
	for name, c := range map[string]struct {
		model   middleware.Model
		retries int
		want    []middleware.EventKind
		failed  bool
	}{
		"made":     {model: model(good, nil), want: []middleware.EventKind{begun, asked}},
		"failed":   {model: model("", errors.New("503")), want: []middleware.EventKind{begun, asked}, retries: -1, failed: true},
		"rejected": {model: model("I cannot help with that.", nil), want: []middleware.EventKind{begun, asked, asked}, retries: 1, failed: true},
		"panicked": {model: func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			panic("a bug")
		}, want: []middleware.EventKind{begun, asked}, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bg := newBackground(t.Context(), 1)
				opts := advised()
				opts.Background = bg.Start
				mw := summarize.New(summarize.By(c.model, summarize.Ask{Retries: c.retries}), opts)
				h := history(24)
				apply(t, mw, h[:20])
				bg.Wait()
				d, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h[:22]})
				require.NoError(t, err)
				require.Empty(t, d.Events, "a dry run is not where it is told")
				_, events := apply(t, mw, h[:22])
				require.Equal(t, c.want, kinds(events))
				require.Equal(t, c.failed, len(reasons(events)) > 0)
				_, events = apply(t, mw, h[:24])
				require.Empty(t, events, "once")
			})
		})
	}
}

// Many conversations share a middleware: each gets the events of its own requests only.
func TestToldToItsOwn(t *testing.T) {
	t.Parallel()
	bg := newBackground(t.Context(), 1)
	var small summariser
	opts := advised()
	opts.Background = bg.Start
	mw := summarize.New(summarize.By(small.model, summarize.Ask{}), opts)
	const conversations = 20
	for i := range conversations {
		h := talk(fmt.Sprint("run ", i), true)
		_, events := apply(t, mw, h[:20])
		require.Equal(t, []middleware.EventKind{summarize.Advised}, kinds(events), "conversation %d hears of no other", i)
		bg.Wait()
	}
	require.Equal(t, int32(conversations), small.asked.Load())
	for i := range conversations {
		h := talk(fmt.Sprint("run ", i), true)
		_, events := apply(t, mw, h[:22])
		require.Len(t, attempted(events), 1, "conversation %d hears of its own", i)
	}
}

// What was prepared is not used once it is longer than what it would replace, which another layer has cleared since.
func TestPreparedIsTooLongNow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The log was read. ", 100)
	bg, opts := newBackground(t.Context(), 1), advised()
	opts.Background, opts.FactTokens, opts.QuoteTokens = bg.Start, -1, -1
	written := 0
	mw := middleware.Chain(
		contextedit.New(contextedit.Options{Trigger: trigger.Messages(30), Keep: -1}),
		summarize.New(summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) {
			written++
			if written == 1 {
				return long, nil
			}
			return good, nil
		}), opts),
	)
	h := history(24)
	apply(t, mw, h[:20])
	bg.Wait()
	require.Equal(t, 1, written)
	view, _ := apply(t, mw, h[:30])
	require.Contains(t, textsOf(view), good)
	require.NotContains(t, textsOf(view), long)
}

// A background summary that the fold does not use is reported as well, by the first
// call of its conversation after it has ended.
func TestUnusedPreparationIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		bg := newBackground(ctx, 1)
		answer := make(chan struct{})
		var asked atomic.Int32
		opts := advised()
		opts.Background, opts.Timeout = bg.Start, -1
		mw := summarize.New(summarize.By(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if asked.Add(1) == 1 {
				<-answer
			}
			var small summariser
			return small.model(ctx, req, emit)
		}, summarize.Ask{}), opts)
		h := history(40)
		apply(t, mw, h[:20])
		synctest.Wait()
		_, events := apply(t, mw, h[:32])
		require.Len(t, attempted(events), 1, "the fold does not wait for it")
		require.Contains(t, kinds(events), middleware.Edited)
		require.Equal(t, int32(2), asked.Load())
		close(answer)
		bg.Wait()
		var later []middleware.Event
		for n := 33; n <= len(h); n++ {
			_, more := apply(t, mw, h[:n])
			bg.Wait()
			later = append(later, more...)
		}
		require.Equal(t, int(asked.Load()), len(attempted(events))+len(attempted(later)), "each request is reported once")
	})
}

// forced returns a request that folds, whatever the trigger says.
func forced(h []message.Message) *middleware.Request {
	return &middleware.Request{Messages: h, Force: []string{"summarize"}}
}

// The same history at the same time is summarised once, and observers hear of it
// once, though all wait while it is made.
func TestSingleFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked, told atomic.Int32
		gate := make(chan struct{})
		slow := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			asked.Add(1)
			<-gate
			return &middleware.Response{Message: message.Assistant(message.Text{Text: good}), Stop: middleware.StopEnd}, nil
		}
		observe := middleware.Observe(func(_ context.Context, e middleware.Event) {
			if e.Kind == summarize.Summarized {
				told.Add(1)
			}
		})
		mw := middleware.Chain(observe, summarize.New(summarize.By(slow, summarize.Ask{}), summarize.Options{Timeout: -1}))
		h := history(8)
		views := make([][]message.Message, 50)
		var all sync.WaitGroup
		for i := range views {
			all.Go(func() {
				sent, _, err := middleware.Apply(t.Context(), mw, forced(h))
				if err == nil {
					views[i] = sent.Messages
				}
			})
		}
		synctest.Wait() // one asks, and the others wait for it
		close(gate)
		all.Wait()
		require.Equal(t, int32(1), asked.Load())
		require.Equal(t, int32(1), told.Load())
		for _, v := range views {
			require.Less(t, len(v), len(h))
			require.NoError(t, testkit.Same(views[0], v))
		}
	})
}

// Whoever waits for a summary makes it, if the call that made it is called off, and
// waits no longer than its own context allows.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		slow := func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			asked.Add(1)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Second):
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: good}), Stop: middleware.StopEnd}, nil
		}
		mw := summarize.New(summarize.By(slow, summarize.Ask{}), summarize.Options{})
		h := history(8)
		call := func(patience time.Duration) (*middleware.Request, error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			sent, _, err := middleware.Apply(ctx, mw, forced(h))
			return sent, err
		}
		patience := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, time.Hour}
		errs := make([]error, len(patience))
		var last *middleware.Request
		var all sync.WaitGroup
		for i, p := range patience {
			all.Go(func() {
				var sent *middleware.Request
				if sent, errs[i] = call(p); i == len(patience)-1 {
					last = sent
				}
			})
			synctest.Wait() // the first one asks, and each of the others waits
		}
		require.Equal(t, int32(1), asked.Load())
		all.Wait()
		for i, err := range errs[:len(errs)-1] {
			require.ErrorIs(t, err, context.DeadlineExceeded, "call %d waits no longer than it may", i)
		}
		require.NoError(t, errs[len(errs)-1], "whose turn it is at last makes it")
		require.Contains(t, summaryIn(t, last.Messages, h).Text(), good)
	})
}

func TestCheckWithChain(t *testing.T) {
	t.Parallel()
	h := history(16)
	opts := summarize.Options{Trigger: trigger.Messages(30), Soft: trigger.All(trigger.Messages(10), trigger.Tokens(1_000_000))}
	s, err := summarize.Check(t.Context(), &middleware.Request{Messages: h}, opts)
	require.NoError(t, err)
	require.Equal(t, "hard", s.Urgency)
	require.Zero(t, s.Threshold, "it does not go by tokens")

	before := summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Messages(20), Keep: 2})
	s, err = summarize.Check(t.Context(), &middleware.Request{Messages: h}, opts, before)
	require.NoError(t, err)
	require.Equal(t, "none", s.Urgency, "what stands before is heeded")
	require.Equal(t, 1_000_000, s.Threshold)

	_, err = summarize.Check(t.Context(), &middleware.Request{Messages: h}, summarize.Options{KeepRounds: -1})
	require.Equal(t, middleware.Invalid, middleware.KindOf(err))
	_, err = summarize.Check(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 900}}, summarize.Options{Reserve: 900})
	require.ErrorContains(t, err, "Reserve")
}
