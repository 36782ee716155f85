package middleware

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
)

// prepare returns a view without the thinking that its provider would not accept, as it is remembered, and the same with
// repairs, as it is sent. refusal is the reason of the provider against thinking in this call; "": nothing.
func prepare(ctx context.Context, v *View, refusal string) (own, sent *View, done []repairs, err error) {
	s := v.session
	if sent, done, err = repair(ctx, v); err != nil || s.thinking.rule != edit.ThinkingBound || len(s.IDs) == 0 {
		return v, sent, done, err
	}
	own = v
	if first, why := s.voidFrom(v, sent, refusal); first < len(s.Body) {
		all := v.result.LeftOut.With(message.Run{First: first, Last: len(s.Body) - 1})
		if v.loss(all, v.result.LeftOut).Answers > 0 {
			own = v.leavingOut(all)
			own.reportLoss(ctx, v.result.LeftOut, why)
			if sent, done, err = repair(ctx, own); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	if news := s.thinkingSent(own, sent); news != nil {
		w := *own
		w.thinking = news
		own = &w
	}
	return own, sent, done, nil
}

// voidFrom returns the first position whose thinking is not accepted in a request, since something else than the edits of
// the view before it has changed: what the model was sent before is sent no more. The result is the length of the history if
// all is accepted.
func (s *session) voidFrom(v, sent *View, refusal string) (first int, why string) {
	known := s.thinking.known
	switch {
	case refusal != "":
		return 0, refusal
	case known == nil: // then all is left out already
	case known.Head != s.head(sent):
		return 0, "the system messages or the tools have changed"
	default:
		if _, first = repairsOf(v, sent, known.Repairs); first < len(s.Body) {
			return first, "repairs change what was sent before"
		}
	}
	return len(s.Body), ""
}

// thinkingSent returns what later requests must repeat of one that is about to be sent, or nil if that is known.
func (s *session) thinkingSent(v, sent *View) *journal.Thinking {
	t, st := &s.thinking, &s.State
	sure := t.known != nil && !t.branch && st.unwrittenThinking == nil && v.list.Equal(st.All)
	if sure && t.known.Head == s.head(sent) && !sent.repaired && t.known.Repairs == nil && sameSlice(v.result.LeftOut, t.known.LeftOut) {
		return nil
	}
	now := &journal.Thinking{Len: len(s.Body), Head: s.head(sent), LeftOut: s.Unsent(v.list, v.result.LeftOut)}
	var before *journal.Repairs
	if t.known != nil && !t.branch {
		before = t.known.Repairs
	}
	now.Repairs, _ = repairsOf(v, sent, before)
	here := t.at == len(s.Body)-1 // perhaps of another request, or of a draft
	if same := *now; sure || here && t.known != nil && st.unwrittenThinking == nil && v.list.Equal(st.All) {
		if same.Len, same.Again = t.known.Len, t.known.Again; journal.Internals(inside.Key{}).SameThinking(&same, t.known) {
			return nil
		}
	}
	now.Again = here || s.before != nil && history.Shared(s.before.history.IDs, s.IDs) == len(s.IDs)
	return now
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
	s.thinking = thinking{rule: edit.ThinkingBound, before: s.State.All, known: s.State.Entry.Thinking}
	if s.thinking.known != nil {
		s.thinking.leftOut = s.thinking.known.LeftOut
	}
	w.session, w.repaired, w.unrepaired, w.attempts = &s, false, 0, nil
	w.result = s.apply(w.list, nil, 0)
	w.measure()
	if again.view = &w; !o.replaced {
		again.Messages = slices.Clip(w.result.Messages)
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

// head returns the hash of the leading system messages, without the lines of the client, and of the tools of a request, whose
// order does not matter. That of the call before is used again if they are the same.
func (s *session) head(sent *View) message.ID {
	lead, tools := withoutClientLines(sent.result.Messages[:message.Leading(sent.result.Messages)]), sent.req.Tools
	if h := s.State.head.Load(); h != nil && slices.Equal(h.tools, tools) && slices.EqualFunc(h.lead, lead, message.Message.Equal) {
		return h.sum
	}
	sum := sha256.New()
	var b []byte
	for i := range lead {
		b = within.AppendContent(b[:0], &lead[i])
		sum.Write(b)
	}
	sorted := slices.SortedFunc(slices.Values(tools), func(a, b message.ToolDef) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range sorted {
		for _, text := range [...]string{t.Name, t.Description, t.Parameters} {
			sum.Write(binary.AppendUvarint(nil, uint64(len(text))))
			sum.Write([]byte(text))
		}
	}
	h := &head{lead: slices.Clone(lead), tools: slices.Clone(tools)}
	copy(h.sum[:], sum.Sum(nil))
	s.State.head.Store(h)
	return h.sum
}

// head is what is before all messages of a request, and its hash.
type head struct {
	lead  []message.Message
	tools []message.ToolDef
	sum   message.ID
}

// repairsOf returns the repairs of a request, or nil, and the first position whose thinking they make void: the requests before
// had other ones in its place. Repairs that only a request had that is still to be answered make nothing void.
func repairsOf(v, sent *View, before *journal.Repairs) (now *journal.Repairs, void int) {
	void = len(v.session.Body)
	if !sent.repaired && before == nil {
		return nil, void
	}
	at := 0
	if before != nil {
		if at = sent.firstFrom(before.From); sent.sum(at, before.Sent) != before.Sum {
			at, void, before = 0, before.From, nil
		} else {
			at += before.Sent
		}
	}
	from, first := firstRepair(v, sent, at)
	switch {
	case from == void:
		return before, void
	case before != nil:
		from = before.From
	}
	if at = sent.firstFrom(from); at < sent.Len() {
		now = &journal.Repairs{From: from, Sent: sent.Len() - at, Sum: sent.sum(at, sent.Len()-at)}
	}
	return now, min(void, first)
}

// firstRepair returns the position of the first repair from message i of a repaired view on, and the first position whose
// thinking has the repair before it. Both are the length of the history without a repair.
func firstRepair(v, sent *View, i int) (at, behind int) {
	end := len(v.session.Body)
	k := i
	if i > 0 && i < sent.Len() {
		k = v.firstFrom(sent.span(i).First)
	}
	for ; i < sent.Len() || k < v.Len(); i, k = i+1, k+1 {
		switch {
		case i < sent.Len() && k < v.Len() && sent.span(i).First == v.span(k).First && sent.At(i).Equal(v.At(k)):
			continue
		case i < sent.Len() && k < v.Len() && sent.span(i).First == v.span(k).First && sent.At(i).Role == v.At(k).Role &&
			!edit.MovesThinking(v.At(k).Parts, sent.At(i).Parts):
			at = v.span(k).First
			return max(at, 0), max(v.span(k).Last+1, 0)
		case i > 0:
			at = sent.span(i-1).Last + 1
		}
		return max(at, 0), max(at, 0)
	}
	return end, end
}

// firstFrom returns the index of the first message that is from a position of the history after the leading system messages, or from a
// later one.
func (v *View) firstFrom(position int) int {
	for i := range v.Len() {
		if v.span(i).First >= position {
			return i
		}
	}
	return v.Len()
}

// sum returns the hash of n messages without their thinking.
func (v *View) sum(first, n int) message.ID {
	msgs := slices.Clone(v.result.Messages[min(first, v.Len()):min(first+n, v.Len())])
	if len(msgs) < n || n == 0 {
		return message.ID{}
	}
	for i := range msgs {
		msgs[i].Parts = edit.WithoutThinking(msgs[i].Parts)
	}
	return message.IDs(msgs)[n-1]
}
