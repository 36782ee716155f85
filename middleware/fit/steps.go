package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/internal/units"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// steps shorten a draft. The first cuts what would not fit by itself. Of the others the mildest comes first, each ends when the
// draft has reached its target, and the next one begins only if it does not fit.
var steps = [...]func(*draft){
	(*draft).cutFixed,
	each(clearing(plain)), each(clearing(failed)), each(clearing(short)), each(clearing(recalled)),
	each((*draft).shortenArguments),
	each((*draft).dropThinking),
	each((*draft).dropOldMedia),
	(*draft).fold,
}

// each is the step that shortens one message after the other, oldest first. They are neither left out nor protected,
// except for calls and results of protected tools.
func each(step func(d *draft, at int)) func(*draft) {
	return func(d *draft) {
		for i := range d.now {
			if d.done() {
				return
			}
			if p := d.view.Protected(i); !p.Whole && !p.Text && !p.Newest {
				step(d, i)
			}
		}
	}
}

// rank is the place of a result in the order in which results are cleared.
type rank int

const (
	plain    rank = iota
	failed        // errors: they keep a model from trying the same again
	short         // results that were shortened before, also to a placeholder with facts
	recalled      // results that were read from the archive
)

// rankOf returns the rank of the result of a call among the parts of message at.
func (d *draft) rankOf(at int, parts []message.Part, id string) rank {
	if !d.recalled[result{at, id}].IsZero() {
		return recalled
	}
	e := d.view.Span(at).Edit
	for _, r := range shorten.Pieces(parts, id) {
		if e != nil && (e.Middleware != layerName || digest.IsPlaceholder(r.Text)) {
			return short
		}
	}
	if shorten.Failed(parts, id) {
		return failed
	}
	return plain
}

// clearing replaces results of a rank by placeholders. If these are to have facts, they count as long as they may be: the
// facts are made once the plan is known, of what the rest of the view does not show.
func clearing(of rank) func(*draft, int) {
	return func(d *draft, at int) {
		parts := d.now[at].Parts
		for i, p := range parts {
			r, _ := p.(message.ToolResult)
			id := r.CallID
			if d.done() || !shorten.Begins(parts, i) || d.view.ProtectedPart(at, p).Whole || d.rankOf(at, parts, id) != of {
				continue
			}
			opaque := func(p message.Part) bool { return d.view.ProtectedPart(at, p).Opaque }
			if was := shorten.Result(parts, id); slices.ContainsFunc(was, opaque) {
				continue
			}
			h := d.archive(at, shorten.Result(d.view.Original(at).Parts, id)...)
			was, text := shorten.Result(parts, id), store.Placeholder(d.opts.Placeholder, h)
			cleared := func(callID string) (string, bool) { return text, callID == id }
			left := shorten.AppendCleared(nil, d.now, at, d.now[at].Parts, cleared)
			frees := d.sizeOf(was...) - d.sizeOf(shorten.Result(left, id)...)
			if frees <= 0 {
				continue
			}
			less := frees
			if d.may.onlyShorten && d.opts.Digest > 0 && of != short {
				d.needFacts = append(d.needFacts, digest.Result{At: at, CallID: id, Frees: frees})
				less -= min(d.opts.Digest, frees)
			}
			d.set(at, left, less)
		}
	}
}

// shortenArguments shortens the arguments of all calls of a message, except for names of files and other lines.
func (d *draft) shortenArguments(at int) {
	for k, p := range d.now[at].Parts {
		if c, ok := p.(message.ToolCall); ok && !d.done() && !d.view.ProtectedPart(at, p).Whole {
			d.replace(at, k, d.shortCall(at, k, c, true, d.sizeOf(p)-(d.total-d.stopAt)))
		}
	}
}

// shortCall returns call k of a message with shorter arguments, if possible no larger than the limit: see [shorten.Values]. They are
// cleared if they are no JSON object, and without keepLines also if nothing else is enough.
func (d *draft) shortCall(at, k int, c message.ToolCall, keepLines bool, limit int) message.ToolCall {
	h := d.archive(at, d.originalCall(at, k, c))
	short := c
	enough := func(arguments string) bool {
		short.Arguments = arguments
		return d.sizeOf(short) <= limit
	}
	arguments, n := shorten.Values(c.Arguments, h, keepLines, enough)
	switch {
	case n < 0 || !keepLines && !enough(arguments):
		short.Arguments = shorten.Arguments(h)
	case n == 0:
		return c
	default:
		short.Arguments = arguments
	}
	return short
}

// originalCall returns a call, part k of a message, as the caller has it: calls may have an ID in common, and no edit changes
// their order.
func (d *draft) originalCall(at, k int, c message.ToolCall) message.ToolCall {
	n := 0
	for range (message.Message{Parts: d.now[at].Parts[:k]}).Calls() {
		n++
	}
	for was := range d.view.Original(at).Calls() {
		if n == 0 && was.ID == c.ID {
			return was
		}
		n--
	}
	return c
}

// dropThinking removes the thinking of turns before the newest, of which providers want it back unchanged. Parts are
// removed whole, since they are signed.
func (d *draft) dropThinking(at int) {
	parts, ok := shorten.WithoutThinking(d.now[at])
	if ok && d.view.Span(at).Last < shorten.NewestTurn(d.view.History()) && !d.keepsThinking(at) {
		d.set(at, parts, d.sizeOf(d.now[at].Parts...)-d.sizeOf(parts...))
	}
}

