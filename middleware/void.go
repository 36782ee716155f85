package middleware

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/bound"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
)

// prepare returns a view without the thinking that its provider would not accept, as it is remembered, and the same with
// repairs, as it is sent. refusal is the reason of the provider against thinking in this call; "": nothing.
func prepare(ctx context.Context, v *View, refusal string) (own, sent *View, done []repairs, err error) {
	s := v.session
	sent, done, err = repair(ctx, v)
	if err != nil || s.thinking.rule != edit.ThinkingBound || len(s.IDs) == 0 {
		return v, sent, done, err
	}
	if refusal == "" && s.goesOn(v, sent) {
		return v, sent, done, nil
	}
	m := s.thinking.memory
	if refusal != "" {
		m = bound.Memory{}
	}
	own = v
	for {
		now, void := m.Check(s.History, sent.toBind(), own.result.LeftOut, v.compacted(s.opened.State.list))
		if len(void) == 0 {
			if own != v {
				own.reportLoss(ctx, v.result.LeftOut, s.whyVoid(v, sent, refusal))
			}
			return s.note(own, sent, now), sent, done, nil
		}
		own = own.leavingOut(own.result.LeftOut.Union(void)) // repairs may depend on thinking, so what is sent then is checked again
		sent, done, err = repair(ctx, own)
		if err != nil {
			return nil, nil, nil, err
		}
	}
}

// goesOn reports whether a request only adds messages to one in which all thinking was valid.
func (s *session) goesOn(v, sent *View) bool {
	c, m := s.track.State.judged.Load(), s.thinking.memory
	return !v.unsaved() && c != nil && m.Sure() && c.known == m.Known() && !sent.repaired && v.list.Equal(c.list) &&
		v.result.LeftOut.Equal(s.thinking.leftOut) && sent.head() == c.known.Head
}

// whyVoid returns why thinking of a view is void that no edit of this call has made void.
func (s *session) whyVoid(v, sent *View, refusal string) string {
	known := s.thinking.memory.Known()
	switch {
	case refusal != "":
		return refusal
	case known != nil && known.Head != sent.head():
		return "the system messages or the tools have changed"
	case sent.repaired && v.list.Equal(s.track.State.All):
		return "repairs change what was sent before"
	}
	return "edits before it hold no longer"
}

// note returns the view with what the journal is to have of the thinking in it as it is sent.
func (s *session) note(v, sent *View, now *journal.Thinking) *View {
	m := s.thinking.memory
	w := *v
	if !v.unsaved() && m.Continues(s.History, now) {
		now = m.Known()
	} else {
		again := s.before != nil && history.Shared(s.before.ids, s.IDs) == len(s.IDs)
		now.Again = again || s.thinking.at == len(s.Body)-1 // perhaps of another request, or of a draft
		w.turn.thinking = now
	}
	if !sent.repaired {
		s.track.State.judged.Store(&judged{known: now, list: v.list})
	}
	return &w
}

// resend repeats a call whose thinking the model has refused, with no thinking so far. changed is the reason that the provider
// gives, and is reported.
func (o *outgoing) resend(
	ctx context.Context, req *Request, changed string, refusal error, next Model, emit Emit,
) (*Response, error) {
	failed := &Error{Kind: VoidThinking, Op: "middleware", Err: refusal}
	v := o.req.view
	if v == nil || o.begun || !slices.ContainsFunc(v.result.Messages, hasThinking) {
		return nil, failed
	}
	why := "the provider says that something before it has changed"
	if changed != "" {
		why = "the provider says: " + changed
	}
	s, w, again := *v.session, *v, *req
	s.chain.binding.Store(o.req.Model, true)
	s.thinking.rule = edit.ThinkingBound
	w.session = &s
	w.repaired = false
	w.unrepaired = 0
	w.turn.attempts = nil
	again.view = w.withEdits(w.list, s.thinking.leftOut)
	if !o.replaced {
		again.Messages = slices.Clip(again.view.result.Messages)
	}
	out, err := closeCall(ctx, &again, why)
	if err != nil {
		return nil, err
	}
	resp, err := out.send(ctx, next, emit)
	o.req = out.req
	if _, refused := ParseVoidThinking(err); refused {
		return nil, &Error{Kind: VoidThinking, Op: "middleware", Err: fmt.Errorf("refused again without all thinking so far: %w", err)}
	}
	return resp, err
}

// withoutThinkingOf returns messages that a layer after the last editor has made of those of a view, without the thinking of
// some positions of the history.
func withoutThinkingOf(msgs []message.Message, v *View, p edit.Positions) []message.Message {
	gone := map[*message.Part]bool{}
	for i, m := range v.result.Messages {
		if s := v.span(i); len(m.Parts) > 0 && s.First >= 0 && p.Has(s.First) {
			gone[&m.Parts[0]] = true
		}
	}
	msgs = slices.Clone(msgs)
	for i := range msgs {
		if m := &msgs[i]; len(m.Parts) > 0 && gone[&m.Parts[0]] {
			m.Parts = edit.Remainder(m.Parts)
		}
	}
	return msgs
}
