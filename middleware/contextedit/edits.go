package contextedit

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// edits returns the edits that make a choice true, once it is known by which
// handles and with which lines; none if it frees too little anyway.
func (o *editor) edits(ctx context.Context, v *middleware.View, c *choice) []middleware.Edit {
	if freed := c.freed(); freed == 0 || v.Size().Charged(freed) < o.ClearAtLeast {
		return nil // handles and lines are dear, so only of what is likely to go
	}
	if v.Env().Archive != nil {
		o.archive(ctx, v, c)
	}
	edits := o.clear(v, *c)
	if o.Digest > 0 && v.Size().Charged(c.freed()) >= o.ClearAtLeast {
		o.digest(v, c, edits)
	}
	return edits
}

// clear returns the edits that clear what is chosen, and the inputs that go with
// the results.
func (o *editor) clear(v *middleware.View, chosen choice) []middleware.Edit {
	out := make([]middleware.Edit, 0, len(chosen.results)+len(chosen.thinking))
	arena := make([]message.Part, 0, len(chosen.results)) // of the parts of all edits of results
	for same := range runsBy(chosen.results, func(c *candidate) int { return c.at }) {
		from := len(arena)
		arena = o.appendCleared(arena, v.At(same[0].at).Parts, same)
		e := middleware.RewriteOf(same[0].at, arena[from:len(arena):len(arena)]...)
		for i := range same {
			e.Archive = append(e.Archive, same[i].archived.ofResult()...)
		}
		out = append(out, e)
	}
	said := slices.Clip(chosen.thinking) // what goes from assistant messages
	for _, c := range chosen.results {
		if c.input {
			said = append(said, c)
		}
	}
	slices.SortStableFunc(said, func(a, b candidate) int { return cmp.Compare(a.call, b.call) })
	for same := range runsBy(said, func(c *candidate) int { return c.call }) {
		out = append(out, clearSaid(v, same))
	}
	return out
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

// clearSaid clears the thinking of one message, or inputs of its calls, or both.
func clearSaid(v *middleware.View, chosen []candidate) middleware.Edit {
	at := chosen[0].call
	parts := slices.Clone(v.At(at).Parts)
	if slices.ContainsFunc(chosen, func(c candidate) bool { return c.thinking }) {
		parts = slices.DeleteFunc(parts, isThinking)
	}
	for i, p := range parts {
		call, ok := p.(message.ToolCall)
		if !ok {
			continue
		}
		k := slices.IndexFunc(chosen, func(c candidate) bool { return c.input && c.callID == call.ID })
		if k >= 0 {
			call.Arguments = leftOfInput(&chosen[k])
			parts[i] = call
		}
	}
	e := middleware.RewriteOf(at, parts...)
	for i := range chosen {
		e.Archive = append(e.Archive, chosen[i].archived.ofInput()...)
	}
	return e
}

// appendCleared appends the parts of a message with the chosen results cleared.
func (o *editor) appendCleared(parts, before []message.Part, chosen []candidate) []message.Part {
	for i, p := range before {
		r, ok := p.(message.ToolResult)
		k := -1
		if ok {
			k = slices.IndexFunc(chosen, func(c candidate) bool { return c.callID == r.CallID })
		}
		switch {
		case k < 0:
			parts = append(parts, p)
		case !joins(before, i):
			r.Text, r.Content = o.placeholderOf(&chosen[k]), nil
			parts = append(parts, r)
		}
	}
	return parts
}

// joins reports whether one placeholder stands for part i and the one before it:
// for pieces of one result, unless they differ in what a rewrite must keep.
func joins(parts []message.Part, i int) bool {
	if i == 0 {
		return false
	}
	a, ok1 := parts[i-1].(message.ToolResult)
	b, ok2 := parts[i].(message.ToolResult)
	return ok1 && ok2 && a.CallID == b.CallID && a.Name == b.Name && a.Error == b.Error
}
