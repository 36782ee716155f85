package shorten

import (
	"context"
	"iter"
	"slices"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/store"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Likely is a valid handle of the usual length. Use it to measure a placeholder while
// the real handle is not known: computing that takes a hash of the content.
var Likely = store.HandleIn(nil, "", store.Content{}.Hash())

// Arguments returns the placeholder for the arguments of a call, which have to be a JSON
// object: {"cleared":"recall kqvmzhtwrcxa"}, or {} if the handle is zero.
func Arguments(h store.Handle) string {
	if h.IsZero() {
		return "{}"
	}
	return `{"cleared":"` + store.RecallTool + " " + h.String() + `"}`
}

// Archived reports whether a store returns the content of a handle. It is false if the
// store is nil, if the handle is zero, and after any error.
func Archived(ctx context.Context, s store.Store, h store.Handle) bool {
	if s == nil || h.IsZero() {
		return false
	}
	_, err := s.Get(ctx, h)
	return err == nil
}

// ReadsArchive reports whether a message has a call of the tool that reads the archive.
func ReadsArchive(m message.Message) bool {
	for c := range m.Calls() {
		if c.Name == store.RecallTool {
			return true
		}
	}
	return false
}

// Pieces yields the pieces of one result with their positions.
func Pieces(parts []message.Part, callID string) iter.Seq2[int, message.ToolResult] {
	return func(yield func(int, message.ToolResult) bool) {
		for i, p := range parts {
			if r, ok := p.(message.ToolResult); ok && r.CallID == callID && !yield(i, r) {
				return
			}
		}
	}
}

// Result returns the pieces of one result as parts, for an archive and for comparison
// with slices.Equal. The caller must not modify the result: it may be parts itself.
func Result(parts []message.Part, callID string) []message.Part {
	var found []message.Part
	for i := range Pieces(parts, callID) {
		if len(parts) == 1 {
			return parts
		}
		found = append(found, parts[i])
	}
	return found
}

// Failed reports whether one of the pieces of a result is an error.
func Failed(parts []message.Part, callID string) bool {
	return slices.ContainsFunc(parts, func(p message.Part) bool {
		r, ok := p.(message.ToolResult)
		return ok && r.CallID == callID && r.Error
	})
}

// Begins reports whether part i is the first piece of a result.
func Begins(parts []message.Part, i int) bool {
	r, ok := parts[i].(message.ToolResult)
	for first := range Pieces(parts, r.CallID) {
		return ok && first == i
	}
	return false
}

// Call returns the call with an ID among the parts of an assistant message, or the zero ToolCall.
func Call(parts []message.Part, id string) message.ToolCall {
	for _, p := range parts {
		if c, ok := p.(message.ToolCall); ok && c.ID == id {
			return c
		}
	}
	return message.ToolCall{}
}

// CallIDs yields the call IDs of the results among the parts, each ID once.
func CallIDs(parts []message.Part) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, p := range parts {
			if r, ok := p.(message.ToolResult); ok && Begins(parts, i) && !yield(r.CallID) {
				return
			}
		}
	}
}

// Joins reports whether parts i-1 and i of message at are pieces of one result that differ only in text and content. A
// rewrite may put one placeholder in the place of both. Two calls with one ID have two results.
func Joins(msgs []message.Message, at, i int) bool {
	if i == 0 {
		return false
	}
	parts := msgs[at].Parts
	a, ok1 := parts[i-1].(message.ToolResult)
	b, ok2 := parts[i].(message.ToolResult)
	if !ok1 || !ok2 || a.CallID != b.CallID || a.Name != b.Name || a.Error != b.Error {
		return false
	}
	calls := within.CallsOf(msgs, at)
	return calls[i-1] == calls[i]
}

// AppendCleared appends parts to out, which are those of message at but for their texts and content, with placeholders in the
// place of results. placeholder returns the text for a result, and false if that result is kept. Pieces that [Joins] get one
// placeholder together.
func AppendCleared(
	out []message.Part, msgs []message.Message, at int, parts []message.Part, placeholder func(callID string) (text string, ok bool),
) []message.Part {
	for i, p := range parts {
		r, ok := p.(message.ToolResult)
		text := ""
		if ok {
			text, ok = placeholder(r.CallID)
		}
		switch {
		case !ok:
			out = append(out, p)
		case !Joins(msgs, at, i):
			r.Text, r.Content = text, nil
			out = append(out, r)
		}
	}
	return out
}

// Text returns the text of a text part or a result, the arguments of a call, and "" for other parts.
func Text(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolCall:
		return p.Arguments
	case message.ToolResult:
		return p.Text
	case message.Thinking, message.Media, message.Opaque:
	}
	return ""
}

// WithoutThinking returns the parts of a message without its thinking. It returns false if there is no thinking, or if providers would
// reject the rest as an empty message.
func WithoutThinking(m message.Message) (parts []message.Part, ok bool) {
	if !slices.ContainsFunc(m.Parts, edit.IsThinking) {
		return nil, false
	}
	m.Parts = edit.WithoutThinking(m.Parts)
	empty := slices.ContainsFunc(within.Content(m), func(v message.Violation) bool { return v.Rule == "empty message" })
	return m.Parts, !empty
}

// NewestTurn returns the position of the last user message, where the newest turn
// begins. Without a user message the whole history is one turn, and the result is 0.
func NewestTurn(history []message.Message) int {
	for i, m := range slices.Backward(history) {
		if m.Role == message.RoleUser {
			return i
		}
	}
	return 0
}
