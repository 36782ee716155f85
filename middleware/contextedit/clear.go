package contextedit

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/internal/when"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// edits returns the edits for a choice, and updates the choice when the handles and
// digest lines are known. It returns nil if the choice frees less than ClearAtLeast, or
// than the trigger needs: with the lines, which are expensive, it frees even less.
func (o *editor) edits(ctx context.Context, v *middleware.View, c *choice) []middleware.Edit {
	if freed := c.freed(); freed == 0 || v.Size().Charged(freed) < o.least(v) {
		return nil
	}
	if !when.May(o.Trigger, v, layerName, c.frees) {
		return nil
	}
	if v.Env().Archive != nil {
		o.archive(ctx, v, c)
	}
	edits := clearResults(v, c.results)
	edits = append(edits, clearAnswers(v, c)...)
	if o.Digest > 0 && ctx.Err() == nil && v.Size().Charged(c.freed()) >= o.least(v) {
		o.digest(v, c, edits)
	}
	return edits
}

// frees returns what the choice removes.
func (c *choice) frees() when.Frees {
	f := when.Frees{First: math.MaxInt, Tokens: c.freed()}
	for _, r := range slices.Concat(c.results, c.thinking) {
		f.First = min(f.First, r.at)
		if r.input > 0 {
			f.First = min(f.First, r.call)
		}
	}
	return f
}

// archive computes the handles of what is chosen, and keeps results and inputs that
// would not become shorter with them.
func (o *editor) archive(ctx context.Context, v *middleware.View, c *choice) {
	likely, by := o.likely(v.Env().Archive != nil), v.Meter().Counter
	text, args := by.Count(likely.placeholder), by.Count(likely.arguments)
	chosen := c.results[:0]
	for _, r := range c.results {
		if ctx.Err() != nil {
			break
		}
		r.left = o.replacementOf(ctx, v, &r)
		longer := by.Count(r.left.placeholder) - text
		for i := range shorten.Pieces(v.At(r.at).Parts, r.callID) {
			if !shorten.Joins(v.Messages(), r.at, i) {
				r.freed -= longer
			}
		}
		if r.freed <= r.input {
			continue
		}
		if r.input > 0 {
			saved := max(0, r.input-(by.Count(r.left.arguments)-args))
			r.freed, r.input = r.freed-r.input+saved, saved
		}
		chosen = append(chosen, r)
	}
	c.results = chosen
}

// replacementOf archives a result and the input of its call as the tool and the model
// wrote them, before any edit. Recalled results are in the archive already, under the
// handle in the call.
func (o *editor) replacementOf(ctx context.Context, v *middleware.View, c *candidate) *replacement {
	var left replacement
	var call message.ToolCall
	if c.call >= 0 {
		call = shorten.Call(v.Original(c.call).Parts, c.callID)
	}
	h := archived.Asked(call)
	if !shorten.Archived(ctx, v.Env().Archive, h) {
		h, left.result = v.Archive(c.at, shorten.Result(v.Original(c.at).Parts, c.callID)...)
	}
	left.placeholder = store.Placeholder(o.Placeholder, h)
	if c.input > 0 {
		h, left.input = v.Archive(c.call, call)
		left.arguments = shorten.Arguments(h)
	}
	return &left
}

// clearResults returns the edits of tool messages.
func clearResults(v *middleware.View, chosen []candidate) []middleware.Edit {
	edits, messages := make([]middleware.Edit, 0, len(chosen)), v.Messages()
	arena := make([]message.Part, 0, len(chosen)) // the parts of all edits
	for same := range runsBy(chosen, func(c *candidate) int { return c.at }) {
		from := len(arena)
		left := func(callID string) (*replacement, bool) { return same[0].left, callID == same[0].callID }
		if len(same) > 1 {
			left = lookup(same)
		}
		arena = shorten.AppendCleared(arena, messages, same[0].at, messages[same[0].at].Parts, func(callID string) (string, bool) {
			r, ok := left(callID)
			if !ok {
				return "", false
			}
			return r.placeholder, true
		})
		e := middleware.Edit{
			Kind: journal.Rewrite, At: same[0].at, Parts: arena[from:len(arena):len(arena)],
			Archive: slices.Clip(same[0].left.result),
		}
		for i := range same[1:] {
			e.Archive = append(e.Archive, same[1+i].left.result...)
		}
		edits = append(edits, e)
	}
	return edits
}

// lookup returns a function that finds what a result of one message leaves.
func lookup(same []candidate) func(callID string) (*replacement, bool) {
	left := make(map[string]*replacement, len(same))
	for i := range same {
		left[same[i].callID] = same[i].left
	}
	return func(callID string) (*replacement, bool) {
		r, ok := left[callID]
		return r, ok
	}
}

// clearAnswers returns the edits of assistant messages: without thinking, and with
// cleared inputs.
func clearAnswers(v *middleware.View, c *choice) []middleware.Edit {
	chosen := slices.Clip(c.thinking)
	for _, r := range c.results {
		if r.input > 0 {
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	slices.SortStableFunc(chosen, func(a, b candidate) int { return cmp.Compare(a.call, b.call) })
	var edits []middleware.Edit
	for same := range runsBy(chosen, func(c *candidate) int { return c.call }) {
		e := middleware.RewriteOf(same[0].call, slices.Clone(v.At(same[0].call).Parts)...)
		for _, c := range same {
			if c.thinking {
				e.Parts = slices.DeleteFunc(e.Parts, edit.IsThinking)
			} else {
				e.Archive = append(e.Archive, c.left.input...)
			}
		}
		left := lookup(same)
		for k, p := range e.Parts {
			call, ok := p.(message.ToolCall)
			if !ok {
				continue
			}
			if r, ok := left(call.ID); ok && r != nil { // thinking has none
				call.Arguments = r.arguments
				e.Parts[k] = call
			}
		}
		edits = append(edits, e)
	}
	return edits
}

// runsBy yields the runs of neighbours that have the same key.
func runsBy(cs []candidate, key func(*candidate) int) iter.Seq[[]candidate] {
	return func(yield func([]candidate) bool) {
		for len(cs) > 0 {
			n := 1
			for n < len(cs) && key(&cs[n]) == key(&cs[0]) {
				n++
			}
			if !yield(cs[:n]) {
				return
			}
			cs = cs[n:]
		}
	}
}

// digest adds a line of facts to the placeholder of each chosen result.
func (o *editor) digest(v *middleware.View, c *choice, edits []middleware.Edit) {
	cleared := make([]digest.Result, len(c.results))
	for i := range c.results {
		r := &c.results[i]
		cleared[i] = digest.Result{At: r.at, CallID: r.callID, Frees: r.freed - r.input} // facts have no room in the arguments
	}
	for i, added := range digest.Leave(v, edits, cleared, o.Digest) {
		c.results[i].freed -= added
		c.lines += added
	}
}
