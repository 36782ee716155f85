package middleware

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
)

// Cache is what is known of the provider's prompt cache in one call. Tokens are on the scale of all sizes and events of the
// call: see [Size].
type Cache struct {
	Prompt int // tokens of the request: as the provider reports them, or as in Report.View if it does not
	// Prefix is how many tokens of the request are the same, from its beginning on, as in the last answered call with the
	// same history, or with the one that it continues. 0: nothing is, the model or the tools differ, or there was no call.
	Prefix int
	Read   int    // tokens of the request that were read from the cache, as the provider reports; 0: none, or not reported
	Broken Break  // why Prefix is not all that the call before has sent; "": it is, or there was no call
	Miss   string // why the provider could not read more, in its own word, such as messages_changed; "": not reported
	Missed int    // tokens of the request that it could not read for that reason, as it reports
}

// LogValue implements [slog.LogValuer]: see [LogValue].
func (c Cache) LogValue() slog.Value { return LogValue(c) }

// Break is why a request does not begin with all that the call before has sent.
type Break string

// The reasons, by who is to be asked.
const (
	BrokenByModel   Break = "model"   // the caller asks another model
	BrokenByTools   Break = "tools"   // the caller declares other tools
	BrokenByHistory Break = "history" // the caller has changed messages that were sent: a system message, or an earlier message
	BrokenByEdit    Break = "edit"    // an event of this call, or of one before that failed, says it: an edit, its end, a repair
	BrokenByChain   Break = "chain"   // the chain, without another event than one of kind Missed
)

// sent is a request as the model was sent it, to compare the next one with. Its first messages, own of them, are those of
// a history under edits, whose memory it shares; of the others it has only hashes.
type sent struct {
	model    string
	tools    []message.ToolDef  // as they were sent
	asked    []message.ToolDef  // as the first editor got them
	declares bool               // a layer declares tools in place of none, and reports it
	lead     []message.Message  // the leading system messages of the history
	body     []*message.Message // the rest of it
	ids      []message.ID       // of body
	list     edit.List
	leftOut  edit.Positions    // whose thinking was left out
	edited   []message.Message // the history under the edits of list; nil: there are none
	own      int
	others   []uint64 // hashes of the messages after the first own ones
	mended   bool     // others are from repairs, not from a layer after the last editor
	counted  int      // by the meter
	told     int      // position after lead from which on events of a draft or of a failed call say what will differ; untold
}

// at returns message i, which is one of the first own ones.
func (s *sent) at(i int) *message.Message {
	switch {
	case s.edited != nil:
		return &s.edited[i]
	case i < len(s.lead):
		return &s.lead[i]
	}
	return s.body[i-len(s.lead)]
}

// lastSent is what the last answered call of a history has sent; nil: there was none. The calls with a history and with
// those that continue it share one.
type lastSent struct{ atomic.Pointer[sent] }

// fork returns what a branch of the history begins with.
func (l *lastSent) fork() *lastSent {
	f := new(lastSent)
	f.Store(l.Load())
	return f
}

// answered reports whether a model has answered a history, or one that continues it.
func (l *lastSent) answered(ids []message.ID) bool {
	was := l.Load()
	return was != nil && history.Shared(was.ids, ids) == len(ids)
}

// tell notes that it is known, before it is sent, what will differ from a position after the leading messages on.
func (l *lastSent) tell(position int) {
	if was := l.Load(); was != nil {
		now := *was
		now.told = min(now.told, position)
		l.CompareAndSwap(was, &now)
	}
}

// surprises reports whether nothing is known of a difference from a position on, if there is one.
func (l *lastSent) surprises(position int) bool {
	was := l.Load()
	return position != untold && (was == nil || position < was.told)
}

var hashSeed = maphash.MakeSeed()

func hashOf(m *message.Message) uint64 { return maphash.Bytes(hashSeed, m.AppendContent(nil)) }

// outgoing is a request that is about to be sent.
type outgoing struct {
	req      *Request
	view     *View // has the size of the request; nil: no editor has seen it
	replaced bool  // a layer after the last editor has replaced the messages
	begun    bool  // a piece of the answer has been emitted

	*sent        // what is known of it; nil without a view
	same   int   // number of first messages that are those of the view
	before *sent // of the call before; nil: unknown
}

