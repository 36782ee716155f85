package middleware

import (
	"cmp"
	"hash/maphash"
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

// sent is a request as the model was sent it, to compare the next one with. It shares the memory of the history, and has
// only hashes of messages that are not those of the view.
type sent struct {
	model    string
	tools    []message.ToolDef // as they were sent
	asked    []message.ToolDef // as the first editor got them
	declares bool              // a layer declares tools in place of none, and reports it
	history  edit.History
	list     edit.List         // the edits of the view
	leftOut  edit.Positions    // whose thinking was left out
	edited   []message.Message // the history under the edits of list; nil: no edits
	hashes   []uint64          // of the last messages, which are not those of the edited history
	size     int               // number of messages
	repaired bool              // hashes are of repairs, and not of a layer after the last editor
	counted  int               // tokens by the meter
	reported int               // first position whose change an event has reported since then
	since    int               // length of the history of the first of the requests in a row that were only appended to
	leads    int               // changes of the leading system messages by the caller, one a call, up to this one
	caches   bool              // the provider has reported tokens that it has read from its cache or written to it
	time     time.Time         // when it was sent
}

// at returns message i, which is one of the edited history.
func (s *sent) at(i int) *message.Message {
	lead := s.history.Lead
	switch {
	case s.edited != nil:
		return &s.edited[i]
	case i < len(lead):
		return &lead[i]
	default:
		return s.history.Body[i-len(lead)]
	}
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

// report notes that an event has reported, before the request is sent, what changes from a position on.
func (l *lastSent) report(position int) {
	if was := l.Load(); was != nil && position < was.reported {
		now := *was
		now.reported = position
		l.CompareAndSwap(was, &now)
	}
}

var hashSeed = maphash.MakeSeed()

func hashOf(m *message.Message) uint64 { return maphash.Bytes(hashSeed, within.AppendContent(nil, m)) }

// describe sets what is known of a request with a view.
func (o *outgoing) describe() {
	r, v, s := o.req, o.view, o.view.session
	seen := v.result.Messages // by the last editor
	now := &sent{
		model: r.Model, tools: s.track.Tools, asked: s.track.Tools, declares: r.Declared, history: s.track.History,
		list: v.list, leftOut: v.result.LeftOut, size: len(r.Messages), repaired: v.repaired, reported: unchanged,
		time: s.chain.env.Clock(),
	}
	if !slices.Equal(r.Tools, s.track.Tools) {
		now.tools = slices.Clone(r.Tools)
	}
	o.sent = now
	o.same = len(seen)
	o.before = s.track.State.last.Load()
	o.lead = o.before != nil && sameLead(s.Lead, o.before.history.Lead)
	if o.replaced {
		o.measureReplaced()
	}
	if s.track.State.result.Spans != nil {
		now.edited = s.track.State.result.Messages
	}
	own := o.same
	if v.repaired {
		own = min(own, v.unrepaired)
	}
	for i := own; i < len(r.Messages); i++ {
		now.hashes = append(now.hashes, hashOf(&r.Messages[i]))
	}
	now.counted = o.view.size.Counted
}

// measureReplaced gives the view the size of messages with which a layer after the last editor has replaced its own.
func (o *outgoing) measureReplaced() {
	seen, msgs := o.view.result.Messages, o.req.Messages
	o.same = 0
	for o.same < min(len(seen), len(msgs)) && msgs[o.same].Equal(seen[o.same]) {
		o.same++
	}
	o.repaired = o.repaired && o.same == len(seen) && o.same == len(msgs)
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
	case o.model != was.model:
		return 0, "model", ""
	case slices.Equal(o.tools, was.tools):
	case o.declares && was.declares:
		return 0, "edit", ""
	case slices.Equal(o.asked, was.asked):
		return 0, "chain", "a layer of the chain declares other tools than in the call before"
	default:
		return 0, "tools", ""
	}
	counted := was.counted
	if n := o.common(); n < was.size {
		counted = o.counted - o.tokensFrom(n)
		cause := o.cause(n)
		broken, text = cause.by, cause.text
	}
	prefix, _, _ = o.view.session.track.State.tokens.Estimate(counted, 0, o.view.model.priors)
	return prefix, broken, text
}

// count counts the requests in a row that were only appended to, and those whose leading system messages have changed. broken is
// that of compare.
func (o *outgoing) count(broken string) {
	o.since = len(o.history.IDs)
	if o.before == nil {
		return
	}
	if broken == "" {
		o.since = o.before.since
	}
	if !o.lead {
		o.leads = o.before.leads + 1
	}
}

// common returns how many first messages are the same as in the call before. What both have of the same edits needs no
// comparison.
func (o *outgoing) common() (n int) {
	was := o.before
	theirs := was.size - len(was.hashes) // of the edited history
	own := min(o.size-len(o.hashes), theirs)
	if o.lead && len(o.history.Lead) == len(was.history.Lead) {
		n = len(o.history.Lead)
		same := history.Shared(o.history.IDs, was.history.IDs)
		if len(o.list)+len(was.list)+len(o.leftOut)+len(was.leftOut) > 0 {
			same = min(same, o.list.Differs(was.list), o.leftOut.Differs(was.leftOut))
		}
		if r := &o.view.session.track.State.result; r.Spans != nil {
			n = r.After(n, same-1)
		} else {
			n += same
		}
		n = min(n, own)
	}
	for n < own && o.req.Messages[n].Equal(*was.at(n)) {
		n++
	}
	for n >= theirs && n < min(o.size, was.size) && hashOf(&o.req.Messages[n]) == was.hashes[n-theirs] {
		n++
	}
	return n
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
	at := unchanged - 1 // messages that are joined by repairs are at the position of the first one
	if !o.repaired && !was.repaired && n < v.Len() {
		at = v.span(n).Last
	}
	caller := unchanged
	if !o.lead {
		caller = leading
	} else if same := history.Shared(o.history.IDs, was.history.IDs); same < len(was.history.IDs) {
		caller = min(same, at) // an edit that ends with the messages that it was made of begins before them
	}
	text := laterLayer
	if n < min(o.size-len(o.hashes), was.size-len(was.hashes)) {
		text = differing(o.list, was.list)
	} else if o.repaired || was.repaired {
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
	if o.sent != nil {
		stable = o.stable()
		at = append(at, o.changed()-1)
	}
	for _, i := range append(at, stable-1) {
		if i >= 0 {
			marked[i].Hints.Breakpoint = true
		}
	}
	r.Messages = marked
	if o.sent != nil && !o.replaced {
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
	own := o.size - len(o.hashes)
	for i := range own {
		s := o.view.span(i)
		task := s.Record == nil && s.First == o.view.session.FirstUser && !slices.ContainsFunc(o.view.At(i).Parts, other)
		if !task && !o.view.Protected(i).Whole {
			return i
		}
	}
	return own
}

// changed returns the number of first messages up to the last one that an edit has changed.
func (o *outgoing) changed() int {
	if len(o.list) == 0 {
		return 0
	}
	n := o.view.result.After(len(o.history.Lead), edit.Last(o.list[len(o.list)-1].Record))
	return min(n, o.size-len(o.hashes))
}
