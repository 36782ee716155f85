package edit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

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
	h.Body = own(h.Body, message.Result("c", "read", "text"), message.User("more"), message.Assistant(message.Thinking{Text: "hm"}, message.Text{Text: "yes"}))
	h.IDs, h.Whole = message.IDs(messages(h)), make([]bool, len(h.Body))
	h.Bound(0)
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
