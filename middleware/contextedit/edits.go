package contextedit

import (
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// clearedInput stands in place of the arguments of a call.
const clearedInput = "{}"

// edits returns the edits that clear these results, and the inputs that go with
// them.
func (o Options) edits(v *middleware.View, chosen []candidate) []middleware.Edit {
	edits := make([]middleware.Edit, 0, len(chosen))
	room := make([]message.Part, 0, len(chosen)) // for all edits together
	for same := range runsBy(chosen, func(c candidate) int { return c.call }) {
		if slices.ContainsFunc(same, func(c candidate) bool { return c.input }) {
			edits = append(edits, clearInputs(v, same))
		}
		for same := range runsBy(same, func(c candidate) int { return c.at }) {
			from := len(room)
			room = o.clearResults(room, v, same)
			edits = append(edits, middleware.RewriteOf(same[0].at, slices.Clip(room[from:])...))
		}
	}
	return edits
}

// runsBy yields the runs of neighbours that have the same key.
func runsBy(cs []candidate, key func(candidate) int) iter.Seq[[]candidate] {
	return func(yield func([]candidate) bool) {
		for len(cs) > 0 {
			n := 1
			for n < len(cs) && key(cs[n]) == key(cs[0]) {
				n++
			}
			if !yield(cs[:n]) {
				return
			}
			cs = cs[n:]
		}
	}
}

// clearInputs clears the inputs of calls of one message.
func clearInputs(v *middleware.View, chosen []candidate) middleware.Edit {
	at := chosen[0].call
	parts := slices.Clone(v.At(at).Parts)
	for i, p := range parts {
		call, ok := p.(message.ToolCall)
		if ok && slices.ContainsFunc(chosen, func(c candidate) bool { return c.input && c.callID == call.ID }) {
			call.Arguments = clearedInput
			parts[i] = call
		}
	}
	return middleware.RewriteOf(at, parts...)
}

// clearResults appends the parts of one message with these results cleared.
func (o Options) clearResults(parts []message.Part, v *middleware.View, chosen []candidate) []message.Part {
	all := v.At(chosen[0].at).Parts
	for i, p := range all {
		r, ok := p.(message.ToolResult)
		goes := ok && slices.ContainsFunc(chosen, func(c candidate) bool { return c.callID == r.CallID })
		switch {
		case !goes:
			parts = append(parts, p)
		case !o.joins(all, i):
			parts = append(parts, o.cleared(r))
		}
	}
	return parts
}

// cleared returns what stands in place of a piece of a result.
func (o Options) cleared(r message.ToolResult) message.ToolResult {
	r.Text, r.Content = o.Placeholder, nil
	return r
}

// joins reports whether one placeholder stands for part i and the one before it,
// both pieces of a result.
func (o Options) joins(parts []message.Part, i int) bool {
	if i == 0 {
		return false
	}
	before, ok1 := parts[i-1].(message.ToolResult)
	piece, ok2 := parts[i].(message.ToolResult)
	return ok1 && ok2 && o.cleared(before) == o.cleared(piece)
}
