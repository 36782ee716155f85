package summarize_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/steps"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// says is an answer of one text.
func says(text string) middleware.Response {
	return middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd}
}

// reasons returns why attempts came to nothing, in order: the first words of each.
func reasons(events []middleware.Event) (out []string) {
	for _, e := range events {
		if e.Kind == summarize.Attempted && e.Err != nil {
			reason, _, _ := strings.Cut(e.Err.Error(), ":")
			out = append(out, reason)
		}
	}
	return out
}

func costOf(events []middleware.Event, kind middleware.EventKind) (sum models.Cost) {
	for _, e := range events {
		if e.Kind == kind {
			sum += reportOf(e).Cost
		}
	}
	return sum
}

// reportOf returns what the event of this package has in its Detail.
func reportOf(e middleware.Event) summarize.Report {
	r, _ := e.Detail.(summarize.Report)
	return r
}

func usageOf(events []middleware.Event, kind middleware.EventKind) (sum message.Usage) {
	for _, e := range events {
		if e.Kind == kind {
			sum = sum.Add(reportOf(e).Usage)
		}
	}
	return sum
}

// TestPaidIsAddedUp shows that what all attempts took is what the event of the
// summary says, whoever wrote it in the end.
func TestPaidIsAddedUp(t *testing.T) {
	t.Parallel()
	charged := func(text string, input, read, output int) middleware.Response {
		r := says(text)
		r.Usage = message.Usage{Input: input, CacheRead: read, Output: output}
		return r
	}
	no := charged("I cannot help with that.", 3000, 1000, 10)
	for name, c := range map[string]struct {
		answers []middleware.Response
		how     string
	}{
		"at last":  {[]middleware.Response{no, charged(good, 2000, 0, 100)}, "in the words of the summariser"},
		"by rules": {[]middleware.Response{no}, "by rules"},
	} {
		script := []middleware.Model{testkit.Give(c.answers[0])}
		for range 9 {
			script = append(script, testkit.Give(c.answers[len(c.answers)-1]))
		}
		small := middlewaretest.Script(script...)
		env := middleware.Env{Journal: journal.NewMemory(0)}
		_, events := fold(t, middleware.With(env, summarize.New(summarize.By(small.Model, summarize.Ask{Model: "claude-haiku-4-5"}),
			summarize.Options{})), history(8))
		require.GreaterOrEqual(t, len(small.Requests()), 2, name)
		var made []middleware.Event
		want := c.answers[0].Usage
		for range len(small.Requests()) - 1 {
			want = want.Add(c.answers[len(c.answers)-1].Usage)
		}
		for _, e := range events {
			if e.Kind == summarize.Summarized {
				made = append(made, e)
			}
		}
		require.Len(t, made, 1, name)
		require.Contains(t, made[0].Why, c.how, name)
		require.Equal(t, want, reportOf(made[0]).Usage, name)
		require.Equal(t, want, usageOf(events, summarize.Attempted), "%s: each attempt says what it took", name)
		m, _ := models.Default().Lookup("claude-haiku-4-5")
		cost, ok := m.Price.Cost(want)
		require.True(t, ok)
		require.Equal(t, cost, reportOf(made[0]).Cost, name)
		require.Equal(t, cost, costOf(events, summarize.Attempted), name)
		done, err := steps.History(t.Context(), env, history(8))
		require.NoError(t, err)
		require.Equal(t, journal.Cost{Spent: cost, Known: true}, done[0].Cost, "%s: the price of the step", name)
	}

	// A provider that reports nothing is counted.
	small := writers(says(good))
	_, events := fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{Model: "claude-haiku-4-5"}), summarize.Options{}), history(8))
	u := usageOf(events, summarize.Summarized)
	require.InDelta(t, tokens.Meter{}.Request(small.Requests()[0].Messages, nil), u.Input, float64(u.Input)/2)
	require.Positive(t, u.Output)
	require.Positive(t, costOf(events, summarize.Summarized))
}

