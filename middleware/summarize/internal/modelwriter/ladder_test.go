package modelwriter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/tokens"
)

func fails(k middleware.ErrorKind, text string) middleware.Model {
	return middlewaretest.Fail(&middleware.Error{Kind: k, Op: "provider", Err: errors.New(text)})
}

func TestLadder(t *testing.T) {
	t.Parallel()
	no, bad := say("I cannot help with that."), fails(middleware.Unavailable, "down")
	for name, c := range map[string]struct {
		answers  []middleware.Model
		retries  int
		reasons  []modelwriter.Reason // of the attempts; "": taken
		kind     middleware.ErrorKind
		accepted bool
	}{
		"at last":                {[]middleware.Model{no, bad, say(good)}, 0, []modelwriter.Reason{modelwriter.NoSummary, modelwriter.Failed, ""}, middleware.Unknown, true},
		"never":                  {[]middleware.Model{no, no, no}, 0, []modelwriter.Reason{modelwriter.NoSummary, modelwriter.NoSummary, modelwriter.NoSummary}, middleware.Unknown, false},
		"one attempt":            {[]middleware.Model{no}, -1, []modelwriter.Reason{modelwriter.NoSummary}, middleware.Unknown, false},
		"down":                   {[]middleware.Model{bad, bad, bad}, 0, []modelwriter.Reason{modelwriter.Failed, modelwriter.Failed, modelwriter.Failed}, middleware.Unavailable, false},
		"an error of no kind":    {[]middleware.Model{middlewaretest.Fail(errors.New("odd")), say(good)}, 0, []modelwriter.Reason{modelwriter.Failed, ""}, middleware.Unknown, true},
		"denied":                 {[]middleware.Model{fails(middleware.Denied, "no key")}, 0, []modelwriter.Reason{modelwriter.Failed}, middleware.Denied, false},
		"invalid":                {[]middleware.Model{fails(middleware.Invalid, "bad option")}, 0, []modelwriter.Reason{modelwriter.Failed}, middleware.Invalid, false},
		"its own deadline":       {[]middleware.Model{middlewaretest.Fail(context.DeadlineExceeded), say(good)}, 0, []modelwriter.Reason{modelwriter.Failed, ""}, middleware.Unknown, true},
		"its own deadline, ever": {[]middleware.Model{middlewaretest.Fail(context.DeadlineExceeded), middlewaretest.Fail(context.Canceled)}, 1, []modelwriter.Reason{modelwriter.Failed, modelwriter.Failed}, middleware.Unavailable, false},
		"neither answer nor error": {
			[]middleware.Model{func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
				return nil, nil
			}, say(good)},
			0,
			[]modelwriter.Reason{modelwriter.Failed, ""},
			middleware.Unknown, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			author, model := script(c.answers...)
			author.Retries = c.retries
			s, err := ask(t.Context(), modelwriter.Request{Folded: folded(3), Writer: author})
			var attempts []modelwriter.Attempt
			if c.accepted {
				require.NoError(t, err)
				require.Equal(t, good, s.Text)
				attempts = s.Attempts
			} else {
				var f *failedError
				require.ErrorAs(t, err, &f)
				require.Equal(t, c.kind, middleware.KindOf(err), "%v", err)
				require.NotErrorIs(t, err, context.Canceled, "nobody canceled the caller")
				require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller has no deadline")
				attempts = f.Attempts
			}
			var reasons []modelwriter.Reason
			for _, a := range attempts {
				reasons = append(reasons, a.Reason)
				require.Equal(t, a.Reason == "", a.Err == nil, "an attempt that came to nothing has its error")
			}
			require.Equal(t, c.reasons, reasons)
			require.Len(t, model.Requests(), len(c.answers), "the bound is the bound")
			strict := false
			for i, req := range model.Requests() {
				require.Equal(t, strict, strings.Contains(req.Messages[1].Text(), "An earlier attempt was of no use"), "request %d is strict behind a rejection", i)
				strict = strict || c.reasons[i] == modelwriter.NoSummary
			}
		})
	}
}

// windowed is a model that refuses what is longer than its window, as providers
// do, and else answers with notes or a summary, as it is asked.
func windowed(window int, seen *[]*middleware.Request) middleware.Model {
	var mu sync.Mutex
	return func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		if n := (tokens.Meter{}).Request(req.Messages, req.Tools); n > window {
			return nil, fmt.Errorf("400: this model's maximum context length is %d tokens. However, your messages resulted in %d tokens", window, n)
		}
		mu.Lock()
		defer mu.Unlock()
		*seen = append(*seen, req)
		return answer(wanted(req)), nil
	}
}

