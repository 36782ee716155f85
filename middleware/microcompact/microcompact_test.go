package microcompact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// TestGolden replays the conversations in testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	editortest.Run(t, func(t *testing.T, options []string) editortest.Editor {
		t.Helper()
		mws := editortest.Each(options, func(text string) middleware.Middleware { return parse(t, text) })
		return editortest.Editor{Chain: mws, Items: items, Show: abridged, Check: func(t *testing.T, c editortest.Call) {
			t.Helper()
			requireSound(t, c.History, c.Sent.Messages)
		}}
	})
}

// abridged returns messages with short texts in the place of heads and tails.
func abridged(msgs []message.Message) []message.Message {
	msgs = testkit.Clone(msgs)
	for _, m := range msgs {
		for k, p := range m.Parts {
			r, ok := p.(message.ToolResult)
			if before, rest, found := strings.Cut(r.Text, "[truncated here: "); ok && found {
				mark, after, _ := strings.Cut(rest, "]")
				r.Text = fmt.Sprintf("head of %d bytes [truncated here: %s] tail of %d bytes", len(before), mark, len(after))
				m.Parts[k] = r
			}
		}
	}
	return msgs
}

// requireSound checks what holds for each view that microcompact makes.
func requireSound(t require.TestingT, history, view []message.Message) {
	editortest.RequireRewritten(t, history, view, func(m message.Message, p message.Part) message.Part {
		if _, ok := p.(message.Text); ok && m.HasCalls() {
			return message.Text{}
		}
		return p
	})
}

// parse reads options as a chain file has them.
func parse(t *testing.T, options string) middleware.Middleware {
	t.Helper()
	f, err := chainfile.Parse("options", []byte("chain:\n- use: microcompact\n  "+strings.ReplaceAll(options, "\n", "\n  ")))
	require.NoError(t, err)
	return f.Chain[0]
}

// pages are rounds that read pages of so many words each, and a question behind them.
func pages(words ...int) []message.Message {
	h := []message.Message{message.User("Why does the build fail?")}
	for i, n := range words {
		id := fmt.Sprint("c", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
			message.Result(id, "read", strings.TrimSpace(strings.Repeat(fmt.Sprintf("page%d ", i), n))))
	}
	return append(h, message.Assistant(message.Text{Text: "I see."}), message.User("And then?"))
}

// A batch has come together when as much of it can be freed as the option says, and
// not with one token less.
func TestBatchIsReached(t *testing.T) {
	t.Parallel()
	req := &middleware.Request{Messages: pages(500, 300, 100, 1)}
	freed := func(b microcompact.Batch) int {
		mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, microcompact.New(microcompact.Options{KeepRounds: 1, Batch: b}))
		_, events, err := middleware.Apply(t.Context(), mw, req)
		require.NoError(t, err)
		if len(events) == 0 {
			return 0
		}
		return events[0].Before - events[0].After
	}
	all := freed(microcompact.Batch{})
	require.Positive(t, all)
	for b, want := range map[microcompact.Batch]int{
		{Results: 3}: all, {Results: 4}: 0, {Tokens: all}: all, {Tokens: all + 1}: 0, {Results: 4, Tokens: all}: all, {Results: 3, Tokens: all + 1}: all,
	} {
		require.Equal(t, want, freed(b), "%+v of 3 results and %d tokens", b, all)
	}
}

// TestDefaultBatch has rounds of about 900 tokens. For a model that is known to be cached
// they are shortened together, as far as the room allows.
func TestDefaultBatch(t *testing.T) {
	t.Parallel()
	var sizes []int
	for range 40 {
		sizes = append(sizes, 900)
	}
	h := pages(sizes...)
	for name, tt := range map[string]struct {
		model  string
		budget *middleware.Budget
		batch  microcompact.Batch
		least  int
	}{
		"a cached model":               {model: "claude-sonnet-4-5", least: 5000},
		"a small window":               {model: "claude-sonnet-4-5", budget: &middleware.Budget{Window: 22_000, Reserve: 2000}, least: 2000},
		"an unknown model":             {model: "local"},
		"a model that is not cached":   {model: "gpt-4"},
		"a cached model, but each one": {model: "claude-sonnet-4-5", batch: microcompact.Batch{Results: 1}},
	} {
		chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, microcompact.New(microcompact.Options{Batch: tt.batch, FreshShare: -1}))
		edits := 0
		for n := range h {
			if h[n].Role != message.RoleTool {
				continue
			}
			_, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h[:n+1], Model: tt.model, Budget: tt.budget})
			require.NoError(t, err)
			for _, e := range events {
				edits++
				require.GreaterOrEqual(t, e.Before-e.After, tt.least, name)
			}
		}
		if tt.least == 0 {
			require.Equal(t, 36, edits, "%s: each old round", name)
			continue
		}
		require.Positive(t, edits, name)
		require.Less(t, edits, 20, name)
	}
}

