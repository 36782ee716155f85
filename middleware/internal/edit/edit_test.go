package edit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// talk is a history of n answers after a question.
func talk(n int) *edit.History {
	h := &edit.History{Meter: tokens.Meter{Counter: tokens.Chars4, Framing: tokens.DefaultFraming()}}
	h.FirstUser, h.LastUser = -1, -1
	msgs := []message.Message{message.User("question")}
	for i := range n {
		msgs = append(msgs, message.Assistant(message.Text{Text: fmt.Sprintf("a long answer with number %d", i)}))
	}
	add(h, msgs...)
	return h
}

// add appends messages to a history.
func add(h *edit.History, msgs ...message.Message) {
	for i := range msgs {
		h.Body = append(h.Body, &msgs[i])
		h.Tokens = append(h.Tokens, h.Meter.Message(msgs[i]))
		h.Sum += h.Meter.Message(msgs[i])
	}
	h.IDs, h.Whole = message.IDs(messages(h)), make([]bool, len(h.Body))
	h.Bound(0)
}

// messages returns the body of a history.
func messages(h *edit.History) []message.Message {
	return h.AppendMessages(nil, message.Run{Last: len(h.Body) - 1})
}

func rewrite(h *edit.History, i int, text string) *journal.Record {
	return &journal.Record{
		Middleware: "r", Kind: journal.Rewrite, Runs: []message.Run{{First: i, Last: i}}, ID: h.IDs[i], HistoryLen: len(h.Body),
		Parts: []message.Part{message.Text{Text: text}},
	}
}

func fold(h *edit.History, first, last int, text string) *journal.Record {
	return &journal.Record{
		Middleware: "f", Kind: journal.Fold, Runs: []message.Run{{First: first, Last: last}}, ID: h.IDs[last], HistoryLen: len(h.Body),
		Messages: []message.Message{message.User(text)},
	}
}

// Edits are put one over the other, and a plain slice of texts is changed in the same way.
func TestListsApplyLikePlainReplacement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := talk(20)
		var l edit.List
		plain := make([]string, len(h.Body)) // text of each position; "" once it is covered
		for i, m := range h.Body {
			plain[i] = m.Text()
		}
		for step := range rapid.IntRange(1, 12).Draw(t, "edits") {
			first := rapid.IntRange(1, len(h.Body)-1).Draw(t, "first")
			last := min(len(h.Body)-1, first+rapid.IntRange(0, 6).Draw(t, "length"))
			text := fmt.Sprint("step ", step)
			r := fold(h, first, last, text)
			if first == last && rapid.Bool().Draw(t, "rewrite") {
				r = rewrite(h, first, text)
			}
			r.Covered = l.Inside(r.Runs)
			newer := edit.List{h.Weigh(r)}
			before := l
			over, err := l.Over(newer)
			if err != nil {
				require.ErrorIs(t, err, edit.ErrPartial)
				continue
			}
			l = over
			for i := first; i < last; i++ {
				plain[i] = ""
			}
			plain[last] = text

			delta, ok := l.Without(before)
			require.True(t, ok, "the newer list is the older one with a change")
			again, err := before.Over(append(edit.List{}, delta...))
			require.NoError(t, err)
			require.True(t, l.Equal(again))
		}
		want := make([]string, 0, len(plain))
		for _, text := range plain {
			if text != "" {
				want = append(want, text)
			}
		}
		result := h.Apply(messages(h), l, nil, nil, 0)
		var got []string
		sum := 0
		for i, m := range result.Messages {
			got = append(got, m.Text())
			sum += h.Meter.Message(m)
			s := result.Span(0, i)
			require.True(t, i == 0 || s.First > result.Span(0, i-1).Last, "spans are in order and apart")
		}
		require.Equal(t, want, got)
		require.Equal(t, sum, result.Sum)
		require.True(t, l.Equal(h.Holding(l, edit.Terms{})), "all edits hold for the history that they were made for")

		from := rapid.IntRange(1, len(h.Body)-1).Draw(t, "from")
		for _, it := range l {
			if it.Runs[0].First < from && edit.Last(it.Record) >= from {
				from = it.Runs[0].First // no fold is cut
			}
		}
		require.Equal(t, result.Messages, h.Apply(messages(h), l, nil, &result, from).Messages, "a part of the result may be reused")
	})
}

