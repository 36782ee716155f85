package bound_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/bound"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// talk is a history of a question and seven answers with thinking, a text, thinking again, and another text.
func talk() *edit.History {
	h := &edit.History{}
	add := func(m message.Message) { h.Body = append(h.Body, &m) }
	add(message.User("Why?"))
	for i := range 7 {
		add(message.Assistant(
			message.Thinking{Text: "hm", Signature: fmt.Sprint("a", i)}, message.Text{Text: fmt.Sprint("first ", i)},
			message.Thinking{Text: "so", Signature: fmt.Sprint("b", i)}, message.Text{Text: "done"}))
	}
	return h
}

// sent returns the history as a request, after a change.
func sent(h *edit.History, change func(r *bound.Request)) bound.Request {
	r := bound.Request{Edited: true}
	for i, m := range h.Body {
		own := *m
		own.Parts = slices.Clone(m.Parts)
		r.Messages, r.Position = append(r.Messages, own), append(r.Position, i)
	}
	if change != nil {
		change(&r)
	}
	return r
}

func bare(at ...int) func(r *bound.Request) {
	return func(r *bound.Request) {
		for _, i := range at {
			r.Messages[i].Parts = edit.WithoutThinking(r.Messages[i].Parts)
		}
	}
}

func text(at, part int) func(r *bound.Request) {
	return func(r *bound.Request) { r.Messages[at].Parts[part] = message.Text{Text: "x"} }
}

// fold replaces messages 1 to 5 by one.
func fold(r *bound.Request) {
	r.Messages = slices.Replace(r.Messages, 1, 6, message.User("summary"))
	r.Position = slices.Replace(r.Position, 1, 6, -1)
}

func both(a, b func(r *bound.Request)) func(r *bound.Request) {
	return func(r *bound.Request) { a(r); b(r) }
}

// From which answer on thinking is void, by a comparison of two requests, and by what the journal has of the first one.
func TestVoid(t *testing.T) {
	t.Parallel()
	h := talk()
	for name, c := range map[string]struct {
		before, now func(r *bound.Request)
		leftOut     edit.Positions
		first       int // whose thinking is void; 0: none
	}{
		"nothing":                                    {},
		"a text at the end of an answer":             {now: text(4, 3), first: 5},
		"a text before its last thinking":            {now: text(4, 1), first: 4},
		"a fold":                                     {now: fold, first: 6},
		"the same fold":                              {before: fold, now: fold, leftOut: edit.Positions{{First: 0, Last: 5}}},
		"the first thinking goes, and the next":      {now: bare(1, 2)},
		"the first that is sent":                     {before: bare(1, 2), now: bare(1, 2, 3), leftOut: edit.Positions{{First: 0, Last: 2}}},
		"thinking in the middle, and a change later": {now: both(bare(3), text(6, 3)), first: 4},
		"a part of the thinking of an answer":        {now: func(r *bound.Request) { r.Messages[2].Parts = r.Messages[2].Parts[1:] }, first: 2},
		"a repair beside an answer": {now: func(r *bound.Request) {
			r.Messages, r.Position = append(r.Messages, message.User("(continue)")), append(r.Position, 7)
		}},
	} {
		before, now := sent(h, c.before), sent(h, c.now)
		var want edit.Positions
		if c.first > 0 {
			want = edit.Positions{{First: c.first, Last: 7}}
		}
		require.Equal(t, want, now.Void(h, before, c.leftOut, -1), "compared")

		known, void := bound.Trust().Check(h, bound.Request{Messages: before.Messages, Position: before.Position}, c.leftOut, -1)
		require.Empty(t, void, name)
		m := bound.Recall(known, 7, 8, true)
		require.Equal(t, c.leftOut, m.LeftOut(h), name)
		news, void := m.Check(h, now, c.leftOut, -1)
		require.Equal(t, want, void, "by the journal")
		same := c.before == nil && c.now == nil
		require.Equal(t, same, c.before == nil && m.Continues(h, news), "only the same request needs no word in the journal")
	}
}

