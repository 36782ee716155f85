package middleware

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
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

// Break is why a request does not begin with all that the call before has sent.
type Break string

// The reasons, by who is to be asked.
const (
	BrokenByModel   Break = "model"   // the caller asks another model
	BrokenByTools   Break = "tools"   // the caller declares other tools
	BrokenByHistory Break = "history" // the caller has changed messages that were sent: a system message, or an earlier message
	BrokenByEdit    Break = "edit"    // an event of this call says it: an edit, one that holds no longer or again, a repair
	BrokenByChain   Break = "chain"   // the chain, without another event than one of kind Missed
)

// sent is a request as the model was sent it, to compare the next one with. Its first messages, own of them, are those of
// a history under edits, whose memory it shares; of the others it has only hashes.
type sent struct {
	model   string
	tools   []message.ToolDef // as they were sent
	asked   []message.ToolDef // as the first editor got them
	lead    []message.Message // the leading system messages of the history
	ids     []message.ID      // of the rest of the history
	list    edit.List
	spans   []edit.Span // of the first own messages; nil: there are no edits
	own     int
	others  []uint64 // hashes of the messages after the first own ones
	mended  bool     // others are from repairs, not from a layer after the last editor
	counted int      // by the meter
	told    int      // position after lead from which on observers know what will differ, as a draft was committed; untold
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

// tell notes that it is known, before it is sent, what will differ from a position after the leading messages on.
func (l *lastSent) tell(position int) {
	if was := l.Load(); was != nil {
		now := *was
		now.told = min(now.told, position)
		l.CompareAndSwap(was, &now)
	}
}

var hashSeed = maphash.MakeSeed()

func hashOf(m *message.Message) uint64 { return maphash.Bytes(hashSeed, m.AppendContent(nil)) }

// outgoing is a request that is about to be sent.
type outgoing struct {
	*sent

	req    *Request
	view   *View // has the size of the request
	same   int   // number of first messages that are those of the view
	before *sent // of the call before; nil: unknown
}

// outgoingOf returns what a request sends that carries a view, or that has other messages than its view.
func outgoingOf(r *Request) outgoing {
	v := r.view
	if q := v.req; q.Model != r.Model || q.Budget != r.Budget || !sameSlice(q.Tools, r.Tools) {
		v = v.with(r)
	}
	s := v.session
	now := &sent{model: r.Model, tools: s.Tools, asked: s.Tools, lead: s.Lead, ids: s.IDs, list: v.list, own: v.Len(), told: untold}
	if !sameSlice(r.Tools, s.asked) && !slices.Equal(r.Tools, s.Tools) {
		now.tools = slices.Clone(r.Tools)
	}
	if v.repaired {
		now.own, now.mended = min(v.unrepaired, v.Len()), true
	}
	o := outgoing{sent: now, req: r, view: v, same: v.Len(), before: s.State.last.Load()}
	if !sameSlice(v.result.Messages, r.Messages) { // a layer after the last editor has changed them
		o.same = 0
		for o.same < min(v.Len(), len(r.Messages)) && r.Messages[o.same].Equal(v.result.Messages[o.same]) {
			o.same++
		}
		now.mended = now.mended && o.same == v.Len() && o.same == len(r.Messages)
		now.own = min(now.own, o.same)
		w := *v
		w.result.Sum = o.tokens(len(r.Messages))
		w.measure()
		o.view = &w
	}
	if v.result.Spans != nil {
		now.spans = v.result.Spans[:now.own:now.own]
	}
	for i := now.own; i < len(r.Messages); i++ {
		now.others = append(now.others, hashOf(&r.Messages[i]))
	}
	now.counted = o.view.size.Counted
	return o
}

// tokens returns the tokens of the first messages by the meter.
func (o *outgoing) tokens(end int) (n int) {
	first := 0
	if o.same == o.view.Len() && end >= o.same {
		n, first = o.view.result.Sum, o.same
	}
	for i := first; i < end; i++ {
		if i < o.same {
			n += o.view.TokensOf(i)
		} else {
			n += o.view.session.chain.meter.Message(o.req.Messages[i])
		}
	}
	return n
}

func (s *sent) len() int { return s.own + len(s.others) }

// common returns how many first messages are the same as in the call before. What both have of the same edits needs no
// comparison.
func (o *outgoing) common() int {
	was, lead := o.before, len(o.lead)
	n := o.commonLead()
	if n == lead && n == len(was.lead) {
		shared := history.Shared(o.ids, was.ids)
		first := shared
		if !sameSlice(o.list, was.list) {
			first = min(first, o.list.Differs(was.list))
		}
		if n += first; o.spans != nil {
			n = lead + sort.Search(len(o.spans)-lead, func(i int) bool { return o.spans[lead+i].Last >= first })
		}
		for first < shared && n < min(o.own, was.own) && o.sameAt(n, shared) {
			n++
		}
	}
	for n = min(n, o.own, was.own); n >= was.own && n < min(o.len(), was.len()); n++ {
		if hashOf(&o.req.Messages[n]) != was.others[n-was.own] {
			break
		}
	}
	return n
}

// sameAt reports whether message n, which the edits of both may have made, is the same as in the call before. shared is
// how many first messages both histories have in common.
func (o *outgoing) sameAt(n, shared int) bool {
	span := edit.Span{First: n - len(o.lead), Last: n - len(o.lead)}
	if o.before.spans != nil {
		span = o.before.spans[n]
	}
	switch now := &o.req.Messages[n]; {
	case span.Record != nil && span.Record.Kind == journal.Fold:
		return now.Equal(span.Record.Messages[span.Nth])
	case span.First >= shared:
		return false
	case span.Record != nil:
		m := *o.view.session.Body[span.First]
		m.Parts = span.Record.Parts
		return now.Equal(m)
	default:
		return now.Equal(*o.view.session.Body[span.First])
	}
}

// commonLead returns how many leading system messages are the same as in the call before.
func (o *outgoing) commonLead() (n int) {
	if sameSlice(o.lead, o.before.lead) {
		return len(o.lead)
	}
	for n < min(len(o.lead), len(o.before.lead)) && o.lead[n].Equal(o.before.lead[n]) {
		n++
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
	case !sameTools(o.tools, was.tools) && sameTools(o.asked, was.asked):
		return 0, BrokenByChain, "a layer of the chain declares other tools than in the call before"
	case !sameTools(o.tools, was.tools):
		return 0, BrokenByTools, ""
	}
	n, counted := o.common(), was.counted
	if n < was.len() {
		counted = o.view.session.chain.meter.Once() + o.view.tools + o.tokens(n)
		why, text = o.reason(n)
	}
	prefix, _ = o.view.session.State.tokens.Estimate(counted, 0, o.view.session.priors)
	return prefix, why, text
}

func sameTools(a, b []message.ToolDef) bool { return sameSlice(a, b) || slices.Equal(a, b) }

// reason returns why message n is not the same as in the call before.
func (o *outgoing) reason(n int) (Break, string) {
	was := o.before
	switch {
	case min(o.view.told, o.view.indexOf(was.told)) <= n:
		return BrokenByEdit, ""
	case o.commonLead() < max(len(o.lead), len(was.lead)), history.Shared(o.ids, was.ids) < len(was.ids):
		return BrokenByHistory, ""
	case n < min(o.own, was.own):
		return BrokenByChain, differing(o.list, was.list)
	case o.mended || was.mended:
		return BrokenByChain, "repairs differ from those of the call before"
	}
	return BrokenByChain, laterLayer
}

const laterLayer = "a layer after the last editor does not repeat the messages that it has sent in the call before"

// differing says which edits of two lists only one of them has.
func differing(now, before edit.List) string {
	names := func(l, other edit.List) string {
		var names []string
		for _, it := range l {
			if !other.Has(it) && !slices.Contains(names, it.Middleware) {
				names = append(names, it.Middleware)
			}
		}
		return strings.Join(names, ", ")
	}
	more, less := names(now, before), names(before, now)
	switch {
	case less == "":
		return "edits of " + more + " hold that another call or process has made"
	case more == "":
		return "edits of " + less + " hold no longer"
	}
	return "edits of " + more + " hold that another call or process has made, and edits of " + less + " hold no longer"
}

// settle completes the response with what is known of the cache, remembers what was sent, and reports the call. resp is
// nil if it has failed; then the call before remains the one to compare with.
func (o *outgoing) settle(ctx context.Context, resp *Response, err error) *Response {
	prefix, broken, text := o.compare()
	c := Cache{Prompt: o.view.size.Tokens, Prefix: prefix, Broken: broken}
	var usage message.Usage
	if resp != nil {
		usage, c = resp.Usage, c.with(resp)
		answered := *resp
		answered.Cache = c
		resp = &answered
		if o.req.dry == nil {
			o.view.session.State.last.Store(o.sent)
		}
	}
	if o.req.observers == nil {
		return resp
	}
	if text != "" && resp != nil {
		o.reportMiss(ctx, c.Prefix, text)
	}
	v := o.view
	r := Report{
		History: v.HistorySize().Tokens, View: v.size.Tokens, Edits: len(v.list), Usage: usage, Cache: c, Economics: v.economics,
	}
	r.Saved = r.History - r.View
	v.session.chain.report(ctx, o.req, Event{
		Kind: Called, By: "middleware", Err: err, Detail: r, Before: r.History, After: r.View,
		Why: fmt.Sprintf("%d tokens for a history of %d; edits in force: %d; first tokens as in the call before: %d",
			r.View, r.History, r.Edits, c.Prefix),
	})
	return resp
}

// reportMiss reports that the chain does not send again what it has sent. Of layers after the last editor, which often add
// something to the end, the first report in a conversation is enough.
func (o *outgoing) reportMiss(ctx context.Context, prefix int, why string) {
	s := o.view.session
	if why == laterLayer && !s.State.conversation.once(o.req, laterLayer) {
		return
	}
	was, _ := s.State.tokens.Estimate(o.before.counted, 0, s.priors)
	s.chain.report(ctx, o.req, Event{
		Kind: Missed, By: "middleware", Before: was, After: prefix,
		Why: fmt.Sprintf("%s, so only the first %d tokens of the %d that it has sent can be read from the provider's cache",
			why, prefix, was),
	})
}

// with returns the numbers with what a response reports.
func (c Cache) with(resp *Response) Cache {
	c.Read, c.Miss, c.Missed = resp.Usage.CacheRead, resp.Cache.Miss, resp.Cache.Missed
	if p := reportOf(resp.Usage); p.Charged > 0 {
		c.Prompt = p.Charged
	}
	return c
}

// untold is the position from which on events say what differs if there are no such events.
const untold = math.MaxInt

// indexOf returns the view position of the first message that is from the given position after the leading messages, or
// from a later one.
func (v *View) indexOf(position int) int {
	lead := len(v.session.Lead)
	switch {
	case position == untold:
		return untold
	case v.result.Spans == nil:
		return lead + position
	}
	return v.result.After(lead, position-1)
}

// LogValue returns the numbers as a group.
func (c Cache) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("prompt", c.Prompt), slog.Int("prefix", c.Prefix), slog.Int("read", c.Read),
		slog.String("broken", string(c.Broken)), slog.String("miss", c.Miss), slog.Int("missed", c.Missed))
}