func TestHoldingFallsBackToWhatAFoldCovers(t *testing.T) {
	t.Parallel()
	h := talk(10)
	r := fold(h, 2, 5, "summary")
	r.Covered = []*journal.Record{rewrite(h, 3, "short")}
	l := edit.List{h.Weigh(r)}
	require.Equal(t, l, h.Holding(l, edit.Terms{}))
	other := func(change func(r *journal.Record)) journal.Kind {
		c := *r
		change(&c)
		return h.Holding(edit.List{h.Weigh(&c)}, edit.Terms{Window: 8000})[0].Kind
	}
	require.Equal(t, journal.Fold, other(func(r *journal.Record) { r.Window = 8000 }))
	require.Equal(t, journal.Rewrite, other(func(r *journal.Record) { r.Window = 7999 }), "made for a smaller window")
	require.Equal(t, journal.Fold, other(func(r *journal.Record) { r.Once, r.HistoryLen = true, len(h.Body) }))
	require.Equal(t, journal.Rewrite, other(func(r *journal.Record) { r.Once, r.HistoryLen = true, len(h.Body)-1 }), "made for another history")
	h.Whole[4] = true // pinned since
	held := h.Holding(l, edit.Terms{})
	require.Len(t, held, 1)
	require.Equal(t, journal.Rewrite, held[0].Kind, "the rewrite comes back in place of the fold")
	h.Whole[3] = true
	require.Empty(t, h.Holding(l, edit.Terms{}))
}

func TestVerifyNamesTheRule(t *testing.T) {
	t.Parallel()
	h := talk(6)
	for want, records := range map[string][]*journal.Record{
		"": {rewrite(h, 3, "short")},
		"the text of the first and of the last user message must stay": {rewrite(h, 0, "short")},
		"message 0 is protected, and the fold would remove it":         {fold(h, 0, 2, "summary")},
		"the fold would add an invalid message":                        {fold(h, 1, 2, "")},
	} {
		requireVerified(t, want, h, records...)
	}
}

// requireVerified checks what is said of records; "": nothing is wrong.
func requireVerified(t *testing.T, want string, h *edit.History, records ...*journal.Record) {
	t.Helper()
	before, after := h.Apply(messages(h), nil, nil, nil, 0), h.Apply(messages(h), h.WeighAll(records), nil, nil, 0)
	err := h.Verify(&before, &after, records, edit.Terms{}, false)
	if want == "" {
		require.NoError(t, err)
	} else {
		require.ErrorContains(t, err, want)
	}
}

// twice is a history in which messages 2 and 4 are equal.
func twice() *edit.History {
	h := talk(6)
	h.Body[4] = h.Body[2]
	h.IDs = message.IDs(messages(h))
	return h
}

// A message of a fold is one of two equal pinned ones, also if they were pinned after the fold was made.
func TestEqualPins(t *testing.T) {
	t.Parallel()
	once, both := fold(twice(), 1, 5, "summary"), fold(twice(), 1, 5, "summary")
	pin := *twice().Body[2]
	once.Messages = []message.Message{pin, message.User("summary")}
	both.Messages = []message.Message{pin, message.User("summary"), pin}
	for _, r := range []*journal.Record{once, both} {
		h := twice()
		l := h.WeighAll([]*journal.Record{r})
		require.Len(t, h.Holding(l, edit.Terms{}), 1, "nothing is pinned")
		h.Whole[2] = true
		require.Len(t, h.Holding(l, edit.Terms{}), 1, "one is pinned")
		h.Whole[4] = true
		after := h.Apply(messages(h), l, nil, nil, 0)
		for i, m := range after.Messages {
			require.Equal(t, h.Meter.Message(m), after.Tokens[i], "tokens of message %d", i)
		}
		if r == both {
			requireVerified(t, "", h, r)
			require.Len(t, h.Holding(l, edit.Terms{}), 1)
			continue
		}
		requireVerified(t, "message 4 is protected, and the fold would remove it", h, r)
		require.Empty(t, h.Holding(l, edit.Terms{}), "two are pinned, and the fold has one")
	}
}

// Runs without a message between them are like one.
func TestAdjoiningRuns(t *testing.T) {
	t.Parallel()
	for second, want := range map[int]string{2: "", 3: "message 1 is protected, and the fold would move it after other messages"} {
		h := talk(6)
		h.Whole[1] = true
		r := fold(h, second, 5, "summary")
		r.Runs = []message.Run{{First: 1, Last: 1}, {First: second, Last: 5}}
		r.Messages = []message.Message{*h.Body[1], message.User("summary")}
		requireVerified(t, want, h, r)
	}
}