// dropOldMedia replaces images, sounds and documents by notes.
func (d *draft) dropOldMedia(at int) {
	for k, p := range d.now[at].Parts {
		if !d.view.ProtectedPart(at, p).Whole && !d.done() {
			d.dropMedia(at, k)
		}
	}
}

// result is a tool result in a view.
type result struct {
	at int
	id string // of the call
}

// recalls are the handles by which results were read from the archive. A model that has read content again needs it now. If
// that is cleared before it is used, the model reads it again and again. So it is cleared after all other results.
type recalls map[result]store.Handle

// recalledIn returns the results of a view that were read from the archive, as far as this still has them.
func recalledIn(ctx context.Context, v *middleware.View) recalls {
	found, handles := recalls{}, map[string]store.Handle{} // that calls ask for, by their IDs
	for i, m := range v.Messages() {
		for c := range v.Original(i).Calls() {
			if h := archived.Asked(c); shorten.Archived(ctx, v.Env().Archive, h) {
				handles[c.ID] = h
			} else {
				delete(handles, c.ID)
			}
		}
		for r := range m.Results() {
			if h := handles[r.CallID]; !h.IsZero() {
				found[result{i, r.CallID}] = h
			}
		}
	}
	return found
}

// reportRepeated reports each call of the newest round that has read the same from the archive before: the view is too small
// to keep it.
func reportRepeated(ctx context.Context, v *middleware.View) {
	h := v.History()
	at := len(h) - 1
	for at > 0 && h[at].Role == message.RoleTool {
		at--
	}
	if at < 0 || v.Env().Archive == nil || !shorten.ReadsArchive(h[at]) {
		return
	}
	for c := range h[at].Calls() {
		handle, n := archived.Asked(c), 0
		for _, m := range h {
			for other := range m.Calls() {
				if other.Name == c.Name && other.Arguments == c.Arguments {
					n++
				}
			}
		}
		if n > 1 && !handle.IsZero() && v.Load(readAgain{at, c.ID}) == nil {
			v.Store(readAgain{at, c.ID}, true)
			v.Report(ctx, middleware.Event{Kind: middleware.Notice, By: layerName, Why: fmt.Sprintf(
				"the model has read %s %d times, with the same answer: the view has no room to keep it; "+
					"raise the window, or keep more results of %s", handle, n, store.RecallTool)})
		}
	}
}

// readAgain is the key of a call that has read the archive again, and was reported.
type readAgain struct {
	at int
	id string
}

// block is a run of messages that are left out together.
type block struct {
	message.Run

	// 0: first, the note of an earlier fold; 2: a summary, a memory, or critical for the host; 3: last, what only the provider
	// can read; 1: all others
	order int
}

// findBlocks finds the blocks in which nothing is protected.
func (d *draft) findBlocks() {
	for _, r := range units.Of(d.view) {
		free, order := true, 1
		for i := r.First; i <= r.Last; i++ {
			by := d.view.Protected(i)
			order = max(order, d.orderOf(i, by))
			by.Opaque = by.Opaque && !d.may.opaque
			free = free && by == (middleware.Protection{})
		}
		if r.Len() == 1 && d.isNote(r.First) {
			order = 0
		}
		for i := r.First; i <= r.Last; i++ {
			d.free[i] = free
		}
		if free {
			d.blocks = append(d.blocks, block{r.Run, order})
		}
	}
	slices.SortStableFunc(d.blocks, func(a, b block) int { return cmp.Compare(a.order, b.order) })
}

// orderOf returns the order of a message that is no note.
func (d *draft) orderOf(i int, by middleware.Protection) int {
	h, e := d.now[i].Hints, d.view.Span(i).Edit
	switch {
	case by.Opaque:
		return 3
	case h.Memory || h.Priority == message.PriorityCritical || e != nil && e.Kind == journal.Fold:
		return 2
	}
	return 1
}

// fold leaves out blocks, oldest first. One note replaces all of them and the notes of earlier folds, if handles have room. It
// does nothing in an attempt that only shortens.
func (d *draft) fold() {
	for _, b := range d.blocks {
		if d.may.onlyShorten || d.done() {
			return
		}
		if d.may.handles && !d.noted {
			d.noted, d.total = true, d.total+d.sizeOfNote()
		}
		for i := b.First; i <= b.Last; i++ {
			d.state[i], d.total = folded, d.total-d.sizes[i]
		}
	}
}

// isNote reports whether a message is the note of an earlier fold, with or without a handle.
func (d *draft) isNote(i int) bool {
	e, m := d.view.Span(i).Edit, d.view.At(i)
	return e != nil && e.Middleware == layerName && e.Kind == journal.Fold &&
		slices.ContainsFunc(append(archived.In(m.Text()), store.Handle{}), func(h store.Handle) bool { return m.Equal(d.note(h)) })
}

// note returns the note for messages that are archived under a handle.
func (d *draft) note(h store.Handle) message.Message {
	return message.User(store.Placeholder(d.opts.Note, h))
}

// sizeOfNote returns about the size that the note will have; 0 if there is none.
func (d *draft) sizeOfNote() int {
	var h store.Handle
	switch {
	case !d.may.handles:
		return 0
	case d.view.Env().Archive != nil:
		h = shorten.Likely
	}
	return d.view.Meter().Message(d.note(h))
}