// TestEachRejection gives answers that cannot be taken, each of its own kind, and
// then a good one: the ladder goes on with a stricter request, and nothing of the
// bad one gets into the view.
func TestEachRejection(t *testing.T) {
	t.Parallel()
	stop := func(text string, s string) middleware.Response {
		r := says(text)
		r.Stop = s
		return r
	}
	const bad = "XYZZY"
	give := testkit.Give
	for name, c := range map[string]struct {
		answer middleware.Model
		reason string
		strict bool // it was an answer, so that the next request says what was wrong
	}{
		"cut off":   {give(stop(good+bad, middleware.StopLength)), "cut off", true},
		"a refusal": {give(says("I'm sorry, but I can't help with " + bad)), "no summary", true},
		"an answer and error": {func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			r := says(bad)
			return &r, errors.New("broken pipe")
		}, "failed", false},
		"neither": {func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			return nil, nil
		}, "failed", false},
		"too much for it": {middlewaretest.Fail(errors.New("400: This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. " + bad)), "failed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := history(8)
			small := middlewaretest.Script(append([]middleware.Model{c.answer}, slices.Repeat([]middleware.Model{middlewaretest.Say(good)}, 3)...)...)
			view, events := fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{SummaryTokens: 2000}), h)
			require.Equal(t, []string{c.reason}, reasons(events))
			s := summaryIn(t, view, h).Text()
			require.Contains(t, s, good, "the next one is taken")
			require.NotContains(t, s, bad)
			next := small.Requests()[1].Messages
			require.Equal(t, c.strict, strings.Contains(next[len(next)-1].Text(), "An earlier attempt was of no use"), "stricter")

			// Where nothing better comes, rules write, and without them all stays.
			again := slices.Repeat([]middleware.Model{c.answer}, 6)
			view, events = fold(t, summarize.New(summarize.By(middlewaretest.Script(again...).Model, summarize.Ask{}), summarize.Options{}), h)
			s = summaryIn(t, view, h).Text()
			require.Contains(t, s, "messages compacted")
			require.NotContains(t, s, bad)
			require.NoError(t, message.Portable.Check(portable(view)))
			require.Equal(t, middleware.Edited, events[len(events)-1].Kind)

			view, events = fold(t, summarize.New(summarize.By(middlewaretest.Script(again...).Model, summarize.Ask{}), summarize.Options{NoFallback: true}), h)
			require.NoError(t, testkit.Same(h, view), "all is as it was")
			last := events[len(events)-1]
			require.Equal(t, middleware.Failed, last.Kind)
			require.ErrorContains(t, last.Err, "no summary that can be taken")
			require.NotContains(t, kinds(events), summarize.Summarized)
		})
	}
}

func portable(msgs []message.Message) []message.Message {
	out := message.Portable.Repair(msgs).Messages
	return out
}

// TestStrictWithoutFallback shows the error that the call fails with.
func TestStrictWithoutFallback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer middleware.Model
		kind   middleware.ErrorKind
	}{
		"a refusal":    {middlewaretest.Say("I cannot help with that."), middleware.Unknown},
		"an outage":    {middlewaretest.Fail(&middleware.Error{Kind: middleware.Unavailable, Err: errors.New("down")}), middleware.Unavailable},
		"a rate limit": {middlewaretest.Fail(&middleware.Error{Kind: middleware.RateLimited, Err: errors.New("wait")}), middleware.RateLimited},
		"a wrong key":  {middlewaretest.Fail(&middleware.Error{Kind: middleware.Denied, Err: errors.New("key")}), middleware.Denied},
		"a bad option": {middlewaretest.Fail(&middleware.Error{Kind: middleware.Invalid, Err: errors.New("temperature")}), middleware.Unavailable},
		"too much":     {middlewaretest.Fail(&middleware.Error{Kind: middleware.Overflow, Err: errors.New("400")}), middleware.Unavailable},
		"a hang":       {middlewaretest.Fail(context.DeadlineExceeded), middleware.Unavailable},
	} {
		small := middlewaretest.Script(slices.Repeat([]middleware.Model{c.answer}, 5)...)
		big := middlewaretest.Script(middlewaretest.Say("the answer"))
		model := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{NoFallback: true, Strict: true})(big.Model)
		_, err := model(t.Context(), &middleware.Request{Messages: history(8), Force: []string{"*"}}, nil)
		typed, _ := errors.AsType[*middleware.Error](err)
		require.Equal(t, "summarize", typed.Op, name)
		require.ErrorContains(t, err, "no summary that can be taken", name)
		require.Equal(t, c.kind, middleware.KindOf(err), "%s: %v", name, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "%s: the caller has no deadline", name)
		require.Empty(t, big.Requests(), "%s: the model is not asked", name)
	}
}

