package fit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// server is a model that is served with a window of its own, and charges by a
// tokenizer of its own.
type server struct {
	window int
	rate   float64 // tokens charged for one by Chars4; 0: 1
	words  string  // of its error, with the tokens sent and the window

	mu    sync.Mutex
	asked []int // tokens of each prompt
}

func (s *server) model(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	n := (tokens.Meter{Counter: tokens.Chars4}).Request(req.Messages, req.Tools)
	if s.rate > 0 {
		n = int(s.rate * float64(n))
	}
	s.mu.Lock()
	s.asked = append(s.asked, n)
	s.mu.Unlock()
	if n > s.window {
		return nil, overflow(fmt.Sprintf(s.words, n, s.window))
	}
	return &middleware.Response{
		Message: message.Assistant(message.Text{Text: "done"}), Usage: message.Usage{Input: n, Output: 1}, Stop: middleware.StopEnd,
	}, nil
}

func (s *server) take() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func overflow(text string) error {
	return &middleware.Error{Kind: middleware.Overflow, Op: "provider", Err: errors.New(text)}
}

const anthropicWords = "prompt is too long: %d tokens > %d maximum"

// TestOverflow has servers whose window is smaller than what was declared.
func TestOverflow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rate   float64
		words  string
		budget *middleware.Budget
		least  float64 // of the window that is used after the error
	}{
		"numbers":                         {words: anthropicWords, budget: &middleware.Budget{Window: 100_000}, least: 0.6},
		"numbers, nothing declared":       {words: anthropicWords, least: 0.6},
		"numbers, another tokenizer":      {words: anthropicWords, rate: 1.6, budget: &middleware.Budget{Window: 100_000}, least: 0.4},
		"numbers, a reserve":              {words: anthropicWords, budget: &middleware.Budget{Window: 100_000, Reserve: 10_000}, least: 0.5},
		"no numbers":                      {words: "context_length_exceeded%.0[1]d%.0[2]d", budget: &middleware.Budget{Window: 100_000}, least: 0.4},
		"no numbers, nothing is declared": {words: "context_length_exceeded%.0[1]d%.0[2]d", least: 0.4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorder middlewaretest.Recorder
			s := &server{window: 2_900, rate: c.rate, words: c.words}
			model := middleware.With(middleware.Env{Counter: tokens.Chars4}, recorder.Middleware(), fit.New(fit.Options{Rules: message.OpenAI}))(s.model)
			request := func(h []message.Message) *middleware.Request {
				return &middleware.Request{Messages: h, Budget: c.budget, Model: "served"}
			}
			_, err := model(t.Context(), request(readsLogs(6)), nil)
			require.NoError(t, err, "the second attempt fits")
			asked := s.take()
			require.Len(t, asked, 2, "one error, one answer")
			require.Greater(t, float64(asked[1]), c.least*float64(s.window), "about as much is removed as necessary")
			require.Len(t, recorder.Events(middleware.Notice), 1, "the chain reports what it has learned")

			_, err = model(t.Context(), request(readsLogs(7)), nil)
			require.NoError(t, err)
			require.Len(t, s.take(), 1, "later calls of the conversation fit at once")
			other := readsLogs(6)
			other[1] = message.User("Another conversation.")
			_, err = model(t.Context(), request(other), nil)
			require.NoError(t, err)
			most := 1 + int(c.rate)
			if strings.HasPrefix(name, "no numbers") {
				most = 2 // a refusal without a number limits its own conversation only
			}
			require.LessOrEqual(t, len(s.take()), most, "others fit at once, if one tokenizer is like the other")
		})
	}
}

// TestOverflowTwice has a provider that is never content.
func TestOverflowTwice(t *testing.T) {
	t.Parallel()
	script := middlewaretest.Script(
		middlewaretest.Fail(overflow("prompt is too long: 4000 tokens > 3000 maximum")),
		middlewaretest.Fail(overflow("prompt is too long: 2900 tokens > 2500 maximum")),
	)
	_, err := fit.New(fit.Options{Rules: message.OpenAI})(script.Model)(t.Context(), &middleware.Request{
		Messages: readsLogs(6), Budget: &middleware.Budget{Window: 100_000},
	}, nil)
	e, ok := errors.AsType[*middleware.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, middleware.Overflow, e.Kind)
	require.Equal(t, "fit", e.Op)
	require.ErrorContains(t, err, "4000 tokens > 3000 maximum", "with the numbers of the first")
	require.ErrorContains(t, err, "2900 tokens > 2500 maximum", "and of the second")
	require.Len(t, script.Requests(), 2, "it is asked twice, and no more")
}

