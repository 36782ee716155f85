package seeds_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// long is so much text that a message of it is worth folding.
var long = strings.Repeat("The build reads its cache. ", 60)

// dialogue returns pairs of a question and an answer.
func dialogue(pairs int) []message.Message {
	var h []message.Message
	for i := range pairs {
		h = append(h,
			message.User(fmt.Sprintf("Question %d: %s", i, long)),
			message.Assistant(message.Text{Text: fmt.Sprintf("Answer %d: %s", i, long)}))
	}
	return h
}

// saysT is a writer that says T.
var saysT = summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) { return "T", nil })

// folded returns the view of a history that is folded, and the events.
func folded(t *testing.T, h []message.Message, w summarize.Writer, opts summarize.Options) ([]message.Message, []middleware.Event) {
	t.Helper()
	return foldedBy(t, middleware.With(middleware.Env{Counter: tokens.Chars4}, summarize.New(w, opts)), h, "summarize")
}

func foldedBy(t *testing.T, mw middleware.Middleware, h []message.Message, force ...string) ([]message.Message, []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Force: force})
	require.NoError(t, err)
	return sent.Messages, events
}

// letters names the messages of a view by those of a history, and what is new T.
func letters(view, history []message.Message, names []string) []string {
	var out []string
	for _, m := range view {
		name := "T"
		if i := slices.IndexFunc(history, m.Equal); i >= 0 {
			name = names[i]
		}
		out = append(out, name)
	}
	return out
}

// tokensOf returns a request of exactly so many tokens, by a counter that counts
// bytes.
func tokensOf(t *testing.T, n int) *middleware.Request {
	t.Helper()
	h := []message.Message{message.User("What now?"), message.Assistant(message.Text{Text: ""})}
	req := &middleware.Request{Messages: h}
	missing := n - tokens.Meter{Counter: bytesCounter{}}.Request(h, nil)
	h[1].Parts[0] = message.Text{Text: strings.Repeat("x", missing)}
	require.Equal(t, n, tokens.Meter{Counter: bytesCounter{}}.Request(h, nil))
	return req
}

type bytesCounter struct{}

func (bytesCounter) Count(text string) int { return len(text) }

func TestB5(t *testing.T) {
	t.Parallel()

	// 60000 no, 60001 yes.
	layer2 := summarize.Options{Trigger: trigger.Tokens(60_001)}
	env := middleware.With(middleware.Env{Counter: bytesCounter{}}, func(next middleware.Model) middleware.Model { return next })
	for n, want := range map[int]string{60_000: "none", 60_001: "hard"} {
		s, err := summarize.Check(t.Context(), tokensOf(t, n), layer2, env)
		require.NoError(t, err)
		require.Equal(t, want, s.Urgency, "%d tokens", n)
	}

	// System messages and the newest rounds stay, the question stays verbatim, one
	// message stands for the rest.
	var all []toolCall
	for i := range 8 {
		all = append(all, toolCall{tool: "read", named: "read", result: fmt.Sprintf("%d: %s", i, long)})
	}
	h := conversation(all)
	question := ""
	layer2 = summarize.Options{KeepRounds: 4, Header: "【历史摘要】", FactTokens: -1}
	w := summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
		question = f.Question
		return "四次读取都成功。", nil
	})
	view, _ := folded(t, h, w, layer2)
	require.Equal(t, "Look into it.", question, "the summariser is given the current question")
	require.Equal(t, h[:2], view[:2], "the system message and the question")
	require.True(t, strings.HasPrefix(view[2].Text(), "【历史摘要】\n四次读取都成功。"), view[2].Text())
	require.Equal(t, message.RoleUser, view[2].Role)
	require.Equal(t, h[len(h)-9:], view[3:], "four rounds and the answer")

	layer2.Role = message.RoleSystem
	view, _ = folded(t, h, w, layer2)
	require.Equal(t, message.RoleSystem, view[2].Role, "on request")
}

