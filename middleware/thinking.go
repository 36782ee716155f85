package middleware

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/bound"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Some models accept the thinking of an answer only behind what it was made with; see package bound, which says what is void. The
// chain asks it three times:
//
//	session.recallThinking   what is left out already, by the journal
//	View.withoutVoid         what edits, or their end, make void in addition, so that sizes and events have it
//	prepare                  what is void in the request that is sent, with all repairs
//
// What is left out remains left out, and the thinking of later answers is kept. The journal has it under the IDs of the history,
// so that a process that was restarted and a replica leave out the same. If it has nothing, all thinking is sent: if the provider
// refuses it, since edits were before it, the request is sent once more without any (outgoing.resend).

// thinkingLoss is what a request loses of the thinking of earlier answers; see [Event.Thinking].
type thinkingLoss struct {
	Answers int
	Tokens  int
}

// String returns the numbers in words.
func (l thinkingLoss) String() string {
	if l.Answers == 1 {
		return fmt.Sprintf("the thinking of 1 answer (%d tokens)", l.Tokens)
	}
	return fmt.Sprintf("the thinking of %d answers (%d tokens)", l.Answers, l.Tokens)
}

// thinking is what a session knows of the thinking in its history.
type thinking struct {
	rule    string
	memory  bound.Memory
	at      int            // position under whose ID the journal has it
	leftOut edit.Positions // as the history was opened
}

// terms returns what a request demands of edits; leftOut is the thinking that is left out.
func (s *session) terms(leftOut edit.Positions) edit.Terms {
	return edit.Terms{Window: s.budget.Window, Calls: s.thinking.rule == edit.ThinkingCalls, LeftOut: leftOut}
}

// recallThinking sets what is left out of the thinking by what the journal has.
func (s *session) recallThinking(found entries.Known) {
	st, t := &s.track.State, &s.thinking
	at, known := found.At, found.Entry.Thinking
	if p := st.pending; p != nil && p.Entry.Thinking == nil { // the edits are of another branch, or for a model that binds nothing
		known = nil
	} else if p != nil && (known == nil || known.Len != at+1 || known.Len <= p.Entry.Thinking.Len) {
		at, known = p.Entry.Thinking.Len-1, p.Entry.Thinking
	}
	t.at, t.rule = at, s.model.Thinking
	unknown := t.rule == edit.ThinkingFree && (s.model.Name == "" || s.model.Provider == "")
	if s.chain.binds(s.model.name) || unknown && (known != nil || found.Entry.Thinking != nil) {
		t.rule = edit.ThinkingBound
	}
	switch t.rule {
	case edit.ThinkingRefused:
		t.leftOut = edit.Positions{{Last: math.MaxInt32}}
		return
	case edit.ThinkingBound:
	default:
		return
	}
	nothing := known == nil && found.At < 0 && st.pending == nil && s.before == nil && !s.journalFailed
	if nothing && !s.chain.env.HistoryIsView {
		// Nothing was edited, as far as is known, so what the caller passes may be what was sent. If not, the provider says so.
		t.memory = bound.Trust()
		return
	}
	// An entry of messages that are new in this call is of the request behind which the new answers were made.
	t.memory = bound.Recall(known, at, len(s.Body), !s.overtaken || at >= s.common)
	t.leftOut = t.memory.LeftOut(s.History)
}

// judged is a request in which all thinking was valid, without repairs. One that only adds messages needs no further look.
type judged struct {
	known *journal.Thinking // what the journal has of it
	list  edit.List
}

// toBind returns a view as a request for package bound.
func (v *View) toBind() bound.Request {
	lead := message.Leading(v.result.Messages)
	r := bound.Request{Head: v.head(), Messages: v.result.Messages[lead:], Edited: len(v.list) > 0}
	r.Position = make([]int, len(r.Messages))
	for i := range r.Position {
		s := v.span(lead + i)
		r.Position[i] = s.First
		if s.First != s.Last || s.Record != nil && s.Record.Kind == journal.Fold {
			r.Position[i] = -1
		}
	}
	return r
}

// withoutVoid returns a view without the thinking that is void in it if the view before it was sent.
func (v *View) withoutVoid(before *View) *View {
	if v.session.thinking.rule != edit.ThinkingBound {
		return v
	}
	void := v.toBind().Void(v.session.History, before.toBind(), v.result.LeftOut, v.compacted(before.list))
	if len(void) == 0 {
		return v
	}
	return v.leavingOut(v.result.LeftOut.Union(void))
}

