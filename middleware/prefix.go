package middleware

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
)

// Positions in this file count from the first message after the leading system messages.
const (
	leading   = math.MinInt // the leading system messages
	unchanged = math.MaxInt // no position
)

// sent is a request as the model was sent it, to compare the next one with. Its messages are in memory of the chain: those of the
// history, or of the history under edits, and copies of what repairs or a later layer have put in the place of the last ones.
type sent struct {
	model    string
	tools    []message.ToolDef // as they were sent
	asked    []message.ToolDef // as the first editor got them
	declared bool              // a layer declares tools in place of none, and reports it
	lead     []message.Message // the leading system messages, as the caller has them
	body     []*message.Message
	ids      []message.ID
	list     edit.List         // the edits of the view
	edited   []message.Message // the history under these edits; nil: no edits
	own      int               // number of first messages that are those of the history, or of edited
	others   []message.Message // the messages after these
	size     int               // number of all messages
	repaired bool              // they are repairs, and not of a layer after the last editor
	counted  int               // tokens by the meter
	reported int               // first position whose change an event has reported since then
	since    int               // length of the history of the first of the requests in a row that were only appended to
	leads    int               // changes of the leading system messages by the caller, one a call, up to this one
	caches   bool              // the provider has reported tokens that it has read from its cache or written to it
	time     time.Time         // when it was sent
}

// at returns message i.
func (s *sent) at(i int) *message.Message {
	switch {
	case i >= s.own:
		return &s.others[i-s.own]
	case s.edited != nil:
		return &s.edited[i]
	case i < len(s.lead):
		return &s.lead[i]
	default:
		return s.body[i-len(s.lead)]
	}
}

// common returns how many first messages both have in common; lead of them are known to be equal, unless they are others. Mostly
// messages are in the same memory.
func (s *sent) common(o *sent, lead int) int {
	own, all := min(s.own, o.own), min(s.size, o.size)
	n := min(lead, own)
	switch {
	case len(s.edited)+len(o.edited) == 0 && len(s.lead) == len(o.lead) && lead == len(s.lead):
		n = min(lead+history.Shared(s.ids, o.ids), own)
	case len(s.edited) > 0 && len(o.edited) > 0 && &s.edited[0] == &o.edited[0]: // the edits are the same
		n = own
	}
	for n < all {
		a, b := s.at(n), o.at(n)
		if a != b && !a.Equal(*b) {
			break
		}
		n++
	}
	return n
}

// lastSent is what the last answered call of a history has sent; nil: there was none. The calls with a history and with
// those that continue it share one.
type lastSent struct{ atomic.Pointer[sent] }

// report notes that an event has reported, before the request is sent, what changes from a position on.
func (l *lastSent) report(position int) {
	if was := l.Load(); was != nil && position < was.reported {
		now := *was
		now.reported = position
		l.CompareAndSwap(was, &now)
	}
}

// describe sets what is known of a request with a view.
func (o *outgoing) describe() {
	r, v, t := o.req, o.view, o.view.session.track
	o.same = len(v.result.Messages) // as the last editor has seen them
	o.before = t.State.last.Load()
	o.now = &sent{
		model: r.Model, tools: t.Tools, asked: t.Tools, declared: r.Declared, lead: t.Lead, body: t.Body, ids: t.IDs, list: v.list,
		repaired: v.repaired, reported: unchanged, time: v.session.chain.env.Clock(),
	}
	if !slices.Equal(r.Tools, t.Tools) {
		o.now.tools = slices.Clone(r.Tools)
	}
	o.lead = o.before != nil && sameLead(v.session.Lead, o.before.lead)
	if o.replaced {
		o.measureReplaced()
	}
	if t.State.result.Spans != nil {
		o.now.edited = t.State.result.Messages
	}
	o.now.own = o.same
	if v.repaired {
		o.now.own = min(o.same, v.unrepaired)
	}
	o.now.others = history.Own(r.Messages[o.now.own:])
	o.now.size = len(r.Messages)
	o.now.counted = o.view.size.Counted
}