func TestD1(t *testing.T) {
	t.Parallel()
	env := middleware.With(middleware.Env{Counter: bytesCounter{}}, func(next middleware.Model) middleware.Model { return next })
	for name, c := range map[string]struct {
		soft, hard, reserve, keep, most int
	}{
		"development": {5_000, 8_000, 2_000, 4, 400},
		"production":  {15_000, 20_000, 4_000, 6, 800},
		"large":       {25_000, 30_000, 6_000, 10, 1_200},
	} {
		opts := summarize.Options{
			Soft: trigger.Tokens(c.soft), Trigger: trigger.Tokens(c.hard), Reserve: c.reserve, Keep: c.keep, SummaryTokens: c.most,
		}
		require.NoError(t, opts.Validate(), name)
		for n, want := range map[int]summarize.Status{
			c.soft - 1: {Due: false, Tokens: c.soft - 1, Threshold: c.soft, Urgency: "none"},
			c.soft:     {Due: true, Tokens: c.soft, Threshold: c.soft, Urgency: "soft"},
			c.hard - 1: {Due: true, Tokens: c.hard - 1, Threshold: c.soft, Urgency: "soft"},
			c.hard:     {Due: true, Tokens: c.hard, Threshold: c.hard, Urgency: "hard"},
		} {
			got, err := summarize.Check(t.Context(), tokensOf(t, n), opts, env)
			require.NoError(t, err)
			require.NotEmpty(t, got.Why)
			got.Why = ""
			require.Equal(t, want, got, "%s at %d", name, n)
		}

		// The reserve is subtracted from the window.
		req := tokensOf(t, c.soft+1)
		req.Budget = &middleware.Budget{Window: c.soft + 1 + c.reserve}
		got, err := summarize.Check(t.Context(), req, opts, env)
		require.NoError(t, err)
		require.Equal(t, "hard", got.Urgency, "%s: the window less the reserve is reached", name)
		require.Equal(t, c.soft+1, got.Threshold, name)
	}
}

func TestD2(t *testing.T) {
	t.Parallel()
	h := dialogue(15)
	view, _ := folded(t, h, summarize.ByRules(), summarize.Options{Keep: 6})
	require.Len(t, view, 8, "the first question, a summary of 23, and 6")
	require.Equal(t, h[0], view[0])
	require.Equal(t, h[24:], view[2:])
	require.True(t, strings.HasSuffix(view[1].Text(), "(23 messages compacted: 11 of the user, 12 of the assistant)"), view[1].Text())

	view, _ = folded(t, h, summarize.ByRules(), summarize.Options{Keep: 6, Language: "zh"})
	require.True(t, strings.HasSuffix(view[1].Text(), "(已压缩 23 条消息,其中用户 11 条,助手 12 条)"), view[1].Text())

	// What the original tells in its result, a draft tells.
	mw := summarize.New(summarize.ByRules(), summarize.Options{Keep: 6})
	d, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h, Force: []string{"summarize"}})
	require.NoError(t, err)
	require.Equal(t, 30, d.Before.Len(), "original count")
	require.Equal(t, 8, d.After.Len(), "retained count")
	require.Equal(t, view[2:], d.After.Messages()[2:], "messages")
	require.Len(t, d.Edits, 1, "the summary")
	require.Less(t, d.After.Size().Tokens, d.Before.Size().Tokens, "tokens before and after")

	// Fewer than keep: unchanged.
	h = dialogue(3)
	view, events := folded(t, h[:5], summarize.ByRules(), summarize.Options{Keep: 6})
	require.Equal(t, h[:5], view)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Skipped, events[0].Kind)

	// The cut never splits a round.
	h = conversation([]toolCall{{tool: "read", result: long}, {tool: "read", result: long}, {tool: "read", result: long}})
	view, _ = folded(t, h, summarize.ByRules(), summarize.Options{Keep: 2})
	require.Equal(t, h[len(h)-3:], view[3:], "the call of the result that is kept is kept as well")
}