// What another middleware has put in the place of a new result is kept, however long it is.
func TestBirthLeavesWhatOthersHavePut(t *testing.T) {
	t.Parallel()
	h := pages(2000)[:3]
	whole := h[2].Parts[0].(message.ToolResult).Text
	other := whole[:5000] + "\n[left out]\n" + whole[len(whole)-5000:]
	cuts := middleware.Editing("cut", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Span(2).Edit != nil {
			return nil, nil
		}
		r := v.At(2).Parts[0].(message.ToolResult)
		r.Text = other
		return &middleware.Plan{Why: "cut", Edits: []middleware.Edit{middleware.RewriteOf(2, r)}}, nil
	}, middleware.Options{})
	born := func(mws ...middleware.Middleware) string {
		mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, append(mws, microcompact.New(microcompact.Options{}))...)
		sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 8000}})
		require.NoError(t, err)
		return sent.Messages[2].Parts[0].(message.ToolResult).Text
	}
	require.True(t, strings.Contains(born(), "[truncated here: "), "it is reduced when it is new") //nolint:testifylint // it is long
	require.True(t, other == born(cuts), "and not where another has cut it")                       //nolint:testifylint // likewise
}

// TestLateResult checks that a result after the answer belongs to an old round, also in
// a process that knows the conversation without it.
func TestLateResult(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Look."),
		message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}),
		message.Result("a", "read", "ok"),
		message.Assistant(message.Text{Text: "It is fine."}),
		message.Result("a", "read", strings.Repeat("late ", 400)),
	}
	mw := microcompact.New(microcompact.Options{KeepRounds: -1, FreshShare: -1})
	seen := func(mw middleware.Middleware, msgs []message.Message) []message.Message {
		sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: msgs})
		require.NoError(t, err)
		return sent.Messages
	}
	require.Equal(t, h[:4], seen(mw, h[:4]), "nothing is long yet")
	view := seen(mw, h)
	for r := range view[4].Results() {
		require.Equal(t, "[truncated: 2000 chars]", r.Text)
	}
	require.Equal(t, view, seen(microcompact.New(microcompact.Options{KeepRounds: -1, FreshShare: -1}), h), "a process that has seen nothing has the same view")
}

// items returns the number of shortened payloads that an event reports.
func items(detail any) int {
	r, _ := detail.(microcompact.Report)
	return r.Results + r.Arguments + r.Texts
}

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	all := microcompact.Limits{Results: 20, Arguments: 20, Text: 20}
	cases := map[string]microcompact.Options{
		"defaults":           {},
		"the seed":           {Limit: microcompact.Limits{Results: 200, Arguments: 200, Text: 200}},
		"nothing kept":       {KeepRounds: -1, Limit: all},
		"text alone":         {KeepRounds: 1, Limit: microcompact.Limits{Results: -1, Text: 5}},
		"a tool protected":   {KeepRounds: -1, Limit: all, Protect: []string{"read_file"}},
		"in batches, strict": {KeepRounds: 1, Limit: all, Batch: microcompact.Batch{Results: 2}, Strict: true},
		"in batches, tokens": {KeepRounds: 1, Limit: all, Batch: microcompact.Batch{Results: 9, Tokens: 300}},
		"if it is worth it":  {Trigger: trigger.All(low, trigger.Reclaims(100)), KeepRounds: 1, Limit: all},
		"not on each call":   {KeepRounds: 1, Limit: all, MinCalls: 3},
		"new results":        {Limit: microcompact.Limits{Results: -1}, FreshShare: 1e-9},
		"with facts":         {KeepRounds: 1, Digest: 40},
		"no new results":     {KeepRounds: 1, FreshShare: -1},
	}
	for name, opts := range soak.Some(race.Some(cases, "the seed", "new results"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := middlewaretest.Suite{New: func() middleware.Middleware { return microcompact.New(opts) }}
			if name == "new results" { // those of the suite are too short
				suite.Histories = [][]message.Message{middlewaretest.ReAct{Rounds: 4, Result: 8_000}.Messages()}
			}
			suite.Test(t)
		})
	}
}

