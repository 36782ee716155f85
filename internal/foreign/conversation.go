package foreign

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Conversation is a history that was imported. It is safe for concurrent use.
type Conversation[F any] struct {
	Messages []message.Message // in our words; read-only

	memo    *Memo[F]
	foreign []F
}

// Export returns the messages of a request that began with those of the
// conversation, in the words of the other system: in the place of each message
// that is still as it was imported, the value that it was imported from. The
// slice is the caller's. An error is of kind [middleware.Invalid] and says
// which message of the request is meant.
func (c *Conversation[F]) Export(req *middleware.Request) ([]F, error) {
	out := make([]F, len(req.Messages))
	copy(out, c.foreign) // most are at their place
	keeper, keeps := c.memo.codec.(Keeper[F])
	var codec Codec[F] // from the first message on that is to be made
	from := new(Origin[F])
	o := c.origins(req)
	for i := range req.Messages {
		at, edited := o.of(i)
		if keeps && at >= 0 && !edited && keeper.Keeps(c.foreign[at], &req.Messages[i]) {
			if at != i {
				out[i] = c.foreign[at]
			}
			continue
		}
		origin := from
		if at >= 0 {
			from.Foreign, from.Message, from.Edited = c.foreign[at], c.Messages[at], edited
		} else {
			origin = nil
		}
		if codec == nil {
			codec = c.batch()
		}
		f, err := codec.Export(req.Messages[i], origin)
		if err != nil {
			return nil, c.memo.invalid(i, err)
		}
		out[i] = f
	}
	return out, nil
}

// batch returns the codec for one request.
func (c *Conversation[F]) batch() Codec[F] {
	if b, ok := c.memo.codec.(Batcher[F]); ok {
		return b.Batch()
	}
	return c.memo.codec
}

// origins finds out where the messages of a request come from.
type origins struct {
	req     *middleware.Request
	view    *middleware.View // nil: no editor had the last word
	history matching         // from the history that the editors saw, or from the request, to the conversation
	folded  int              // up to where the run of the current fold has been searched
	fold    *middleware.Record
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

// of returns the position in the conversation that message i of the request
// comes from, or -1. It must be asked for all messages in order.
func (o *origins) of(i int) (at int, edited bool) {
	if o.view == nil {
		return o.history.of(i)
	}
	span := o.view.Span(i)
	switch {
	case span.Edit == nil:
		return o.history.of(span.First)
	case span.Edit.Kind == middleware.Fold:
		return o.kept(i, span)
	case span.Edit.Kind == middleware.Repair && !o.repaired(i, span):
		return -1, false
	}
	at, _ = o.history.of(span.First)
	return at, true
}

// repaired reports whether a message that a repair put is one of the history
// that was changed, and not one that the repair made.
func (o *origins) repaired(i int, span middleware.Span) bool {
	return span.Len() == 1 && o.view.History()[span.First].Role == o.req.Messages[i].Role
}

// kept finds a message that a fold has let stand among those that it covers.
func (o *origins) kept(i int, span middleware.Span) (at int, edited bool) {
	if o.fold != span.Edit {
		o.fold, o.folded = span.Edit, span.First
	}
	history := o.view.History()
	for k := o.folded; k <= span.Last; k++ {
		if history[k].Equal(o.req.Messages[i]) {
			o.folded = k + 1
			return o.history.of(k)
		}
	}
	return -1, false
}