// vault is a store of memories that fails as often as it is told.
type vault struct {
	mu    sync.Mutex
	fails int
	saved []string
}

func (v *vault) save(memories []string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fails > 0 {
		v.fails--
		return errors.New("the disk is full")
	}
	v.saved = append(v.saved, memories...)
	return nil
}

// flush saves what the user has asked.
func (v *vault) flush(_ context.Context, folded []message.Message) (memories int, err error) {
	var questions []string
	for _, m := range folded {
		if m.Role == message.RoleUser {
			questions = append(questions, m.Text())
		}
	}
	return len(questions), v.save(questions)
}

func TestD4(t *testing.T) {
	t.Parallel()
	h := dialogue(20)

	var store vault
	opts := summarize.Options{Keep: 6, Flush: store.flush}
	mw := summarize.New(summarize.ByRules(), opts)
	_, events := foldedBy(t, mw, h[:30], "summarize")
	require.Equal(t, []middleware.EventKind{summarize.Flushed, summarize.Summarizing, summarize.Summarized, middleware.Edited}, kindsOf(events))
	require.Equal(t, summarize.Report{Memories: 11}, events[0].Detail)
	require.Len(t, store.saved, 11)
	foldedBy(t, mw, h[:30])
	foldedBy(t, mw, h[:30], "summarize")
	require.Len(t, store.saved, 11, "once per fold")
	foldedBy(t, mw, h, "summarize")
	require.Len(t, store.saved, 16, "the next fold: the five that are new")

	// A failing store does not stop the fold, and is reported.
	store = vault{fails: 1}
	view, events := foldedBy(t, summarize.New(summarize.ByRules(), opts), h, "summarize")
	require.Len(t, view, 8)
	require.Equal(t, summarize.Flushed, events[0].Kind)
	require.ErrorContains(t, events[0].Err, "the disk is full")
	require.Empty(t, store.saved)

	// A fold that is taken back and made again does not flush twice.
	store = vault{}
	mw = summarize.New(summarize.ByRules(), opts)
	req := &middleware.Request{Messages: h, Force: []string{"summarize"}}
	d, err := middleware.Draft(t.Context(), mw, req)
	require.NoError(t, err)
	require.Empty(t, store.saved, "a dry run keeps nothing")
	back, err := d.Without(0)
	require.NoError(t, err)
	require.NoError(t, back.Commit(t.Context()))
	require.NoError(t, d.Commit(t.Context()))
	foldedBy(t, mw, h)
	require.Len(t, store.saved, 16, "what was folded in the dry run that was kept")
	foldedBy(t, mw, h, "summarize")
	require.Len(t, store.saved, 16)

	// The same for a fold that is taken back because a message in it is pinned: the fold around it and the one that is
	// made when the pin is gone flush nothing that was flushed.
	pinned := slices.Clone(h)
	pinned[10].Hints.Pinned = true
	view, _ = foldedBy(t, mw, pinned)
	require.Equal(t, pinned, view, "all that was folded is back")
	view, _ = foldedBy(t, mw, pinned, "summarize")
	require.Less(t, len(view), len(pinned))
	foldedBy(t, mw, h, "summarize")
	require.Len(t, store.saved, 16)
}

