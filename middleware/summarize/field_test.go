package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// What breaks for users of other systems that summarise, and not here. Each test
// says what it is that breaks there.

// Compaction of nothing crashes, or is asked for again and again.
func TestNothingToFold(t *testing.T) {
	t.Parallel()
	never := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return nil, errors.New("nobody should be asked")
	}
	pinned := history(8)
	for i := range pinned {
		pinned[i].Hints.Pinned = true
	}
	for name, h := range map[string][]message.Message{
		"one message": {message.User("Go on.")},
		"two":         {message.System("Be brief."), message.User("Go on.")},
		"all is kept": history(8)[:6],
		"all pinned":  pinned,
		"one round":   history(1),
		"open calls":  history(1)[:3],
	} {
		mw := summarize.New(summarize.By(never, summarize.Ask{}), summarize.Options{})
		for i := range 3 {
			view, events := fold(t, mw, h)
			require.NoError(t, testkit.Same(h, view), name)
			if i > 0 {
				require.Empty(t, events, name)
				continue
			}
			require.Len(t, events, 1, name)
			require.Equal(t, middleware.Skipped, events[0].Kind, "%s: %s", name, events[0])
			require.Contains(t, events[0].Why, "nothing is folded", name)
		}
	}
}

// System prompt and tools alone are above the threshold: elsewhere, each call compacts. Here
// a fold removes a tenth of these.
func TestOverheadIsNoReasonToFold(t *testing.T) {
	t.Parallel()
	small := writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{Trigger: trigger.Tokens(2000)})
	h := append([]message.Message{message.System(strings.Repeat("Heed the rules of the house. ", 600))}, history(30)[1:]...)
	overhead := tokens.Meter{}.Request(h[:1], nil)
	for n := 12; n < len(h); n += 2 {
		_, events := apply(t, mw, h[:n])
		for _, e := range events {
			if e.Kind == middleware.Edited && e.Calls >= 0 {
				require.GreaterOrEqual(t, e.Before-e.After, overhead/10, "%v", e)
			}
		}
	}
	require.NotEmpty(t, small.Requests())
}

// After compaction the count is not lowered, so that it is always "over".
func TestOneFoldIsEnough(t *testing.T) {
	t.Parallel()
	small := writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{Trigger: trigger.Tokens(6000), KeepTokens: 1000})
	h := history(40)
	folds := 0
	for n := 3; n < len(h); n += 2 {
		_, events := apply(t, mw, h[:n])
		for _, e := range events {
			if e.Kind == middleware.Edited {
				folds++
				require.Less(t, e.After, 3000, "far below the threshold")
			}
		}
	}
	require.LessOrEqual(t, folds, tokens.Meter{}.Request(h, nil)/4000)
	require.Len(t, small.Requests(), folds)
}

// A single message is larger than the summariser's window, and compaction fails
// without a word.
func TestHugeMessageIsFolded(t *testing.T) {
	t.Parallel()
	h := history(8)
	r := h[5].Parts[0].(message.ToolResult)
	var lines strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	r.Text = lines.String()
	h[5].Parts[0] = r
	var read strings.Builder
	model := func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		require.Less(t, tokens.Meter{}.Request(req.Messages, nil), 8192)
		read.WriteString(req.Messages[1].Text())
		answer := says(good)
		return &answer, nil
	}
	mw := summarize.New(summarize.By(model, summarize.Ask{Model: "gpt-4"}), summarize.Options{Parallel: 1})
	view, _ := fold(t, mw, h)
	require.Contains(t, summaryIn(t, view, h).Text(), good)
	for i := range 8000 {
		require.Contains(t, read.String(), fmt.Sprintf("line %d\n", i))
	}
}

