package middleware_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

func at(year int) func() time.Time {
	return func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
}

func halver(name string) middleware.Middleware { return shortener(name, 2, trigger.Tokens(500)) }

// longer counts twice the tokens of the default.
type longer struct{}

func (longer) Count(text string) int { return (len(text) + 1) / 2 }

// Which Env is in force when chains are nested.
func TestWithInsideWith(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		chain   func(outer, inner middleware.Env) middleware.Middleware
		ignored int // events about an Env that came too late, in two calls
		outer   int // edits at the time of the outer clock
		inner   int
		puts    [2]int64 // of the outer and of the inner journal
	}{
		{
			name: "both have everything: the inner one is ignored",
			chain: func(outer, inner middleware.Env) middleware.Middleware {
				return middleware.With(outer, middleware.With(inner, halver("a")))
			},
			ignored: 1, outer: 1, puts: [2]int64{1, 0},
		},
		{
			name: "an editor has opened the view: the inner one comes too late",
			chain: func(_, inner middleware.Env) middleware.Middleware {
				return middleware.Chain(halver("a"), middleware.With(inner, halver("b")))
			},
			ignored: 1,
		},
		{
			name: "no editor has run yet: the inner one takes over",
			chain: func(_, inner middleware.Env) middleware.Middleware {
				return middleware.Chain(identity, middleware.With(inner, halver("a")))
			},
			inner: 1, puts: [2]int64{0, 1},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			journals := [2]*countingJournal{newCountingJournal(), newCountingJournal()}
			mw := c.chain(
				middleware.Env{Journal: journals[0], Clock: at(2001)},
				middleware.Env{Journal: journals[1], Clock: at(2002)},
			)
			var heard middlewaretest.Recorder
			history := middlewaretest.ReAct{Rounds: 12}.Messages()
			for range 2 {
				_, _, err := middleware.Apply(t.Context(), middleware.Chain(heard.Middleware(), mw), &middleware.Request{Messages: history})
				require.NoError(t, err)
			}
			require.Len(t, heard.Events(middleware.Misconfigured), c.ignored)
			edits := map[int]int{}
			for _, e := range heard.Events(middleware.Edited) {
				edits[e.Time.Year()]++
			}
			require.Equal(t, c.outer, edits[2001], "edits with the outer Env")
			require.Equal(t, c.inner, edits[2002], "edits with the inner Env")
			require.Equal(t, c.puts[0], journals[0].puts.Load(), "writes to the outer journal")
			require.Equal(t, c.puts[1], journals[1].puts.Load(), "writes to the inner journal")
		})
	}
}

// An inner Env fills what the outer one leaves out, and edits are remembered where the outer one remembers them.
func TestInnerEnvFills(t *testing.T) {
	t.Parallel()
	archive, journal := store.NewMemory(0), newCountingJournal()
	for name, outer := range map[string]middleware.Env{
		"nothing is set": {}, "a scope": {Scope: "a"}, "a journal": {Journal: journal}, "an archive": {Archive: store.NewMemory(0)},
	} {
		var heard middlewaretest.Recorder
		mw := middleware.With(outer, heard.Middleware(), middleware.With(middleware.Env{Archive: archive, Clock: at(2002)}, halver("a")))
		h := middlewaretest.ReAct{Rounds: 12}.Messages()
		for i := range 2 {
			sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
			require.NoError(t, err)
			env := sent.View().Env()
			require.Equal(t, outer.Archive == nil, env.Archive == store.Store(archive), name)
			require.Equal(t, outer.Scope, env.Scope, name)
			require.Equal(t, 2002, env.Clock().Year(), name)
			if i > 0 {
				require.Empty(t, events, "%s: the edits are remembered", name)
			}
		}
		ignored := 0
		if outer.Archive != nil {
			ignored = 1
		}
		require.Len(t, heard.Events(middleware.Misconfigured), ignored, name)
	}
	require.Positive(t, journal.puts.Load())
}

