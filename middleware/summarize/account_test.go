package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

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
		if e.Kind == middleware.Attempted {
			out = append(out, e)
		}
	}
	return out
}

// A history that is rewritten has no use for what was prepared, but it was paid.
func TestPreparedInVainIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, rewritten := range []int{1, 2, 3, 9} {
			bg := summarize.NewBackground(t.Context(), 2)
			var small summariser
			mw := summarize.New(summarize.By(small.model, summarize.Ask{}), summarize.Options{Soft: trigger.Messages(10), Trigger: trigger.Messages(20), Background: bg.Go})
			h := history(12)
			_, events := apply(t, mw, h[:11])
			bg.Wait()
			if h[rewritten].Role == message.RoleUser {
				h[rewritten] = message.User("What else?")
			} else {
				m := h[rewritten]
				h[rewritten].Parts = slices.Clone(m.Parts)
				if call, ok := m.Parts[0].(message.ToolCall); ok {
					call.Arguments = `{"path":"else"}`
					h[rewritten].Parts[0] = call
				} else {
					r, _ := m.Parts[0].(message.ToolResult)
					r.Text = "Something else."
					h[rewritten].Parts[0] = r
				}
			}
			for n := 12; n <= 22; n++ {
				_, more := apply(t, mw, h[:n])
				bg.Wait()
				events = append(events, more...)
			}
			_, more := apply(t, mw, h[:22])
			events = append(events, more...)
			asked := int(small.asked.Load())
			require.GreaterOrEqual(t, asked, 2)
			require.Len(t, attempted(events), asked, "message %d: each request is told once", rewritten)
			require.Equal(t, message.Usage{Input: 1000 * asked, Output: 100 * asked}, usageOf(events, middleware.Attempted))
			used, folds := 0, 0
			for _, e := range events {
				switch e.Kind {
				case middleware.Summarized:
					used++
				case middleware.Edited:
					folds++
				default:
				}
			}
			require.Less(t, used, asked, "message %d: not all of it was of use", rewritten)
			require.Equal(t, folds, used, "message %d: and what was used is told as such", rewritten)
		}
	})
}

// Whatever becomes of a preparation, the next call of the conversation tells what
// was asked, once, though it makes no fold itself.
func TestPreparationIsTold(t *testing.T) {
	t.Parallel()
	model := func(text string, err error) middleware.Model {
		if err != nil {
			return middlewaretest.Fail(err)
		}
		return middlewaretest.Give(middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd})
	}
	const begun, asked, rejected = middleware.Summarizing, middleware.Attempted, middleware.Rejected
	for name, c := range map[string]struct {
		model   middleware.Model
		retries int
		want    []middleware.EventKind
	}{
		"made":     {model: model(good, nil), want: []middleware.EventKind{begun, asked}},
		"failed":   {model: model("", errors.New("503")), want: []middleware.EventKind{begun, asked, rejected}, retries: -1},
		"rejected": {model: model("I cannot help with that.", nil), want: []middleware.EventKind{begun, asked, rejected, asked, rejected}, retries: 1},
		"panicked": {model: func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			panic("a bug")
		}, want: []middleware.EventKind{begun, asked, rejected}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bg := summarize.NewBackground(t.Context(), 1)
				opts := advised()
				opts.Background = bg.Go
				mw := summarize.New(summarize.By(c.model, summarize.Ask{Retries: c.retries}), opts)
				h := history(24)
				apply(t, mw, h[:20])
				bg.Wait()
				d, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h[:22]})
				require.NoError(t, err)
				require.Empty(t, d.Events, "a dry run is not where it is told")
				_, events := apply(t, mw, h[:22])
				require.Equal(t, c.want, kinds(events))
				_, events = apply(t, mw, h[:24])
				require.Empty(t, events, "once")
			})
		})
	}
}

// What is asked while a preparation is running, or called off, is told as soon as a
// call comes behind the answer.
func TestPreparationThatIsRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		bg := summarize.NewBackground(ctx, 1)
		var asked atomic.Int32
		hangs := func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			asked.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		opts := advised()
		opts.Background, opts.Timeout = bg.Go, -1
		mw := summarize.New(summarize.By(hangs, summarize.Ask{}), opts)
		h := history(24)
		apply(t, mw, h[:20])
		synctest.Wait()
		_, events := apply(t, mw, h[:22])
		require.Equal(t, []middleware.EventKind{middleware.Summarizing}, kinds(events), "no answer yet")
		cancel()
		bg.Wait()
		_, events = apply(t, mw, h[:23])
		require.Equal(t, []middleware.EventKind{middleware.Attempted, middleware.Rejected}, kinds(events))
		require.Equal(t, int32(1), asked.Load())
	})
}

// Many conversations, more than summaries are remembered, share a middleware: each
// hears of its own requests alone, also where all begin with the same words.
func TestToldToItsOwn(t *testing.T) {
	t.Parallel()
	bg := summarize.NewBackground(t.Context(), 1)
	var small summariser
	opts := advised()
	opts.Background = bg.Go
	mw := summarize.New(summarize.By(small.model, summarize.Ask{}), opts)
	const conversations = 70
	for i := range conversations {
		h := talk(fmt.Sprint("run ", i), true)
		h[1] = message.User("Review what is new.")
		_, events := apply(t, mw, h[:20])
		require.Equal(t, []middleware.EventKind{middleware.Advised}, kinds(events), "conversation %d hears of no other", i)
		bg.Wait()
	}
	require.Equal(t, int32(conversations), small.asked.Load())
	for i := range conversations {
		h := talk(fmt.Sprint("run ", i), true)
		h[1] = message.User("Review what is new.")
		_, events := apply(t, mw, h[:22])
		require.Len(t, attempted(events), 1, "conversation %d hears of its own", i)
		require.False(t, attempted(events)[0].Stray)
	}
}