// compacted returns the last position that the provider itself has replaced, by a compaction that earlier edits do not have; it
// accepts that in the place of what it has read, unless another message is put behind it. -1: there is none.
func (v *View) compacted(earlier edit.List) int {
	last := -1
	for _, it := range v.list {
		n := len(it.Messages)
		if n > 0 && within.IsCompaction(it.Messages[n-1]) && !earlier.Has(it) {
			last = edit.Last(it.Record)
		}
	}
	return last
}

// loss returns the thinking that is left out now and was not before.
func (v *View) loss(now, before edit.Positions) (l thinkingLoss) {
	s, counted := v.session, 0
	for _, r := range now {
		for i := r.First; i <= r.Last && i < len(s.Body); i++ {
			if before.Has(i) {
				continue
			}
			if n, ok := thinkingTokens(s, s.Body[i]); ok {
				l.Answers++
				counted += n
			}
		}
	}
	l.Tokens = v.size.Charged(counted)
	return l
}

// thinkingTokens returns the tokens of the thinking of a message, by the meter; ok is false if it has none.
func thinkingTokens(s *session, m *message.Message) (tokens int, ok bool) {
	for _, p := range m.Parts {
		if _, is := p.(message.Thinking); is {
			tokens, ok = tokens+s.Meter.Part(p), true
		}
	}
	return tokens, ok
}

// KeepsThinking returns whether the thinking of a message must stay, since the model demands that of answers with calls, or
// accepts thinking only as an unbroken run, and some that is kept is before it.
func (v *View) KeepsThinking() func(i int) bool {
	switch v.session.thinking.rule {
	case edit.ThinkingCalls:
		return func(i int) bool { return v.At(i).HasCalls() }
	case edit.ThinkingBound:
		stays := 0
		for stays < v.Len() && (!hasThinking(v.At(stays)) || !v.Protected(stays).Whole) {
			stays++
		}
		return func(i int) bool { return i > stays }
	}
	return func(int) bool { return false }
}

// recalled returns a view that was opened without the thinking that is void since edits hold no longer, and reports what is left
// out because of that, and because of what the journal has, or has not.
func (v *View) recalled(ctx context.Context) *View {
	s := v.session
	m := s.thinking.memory
	switch {
	case len(v.result.LeftOut) == 0:
	case m.Known() == nil:
		v.reportLoss(ctx, nil, "nothing is remembered of the requests for which it was made; let processes share a journal")
	case !m.Sure():
		v.reportLoss(ctx, m.Before(s.History), "the edits of another branch of the conversation are before it")
	}
	before := s.track.State.known()
	if v.list.Equal(before) {
		return v
	}
	w := v.withoutVoid(v.withEdits(s.MadeFor(before), v.result.LeftOut))
	w.reportLoss(ctx, v.result.LeftOut, "edits before it hold no longer")
	return w
}

// reportLoss reports thinking that is left out without an edit of this call.
func (v *View) reportLoss(ctx context.Context, before edit.Positions, why string) {
	if v.req.observers == nil {
		return
	}
	if l := v.loss(v.result.LeftOut, before); l.Answers > 0 {
		v.req.Report(ctx, Event{
			Kind: ThinkingLeftOut, By: "middleware", Thinking: l, Before: v.size.Tokens, After: v.size.Tokens,
			Why: fmt.Sprintf("%s is left out, since %s", l, why),
		})
	}
}

// forItsModel returns the view for the model of its request, which a layer has changed: it may demand something else of
// thinking.
func (v *View) forItsModel() *View {
	s, w := *v.session, *v
	s.model, s.thinking = v.model, thinking{}
	s.recallThinking(s.track.State.Known)
	w.session = &s
	if s.thinking.leftOut.Equal(v.result.LeftOut) {
		w.measure()
		return &w
	}
	return w.withEdits(v.list, s.thinking.leftOut)
}

// leavingOut returns the view without the thinking of some positions.
func (v *View) leavingOut(p edit.Positions) *View {
	w := v.withEdits(v.list, p)
	w.turn = v.turn.changed(p.Differs(v.result.LeftOut))
	return w
}

func hasThinking(m message.Message) bool { return slices.ContainsFunc(m.Parts, edit.IsThinking) }

// head returns the hash of the leading system messages, without the lines of the client, and of the tools of a request, whose
// order does not matter.
func (v *View) head() message.ID {
	return bound.Head(withoutClientLines(v.result.Messages[:message.Leading(v.result.Messages)]), v.req.Tools)
}