// A result that no model has seen keeps some of its text.
func TestNewestResultIsNotEmptied(t *testing.T) {
	t.Parallel()
	h := talk(2)
	add(h, message.Assistant(message.ToolCall{ID: "c", Name: "read", Arguments: "{}"}), message.Result("c", "read", "  some words of a result"))
	for text, ok := range map[string]bool{"": false, " ": false, "  some": true} {
		r := rewrite(h, 4, "")
		r.Parts = message.Result("c", "read", text).Parts
		err := h.Verify(&edit.Result{}, &edit.Result{Messages: messages(h)}, []*journal.Record{r}, edit.Terms{}, false)
		if ok {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "may only be shortened", "%q", text)
		}
	}
}

// A fold of a call ends when a result of the call comes after it.
func TestFoldAndLateResult(t *testing.T) {
	t.Parallel()
	h := talk(2)
	add(h, message.Assistant(message.ToolCall{ID: "c", Name: "read", Arguments: "{}"}), message.Result("c", "read", "a result"))
	r := fold(h, 1, 4, "summary")
	r.Messages = h.AppendMessages(r.Messages, message.Run{First: 3, Last: 4})
	l := h.WeighAll([]*journal.Record{r})
	require.Len(t, h.Holding(l, edit.Terms{}), 1)
	add(h, message.Result("c", "read", "more of it"))
	require.Empty(t, h.Holding(l, edit.Terms{}))
}

// Edits that both lists have do not differ, even if they come after one that only one of the lists has.
func TestDiffers(t *testing.T) {
	t.Parallel()
	h := talk(12)
	late := fold(h, 8, 9, "folded")
	late.Runs = []message.Run{{First: 1, Last: 2}, {First: 8, Last: 9}}
	both := edit.List{h.Weigh(late)}
	more := edit.List{h.Weigh(rewrite(h, 5, "short")), both[0]}
	require.Equal(t, 5, more.Differs(both))
	require.Equal(t, 5, both.Differs(more))
	require.Equal(t, 1, both.Differs(nil))
	require.Equal(t, math.MaxInt, more.Differs(more))
}

// TestEqualEdits compares edits that were made for histories of different lengths.
func TestEqualEdits(t *testing.T) {
	t.Parallel()
	one := []message.Run{{First: 1, Last: 1}}
	for name, c := range map[string]struct {
		record journal.Record
		equal  bool
	}{
		"a text":            {journal.Record{Kind: journal.Rewrite, Runs: one, Parts: []message.Part{message.Text{Text: "short"}}}, true},
		"for one request":   {journal.Record{Kind: journal.Rewrite, Runs: one, Parts: []message.Part{message.Text{Text: "short"}}, Once: true}, false},
		"arguments":         {journal.Record{Kind: journal.Rewrite, Runs: one, Parts: []message.Part{message.ToolCall{ID: "c", Arguments: "{}"}}}, false},
		"a fold with calls": {journal.Record{Kind: journal.Fold, Runs: one, Messages: []message.Message{message.Assistant(message.ToolCall{ID: "c"})}}, true},
	} {
		longer := c.record
		longer.HistoryLen++
		h := talk(3)
		require.Equal(t, c.equal, edit.List{h.Weigh(&c.record)}.Equal(edit.List{h.Weigh(&longer)}), name)
	}
}

// A fold leaves out an earlier one that lies only partly in its runs, and keeps what is in front of that and behind it.
func TestExcludePartialFolds(t *testing.T) {
	t.Parallel()
	h := talk(12)
	apart := fold(h, 3, 4, "apart")
	apart.Runs = append(apart.Runs, message.Run{First: 9, Last: 9})
	l := h.WeighAll([]*journal.Record{apart, fold(h, 6, 7, "whole")})
	require.Equal(t, []message.Run{{First: 1, Last: 2}, {First: 5, Last: 8}}, l.ExcludePartialFolds([]message.Run{{First: 1, Last: 8}}))
}

// Positions are like a set of numbers, and their runs are in order and do not adjoin.
func TestPositionsAreASet(t *testing.T) {
	t.Parallel()
	const end = 30
	draw := func(t *rapid.T, name string) (edit.Positions, [end]bool) {
		var p edit.Positions
		var set [end]bool
		for range rapid.IntRange(0, 6).Draw(t, name) {
			r := message.Run{First: rapid.IntRange(0, end-1).Draw(t, "first"), Last: rapid.IntRange(0, end-1).Draw(t, "last")}
			before := append(edit.Positions(nil), p...)
			p2 := p.With(r)
			require.True(t, p.Equal(before), "the receiver is not changed")
			p = p2
			for i := r.First; i <= r.Last; i++ {
				set[i] = true
			}
		}
		return p, set
	}
	check := func(t *rapid.T, p edit.Positions, set [end]bool) {
		for i, want := range set {
			require.Equal(t, want, p.Has(i), "position %d of %v", i, p)
		}
		for k, r := range p {
			require.LessOrEqual(t, r.First, r.Last)
			require.True(t, k == 0 || p[k-1].Last+1 < r.First, "%v", p)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p, a := draw(t, "runs")
		o, b := draw(t, "other runs")
		check(t, p, a)
		both, differs := a, math.MaxInt
		for i := range end {
			both[i] = a[i] || b[i]
			if a[i] != b[i] && differs == math.MaxInt {
				differs = i
			}
		}
		check(t, p.Union(o), both)
		require.Equal(t, differs, p.Differs(o))
		require.Equal(t, differs == math.MaxInt, p.Equal(o))
	})
}