// Of a conversation that does not come again, another one of the scope tells, marked
// as such: behind an hour, or where too many wait.
func TestStrays(t *testing.T) {
	t.Parallel()
	now := time.Now()
	bg := summarize.NewBackground(t.Context(), 1)
	var small summariser
	opts := advised()
	opts.Background = bg.Go
	own := summarize.New(summarize.By(small.model, summarize.Ask{}), opts)
	env := middleware.Env{Clock: func() time.Time { return now }, Scope: "here"}
	mw := middleware.With(env, own)
	env.Scope = "there"
	elsewhere := middleware.With(env, own)

	apply(t, mw, talk("one", false)[:20])
	bg.Wait()
	h := talk("two", false)[:5]
	for range 2 {
		_, events := apply(t, mw, h)
		require.Empty(t, events, "the other one may come again")
	}
	now = now.Add(time.Hour)
	_, events := apply(t, elsewhere, h)
	require.Empty(t, events, "it is none of the business of another scope")
	_, events = apply(t, mw, h)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Attempted, events[0].Kind)
	require.True(t, events[0].Stray)
	require.Equal(t, message.Usage{Input: 1000, Output: 100}, events[0].Usage)
	require.Contains(t, events[0].Why, "for another conversation")
	_, events = apply(t, mw, talk("one", false)[:22])
	require.Empty(t, events, "told once")

	const crowd = 513
	for i := range crowd {
		apply(t, mw, talk(fmt.Sprint("many ", i), true)[:20])
		bg.Wait()
	}
	_, events = apply(t, mw, h)
	require.Len(t, events, crowd, "where too many wait, nobody is waited for")
	for _, e := range events {
		require.True(t, e.Stray)
	}
}

// Who has come since a preparation began is waited for once more when there is more to
// tell.
func TestStrayWaitsAnew(t *testing.T) {
	t.Parallel()
	now := time.Now()
	bg := summarize.NewBackground(t.Context(), 1)
	answer, asked := make(chan struct{}), make(chan struct{})
	opts := advised()
	opts.Background, opts.Timeout = bg.Go, -1
	mw := middleware.With(middleware.Env{Clock: func() time.Time { return now }}, summarize.New(
		summarize.By(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			close(asked)
			<-answer
			return &middleware.Response{Message: message.Assistant(message.Text{Text: good}), Stop: middleware.StopEnd}, nil
		}, summarize.Ask{}), opts))
	one, two := talk("one", false), talk("two", false)[:5]
	apply(t, mw, one[:20])
	<-asked
	_, events := apply(t, mw, two)
	require.Empty(t, events)
	_, events = apply(t, mw, one[:22])
	require.Equal(t, []middleware.EventKind{middleware.Summarizing}, kinds(events), "it has come again")
	now = now.Add(time.Hour)
	close(answer)
	bg.Wait()
	_, events = apply(t, mw, two)
	require.Empty(t, events, "an hour has gone by since the first one, but not since there is an answer")
	_, events = apply(t, mw, one[:24])
	require.Equal(t, []middleware.EventKind{middleware.Attempted}, kinds(events))
}

// Of calls at the same time one tells.
func TestToldOnceByCallsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bg := summarize.NewBackground(t.Context(), 1)
		var small summariser
		opts := advised()
		opts.Background = bg.Go
		mw := summarize.New(summarize.By(small.model, summarize.Ask{}), opts)
		h := history(24)
		apply(t, mw, h[:20])
		var all sync.WaitGroup
		var told atomic.Int32
		errs := make([]error, 20)
		for i := range errs {
			all.Go(func() {
				_, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h[:22+i%9]})
				errs[i] = err
				told.Add(int32(len(attempted(events))))
			})
		}
		all.Wait()
		bg.Wait()
		require.NoError(t, errors.Join(errs...))
		_, events := apply(t, mw, h[:30])
		require.Equal(t, small.asked.Load(), told.Load()+int32(len(attempted(events))))
	})
}

// However conversations grow, are rewritten and begun anew, in the end each request
// has been told once.
func TestEachRequestIsTold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		bg := summarize.NewBackground(context.Background(), 2)
		var small summariser
		opts := summarize.Options{Soft: trigger.Messages(10), Trigger: trigger.Messages(16), Keep: 4, Background: bg.Go}
		mw := middleware.With(middleware.Env{Clock: func() time.Time { return now }}, summarize.New(summarize.By(small.model, summarize.Ask{}), opts))
		talks := [][]message.Message{talk("a", true), talk("b", true), talk("c", false), talk("d", false)}
		told := 0
		call := func(h []message.Message) {
			_, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: h})
			require.NoError(t, err)
			told += len(attempted(events))
		}
		for range rapid.IntRange(1, 15).Draw(t, "calls") {
			h := talks[rapid.IntRange(0, len(talks)-1).Draw(t, "conversation")]
			n := rapid.IntRange(2, len(h)).Draw(t, "length")
			if rapid.IntRange(0, 4).Draw(t, "rewrite") == 0 {
				for i := range h[:n] {
					if h[i].Role == message.RoleUser {
						h[i] = message.User(h[i].Text() + "?")
					}
				}
			}
			call(h[:n])
			if rapid.Bool().Draw(t, "wait") {
				bg.Wait()
			}
		}
		bg.Wait()
		stranger := talk("a stranger", true)[:3]
		call(stranger)
		now = now.Add(time.Hour)
		call(stranger)
		require.Equal(t, int(small.asked.Load()), told)
	})
}
