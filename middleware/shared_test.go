package middleware_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// settler is an editor that stores how far it has come, and reads in later calls how much
// of that is unchanged.
type settler struct {
	settle int // the message before which it settles; 0: it does not
	found  int
}

func (s *settler) plan(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
	type settled struct {
		view *middleware.View
		end  int
	}
	s.found = 0
	if before, ok := v.Load(s).(settled); ok && v.Shared(before.view) >= before.end {
		s.found = before.end
	}
	if s.settle > 0 {
		v.Store(s, settled{v, s.settle})
	}
	return nil, nil
}

// rewriting rewrites message at, once.
func rewriting(at *int) middleware.Middleware {
	return middleware.Editing("rewrite", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if *at == 0 || v.Span(*at).Edit != nil {
			return nil, nil
		}
		r := v.At(*at).Parts[0].(message.ToolResult)
		r.Text = "-"
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(*at, r)}}, nil
	}, middleware.Options{})
}

func TestSettled(t *testing.T) {
	t.Parallel()
	h := lookups(12) // result k at 3+2k
	for name, c := range map[string]struct {
		change  func(h []message.Message, rewrite *int) []message.Message
		settled int // 10 before the change
	}{
		"the same":       {func(h []message.Message, _ *int) []message.Message { return h }, 10},
		"grown":          {func([]message.Message, *int) []message.Message { return h }, 10},
		"an edit behind": {func(h []message.Message, at *int) []message.Message { *at = 11; return h }, 10},
		"an edit before": {func(h []message.Message, at *int) []message.Message { *at = 9; return h }, 0},
		"a fork behind": {func(h []message.Message, _ *int) []message.Message {
			return append(slices.Clone(h[:14]), message.User("?"))
		}, 10},
		"a fork before":             {func(h []message.Message, _ *int) []message.Message { return append(slices.Clone(h[:8]), h[14:]...) }, 0},
		"shorter than that":         {func(h []message.Message, _ *int) []message.Message { return h[:6] }, 0},
		"another system prompt":     {func(h []message.Message, _ *int) []message.Message { return with(h, 0, message.System("Hello.")) }, 0},
		"one more":                  {func(h []message.Message, _ *int) []message.Message { return append([]message.Message{h[0]}, h...) }, 0},
		"a message before pinned":   {func(h []message.Message, _ *int) []message.Message { return with(h, 5, pinnedAs(h[5])) }, 0},
		"a message behind pinned":   {func(h []message.Message, _ *int) []message.Message { return with(h, 11, pinnedAs(h[11])) }, 10},
		"the first message changed": {func(h []message.Message, _ *int) []message.Message { return with(h, 1, message.User("What?")) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, at := &settler{settle: 10}, 0
			chain := middleware.Chain(rewriting(&at), middleware.Editing("settle", s.plan, middleware.Options{}))
			call := func(h []message.Message) {
				_, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h})
				require.NoError(t, err)
			}
			call(h[:20])
			require.Zero(t, s.found, "nothing was settled before")
			s.settle = 0
			call(h[:20])
			require.Equal(t, 10, s.found)
			call(c.change(h[:20], &at))
			require.Equal(t, c.settled, s.found)
		})
	}
}

func with(h []message.Message, i int, m message.Message) []message.Message {
	h = slices.Clone(h)
	h[i] = m
	return h
}

func pinnedAs(m message.Message) message.Message {
	m.Hints.Pinned = true
	return m
}

// A fold moves what lies behind it; what it covers is as settled as it is.
func TestSettledWithAFold(t *testing.T) {
	t.Parallel()
	h := lookups(12)
	s := &settler{settle: 10}
	var runs []message.Run
	folding := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < len(h) || runs == nil {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{{Kind: journal.Fold, Runs: runs, Messages: []message.Message{message.User("one"), message.User("two")}}}}, nil
	}, middleware.Options{})
	call := func(chain middleware.Middleware, settle int) int {
		s.settle = settle
		_, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h})
		require.NoError(t, err)
		return s.found
	}
	chain := func() middleware.Middleware {
		return middleware.Chain(folding, middleware.Editing("settle", s.plan, middleware.Options{}))
	}
	for name, c := range map[string]struct {
		runs   []message.Run
		settle int
		want   int
	}{
		"behind the fold":         {[]message.Run{{First: 2, Last: 5}}, 6, 6},
		"right behind it":         {[]message.Run{{First: 2, Last: 5}}, 4, 4},
		"before it":               {[]message.Run{{First: 6, Last: 9}}, 4, 4},
		"in what it has put":      {[]message.Run{{First: 2, Last: 5}}, 3, 3},
		"between its runs":        {[]message.Run{{First: 2, Last: 3}, {First: 8, Last: 9}}, 4, 4},
		"behind both of its runs": {[]message.Run{{First: 2, Last: 3}, {First: 8, Last: 9}}, 9, 9},
	} {
		t.Run(name, func(t *testing.T) {
			runs = c.runs
			chain := chain()
			call(chain, c.settle)
			require.Equal(t, c.want, call(chain, 0))
		})
	}

	// What was settled before a fold was made is void.
	runs = nil
	again := chain()
	call(again, 10)
	require.Equal(t, 10, call(again, 0))
	runs = []message.Run{{First: 2, Last: 5}}
	require.Zero(t, call(again, 0))
}

// A dry run knows what is settled, and settles for itself alone.
func TestSettledInADraft(t *testing.T) {
	t.Parallel()
	s := &settler{settle: 6}
	var heard middlewaretest.Recorder
	chain := middleware.Chain(heard.Middleware(), middleware.Editing("settle", s.plan, middleware.Options{}), sayer("a"))
	req := &middleware.Request{Messages: lookups(12)}
	_, _, err := middleware.Apply(t.Context(), chain, req)
	require.NoError(t, err)
	s.settle = 12
	before := heard.Events()
	d, err := middleware.Draft(t.Context(), chain, req)
	require.NoError(t, err)
	require.NotEmpty(t, d.Events)
	require.Equal(t, before, heard.Events(), "observers hear nothing of it")
	require.Equal(t, 6, s.found)
	s.settle = 0
	_, _, err = middleware.Apply(t.Context(), chain, req)
	require.NoError(t, err)
	require.Equal(t, 6, s.found)
}