// describe sets what is known of a request with a view.
func (o *outgoing) describe() {
	r, v, s := o.req, o.view, o.view.session
	seen := v.result.Messages // by the last editor
	now := &sent{
		model: r.Model, tools: s.Tools, asked: s.Tools, lead: s.Lead, body: s.Body, ids: s.IDs,
		list: v.list, leftOut: v.result.LeftOut, own: len(seen), told: untold, declares: r.declares,
	}
	if !slices.Equal(r.Tools, s.Tools) {
		now.tools = slices.Clone(r.Tools)
	}
	if v.repaired {
		now.own, now.mended = min(v.unrepaired, len(seen)), true
	}
	o.sent, o.same, o.before = now, len(seen), s.State.last.Load()
	if o.replaced {
		o.same = 0
		for o.same < min(len(seen), len(r.Messages)) && r.Messages[o.same].Equal(seen[o.same]) {
			o.same++
		}
		now.mended = now.mended && o.same == len(seen) && o.same == len(r.Messages)
		now.own = min(now.own, o.same)
		w := *v
		for i := o.same; i < len(seen); i++ {
			w.result.Sum -= v.TokensOf(i)
		}
		w.result.Sum += o.tokensFrom(o.same)
		w.measure()
		o.view = &w
	}
	if s.State.result.Spans != nil {
		now.edited = s.State.result.Messages
	}
	for i := now.own; i < len(r.Messages); i++ {
		now.others = append(now.others, hashOf(&r.Messages[i]))
	}
	now.counted = o.view.size.Counted
}

// tokensFrom returns the tokens of the messages from the given one on, by the meter.
func (o *outgoing) tokensFrom(first int) (n int) {
	for i := first; i < len(o.req.Messages); i++ {
		if i < o.same {
			n += o.view.TokensOf(i)
		} else {
			n += o.view.session.chain.meter.Message(o.req.Messages[i])
		}
	}
	return n
}

// compare returns the tokens in common with the call before, why they are not all that it has sent, and what is to be
// reported in addition if the chain is the reason.
func (o *outgoing) compare() (prefix int, why Break, text string) {
	was := o.before
	switch {
	case was == nil:
		return 0, "", ""
	case o.model != was.model:
		return 0, BrokenByModel, ""
	case !slices.Equal(o.tools, was.tools) && o.declares && was.declares:
		return 0, BrokenByEdit, ""
	case !slices.Equal(o.tools, was.tools) && slices.Equal(o.asked, was.asked):
		return 0, BrokenByChain, "a layer of the chain declares other tools than in the call before"
	case !slices.Equal(o.tools, was.tools):
		return 0, BrokenByTools, ""
	}
	counted := was.counted
	if n := o.common(); n < was.own+len(was.others) {
		counted = o.counted - o.tokensFrom(n)
		why, text = o.reason(n)
	}
	prefix, _, _ = o.view.session.State.tokens.Estimate(counted, 0, o.view.model.priors)
	return prefix, why, text
}

// common returns how many first messages are the same as in the call before. What both have of the same edits needs no
// comparison.
func (o *outgoing) common() (n int) {
	was := o.before
	own := min(o.own, was.own)
	if slices.EqualFunc(o.lead, was.lead, message.Message.Equal) {
		same := min(history.Shared(o.ids, was.ids), o.list.Differs(was.list), o.leftOut.Differs(was.leftOut))
		n = min(own, o.view.session.indexFrom(same))
	}
	for n < own && o.req.Messages[n].Equal(*was.at(n)) {
		n++
	}
	for n >= was.own && n < min(len(o.req.Messages), was.own+len(was.others)) && hashOf(&o.req.Messages[n]) == was.others[n-was.own] {
		n++
	}
	return n
}

// reason returns why message n is not the same as in the call before.
func (o *outgoing) reason(n int) (Break, string) {
	was := o.before
	told, repaired := min(o.view.told, o.view.session.indexFrom(was.told)), o.mended || was.mended
	switch {
	case told <= n, repaired && told != untold: // repairs that join messages shift what is after them
		return BrokenByEdit, ""
	case !slices.EqualFunc(o.lead, was.lead, message.Message.Equal), history.Shared(o.ids, was.ids) < len(was.ids):
		return BrokenByHistory, ""
	case n < min(o.own, was.own):
		return BrokenByChain, differing(o.list, was.list)
	case repaired:
		return BrokenByChain, "repairs differ from those of the call before"
	}
	return BrokenByChain, laterLayer
}

const laterLayer = "a layer after the last editor does not repeat the messages that it has sent in the call before"

// differing says which edits of two lists only one of them has.
func differing(now, before edit.List) string {
	names := func(l, other edit.List, what string) (out []string) {
		for _, it := range l {
			if !other.Has(it) && !slices.Contains(out, it.Middleware) {
				out = append(out, it.Middleware)
			}
		}
		if len(out) > 0 {
			out = []string{"edits of " + strings.Join(out, ", ") + what}
		}
		return out
	}
	return strings.Join(append(names(now, before, " hold that another call or process has made"),
		names(before, now, " hold no longer")...), ", and ")
}