// TestNotAskedAgain has errors that are no overflow, or come too late.
func TestNotAskedAgain(t *testing.T) {
	t.Parallel()
	kinds := []middleware.ErrorKind{
		middleware.Unknown, middleware.Invalid, middleware.RateLimited, middleware.Unavailable, middleware.Denied, middleware.Canceled,
	}
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			want := &middleware.Error{Kind: k, Op: "provider", Err: errors.New("no")}
			script := middlewaretest.Script(middlewaretest.Fail(want), middlewaretest.Say("again"))
			_, err := fit.New(fit.Options{})(script.Model)(t.Context(), &middleware.Request{Messages: readsLogs(2)}, nil)
			require.ErrorIs(t, err, want)
			require.Len(t, script.Requests(), 1, "the model is asked once")
		})
	}
	t.Run("after a piece", func(t *testing.T) {
		t.Parallel()
		want := overflow("prompt is too long: 4000 tokens > 3000 maximum")
		script := middlewaretest.Script(middlewaretest.Fail(want, "I "), middlewaretest.Say("again"))
		var got []string
		_, err := fit.New(fit.Options{})(script.Model)(t.Context(), &middleware.Request{Messages: readsLogs(6)}, func(d middleware.Delta) error {
			got = append(got, d.Text)
			return nil
		})
		require.ErrorIs(t, err, want)
		require.Equal(t, []string{"I "}, got)
		require.Len(t, script.Requests(), 1, "nothing is asked again once a piece has been emitted")
	})
	t.Run("NoRetry", func(t *testing.T) {
		t.Parallel()
		want := overflow("prompt is too long: 4000 tokens > 3000 maximum")
		script := middlewaretest.Script(middlewaretest.Fail(want), middlewaretest.Say("now it fits"))
		model := fit.New(fit.Options{NoRetry: true, Rules: message.OpenAI})(script.Model)
		_, err := model(t.Context(), &middleware.Request{Messages: readsLogs(6)}, nil)
		require.ErrorIs(t, err, want)
		_, err = model(t.Context(), &middleware.Request{Messages: readsLogs(6)}, nil)
		require.NoError(t, err)
		asked := script.Requests()
		require.Less(t, len(asked[1].Messages[3].Text()), len(asked[0].Messages[3].Parts[0].(message.ToolResult).Text), "what was learned holds")
	})
}

// moody is a provider that refuses some requests, without a number.
type moody struct {
	refuses func(call, sent int) bool
	sent    []int
	refused int
}

func (m *moody) model(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	n := (tokens.Meter{Counter: tokens.Chars4}).Request(req.Messages, req.Tools)
	m.sent = append(m.sent, n)
	if m.refuses(len(m.sent), n) {
		m.refused++
		return nil, overflow("context_length_exceeded")
	}
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: message.Usage{Input: n, Output: 1}}, nil
}

// TestSpuriousRefusal has refusals that cannot be about the size, or may not be: the
// error of the provider is returned, and no later call is shortened for it.
func TestSpuriousRefusal(t *testing.T) {
	t.Parallel()
	ask := func(model middleware.Model, text string) error {
		_, err := model(t.Context(), &middleware.Request{Messages: []message.Message{message.User(text)}, Budget: &middleware.Budget{Window: 100_000}}, nil)
		return err
	}
	fits := func(p *moody) middleware.Model {
		return middleware.With(middleware.Env{Counter: tokens.Chars4}, fit.New(fit.Options{Rules: message.OpenAI}))(p.model)
	}
	t.Run("of a few tokens", func(t *testing.T) {
		t.Parallel()
		p := &moody{refuses: func(call, _ int) bool { return call <= 2 }}
		model := fits(p)
		err := ask(model, "hello")
		require.Equal(t, middleware.Overflow, middleware.KindOf(err))
		require.ErrorContains(t, err, "refused the request as too long, and again; set the Budget to what it serves: ")
		require.NoError(t, ask(model, "hello again, "+strings.Repeat("word ", 80)), "a window of 100,000 tokens has not become one of ten")
		require.NoError(t, ask(model, strings.Repeat("word ", 60_000)))
		require.Equal(t, 2, p.refused)
	})
	t.Run("of a long question", func(t *testing.T) {
		t.Parallel()
		p := &moody{refuses: func(call, _ int) bool { return call == 1 }}
		model := fits(p)
		require.NoError(t, ask(model, strings.Repeat("word ", 30_000)), "there is nothing to shorten, so it is asked once more")
		require.Len(t, p.sent, 2)
		require.NoError(t, ask(model, strings.Repeat("word ", 60_000)), "a guess refuses nothing")
		require.Len(t, p.sent, 3)
	})
	t.Run("of much less than it has taken", func(t *testing.T) {
		t.Parallel()
		p := &moody{refuses: func(call, _ int) bool { return call == 2 }}
		model := fits(p)
		require.NoError(t, ask(model, strings.Repeat("word ", 30_000)))
		request := &middleware.Request{Messages: readsLogs(6), Budget: &middleware.Budget{Window: 100_000}}
		_, err := model(t.Context(), request, nil)
		require.NoError(t, err)
		require.Less(t, p.sent[2], p.sent[1], "the retry is shorter")
		require.NoError(t, ask(model, strings.Repeat("word ", 60_000)), "another conversation is not limited")
		require.Len(t, p.sent, 4)
	})
	t.Run("of much less than is declared", func(t *testing.T) {
		t.Parallel()
		p := &moody{refuses: func(_, sent int) bool { return sent > 2900 }}
		model := fits(p)
		request := &middleware.Request{Messages: readsLogs(6), Budget: &middleware.Budget{Window: 1_000_000}}
		_, err := model(t.Context(), request, nil)
		require.NoError(t, err, "the retry is shorter")
		require.Len(t, p.sent, 2)
		require.NoError(t, ask(model, strings.Repeat("word ", 500)), "another conversation is not limited")
		require.Len(t, p.sent, 3)
	})
}