func TestD5(t *testing.T) {
	t.Parallel()
	h := dialogue(15)
	broken := summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) {
		return "", errors.New("503: overloaded, secret-trace-4711")
	})

	// With fallback, rules.
	view, events := folded(t, h, broken, summarize.Options{Keep: 6, Layout: "seed"})
	require.Len(t, view, 8)
	require.Contains(t, view[1].Text(), "Topics: ")
	require.NotContains(t, view[1].Text(), "secret-trace-4711", "an error text never gets into the view")
	require.True(t, slices.ContainsFunc(events, func(e middleware.Event) bool { return e.Kind == summarize.Attempted && e.Err != nil }))

	// Without, an error, and the history is unchanged.
	opts := summarize.Options{Keep: 6, NoFallback: true}
	view, events = folded(t, h, broken, opts)
	require.Equal(t, h, view)
	require.Equal(t, middleware.Failed, events[len(events)-1].Kind)
	opts.Strict = true
	_, _, err := middleware.Apply(t.Context(), summarize.New(broken, opts), &middleware.Request{Messages: h, Force: []string{"summarize"}})
	var typed *middleware.Error
	require.ErrorAs(t, err, &typed)
	require.Equal(t, "summarize", typed.Op)
}

func TestE1(t *testing.T) {
	t.Parallel()
	text := func(name string) message.Part { return message.Text{Text: name + ": " + long} }
	system := func(name string) message.Message { return message.System(name + ": " + long) }
	user := func(name string) message.Message { return message.User(name + ": " + long) }
	call := message.Assistant(message.ToolCall{ID: "c", Name: "read", Arguments: `{"a":"b"}`})
	keepNothing := summarize.Options{Keep: -1, FactTokens: -1}
	bySystem := keepNothing
	bySystem.Strategy = summarize.Strategy{BySystem: true}

	two := []message.Message{system("S0"), user("U0"), message.Assistant(text("A0")), system("S1"), user("U1"), message.Assistant(text("A1")), system("S2")}
	for name, c := range map[string]struct {
		history []message.Message
		names   string
		opts    summarize.Options
		want    string
	}{
		"an answer":     {[]message.Message{system("S"), user("U"), message.Assistant(text("A"))}, "S U A", keepNothing, "S U T"},
		"a call":        {[]message.Message{system("S"), user("U"), message.Assistant(text("A")), call}, "S U A C", keepNothing, "S U T C"},
		"whole":         {two, "S0 U0 A0 S1 U1 A1 S2", keepNothing, "S0 U0 S1 U1 T S2"},
		"whole by part": {two, "S0 U0 A0 S1 U1 A1 S2", bySystem, "S0 U0 T S1 U1 T S2"},
		// The last user message must stay, unlike in the original.
		"the last question": {
			[]message.Message{system("S"), user("U0"), message.Assistant(text("A0")), user("U1")}, "S U0 A0 U1", keepNothing, "S U0 T U1",
		},
		"an empty block": {
			[]message.Message{system("S0"), user("U0"), system("S1"), message.Assistant(text("A0"))}, "S0 U0 S1 A0", bySystem, "S0 U0 S1 T",
		},
	} {
		view, _ := folded(t, c.history, saysT, c.opts)
		require.Equal(t, strings.Fields(c.want), letters(view, c.history, strings.Fields(c.names)), name)
	}

	// One system message and 15 pairs in chunks of 4: 28 can be folded.
	chunks := keepNothing
	chunks.Strategy = summarize.Strategy{Chunks: 4}
	h := append([]message.Message{message.System("You are helpful.")}, dialogue(15)...)
	view, _ := folded(t, h, saysT, chunks)
	require.Equal(t, append(strings.Fields("S U"), append(slices.Repeat([]string{"T"}, 6), "U", "T")...), letters(view, h, append(append(
		strings.Fields("S U"), make([]string, 27)...), "U", "A")), "7 summaries")

	// What is always kept: memories if they are to be preserved, and a call at the end
	// that is not answered, with whatever stands between.
	memory := message.Assistant(text("M"))
	memory.Hints.Memory = true
	odd := []message.Message{system("S"), user("U0"), message.Assistant(text("A0")), memory, message.Assistant(text("A1")), user("U1"), call}
	for preserve, want := range map[bool]string{true: "S U0 M T U1 C", false: "S U0 T U1 C"} {
		opts := keepNothing
		opts.PreserveMemory = preserve
		view, _ := folded(t, odd, saysT, opts)
		require.Equal(t, strings.Fields(want), letters(view, odd, strings.Fields("S U0 A0 M A1 U1 C")), "memories are preserved: %v", preserve)
	}

	// Since: what was said at t or later is summarised, and what was said before is
	// dropped.
	times := []message.Message{system("S"), user("U0")}
	for i := range 6 {
		m := message.Assistant(text(fmt.Sprintf("A%d", i)))
		m.Time = time.Unix(int64(100+i), 0)
		times = append(times, m)
	}
	var since []message.Message
	late := keepNothing
	late.Strategy = summarize.Strategy{Since: time.Unix(103, 0)}
	view, _ = folded(t, times, summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
		since = f.Messages
		return "T", nil
	}), late)
	require.Equal(t, times[5:], since, "at 103 or later")
	require.Equal(t, strings.Fields("S U0 T"), letters(view, times, strings.Fields("S U0 A0 A1 A2 A3 A4 A5")))
	require.True(t, strings.HasSuffix(view[2].Text(), "(6 messages compacted: 0 of the user, 6 of the assistant; 3 of them left out)"), view[2].Text())

	// Only the newest are summarised; those before are dropped.
	last := keepNothing
	var seen []message.Message
	last.Strategy = summarize.Strategy{OnlyLast: 4}
	view, _ = folded(t, h, summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
		seen = f.Messages
		return "T", nil
	}), last)
	require.Equal(t, append(slices.Clone(h[26:29]), h[30]), seen)
	require.Len(t, view, 4)
	require.True(t, strings.HasSuffix(view[3].Text(), "(28 messages compacted: 13 of the user, 15 of the assistant; 24 of them left out)"), view[3].Text())
}