// wanted is a text as the request asks for it.
func wanted(req *middleware.Request) string {
	if strings.Contains(req.Messages[len(req.Messages)-1].Text(), "Take notes of this part") {
		return "The build fails. A test needs a newer compiler. build/1.log tells."
	}
	return good
}

func answer(text string) *middleware.Response {
	return &middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd}
}

func TestOverflow(t *testing.T) {
	t.Parallel()
	msgs := marked(folded(60))
	for name, known := range map[string]int{"window unknown": 0, "window told too large": 40_000} {
		t.Run(name, func(t *testing.T) {
			var seen []*middleware.Request
			s, err := ask(t.Context(), modelwriter.Request{
				Folded: msgs, Writer: modelwriter.Author{Model: windowed(4000, &seen), Window: known}, Parallel: 1,
			})
			require.NoError(t, err)
			require.Equal(t, modelwriter.Failed, s.Attempts[0].Reason)
			requireShown(t, msgs, seen)
			overflows := 0
			for _, a := range s.Attempts {
				if a.Reason == modelwriter.Failed {
					overflows++
				}
			}
			require.LessOrEqual(t, overflows, 2, "the window is learned")
		})
	}
}

// marked puts a word of its own into each message.
func marked(msgs []message.Message) []message.Message {
	msgs = testkit.Clone(msgs)
	for i := range msgs {
		for k, p := range msgs[i].Parts {
			if text, ok := p.(message.Text); ok {
				text.Text += " " + mark(i)
				msgs[i].Parts[k] = text
			}
			if result, ok := p.(message.ToolResult); ok {
				result.Text += " " + mark(i)
				msgs[i].Parts[k] = result
			}
		}
	}
	return msgs
}

func mark(i int) string { return fmt.Sprintf("mark<%d>", i) }

func requireShown(t require.TestingT, msgs []message.Message, seen []*middleware.Request) {
	var all strings.Builder
	for _, req := range seen {
		for _, m := range req.Messages {
			all.WriteString(m.Text())
			for result := range m.Results() {
				all.WriteString(result.Text)
			}
		}
	}
	for i := range msgs {
		require.Contains(t, all.String(), mark(i), "message %d was shown", i)
	}
}

func TestInputFits(t *testing.T) {
	t.Parallel()
	huge := folded(30)
	huge[4].Parts = []message.Part{message.Text{Text: strings.Repeat("很长的中文内容没有空格", 4000)}}
	huge[5] = message.Result("c2.1", "search", strings.Repeat("0123456789abcdef", 3000))
	for name, msgs := range map[string][]message.Message{"many units": folded(200), "units above the window": huge} {
		for _, window := range []int{4_000, 8_000, 16_000} {
			t.Run(fmt.Sprintf("%s, %d", name, window), func(t *testing.T) {
				var seen []*middleware.Request
				msgs := marked(msgs)
				s, err := ask(t.Context(), modelwriter.Request{
					Folded: msgs, Writer: modelwriter.Author{Model: windowed(window, &seen), Window: window, Retries: -1}, Parallel: 1, Requests: 500,
					Focus: strings.Repeat("Why? ", 5000),
				})
				require.NoError(t, err)
				require.Equal(t, good, s.Text)
				requireShown(t, msgs, seen)
				for i, req := range seen {
					n := tokens.Meter{}.Request(req.Messages, nil)
					require.LessOrEqual(t, n+req.Budget.Reserve, window, "request %d and its answer fit", i)
					require.NoError(t, message.Portable.Check(req.Messages))
				}
			})
		}
	}
}

// A model that panics has been asked, as one that returns an error, and is not asked
// again; what else was paid is in the bill.
func TestPanicIsAnAttempt(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"a text":                        "a bug of the model",
		"an error":                      errors.New("a bug of the model"),
		"one that sounds like too long": errors.New("prompt is too long: 9000 tokens > 8000 maximum"),
	} {
		var asked atomic.Int32
		model := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			asked.Add(1)
			panic(value)
		}
		_, err := ask(t.Context(), modelwriter.Request{Folded: folded(3), Writer: modelwriter.Author{Model: model}})
		failed, ok := errors.AsType[*failedError](err)
		require.True(t, ok, "%s: %v", name, err)
		require.ErrorContains(t, err, fmt.Sprintf("summariser panicked: %v", value), name)
		require.Equal(t, int32(1), asked.Load(), "%s: a model with a bug is not asked again", name)
		require.Len(t, failed.Attempts, 1, name)
		require.Equal(t, modelwriter.Failed, failed.Attempts[0].Reason, name)
	}
}