// measureReplaced gives the view the size of messages with which a layer after the last editor has replaced its own.
func (o *outgoing) measureReplaced() {
	seen, msgs := o.view.result.Messages, o.req.Messages
	o.same = 0
	for o.same < min(len(seen), len(msgs)) && msgs[o.same].Equal(seen[o.same]) {
		o.same++
	}
	o.now.repaired = o.now.repaired && o.same == len(seen) && o.same == len(msgs)
	w := *o.view
	for i := o.same; i < len(seen); i++ {
		w.result.Sum -= w.TokensOf(i)
	}
	w.result.Sum += o.tokensFrom(o.same)
	w.measure()
	o.view = &w
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
func (o *outgoing) compare() (prefix int, broken, text string) {
	was := o.before
	switch {
	case was == nil:
		return 0, "", ""
	case o.now.model != was.model:
		return 0, "model", ""
	case slices.Equal(o.now.tools, was.tools):
	case o.now.declared && was.declared:
		return 0, "edit", ""
	case slices.Equal(o.now.asked, was.asked):
		return 0, "chain", "a layer of the chain declares other tools than in the call before"
	default:
		return 0, "tools", ""
	}
	counted := was.counted
	lead := 0
	if o.lead && len(o.now.lead) == len(was.lead) { // lines of the client may differ
		lead = len(was.lead)
	}
	if n := o.now.common(was, lead); n < was.size {
		counted = o.now.counted - o.tokensFrom(n)
		cause := o.cause(n)
		broken, text = cause.by, cause.text
	}
	prefix, _, _ = o.view.session.track.State.tokens.Estimate(counted, 0, o.view.model.priors)
	return prefix, broken, text
}

// count counts the requests in a row that were only appended to, and those whose leading system messages have changed. broken is
// that of compare.
func (o *outgoing) count(broken string) {
	o.now.since = len(o.now.ids)
	if o.before == nil {
		return
	}
	if broken == "" {
		o.now.since = o.before.since
	}
	if !o.lead {
		o.now.leads = o.before.leads + 1
	}
}

// change is a cause by which a request differs from the one before, from a position on.
type change struct {
	from int
	by   string
	text string // what is to be reported
}

// cause returns why message n is not the same as in the call before: the cause with the smallest position. If the message
// differs before the positions of all others, the cause is the chain.
func (o *outgoing) cause(n int) change {
	was, v := o.before, o.view
	at := unchanged - 1                                  // behind all other causes, unless none of them is known
	if !o.now.repaired && !was.repaired && n < v.Len() { // what repairs have joined is at the position of the first message
		at = v.span(n).Last
	}
	caller := unchanged
	if !o.lead {
		caller = leading
	} else if same := history.Shared(o.now.ids, was.ids); same < len(was.ids) {
		caller = min(same, at) // an edit that ends with the messages that it was made of begins before them
	}
	text := laterLayer
	if n < min(o.now.own, was.own) {
		text = differing(o.now.list, was.list)
	} else if o.now.repaired || was.repaired {
		text = "repairs differ from those of the call before"
	}
	return slices.MinFunc([]change{
		{from: min(v.turn.reported, was.reported), by: "edit"},
		{from: caller, by: "history"},
		{from: at, by: "chain", text: text},
	}, func(a, b change) int { return cmp.Compare(a.from, b.from) })
}

const laterLayer = "a layer after the last editor does not repeat the messages that it has sent in the call before"

// differing names the editors whose edits only one of two lists has.
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
	if o.now != nil {
		stable = o.stable()
		at = append(at, o.changed()-1)
	}
	for _, i := range append(at, stable-1) {
		if i >= 0 {
			marked[i].Hints.Breakpoint = true
		}
	}
	r.Messages = marked
	if o.now != nil && !o.replaced {
		v := *r.view
		v.result.Messages, r.view = marked, &v
	}
}

// stable returns the number of first messages that no editor may change: system messages and others that are protected as
// a whole, and the first user message if it is text alone.
func (o *outgoing) stable() int {
	other := func(p message.Part) bool {
		_, isText := p.(message.Text)
		return !isText
	}
	for i := range o.now.own {
		s := o.view.span(i)
		task := s.Record == nil && s.First == o.view.session.FirstUser && !slices.ContainsFunc(o.view.At(i).Parts, other)
		if !task && !o.view.Protected(i).Whole {
			return i
		}
	}
	return o.now.own
}

// changed returns the number of first messages up to the last one that an edit has changed.
func (o *outgoing) changed() int {
	list := o.now.list
	if len(list) == 0 {
		return 0
	}
	n := o.view.result.After(len(o.now.lead), edit.Last(list[len(list)-1].Record))
	return min(n, o.now.own)
}