func TestE2(t *testing.T) {
	t.Parallel()
	h := dialogue(15)
	h[5] = message.Assistant(message.Text{Text: "It must be done by Friday. build.log has the error, cache.db is stale. " + long})
	concepts := []summarize.Concept{
		{Keyword: "deadline", Description: "by when it must be done"},
		{Keyword: "files", Description: "which files matter", Many: true},
	}
	var asked []*middleware.Request
	answers := func(texts ...string) middleware.Model {
		asked = nil
		return func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			asked = append(asked, req)
			text := texts[min(len(asked), len(texts))-1]
			return &middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd}, nil
		}
	}
	facts := func(model middleware.Model, s summarize.Strategy) string {
		view, _ := foldedBy(t, summarize.New(summarize.By(model, summarize.Ask{}), summarize.Options{Strategy: s, FactTokens: -1, Layout: "seed"}), h, "summarize")
		require.Len(t, view, 8)
		return view[1].Text()
	}

	// One request for all, over the transcript as data.
	text := facts(answers(`{"facts": {"deadline": ["It must be done by Friday."], "files": ["build.log has the error.", "cache.db is stale."]}}`),
		summarize.Strategy{Facts: concepts})
	require.Contains(t, text, "## KNOWN FACTS ABOUT deadline (by when it must be done)\n- It must be done by Friday.\n")
	require.Contains(t, text, "## KNOWN FACTS ABOUT files (which files matter)\n- build.log has the error.\n- cache.db is stale.")
	require.Len(t, asked, 1)
	question := asked[0].Messages[len(asked[0].Messages)-1].Text()
	require.Contains(t, question, `- "deadline" (one fact at most, the newest): by when it must be done`)
	require.Contains(t, question, `- "files" (any number of facts): which files matter`)
	for _, m := range asked[0].Messages {
		require.NotEqual(t, message.RoleAssistant, m.Role, "not as a conversation to go on with")
	}
	require.Contains(t, asked[0].Messages[1].Text(), "Answer 3: The build reads its cache.")

	// One means one: of two facts the newest counts, in this answer or in the next one that is asked for.
	text = facts(answers(`{"facts": {"deadline": ["No deadline is known.", "It is Friday."], "files": []}}`,
		`{"facts": {"deadline": ["It is Friday."], "files": []}}`), summarize.Strategy{Facts: concepts})
	require.Contains(t, text, "- It is Friday.")
	require.NotContains(t, text, "No deadline is known.")

	// Nothing is found for any: as Whole, and never unchanged.
	text = facts(answers(`{"facts": {"deadline": [], "files": []}}`,
		"Key objectives: a green build\nTools used and results: none\nKey findings: none\nCurrent status: red\nNext steps: look"),
		summarize.Strategy{Facts: concepts})
	require.Contains(t, text, "Key objectives: a green build")
	require.Len(t, asked, 2)
}

