// Package foreign takes the messages of another system through a chain and
// back again. An [Importer] and an [Exporter] convert single messages; a [Memo] imports
// a history and converts only the messages that it has not seen in the call before; a
// [Conversation] exports what the chain made of it:
//
//	talk, err := memo.Import(history)
//	req := &middleware.Request{Messages: talk.Messages}
//	…
//	sent, err := talk.Export(req, exporter) // at the end of the chain
//
// A message that no edit touched is exported as the very value that was imported.
// Of an edited message the exporter makes a copy in which only the edited parts
// differ. No imported value is ever written to.
//
// The package also has what the adapters need for models and tools: [Classify],
// [StopReason], [Answers], [Stream] and [ToolAnswer].
package foreign

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/steady"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Importer converts the messages of another system to ours. It must be deterministic,
// safe for concurrent use, and change nothing that it gets.
type Importer[F any] interface {
	// Import returns f as a message of ours. It also gets the messages before f,
	// since some systems do not repeat the tool's name in a result. An error
	// means that a message of ours cannot hold f; most unknown content can be an
	// [message.Opaque] part.
	Import(f F, before []message.Message) (message.Message, error)

	// Same reports whether Import would still return m, at the same place of
	// the same history, and then whether f itself can be exported as long as no
	// edit changes m. It is called for every message of every call.
	Same(f F, m *message.Message) (same, whole bool)
}

// Exporter converts our messages to those of another system. It is used for one request
// at a time, and must change nothing that it gets.
type Exporter[F any] interface {
	// Export returns m as a foreign message. If m is new, from is nil. Otherwise
	// the result must differ from the origin only where m does. An error means
	// that the other system cannot hold m.
	Export(m *message.Message, from *Origin[F]) (F, error)
}

// keeper is an exporter whose results are kept from call to call, as long as the origin is
// imported as before.
type keeper[F any] interface {
	// Kept reports whether out, which Export has returned for m and an equal origin, is what
	// it would return again. What Import does not take may have changed in the origin.
	Kept(out F, m *message.Message, from *Origin[F]) bool
}

// exact is an exporter that writes several texts of a message as they are, and any message that no edit touched as the value
// that was imported.
type exact interface{ Exact() }

// Origin is the message from which an exported one was made.
type Origin[F any] struct {
	Foreign F                // as it was imported
	Message *message.Message // the result of that import
	Edited  bool             // whether an edit has changed it since
}

// Invalid returns an error of kind [middleware.Invalid].
func Invalid(op string, err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: op, Err: err}
}

// Align returns, for each part, the index of the part before the edit that it was
// made from, or -1. It takes an equal part, or else the first one that is akin. The
// indexes increase.
func Align(parts, before []message.Part, akin func(is, was message.Part) bool) []int {
	from := make([]int, len(parts))
	next := 0
	for i, p := range parts {
		from[i] = -1
		k := slices.Index(before[next:], p)
		if k < 0 {
			k = slices.IndexFunc(before[next:], func(was message.Part) bool { return akin(p, was) })
		}
		if k >= 0 {
			from[i] = next + k
			next += k + 1
		}
	}
	return from
}

// Conversation is an imported history. It is safe for concurrent use.
type Conversation[F any] struct {
	Messages []message.Message // as messages of ours; read-only

	op      string
	foreign []F
	known   int    // number of first messages that were imported before
	partial []bool // those that cannot be exported as they are; nil: all can
	kept    *kept[F]
}

// Context returns a context that tells a chain that the messages never change in their
// memory, so that it need not compare them.
func (c *Conversation[F]) Context(ctx context.Context) context.Context {
	return steady.With(ctx, &c.Messages)
}

// Export returns the messages of a request that began with those of the
// conversation, as messages of the other system. A message that is still as it was
// imported becomes the value that was imported. Any other message of text alone has one
// text, since some servers accept only a string, unless the exporter has a method Exact. The slice is the caller's. An error is of
// kind [middleware.Invalid] and has the position of the message.
func (c *Conversation[F]) Export(req *middleware.Request, exporter Exporter[F]) ([]F, error) {
	out := make([]F, len(req.Messages))
	copy(out, c.foreign) // most messages are in their place
	x := export[F]{Conversation: c, exporter: exporter, origins: c.origins(req)}
	x.keeper, _ = exporter.(keeper[F])
	known := c.known
	_, x.exact = exporter.(exact)
	if x.exact {
		known = len(c.foreign)
	}
	c.kept.Lock()
	defer c.kept.Unlock()
	for i := c.untouched(req, known); i < len(out); i++ {
		at, edited := x.origins.of(i)
		edited = edited || at >= 0 && !same(&req.Messages[i], &c.Messages[at]) // thinking is left out without an edit
		if at >= 0 && !edited && at < known && (len(c.partial) == 0 || !c.partial[at]) {
			if at != i {
				out[i] = c.foreign[at]
			}
			continue
		}
		f, err := x.message(&req.Messages[i], at, edited)
		if err != nil {
			return nil, Invalid(c.op, fmt.Errorf("message %d: %w", i, err))
		}
		out[i] = f
	}
	return out, nil
}

// same reports whether two messages have the same content, mostly by their memory.
func same(a, b *message.Message) bool {
	return len(a.Parts) == len(b.Parts) && len(a.Parts) > 0 && &a.Parts[0] == &b.Parts[0] || a.Equal(*b)
}

