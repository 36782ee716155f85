package middleware

import (
	"slices"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
)

// track is what is known of one history. It is immutable once published.
//
// Its slices grow like those of append, into memory that several tracks
// share: claim counts how much of that is taken, and only who moves it may
// write there. All others copy.
type track struct {
	lead     []message.Message // the leading system messages, with parts of our own
	leadToks []int             // tokens of each
	body     []message.Message // the other messages, likewise
	ids      []message.ID
	toks     []int
	wide     []bool // see isWide
	tokens   int    // sum of toks
	guard    guard  // of the body
	claim    *atomic.Int64
	bytes    int // of memory that all this keeps alive, about

	tools      []message.ToolDef
	toolTokens int

	found found
	grown bool // from a track of the same history so far
	late  bool // by results of a round that was there before

	wholes   int    // how many messages stayed whole when the edits were found to hold
	question int    // and where the newest question stood
	asked    int    // for how many IDs the journal has been asked
	seen     uint64 // entries that the memo had put by then

	gauge  gauge // what the provider has told about its prompts
	gauged int   // and up to where that was looked for

	shape  shape // the view with the edits found, if there are any
	shaped bool

	slides int    // how many times in a row the caller dropped first messages
	parent *track // the track that this one takes the place of, until published

	conversation *conversation
}

// same reports what [message.Message.Equal] does, without copying.
func same(a, b *message.Message) bool {
	if a.Role != b.Role || a.Name != b.Name || len(a.Parts) != len(b.Parts) {
		return false
	}
	for i, p := range a.Parts {
		if p != b.Parts[i] {
			return false
		}
	}
	return true
}

// alike reports whether two messages carry the same remarks of the host.
func alike(a, b *message.Message) bool {
	usage := a.Usage == b.Usage || a.Usage != nil && b.Usage != nil && *a.Usage == *b.Usage
	at := a.Time == b.Time || a.Time.Equal(b.Time) //nolint:staticcheck // it is mostly the very same value, and Equal is slow
	return usage && at && a.Hints == b.Hints
}

// reach guesses, from a few probes, how much of a body the track has.
func (t *track) reach(body []message.Message) int {
	n := min(len(body), len(t.body))
	if n > 0 && !same(&body[0], &t.body[0]) {
		return 0
	}
	for back := 1; back <= n; back *= 2 {
		if same(&body[n-back], &t.body[n-back]) {
			return n - back + 1
		}
	}
	return 0
}

// common returns how many first messages are equal, and whether those carry the
// same remarks.
func (t *track) common(body []message.Message) (n int, remarks bool) {
	n, remarks = min(len(body), len(t.body)), true
	for i := range n {
		if !same(&body[i], &t.body[i]) {
			return i, remarks
		}
		remarks = remarks && alike(&body[i], &t.body[i])
	}
	return n, remarks
}

// endsIn reports whether the newest message is in a longer body as well, so that
// what is different lies before: a context, say, in a question.
func (t *track) endsIn(body []message.Message) bool {
	last := len(t.body) - 1
	return last >= 0 && last < len(body) && same(&t.body[last], &body[last])
}

// grow returns the track of a body whose first common messages are those of t,
// with the same remarks or not. It lacks the tokens of the others, and which of
// them are wide.
func (t *track) grow(body []message.Message, common int, remarks bool) *track {
	g := *t
	g.parent, g.grown = t, common == len(t.body)
	g.late = hasResult(body[common:])
	if common == len(body) && common == len(t.body) && remarks {
		return &g
	}
	if common < len(t.body) || !remarks || !t.claim.CompareAndSwap(int64(common), int64(len(body))) {
		g.branch(body, common)
	}
	g.body = appendOwn(g.body, body[common:])
	g.ids = message.AppendIDs(g.ids, body)
	g.note(body, common)
	g.guard.end(g.body)
	return &g
}

// branch gives the track memory of its own, for the first common messages.
func (t *track) branch(body []message.Message, common int) {
	if common < len(t.body) {
		t.parent = nil
		t.asked = min(t.asked, common)
	}
	if 2*common < len(t.body) && !t.endsIn(body) {
		t.conversation = new(conversation) // rather another conversation than a fork of this one
	}
	t.claim = new(atomic.Int64)
	t.claim.Store(int64(len(body)))
	room := len(body) + len(body)/4 + 16
	t.body = appendOwn(make([]message.Message, 0, room), body[:common])
	t.ids = append(make([]message.ID, 0, room), t.ids[:common]...)
	t.toks = append(make([]int, 0, room), t.toks[:common]...)
	t.wide = append(make([]bool, 0, room), t.wide[:common]...)
	t.shape, t.shaped = shape{}, false
	t.gauge.cut(common)
	t.gauged = t.gauge.at
	t.guard, t.tokens, t.bytes = newGuard(), 0, 0
	for i := range t.lead {
		t.bytes += t.lead[i].Size()
	}
	for _, n := range t.toks {
		t.tokens += n
	}
	t.note(body[:common], 0)
}

// note takes down what is to be known of the messages from the given one on.
func (t *track) note(body []message.Message, from int) {
	for i := from; i < len(body); i++ {
		t.bytes += body[i].Size()
	}
	t.guard.see(body, from)
}

// leads takes over the leading system messages, and counts those that are new.
func (t *track) leads(lead []message.Message, count func(message.Message) int) {
	equal := func(a, b message.Message) bool { return same(&a, &b) && alike(&a, &b) }
	if slices.EqualFunc(lead, t.lead, equal) {
		return
	}
	toks := make([]int, len(lead))
	for i := range lead {
		if i < len(t.lead) && same(&lead[i], &t.lead[i]) {
			toks[i] = t.leadToks[i]
			continue
		}
		toks[i] = count(lead[i])
	}
	for i := range t.lead {
		t.bytes -= t.lead[i].Size()
	}
	for i := range lead {
		t.bytes += lead[i].Size()
	}
	t.lead, t.leadToks = appendOwn(nil, lead), toks
	t.shape, t.shaped = shape{}, false
}

// view returns the history with the edits found for it.
func (t *track) view(c *call) shape {
	switch {
	case len(t.found.list) == 0:
		return shape{msgs: c.history, msgTokens: c.tokens}
	case t.shaped:
		t.shape.keep(c, t.shape.upto, len(t.body))
	default:
		t.shape, t.shaped = t.found.list.apply(c), true
	}
	return t.shape
}

// appendOwn appends copies of messages whose parts nobody else can change.
func appendOwn(own, msgs []message.Message) []message.Message {
	n := 0
	for i := range msgs {
		n += len(msgs[i].Parts)
	}
	parts := make([]message.Part, 0, n)
	for _, m := range msgs {
		from := len(parts)
		parts = append(parts, m.Parts...)
		m.Parts = parts[from:len(parts):len(parts)]
		own = append(own, m)
	}
	return own
}