// TestGuessFades has a long conversation after one refusal: if that was spurious,
// all of the declared window is used again in the end; if it was right, there are
// few more.
func TestGuessFades(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		served  int // window from the second call on
		refused int // at most
		longest int // prompt of the last calls, at least
	}{
		"spurious": {1 << 30, 1, 14_000},
		"right":    {6_000, 5, 4_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &moody{refuses: func(call, sent int) bool { return call == 1 || sent > c.served }}
			model := middleware.With(middleware.Env{Counter: tokens.Chars4}, fit.New(fit.Options{Rules: message.OpenAI}))(p.model)
			h := readsLogs(14)
			for len(h) < 300 {
				_, err := model(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 20_000}}, nil)
				require.NoError(t, err)
				id := fmt.Sprintf("more%d", len(h))
				h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: "{}"}),
					message.Result(id, "read_log", strings.Repeat("another line\n", 200)))
			}
			t.Logf("%d calls, %d refused, the longest of the last %d tokens", len(p.sent), p.refused, slices.Max(p.sent[len(p.sent)-30:]))
			require.LessOrEqual(t, p.refused, c.refused, "%v", p.sent)
			require.GreaterOrEqual(t, slices.Max(p.sent[len(p.sent)-30:]), c.longest, "%v", p.sent)
		})
	}
}

// The cause of an error is the largest part of what cannot be left out, also where a repair joins messages.
func TestIrreducibleNamesTheCause(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("more ", 4160)
	call := func(arguments string) []message.Message {
		return []message.Message{message.Assistant(message.ToolCall{ID: "c", Name: "write", Arguments: arguments}), message.Result("c", "write", "done")}
	}
	opening := []message.Message{message.User("Help me."), message.Assistant(message.Text{Text: "Yes."})}
	for name, rules := range map[string]message.Rules{"bedrock": message.Bedrock, "openai": message.OpenAI, "unknown": 0} {
		chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, fit.New(fit.Options{Rules: rules}))
		irreducible := func(h []message.Message) *fit.Irreducible {
			_, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 4000}})
			e, ok := errors.AsType[*fit.Irreducible](err)
			require.True(t, ok, "%s: %v", name, err)
			return e
		}
		e := irreducible(slices.Concat(opening, []message.Message{message.User(long)}, call("{}")))
		require.Equal(t, "the questions", e.Largest, name)
		require.Greater(t, e.LargestSize, 5000, "%s: %v", name, e)
		require.Contains(t, e.Error(), "put long material into a file")
		unanswered := call(`{"text":"` + long + `"}`)[:1]
		e = irreducible(slices.Concat(opening, []message.Message{message.User("Write it.")}, unanswered))
		require.Equal(t, "the newest round", e.Largest, name)
		require.Greater(t, e.LargestSize, 5000, "%s: %v", name, e)
		require.Contains(t, e.Error(), "less written in one")
	}
}

// Arguments of an answered call of the newest round are shortened last, and later calls keep them as they are.
func TestArgumentsOfTheNewestRound(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, fit.New(fit.Options{Rules: message.OpenAI}))
	h := append(rounds(6, 300), message.Assistant(
		message.ToolCall{ID: "w", Name: "write", Arguments: `{"text":"` + strings.Repeat("more ", 4160) + `"}`},
		message.ToolCall{ID: "r", Name: "read", Arguments: `{"page":7}`},
	), message.Result("w", "write", "done"), message.Result("r", "read", "page 7"))
	var first *middleware.Request
	for range 2 {
		sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 4000}})
		require.NoError(t, err)
		n := len(sent.Messages)
		calls := slices.Collect(sent.Messages[n-3].Calls())
		require.NotEmpty(t, archived.In(calls[0].Arguments), "%v", calls)
		require.Equal(t, `{"page":7}`, calls[1].Arguments, "no more than necessary")
		requireNothingLost(t, archive, h, sent.Messages)
		require.Greater(t, n, 10, "the rest of the conversation is kept")
		if first == nil {
			first = sent
			require.Contains(t, events[0].Why, "arguments of the newest calls")
			continue
		}
		require.Empty(t, events)
		require.Equal(t, first.Messages, sent.Messages)
	}
}
