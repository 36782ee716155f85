package middleware

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
)

// Some models accept the thinking of an answer only behind what it was made with: the same system messages and tools, and
// the same messages before it; see [models.ThinkingBound]. The chain leaves out what they would not accept:
//
//	session.recallThinking   what is left out already, by the journal
//	session.leftOutWith      what edits add to it: all thinking after the first change
//	prepare                  what system messages, tools and repairs add to it, before the model is called
//
// What is left out stays left out, and the thinking of later answers stays. So at any time what goes is an unbroken run at
// the end, and the rest is as the provider has made it. The journal has it under the IDs of the history, so that a process
// that was restarted and a replica leave out the same; if it has nothing, all thinking so far is left out.

// ThinkingLoss is what a request loses of the thinking of earlier answers.
type ThinkingLoss struct {
	Answers int // whose thinking is left out now and was not before
	Tokens  int // of it
}

// String returns the numbers in words.
func (l ThinkingLoss) String() string {
	if l.Answers == 1 {
		return fmt.Sprintf("the thinking of 1 answer (%d tokens)", l.Tokens)
	}
	return fmt.Sprintf("the thinking of %d answers (%d tokens)", l.Answers, l.Tokens)
}

// thinking is what a session knows of the thinking in its history.
type thinking struct {
	rule    models.Thinking
	before  edit.List         // the edits in the request before, as far as is known
	known   *journal.Thinking // of the request before; nil: nothing
	at      int               // position under whose ID the journal has it
	branch  bool              // known is of another branch of the history
	leftOut edit.Positions    // as the history was opened
}

// binds reports whether thinking is bound to what stands before it.
func (t *thinking) binds() bool { return t.rule == models.ThinkingBound }

// terms returns what a request demands of edits; leftOut is the thinking that is left out.
func (s *session) terms(leftOut edit.Positions) edit.Terms {
	return edit.Terms{Window: s.budget.Window, Calls: s.thinking.rule == models.ThinkingCalls, LeftOut: leftOut}
}

// thinkingOf returns what a model demands of thinking. Of one that nothing is known of, it is what its provider has said.
func (c *chain) thinkingOf(m *namedModel, known *journal.Thinking) models.Thinking {
	if m.thinking == models.ThinkingFree && m.Provider == "" {
		if _, binding := c.binding.Load(m.name); binding || known != nil {
			return models.ThinkingBound
		}
	}
	return m.thinking
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
	t.at, t.rule = at, s.chain.thinkingOf(s.model, known)
	if st.unwritten != nil && st.unwrittenThinking == nil { // the edits are of another branch, or for a model that binds nothing
		known = nil
	}
	if t.known = known; t.rule == models.ThinkingRefused {
		t.leftOut = edit.Positions{{Last: math.MaxInt32}}
	}
	if !t.binds() {
		return
	}
	last := len(s.Body) - 1
	switch {
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
	if !t.binds() {
		return t.leftOut
	}
	first := s.Stale(l, t.before, t.leftOut)
	if first >= len(s.Body) {
		return t.leftOut
	}
	return t.leftOut.With(message.Run{First: first, Last: len(s.Body) - 1})
}

// apply returns the history with edits, and without the thinking that goes with them; see [edit.History.Apply].
func (s *session) apply(l edit.List, before *edit.Result, from int) edit.Result {
	return s.Apply(s.all, l, s.leftOutWith(l), before, from)
}

// loss returns the thinking that is left out now and was not before.
func (v *View) loss(now, before edit.Positions) (l ThinkingLoss) {
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
	if !v.session.thinking.binds() {
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
	case models.ThinkingCalls:
		return func(i int) bool { return v.At(i).HasCalls() }
	case models.ThinkingBound:
		stays := 0
		for stays < v.Len() && (!hasThinking(v.At(stays)) || v.Protected(stays)&ProtectWhole == 0) {
			stays++
		}
		return func(i int) bool { return i > stays }
	case models.ThinkingFree, models.ThinkingTurn, models.ThinkingRefused:
	}
	return func(int) bool { return false }
}

// reportRecalled reports the thinking that is left out because of what the journal has, or has not.
func (v *View) reportRecalled(ctx context.Context) {
	t := &v.session.thinking
	switch {
	case !t.binds():
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

// prepare returns a view without the thinking that its provider would not accept, as it is remembered, and the same with
// repairs, as it is sent. refusal is what the provider has said against thinking in this call; "": nothing.
func prepare(ctx context.Context, v *View, refusal string) (own, sent *View, done []repairs, err error) {
	s := v.session
	if sent, done, err = repair(ctx, v); err != nil || !s.thinking.binds() || len(s.IDs) == 0 {
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
		if same.Len, same.Again = t.known.Len, t.known.Again; same.Equal(t.known) {
			return nil
		}
	}
	now.Again = here || s.answered
	return now
}

// resend repeats a call whose thinking the model has refused, with no thinking so far. changed is what the provider says of the
// reason, and is reported.
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
	s.thinking = thinking{rule: models.ThinkingBound, before: s.State.All, known: s.State.Entry.Thinking}
	if s.thinking.known != nil {
		s.thinking.leftOut = s.thinking.known.LeftOut
	}
	w.session, w.repaired, w.unrepaired, w.attempts = &s, false, 0, nil
	w.result = s.apply(w.list, nil, 0)
	w.measure()
	if again.view = &w; !o.replaced {
		again.carry(&w)
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

func hasThinking(m message.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		_, is := p.(message.Thinking)
		return is
	})
}

// forItsModel returns the view for the model of its request, if a layer has changed that: another one may demand something
// else of thinking.
func (v *View) forItsModel() *View {
	if v.model == v.session.model {
		return v
	}
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
	w.told = min(v.told, w.result.After(len(v.session.Lead), p.Differs(v.result.LeftOut)-1))
	w.measure()
	return &w
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

// head returns the hash of the leading system messages and of the tools of a request, whose order does not matter. That of
// the call before is used again if they are the same.
func (s *session) head(sent *View) message.ID {
	lead, tools := sent.result.Messages[:message.Leading(sent.result.Messages)], sent.req.Tools
	if h := s.State.head.Load(); h != nil && slices.Equal(h.tools, tools) && slices.EqualFunc(h.lead, lead, message.Message.Equal) {
		return h.sum
	}
	sum := sha256.New()
	var b []byte
	for i := range lead {
		b = lead[i].AppendContent(b[:0])
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

// head is what stands before all messages of a request, and its hash.
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
// thinking has the repair before it. Both are the length of the history if there is none.
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
