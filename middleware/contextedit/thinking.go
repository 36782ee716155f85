package contextedit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// newestTurn returns the position in the history at which the newest turn
// begins. Without a question all is one turn.
func newestTurn(v *middleware.View) int {
	for i, m := range slices.Backward(v.History()) {
		if m.Role == message.RoleUser {
			return i
		}
	}
	return 0
}

// thinkingOf returns the candidate that is the thinking of message i, if it may
// go: it is not of the newest turn, nothing protects it, and the message would
// not be empty without it. Broken messages that hold results are left alone: if
// what stands between pieces of results went, they would be others.
func thinkingOf(v *middleware.View, i int, m message.Message, newest int) (c candidate, ok bool) {
	if !slices.ContainsFunc(m.Parts, isThinking) || v.Protected(i) != 0 || v.Span(i).Last >= newest {
		return c, false
	}
	for range m.Results() {
		return c, false
	}
	c = candidate{at: i, call: i, thinking: true}
	for _, p := range m.Parts {
		if isThinking(p) {
			c.freed += v.Meter().Part(p)
		}
	}
	m.Parts = withoutThinking(m.Parts)
	return c, !isEmpty(m)
}

func isThinking(p message.Part) bool {
	_, ok := p.(message.Thinking)
	return ok
}

func withoutThinking(parts []message.Part) []message.Part {
	return slices.DeleteFunc(slices.Clone(parts), isThinking)
}

// isEmpty reports whether a provider would call the message empty.
func isEmpty(m message.Message) bool {
	return slices.ContainsFunc(message.Content([]message.Message{m}, 0), func(v message.Violation) bool {
		return v.Rule == message.EmptyMessage
	})
}