// untouched returns how many first messages of a request are exported as they were imported, as far as that is seen without
// looking at them: at most those that are known.
func (c *Conversation[F]) untouched(req *middleware.Request, known int) int {
	if len(c.partial) > 0 || known == 0 || len(req.Messages) == 0 || &req.Messages[0] != &c.Messages[0] {
		return 0
	}
	return min(known, len(req.Messages))
}

// export is one export of a conversation.
type export[F any] struct {
	*Conversation[F]

	exporter Exporter[F]
	origins  *origins
	keeper   keeper[F] // nil: nothing is kept
	exact    bool
	from     Origin[F]
}

// message exports a message that is not as it was imported at the given position; -1: it is new.
func (x *export[F]) message(m *message.Message, at int, edited bool) (F, error) {
	var from *Origin[F]
	if at >= 0 {
		x.from = Origin[F]{Foreign: x.foreign[at], Message: &x.Messages[at], Edited: edited}
		from = &x.from
	}
	slot := x.origins.slot
	if x.keeper == nil || len(m.Parts) == 0 || (from != nil && !edited) {
		slot = -1
	}
	if slot >= 0 {
		if out, ok := x.kept.find(slot, m); ok && (from == nil || x.keeper.Kept(out, m, from)) {
			return out, nil
		}
	}
	made := m
	if !x.exact && len(m.Parts) > 1 && (from == nil || edited && !m.Equal(*from.Message)) {
		joined := within.JoinTexts(*m)
		made = &joined
	}
	out, err := x.exporter.Export(made, from)
	if err == nil && slot >= 0 {
		x.kept.keep(slot, m, out, len(x.foreign))
	}
	return out, err
}

// kept has the exports of edited messages, so that each edit is exported once. It has one place
// for each message of the history.
type kept[F any] struct {
	sync.Mutex

	exports []keptExport[F]
}

// keptExport is the export of a message of ours with parts in this memory, which belongs to the edit
// and never changes.
type keptExport[F any] struct {
	parts *message.Part // nil: nothing is kept
	out   F
}

func (k *kept[F]) find(slot int, m *message.Message) (out F, ok bool) {
	if slot >= len(k.exports) || k.exports[slot].parts != &m.Parts[0] {
		return out, false
	}
	return k.exports[slot].out, true
}

// first returns a copy of the exports of the first messages.
func (k *kept[F]) first(n int) []keptExport[F] {
	k.Lock()
	defer k.Unlock()
	return slices.Clone(k.exports[:min(n, len(k.exports))])
}

func (k *kept[F]) keep(slot int, m *message.Message, out F, history int) {
	if slot >= len(k.exports) {
		k.exports = append(k.exports, make([]keptExport[F], max(history, slot+1)-len(k.exports))...)
	}
	k.exports[slot] = keptExport[F]{&m.Parts[0], out}
}

// origins finds the messages of a conversation from which those of a request were
// made.
type origins struct {
	req     *middleware.Request
	view    *middleware.View // nil: a middleware that is not an editor made the messages
	history []target         // of the history of the view or of the request; nil: the same list
	fold    *journal.Record  // the newest fold that was met
	nth     int              // of the messages of the fold
	folded  int              // the first message of the fold that was not searched yet
	slot    int              // the position under which the export of the last message may be kept; -1: none
}

func (c *Conversation[F]) origins(req *middleware.Request) *origins {
	o := &origins{req: req, view: req.View()}
	seen := req.Messages
	if o.view != nil {
		seen = o.view.History()
	}
	o.history = match(seen, c.Messages)
	return o
}

// of returns the position in the conversation of the origin of message i of the
// request, or -1. It must be called for all messages in order.
func (o *origins) of(i int) (at int, edited bool) {
	o.slot = -1
	if o.view == nil {
		return o.inHistory(i)
	}
	span := o.view.Span(i)
	switch {
	case span.Edit == nil:
		return o.inHistory(span.First)
	case span.Edit.Kind == journal.Fold:
		return o.kept(i, span)
	case span.Edit.Kind == journal.Repair && !o.repaired(i, span):
		return -1, false
	}
	at, _ = o.inHistory(span.First)
	o.slot = at
	return at, true
}

// inHistory returns the target of message i of the history.
func (o *origins) inHistory(i int) (at int, edited bool) {
	if o.history == nil {
		return i, false
	}
	return o.history[i].at, o.history[i].edited
}

// repaired reports whether a repair changed a message of the history, and did not add
// a new one.
func (o *origins) repaired(i int, span middleware.Span) bool {
	return span.Len() == 1 && o.view.History()[span.First].Role == o.req.Messages[i].Role
}

// kept finds a message of a fold among those that the fold covers.
func (o *origins) kept(i int, span middleware.Span) (at int, edited bool) {
	if o.fold != span.Edit {
		o.fold = span.Edit
		o.folded = span.First
		o.nth = 0
	}
	if o.nth < span.Len() && o.history == nil {
		o.slot = span.First + o.nth
	}
	o.nth++
	history := o.view.History()
	for k := o.folded; k <= span.Last; k++ {
		if history[k].Equal(o.req.Messages[i]) {
			o.folded = k + 1
			return o.inHistory(k)
		}
	}
	return -1, false
}
