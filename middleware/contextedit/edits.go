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
func edits(v *middleware.View, chosen []candidate) []middleware.Edit {
	out := make([]middleware.Edit, 0, len(chosen))
	for same := range runsBy(chosen, func(c candidate) int { return c.call }) {
		if slices.ContainsFunc(same, func(c candidate) bool { return c.input }) {
			out = append(out, clearInputs(v, same))
		}
		for same := range runsBy(same, func(c candidate) int { return c.at }) {
			out = append(out, clearResults(v, same))
		}
	}
	return out
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

// clearResults clears results of one message.
func clearResults(v *middleware.View, chosen []candidate) middleware.Edit {
	at := chosen[0].at
	before := v.At(at).Parts
	parts := make([]message.Part, 0, len(before))
	next := 0 // of the chosen, which come in the order of the message
	for _, p := range before {
		r, ok := p.(message.ToolResult)
		switch {
		case ok && next < len(chosen) && chosen[next].callID == r.CallID:
			parts = append(parts, chosen[next].cleared)
			next++
		case ok && next > 0 && chosen[next-1].callID == r.CallID: // a further piece
		default:
			parts = append(parts, p)
		}
	}
	return middleware.RewriteOf(at, parts...)
}