// In a large window, FreshTokens bounds a new result: 8,000 tokens where the model can read the rest.
func TestFreshTokens(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	for name, c := range map[string]struct {
		archive store.Store
		opts    microcompact.Options
		size    int // of the result
		most    int // tokens that are left; 0: all
	}{
		"with an archive": {archive, microcompact.Options{}, 60_000, 8000},
		"without one":     {nil, microcompact.Options{}, 60_000, 0},
		"given":           {nil, microcompact.Options{FreshTokens: 3000}, 60_000, 3000},
		"no share":        {archive, microcompact.Options{FreshShare: -1, FreshTokens: 2000}, 60_000, 2000},
		"the smaller one": {archive, microcompact.Options{FreshShare: 0.001}, 60_000, 1000},
	} {
		text := strings.Repeat("ok\n", c.size*4/3)
		h := []message.Message{
			message.User("Read it."), message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}), message.Result("a", "read", text),
		}
		chain := middleware.With(middleware.Env{Archive: c.archive, Counter: tokens.Chars4}, microcompact.New(c.opts))
		req, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1_000_000}})
		require.NoError(t, err, name)
		n := tokens.Chars4.Count(req.Messages[2].Parts[0].(message.ToolResult).Text)
		if c.most == 0 {
			require.Equal(t, h, req.Messages, name)
			continue
		}
		require.LessOrEqual(t, n, c.most, name)
		require.Greater(t, n, c.most*9/10, name)
	}
}

func textOf(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolResult:
		return p.Text
	case message.ToolCall:
		return p.Arguments
	case message.Thinking, message.Media, message.Opaque:
	}
	return ""
}

// A model that recalls whatever it sees a handle of gets to the end of it, by a
// window in which the content has no room.
func TestRecallingEndsSomewhere(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	tool := agent.Recall(archive, agent.RecallOptions{})
	mw := middleware.With(middleware.Env{Archive: archive}, microcompact.New(microcompact.Options{KeepRounds: 1}))
	var log strings.Builder
	for log.Len() < 200_000 {
		log.WriteString("a line of the log, and so on\n")
	}
	h := []message.Message{
		message.User("What is in the log?"),
		message.Assistant(message.ToolCall{ID: "c0", Name: "read", Arguments: "{}"}), message.Result("c0", "read", log.String()),
	}
	var read strings.Builder
	var next string
	for calls := 1; ; calls++ {
		require.Less(t, calls, 30, "the model asks for ever")
		sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 8000}})
		require.NoError(t, err)
		seen := sent.Messages[len(sent.Messages)-1].Parts[0].(message.ToolResult).Text
		if calls == 1 {
			require.Contains(t, seen, "[truncated here: ")
			next = `{"handle":"` + archived.In(seen)[0].String() + `"}`
		} else {
			note, lines, _ := strings.Cut(seen, "\n")
			read.WriteString(lines + "\n")
			_, from, more := strings.Cut(strings.TrimSuffix(note, "]"), "; more: from=")
			if !more {
				break
			}
			handle := strings.Fields(strings.TrimSuffix(note, "]"))[5]
			next = `{"handle":"` + strings.Trim(handle, ";") + `","from":` + from + `}`
		}
		parts, err := tool.Call(t.Context(), next)
		require.NoError(t, err)
		id := "r" + next
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: store.RecallTool, Arguments: next}),
			message.Result(id, store.RecallTool, parts[0].(message.Text).Text))
	}
	require.Equal(t, log.String(), read.String(), "the model has read all of it")
}

// What was reduced to head and tail leaves the facts of what the model has seen, and not
// those of the mark in its middle.
func TestLinesOfWhatWasShortenedAtBirth(t *testing.T) {
	t.Parallel()
	text := "order: W-1001\n" + strings.Repeat("nothing of use here\n", 1000) + "secret: W-2002\n" + strings.Repeat("nothing of use here\n", 1000) + "invoice: W-3003\n"
	h := []message.Message{message.User("Read it."), message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: "{}"}), message.Result("c1", "read", text)}
	chain := microcompact.New(microcompact.Options{KeepRounds: -1, Digest: 40})
	for range 2 {
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 8000}})
		require.NoError(t, err)
		if len(h) == 3 {
			require.Contains(t, textOf(sent.Messages[2].Parts[0]), "[truncated here: ")
			h = append(h, message.Assistant(message.Text{Text: "I have."}))
			continue
		}
		require.Equal(t, "[truncated: 40045 chars; some facts: order: W-1001; invoice: W-3003]", textOf(sent.Messages[2].Parts[0]))
	}
}