// sample reads the sections of the sample conversation of D-3.
func sample(t *testing.T) (sections map[string]string, conversation func(name string) []message.Message) {
	t.Helper()
	a, err := txtar.ParseFile("../../middleware/summarize/internal/rulewriter/testdata/d3.txtar")
	require.NoError(t, err)
	sections = map[string]string{}
	for _, f := range a.Files {
		sections[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
	}
	return sections, func(name string) []message.Message {
		var h []message.Message
		for line := range strings.Lines(sections[name]) {
			role, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			if quoted, err := strconv.Unquote(text); err == nil {
				text = quoted
			}
			h = append(h, message.Message{Role: message.Role(role), Parts: []message.Part{message.Text{Text: text}}})
		}
		return h
	}
}

func TestD3(t *testing.T) {
	t.Parallel()
	sections, conversation := sample(t)
	in, more := conversation("in"), conversation("more")
	// Code that tells no language is no part of a summary, and makes it worth one.
	in[1].Parts = append(in[1].Parts, message.Text{Text: "```\n" + strings.Repeat("x := y\n", 400) + "```"})
	first, last := message.User("先说第一件事。"), message.User("还有什么?")
	mw := summarize.New(summarize.ByRules(), summarize.Options{Keep: 1, Layout: "seed", QuoteTokens: -1, FactTokens: -1})

	view, _ := foldedBy(t, mw, slices.Concat([]message.Message{first}, in, []message.Message{last}), "summarize")
	require.Len(t, view, 3)
	require.Equal(t, sections["want"], view[1].Text(), "byte for byte")

	more[1].Parts = append(more[1].Parts, message.Text{Text: "```\n" + strings.Repeat("x := y\n", 400) + "```"})
	view, _ = foldedBy(t, mw, slices.Concat([]message.Message{first}, in, more, []message.Message{last}), "summarize")
	require.Len(t, view, 3)
	require.Equal(t, sections["want more"], view[1].Text(), "updated: 34, 17, 17")
}

// TestImportance keeps the older units with the highest scores, over several folds.
func TestImportance(t *testing.T) {
	t.Parallel()
	h := dialogue(20)
	important := func(n int) float64 { return float64(n % 7) } // of the messages that may be folded: 13, 20, 27 and 34
	opts := summarize.Options{Keep: 4, KeepScored: 2, FactTokens: -1, Score: func(v *middleware.View) func(message.Unit) float64 {
		return func(u message.Unit) float64 {
			i := slices.IndexFunc(h, v.At(u.First).Equal)
			if i < 0 || i%2 == 0 {
				return 0
			}
			return important(i)
		}
	}}
	mw := summarize.New(saysT, opts)
	names := make([]string, len(h))
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	view, _ := foldedBy(t, mw, h[:30], "summarize")
	require.Equal(t, strings.Fields("0 13 19 T 26 27 28 29"), letters(view, h, names), "13 scores 6, and 19 is the newest that scores 5")
	view, _ = foldedBy(t, mw, h, "summarize")
	require.Equal(t, strings.Fields("0 13 27 T 36 37 38 39"), letters(view, h, names), "27 scores 6 as well")
	require.Error(t, summarize.Options{KeepScored: 1}.Validate(), "without a score")
}