// Of answers after the request that the journal has, nothing is written: they were made behind it.
func TestLaterAnswers(t *testing.T) {
	t.Parallel()
	h := talk()
	short := &edit.History{Body: h.Body[:4]}
	known, _ := bound.Trust().Check(short, sent(short, text(2, 3)), nil, -1)
	require.Equal(t, []int{1, 2}, positions(known.Kept), "an edit of a history that was sent as it is")
	known, _ = bound.Trust().Check(short, bound.Request{Messages: sent(short, text(2, 3)).Messages, Position: []int{0, 1, 2, 3}}, nil, -1)
	require.Equal(t, []int{1, 2, 3}, positions(known.Kept))

	for name, c := range map[string]struct {
		at      int
		sure    bool
		now     func(r *bound.Request)
		head    message.ID
		kept    []int
		goes    bool
		leftOut edit.Positions
	}{
		"as before":                     {at: 3, sure: true, now: text(2, 3), kept: []int{1, 2, 3, 4, 5, 6, 7}, goes: true},
		"the edit has ended":            {at: 3, sure: true, kept: []int{1, 2}},
		"another edit":                  {at: 3, sure: true, now: both(text(2, 3), text(5, 3)), kept: []int{1, 2, 3, 4, 5}},
		"perhaps to another request":    {at: 3, now: text(2, 3), kept: []int{1, 2, 3}, leftOut: edit.Positions{{First: 4, Last: 7}}},
		"a branch that is shorter":      {at: 1, sure: true, now: text(2, 3), kept: []int{1}, leftOut: edit.Positions{{First: 2, Last: 7}}},
		"other tools or system message": {at: 3, sure: true, now: text(2, 3), head: message.ID{1}, kept: []int{}},
		"taken over by another message": {at: 5, sure: true, now: text(2, 3), kept: []int{1, 2, 3, 4, 5, 6, 7}, goes: true},
	} {
		m := bound.Recall(known, c.at, len(h.Body), c.sure)
		require.Equal(t, c.leftOut, m.LeftOut(h), name)
		r := sent(h, c.now)
		r.Head = c.head
		now, _ := m.Check(h, r, c.leftOut, -1)
		require.Equal(t, c.kept, positions(now.Kept), name)
		require.Equal(t, c.goes, m.Continues(h, now), name)
	}
}

// A compaction by the provider stands for what it was sent: thinking behind it is accepted, unless there is another edit.
func TestCompaction(t *testing.T) {
	t.Parallel()
	h := talk()
	plain := sent(h, nil)
	known, _ := bound.Trust().Check(h, bound.Request{Messages: plain.Messages, Position: plain.Position}, nil, -1)
	m := bound.Recall(known, 7, 8, true)
	for read, want := range map[int]edit.Positions{-1: {{First: 6, Last: 7}}, 5: nil} {
		_, void := m.Check(h, sent(h, fold), nil, read)
		require.Equal(t, want, void)
		require.Equal(t, want, sent(h, fold).Void(h, plain, nil, read))
	}
	require.Equal(t, edit.Positions{{First: 7, Last: 7}}, sent(h, both(text(6, 3), fold)).Void(h, plain, nil, 5))
}

// Of a branch, only the answers are known that it has in common with the request.
func TestWithin(t *testing.T) {
	t.Parallel()
	own := &journal.Thinking{Len: 8, Kept: []journal.Bound{{At: 1}, {At: 3}, {At: 6}}}
	require.Same(t, own, bound.Within(own, 7))
	require.True(t, bound.Within(own, 4).Again)
	require.Equal(t, []int{1, 3}, positions(bound.Within(own, 4).Kept))
	require.Len(t, own.Kept, 3)
}

func positions(kept []journal.Bound) []int {
	out := []int{}
	for _, k := range kept {
		out = append(out, k.At)
	}
	return out
}
