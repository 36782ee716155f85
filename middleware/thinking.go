package middleware

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Some models accept the thinking of an answer only after what it was made with: the same system messages and tools, and
// the same messages before it; see [models.Model]. The chain leaves out what they would not accept:
//
//	session.recallThinking   what is left out already, by the journal
//	session.leftOutWith      what edits add to it: all thinking after the first change
//	prepare                  what system messages, tools and repairs add to it, before the model is called
//
// What is left out remains left out, and the thinking of later answers is kept. So at any time what is sent is an unbroken run at
// the end, and the rest is as the provider has made it. The journal has it under the IDs of the history, so that a process
// that was restarted and a replica leave out the same. If it has nothing, all thinking is sent: if the provider refuses it, since
// edits were before it, the request is sent once more without any (outgoing.resend).

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
	before  edit.List         // the edits in the request before, as far as is known
	known   *journal.Thinking // of the request before; nil: nothing
	at      int               // position under whose ID the journal has it
	branch  bool              // known is of another branch of the history
	leftOut edit.Positions    // as the history was opened
}

// terms returns what a request demands of edits; leftOut is the thinking that is left out.
func (s *session) terms(leftOut edit.Positions) edit.Terms {
	return edit.Terms{Window: s.budget.Window, Calls: s.thinking.rule == edit.ThinkingCalls, LeftOut: leftOut}
}

// thinkingRule returns what the model demands of thinking: of a model that is not known, what its provider has answered.
func (s *session) thinkingRule(remembered bool) string {
	if s.model.Thinking != edit.ThinkingFree || s.model.Name != "" && s.model.Provider != "" {
		return s.model.Thinking
	}
	if _, binding := s.chain.binding.Load(s.model.name); binding || remembered {
		return edit.ThinkingBound
	}
	return edit.ThinkingFree
}

// recallThinking sets what is left out of the thinking by what the journal has.
func (s *session) recallThinking(found entries.Known) {
	st, t := &s.State, &s.thinking
	at, known := found.At, found.Entry.Thinking
	if t.before = found.All; st.unwritten != nil {
		t.before = st.unwritten
	}
	if w := st.unwrittenThinking; w != nil && (known == nil || known.Len != at+1 || known.Len <= w.Len) {
		both := *w
		if known != nil {
			both.LeftOut = edit.Positions(w.LeftOut).Union(edit.Positions(known.LeftOut).Before(w.Len))
		}
		at, known, t.before = w.Len-1, &both, st.unwrittenSent
	}
	t.at, t.rule = at, s.thinkingRule(known != nil)
	if st.unwritten != nil && st.unwrittenThinking == nil { // the edits are of another branch, or for a model that binds nothing
		known = nil
	}
	if t.known = known; t.rule == edit.ThinkingRefused {
		t.leftOut = edit.Positions{{Last: math.MaxInt32}}
	}
	if t.rule != edit.ThinkingBound {
		return
	}
	last := len(s.Body) - 1
	switch {
	case known == nil && found.At < 0 && st.unwritten == nil && s.before == nil && !s.chain.env.HistoryIsView:
		// Nothing was edited, as far as is known, so what the caller passes may be what was sent. If not, the provider says so.
	case known == nil:
		t.leftOut = t.leftOut.With(message.Run{Last: last})
	case known.Len != at+1, // it was written for a longer history, which has only the messages up to there in common
		at < last && (known.Again || s.overtaken && at < s.asked): // or for a request that was made again
		t.branch = true
		t.leftOut = edit.Positions(known.LeftOut).Before(at + 1).With(message.Run{First: at + 1, Last: last})
	default:
		t.leftOut = known.LeftOut
	}
}

// leftOutWith returns the positions whose thinking is left out with a list of edits.
func (s *session) leftOutWith(l edit.List) edit.Positions {
	t := &s.thinking
	if t.rule != edit.ThinkingBound {
		return t.leftOut
	}
	first := s.Stale(l, t.before, t.leftOut)
	if first >= len(s.Body) {
		return t.leftOut
	}
	return t.leftOut.With(message.Run{First: first, Last: len(s.Body) - 1})
}

// apply returns the history with edits, and without the thinking that they make void; see [edit.History.Apply].
func (s *session) apply(l edit.List, before *edit.Result, from int) edit.Result {
	return s.Apply(s.all, l, s.leftOutWith(l), before, from)
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

// voidPrice returns the price of the thinking from one message to another, as that of the same output, in input tokens, if an
// edit before them makes it void.
func (v *View) voidPrice(from, to int) float64 {
	if v.session.thinking.rule != edit.ThinkingBound {
		return 0
	}
	counted := 0
	for i := from; i < to; i++ {
		n, _ := thinkingTokens(v.session, &v.result.Messages[i])
		counted += n
	}
	const cautious = 5 // price of an output token, in input tokens, if prices are unknown: the usual one of these models
	price := float64(cautious)
	if p := v.model.Price; p.Input > 0 {
		r := p.At(v.size.Tokens)
		price = float64(r.Output) / float64(r.Input)
	}
	return price * float64(counted)
}

// keepsThinking returns whether an editor must not remove the thinking of message i.
func (v *View) keepsThinking() func(i int) bool {
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

// reportRecalled reports the thinking that is left out because of what the journal has, or has not.
func (v *View) reportRecalled(ctx context.Context) {
	t := &v.session.thinking
	switch {
	case t.known == nil:
		v.reportLoss(ctx, nil, "nothing is remembered of the requests for which it was made; let processes share a journal")
	case t.branch:
		v.reportLoss(ctx, t.known.LeftOut, "the edits of another branch of the conversation are before it")
	default:
		v.reportLoss(ctx, t.known.LeftOut, "edits before it hold no longer")
	}
}

// reportLoss reports thinking that is left out without an edit of this call.
func (v *View) reportLoss(ctx context.Context, before edit.Positions, why string) {
	if v.req.observers == nil {
		return
	}
	if l := v.loss(v.result.LeftOut, before); l.Answers > 0 {
		v.session.chain.report(ctx, v.req, Event{
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
	s.recallThinking(s.State.Known)
	w.session = &s
	if w.result = s.apply(v.list, nil, 0); w.result.LeftOut.Equal(v.result.LeftOut) {
		w.result = v.result
	}
	w.measure()
	return &w
}

// leavingOut returns the view without the thinking of some positions.
func (v *View) leavingOut(p edit.Positions) *View {
	w := *v
	w.result = v.session.Apply(v.session.all, v.list, p, nil, 0)
	w.reported = min(v.reported, p.Differs(v.result.LeftOut))
	w.measure()
	return &w
}

func hasThinking(m message.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		_, is := p.(message.Thinking)
		return is
	})
}