// Messages that come while a summary is made are lost, or there twice.
func TestMessagesThatComeMeanwhile(t *testing.T) {
	t.Parallel()
	h := history(12)
	began, gate := make(chan struct{}), make(chan struct{})
	slow := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		close(began)
		<-gate
		answer := says(good)
		return &answer, nil
	}
	mw := summarize.New(summarize.By(slow, summarize.Ask{}), summarize.Options{Keep: 4})
	done := make(chan error)
	go func() {
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h[:16], Force: []string{"*"}})
		done <- err
	}()
	<-began
	meanwhile, _ := apply(t, mw, h[:20])
	require.NoError(t, testkit.Same(h[:20], meanwhile), "nothing is half done")
	close(gate)
	require.NoError(t, <-done)
	view, _ := apply(t, mw, h[:20])
	summaryIn(t, view, h)
	require.NoError(t, testkit.Same(h[12:20], view[len(view)-8:]), "what came meanwhile stands behind the summary, once")
}

// Thinking of the model ends up in a message of the user, and media and blocks
// that only the provider reads in a request of another one.
func TestNothingSealedIsSent(t *testing.T) {
	t.Parallel()
	h := history(8)
	h[2].Parts = append([]message.Part{message.Thinking{Text: "hm", Signature: "SEAL"}}, h[2].Parts...)
	h[4].Parts = append(h[4].Parts, message.Opaque{Kind: "compaction", Data: "SEAL"})
	small := writer(good)
	view, _ := fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{}), h)
	for _, req := range small.Requests() {
		require.NotContains(t, fmt.Sprint(req.Messages), "SEAL")
		require.Empty(t, req.Tools)
		require.NoError(t, message.Portable.Check(req.Messages))
	}
	for _, p := range summaryIn(t, view, h).Parts {
		require.IsType(t, message.Text{}, p)
		require.NotEmpty(t, strings.TrimSpace(p.(message.Text).Text), "no block is blank")
	}
}

// The system prompt, the first request or the newest one is lost, and what came
// last is told as the original request; prohibitions vanish, or stand there as
// orders of now.
func TestTaskStays(t *testing.T) {
	t.Parallel()
	h := work(400)
	for name, mw := range map[string]middleware.Middleware{
		"by a model":        summarize.New(summarize.By(writer(good).Model, summarize.Ask{}), summarize.Options{}),
		"by rules":          summarize.New(summarize.ByRules(), summarize.Options{}),
		"of the last alone": summarize.New(summarize.ByRules(), summarize.Options{Strategy: summarize.Strategy{OnlyLast: 1}}),
	} {
		for n := 100; n <= len(h); n += 100 {
			view, _ := fold(t, mw, h[:n])
			require.NoError(t, testkit.Same(h[:2], view[:2]), "%s: system prompt and first request stay, at their place", name)
			last := 0
			for i := range n {
				if h[i].Role == message.RoleUser {
					last = i
				}
			}
			require.True(t, contains(view, h[last]), "%s: the newest request stays", name)
			s := summaryIn(t, view, h[:n])
			head, _, _ := strings.Cut(s.Text(), "\n")
			require.Contains(t, head, "a record made by the program, not a request of the user", name)
			require.Contains(t, s.Text(), "- Never touch the file secrets.env. Always run the tests before you answer.", name)
		}
	}
}

// A summary is longer than what it replaces, so that compaction makes a
// conversation longer.
func TestFoldNeverInflates(t *testing.T) {
	t.Parallel()
	talkative := writer(good + "\n" + strings.Repeat("It was said that all is well with the build. ", 3))
	for _, result := range []int{1, 20, 60, 100, 200, 400} {
		for rounds := 1; rounds < 8; rounds++ {
			h := middlewaretest.ReAct{Rounds: rounds, Result: result, Answered: true}.Messages()
			for _, mw := range []middleware.Middleware{
				summarize.New(summarize.ByRules(), summarize.Options{Keep: -1}),
				summarize.New(summarize.By(talkative.Model, summarize.Ask{}), summarize.Options{Keep: -1}),
				summarize.New(summarize.ByRules(), summarize.Options{Keep: -1, Strategy: summarize.Strategy{Chunks: 2}}),
			} {
				view, events := fold(t, mw, h)
				before, after := tokens.Meter{}.Request(h, nil), tokens.Meter{}.Request(view, nil)
				require.LessOrEqual(t, after, before, "%d rounds of %d bytes: %v", rounds, result, events)
				require.NotContains(t, kinds(events), middleware.Refused)
			}
		}
	}
}