// TestCalledOffLeavesNoTrace shows that a fold which is called off leaves view and
// journal as they were, and is made in earnest by the next call.
func TestCalledOffLeavesNoTrace(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	stops := func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	small := middlewaretest.Script(stops, middlewaretest.Say(good))
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{Trigger: trigger.Tokens(100_000)})
	h := history(8)
	req := &middleware.Request{Messages: h, Force: []string{"*"}}
	_, _, err := middleware.Apply(ctx, mw, req)
	require.ErrorIs(t, err, context.Canceled)
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	require.Empty(t, events)
	require.NoError(t, testkit.Same(h, sent.Messages), "nothing was folded")
	view, _ := fold(t, mw, h)
	require.Contains(t, summaryIn(t, view, h).Text(), good)
}

// TestSummariserBehindItself shows that a summariser which is called through the
// very middleware that it writes for does not wait for itself.
func TestSummariserBehindItself(t *testing.T) {
	t.Parallel()
	big := writer(good)
	var wrapped middleware.Model
	live := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		return wrapped(ctx, req, emit)
	}
	wrapped = summarize.New(summarize.InConversation(live, summarize.Ask{}), summarize.Options{Trigger: trigger.Messages(10)})(big.Model)
	_, err := wrapped(t.Context(), &middleware.Request{Messages: history(8)}, nil)
	require.NoError(t, err)
	require.Len(t, big.Requests(), 2, "one summary, one answer")
	require.Less(t, len(big.Requests()[1].Messages), len(big.Requests()[0].Messages))
}

// TestUsageOfSummariesAnchorsNothing shows that what a summary took is not
// mistaken for the size of a prompt.
func TestUsageOfSummariesAnchorsNothing(t *testing.T) {
	t.Parallel()
	count := func(charged int) (tokensSeen []int) {
		absurd := says(good)
		absurd.Usage = message.Usage{Input: charged, Output: 5000}
		look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			tokensSeen = append(tokensSeen, v.Size().Tokens)
			return nil, nil
		}, middleware.Options{})
		answer := says("An answer.")
		answer.Usage = message.Usage{Input: 1200, Output: 10}
		model := middleware.Chain(summarize.New(summarize.By(writers(absurd).Model, summarize.Ask{}), summarize.Options{Trigger: trigger.Messages(16), KeepRounds: 2}), look)(writers(answer).Model)
		h := history(12)
		for _, n := range []int{12, 18, 20, 22} {
			_, err := model(t.Context(), &middleware.Request{Messages: h[:n]}, nil)
			require.NoError(t, err)
		}
		return tokensSeen
	}
	require.Equal(t, count(1), count(900_000))
}

// TestGivesUp shows that a summariser that fails is not asked on every call.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]middleware.Model{
		"refuses": middlewaretest.Say("I cannot help with that."),
		"invalid": middlewaretest.Fail(&middleware.Error{Kind: middleware.Invalid, Err: errors.New("temperature")}),
	} {
		asked := 0
		small := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			asked++
			return answer(ctx, req, emit)
		}
		mw := summarize.New(summarize.By(small, summarize.Ask{}), summarize.Options{NoFallback: true, Trigger: trigger.Messages(10)})
		h := history(40)
		rests := 0
		for n := 12; n+1 < 42; n += 2 {
			_, events := apply(t, mw, h[:n])
			for _, e := range events {
				if e.Kind == middleware.Paused {
					rests++
				}
			}
		}
		require.LessOrEqual(t, asked, 4*3*3, "%s: three folds for each question of the user, three requests for each", name)
		require.Positive(t, rests, name)
	}
}