// settle learns from the call. Unless by, a chain nearer to the model, has done so, it completes the response with what is
// known of the cache, remembers what was sent, and reports the call. It returns the chain that has. resp is nil if the call
// has failed; then the call before remains the one to compare with.
func (o *outgoing) settle(ctx context.Context, by *chain, resp *Response, err error) (*chain, *Response) {
	if !o.replaced && o.req.dry == nil && by != o.req.chain {
		learn(ctx, o.view, resp, err)
	}
	if by != nil {
		return by, resp
	}
	by = o.req.chain
	v := o.view
	prefix, broken, text := o.compare()
	c := Cache{Prompt: v.size.Tokens, Prefix: prefix, Broken: broken}
	var usage message.Usage
	if resp != nil {
		answered := *resp
		resp, usage = &answered, resp.Usage
		c.Read, c.Miss, c.Missed = usage.CacheRead, resp.Cache.Miss, resp.Cache.Missed
		if usage != (message.Usage{}) {
			c.Prompt = cmp.Or(reportOf(usage).Charged, c.Prompt)
		}
		resp.Cache = c
		if o.req.dry == nil {
			v.session.State.last.Store(o.sent)
		}
	} else if o.req.dry == nil && v.told != untold && v.Len() > 0 { // the next call differs by what this one has reported
		v.session.State.last.tell(v.span(min(v.told, v.Len()-1)).First)
	}
	if o.req.observers == nil {
		return by, resp
	}
	if text != "" && resp != nil {
		o.reportMiss(ctx, prefix, text)
	}
	r := Report{
		History: v.HistorySize().Tokens, View: v.size.Tokens, Edits: len(v.list), Usage: usage, Cache: c, Economics: v.economics,
	}
	r.Saved = r.History - r.View
	v.session.chain.report(ctx, o.req, Event{
		Kind: Called, By: "middleware", Err: err, Detail: r, Before: r.History, After: r.View,
		Why: fmt.Sprintf("%d tokens for a history of %d; edits in force: %d; first tokens as in the call before: %d",
			r.View, r.History, r.Edits, prefix),
	})
	return by, resp
}

// reportMiss reports that the chain does not send again what it has sent. Of layers after the last editor, which often add
// something to the end, the first report in a conversation is enough.
func (o *outgoing) reportMiss(ctx context.Context, prefix int, why string) {
	s := o.view.session
	if why == laterLayer && !s.State.conversation.once(o.req, laterLayer) {
		return
	}
	was, _, _ := s.State.tokens.Estimate(o.before.counted, 0, o.view.model.priors)
	s.chain.report(ctx, o.req, Event{
		Kind: Missed, By: "middleware", Before: was, After: prefix,
		Why: fmt.Sprintf("%s, so only the first %d tokens of the %d that it has sent can be read from the provider's cache",
			why, prefix, was),
	})
}

// untold is the position from which on events say what differs if there are no such events.
const untold = math.MaxInt

// indexFrom returns the position, under the edits that are remembered, of the first message that is from the given position
// after the leading messages, or from a later one.
func (s *session) indexFrom(position int) int {
	switch st := &s.State; {
	case position == untold:
		return untold
	case st.result.Spans != nil:
		return st.result.After(len(s.Lead), position-1)
	}
	return len(s.Lead) + position
}

// mark sets the hint [message.Hints.Breakpoint] in a request that is about to be sent, in place of those that it has, on
// copies of the messages. Of a request without a view, only the leading system messages are known to be stable.
func (o *outgoing) mark() {
	r := o.req
	n := len(r.Messages)
	if n == 0 {
		return
	}
	marked := slices.Clone(r.Messages)
	for i := range marked {
		marked[i].Hints.Breakpoint = false
	}
	stable := message.Leading(marked)
	at := []int{n - 1}
	if o.sent != nil {
		stable = o.stable()
		at = append(at, o.edited()-1)
	}
	for _, i := range append(at, stable-1) {
		if i >= 0 {
			marked[i].Hints.Breakpoint = true
		}
	}
	if o.sent != nil && !o.replaced {
		v := *r.view
		v.result.Messages = marked
		r.carry(&v)
		return
	}
	r.Messages = marked
}

// stable returns the number of first messages that no editor may change: system messages and others that are protected as
// a whole, and the first user message if it is text alone.
func (o *outgoing) stable() int {
	other := func(p message.Part) bool {
		_, isText := p.(message.Text)
		return !isText
	}
	for i := range o.own {
		s := o.view.span(i)
		task := s.Record == nil && s.First == o.view.session.FirstUser && !slices.ContainsFunc(o.view.At(i).Parts, other)
		if !task && o.view.Protected(i)&ProtectWhole == 0 {
			return i
		}
	}
	return o.own
}

// edited returns the number of first messages up to the last one that an edit has changed.
func (o *outgoing) edited() int {
	if len(o.list) == 0 {
		return 0
	}
	n := o.view.result.After(len(o.lead), edit.Last(o.list[len(o.list)-1].Record))
	return min(n, o.own)
}