// thoughtful is a history of a question and answers with thinking, a text, thinking again, and another text.
func thoughtful(n int) *edit.History {
	h := talk(n)
	for i := 1; i < len(h.Body); i++ {
		m := *h.Body[i]
		m.Parts = []message.Part{message.Thinking{Text: "hm", Signature: "a"}, m.Parts[0], message.Thinking{Text: "so", Signature: "b"}, message.Text{Text: "done"}}
		h.Body[i] = &m
	}
	h.IDs = message.IDs(messages(h))
	h.LastUser = 0
	return h
}

// What an editor may not remove, on the terms of a request.
func TestTermsOfThinking(t *testing.T) {
	t.Parallel()
	h := thoughtful(6)
	call := *h.Body[2]
	call.Parts = append(append([]message.Part(nil), call.Parts...), message.ToolCall{ID: "c", Name: "read", Arguments: "{}"})
	h.Body[2] = &call
	add(h, message.Result("c", "read", "text"), message.User("more"), message.Assistant(message.Thinking{Text: "hm"}, message.Text{Text: "yes"}))
	bare := func(i int) *journal.Record {
		r := rewrite(h, i, "")
		r.Parts = edit.WithoutThinking(h.Body[i].Parts)
		return r
	}
	for name, c := range map[string]struct {
		at    int
		terms edit.Terms
		err   string
	}{
		"an old answer":                           {at: 1},
		"an old answer with calls":                {at: 2},
		"the newest turn":                         {at: 9, err: "thinking of the newest turn must stay"},
		"the newest turn, left out already":       {at: 9, terms: edit.Terms{LeftOut: edit.Positions{{First: 9, Last: 9}}}},
		"calls keep it: another answer":           {at: 1, terms: edit.Terms{Calls: true}},
		"calls keep it: an old answer with calls": {at: 2, terms: edit.Terms{Calls: true}, err: "thinking of an answer with calls must stay"},
	} {
		err := h.Verify(&edit.Result{}, &edit.Result{Messages: messages(h)}, []*journal.Record{bare(c.at)}, c.terms, false)
		holding := h.Holding(h.WeighAll([]*journal.Record{bare(c.at)}), c.terms)
		if c.err == "" {
			require.NoError(t, err, name)
			require.Len(t, holding, 1, name)
			continue
		}
		require.ErrorContains(t, err, c.err, name)
		require.Empty(t, holding, name)
	}
	r := fold(h, 2, 7, "")
	r.Messages = []message.Message{{Role: message.RoleAssistant, Parts: edit.WithoutThinking(call.Parts)}, *h.Body[7]}
	err := h.Verify(&edit.Result{}, &edit.Result{Messages: messages(h)}, []*journal.Record{r}, edit.Terms{Calls: true}, true)
	require.ErrorContains(t, err, "an answer with calls and without thinking")
}

// A call and its result that are apart, as some providers accept it, leave together.
func TestPairsApart(t *testing.T) {
	t.Parallel()
	call := func(id string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"})
	}
	for name, c := range map[string]struct {
		first, last int
		err         string
	}{
		"neither":                 {1, 2, ""},
		"both":                    {3, 6, ""},
		"a call":                  {3, 3, `orphaned result "a" would result`},
		"a result":                {5, 5, `unanswered call "a" would result`},
		"what never had a result": {8, 8, ""},
	} {
		h := talk(2)
		add(h, call("a"), call("b"), message.Result("a", "read", "one"), message.Result("b", "read", "two"),
			message.Result("z", "read", "a result of nothing"), call("a"), call("c"), message.User("more"))
		h.LastUser = 0
		r := fold(h, c.first, c.last, "")
		r.Messages = nil
		before, after := h.Apply(messages(h), nil, nil, nil, 0), h.Apply(messages(h), h.WeighAll([]*journal.Record{r}), nil, nil, 0)
		err := h.Verify(&before, &after, []*journal.Record{r}, edit.Terms{}, false)
		if c.err == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.err, name)
		}
	}
}