// TestFloor: a chain that edits nothing for long says so once.
func TestFloor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model  string
		window int
		mws    []middleware.Middleware
		want   string
	}{
		"the default of a long window": {"gpt-4.1-mini", 0, []middleware.Middleware{contextedit.New(contextedit.Options{})}, "contextedit: notice: nothing is edited below 785,682 tokens (three quarters of the window of gpt-4.1-mini)"},
		"the first of several":         {"gpt-4.1-mini", 0, []middleware.Middleware{contextedit.New(contextedit.Options{}), halver("b")}, ""},
		"a share":                      {"", 1_000_000, []middleware.Middleware{shortener("a", 2, trigger.Fraction(0.5))}, "a: notice: nothing is edited below 500,000 tokens (half of the room of the model)"},
		"the caller's own number":      {"", 1_000_000, []middleware.Middleware{shortener("a", 2, trigger.Tokens(500_000))}, ""},
		"beyond the room":              {"", 100_000, []middleware.Middleware{shortener("a", 2, trigger.Tokens(500_000))}, "a: notice: nothing is edited below 500,000 tokens (more than the room of 100000)"},
		"any of them":                  {"", 1_000_000, []middleware.Middleware{shortener("a", 2, trigger.Any(trigger.Fraction(0.5), trigger.Rounds(5)))}, ""},
		"all of them":                  {"", 1_000_000, []middleware.Middleware{shortener("a", 2, trigger.All(trigger.Fraction(0.2), trigger.Rounds(5)))}, "a: notice: nothing is edited below 200,000 tokens (0.2 of the room of the model)"},
	} {
		var heard middlewaretest.Recorder
		mw := middleware.Chain(append([]middleware.Middleware{heard.Middleware()}, c.mws...)...)
		for range 2 {
			req := &middleware.Request{Messages: []message.Message{message.User("hi")}, Model: c.model}
			if c.window > 0 {
				req.Budget = &middleware.Budget{Window: c.window}
			}
			_, _, err := middleware.Apply(t.Context(), mw, req)
			require.NoError(t, err)
		}
		var got []string
		for _, e := range heard.Events(middleware.Notice) {
			got = append(got, e.String())
		}
		require.Equal(t, c.want, strings.Join(got, "\n"), name)
	}
}

// An Env that is ignored says so once, and with what to do.
func TestEnvIgnoredSaysWhatToDo(t *testing.T) {
	t.Parallel()
	var heard middlewaretest.Recorder
	mw := middleware.With(middleware.Env{Scope: "outer"}, heard.Middleware(), middleware.With(middleware.Env{Scope: "inner"}, halver("a")))
	for range 3 {
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: middlewaretest.ReAct{}.Messages()})
		require.NoError(t, err)
	}
	events := heard.Events(middleware.Misconfigured)
	require.Len(t, events, 1)
	require.Equal(t, "middleware.With", events[0].By)
	require.Equal(t, "Env.Scope of this chain is ignored, since an outer chain has its own Env; set it there", events[0].Why)

	archive := store.NewMemory(0)
	same := middleware.Env{Archive: archive, Clock: at(2001), Protect: []string{"pay"}}
	heard = middlewaretest.Recorder{}
	mw = middleware.With(same, heard.Middleware(), middleware.With(same, halver("a")), middleware.With(middleware.Env{Archive: archive}, halver("b")))
	_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: middlewaretest.ReAct{}.Messages()})
	require.NoError(t, err)
	require.Empty(t, heard.Events(middleware.Misconfigured), "nothing is ignored that is the same in both")
}

// Each field of the Env is used.
func TestEnv(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 12}.Messages()
	apply := func(env middleware.Env, history []message.Message) (*middleware.Request, []middleware.Event) {
		req, events, err := middleware.Apply(t.Context(), middleware.With(env, halver("a")), &middleware.Request{Messages: history})
		require.NoError(t, err)
		return req, events
	}
	req, events := apply(middleware.Env{Clock: at(2003), Counter: longer{}}, history)
	require.Equal(t, 2003, events[0].Time.Year())
	require.Equal(t, longer{}.Count("a text"), req.View().Meter().Counter.Count("a text"))
	_, plain := apply(middleware.Env{}, history)
	require.Greater(t, events[0].Before, plain[0].Before*3/2)

	journal := newCountingJournal()
	first, events := apply(middleware.Env{Journal: journal, Scope: "a"}, history)
	require.Len(t, events, 1)
	again, events := apply(middleware.Env{Journal: journal, Scope: "a"}, history)
	require.Empty(t, events, "a new chain with the same journal and scope finds the edits")
	require.NoError(t, testkit.Same(first.Messages, again.Messages))
	_, events = apply(middleware.Env{Journal: journal, Scope: "b"}, history)
	require.Len(t, events, 1, "another scope finds nothing")

	adopting := middleware.Env{Journal: newCountingJournal(), HistoryIsView: true}
	first, _ = apply(adopting, history)
	again, events = apply(adopting, first.Messages)
	require.Empty(t, events, "a view that is passed back is not edited again")
	require.NotNil(t, again.View().Span(3).Edit, "and its edits are known")
}
