package fit

import (
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// thinking leaves out what the model thought before the newest turn, oldest
// first: whole parts, since it is signed, and none of the newest turn, since
// providers want that back as it was. A message of nothing else stays.
func thinking(s *sketch) iter.Seq2[int, []message.Part] {
	return func(yield func(int, []message.Part) bool) {
		newest := s.newestTurn()
		for i := range s.now {
			if parts, ok := s.thoughtless(i, newest); ok && !yield(i, parts) {
				return
			}
		}
	}
}

// thoughtless returns the parts of a message without what was thought. It is not
// ok if there is nothing of that, or if it must stay.
func (s *sketch) thoughtless(i, newest int) ([]message.Part, bool) {
	m := s.now[i]
	switch {
	case s.state[i] == folded, s.view.Protected(i) != 0, s.view.Span(i).Last >= newest:
		return nil, false
	case m.Role != message.RoleAssistant, !slices.ContainsFunc(m.Parts, isThinking):
		return nil, false
	}
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), isThinking)
	return m.Parts, !isEmpty(m)
}

// newestTurn returns the history position of the last question. Without one,
// all is the newest turn.
func (s *sketch) newestTurn() int {
	for i, m := range slices.Backward(s.view.History()) {
		if m.Role == message.RoleUser {
			return i
		}
	}
	return 0
}

func isThinking(p message.Part) bool {
	_, ok := p.(message.Thinking)
	return ok
}

// isEmpty reports whether a provider would call the message empty.
func isEmpty(m message.Message) bool {
	return slices.ContainsFunc(message.Content([]message.Message{m}, 0), func(v message.Violation) bool {
		return v.Rule == message.EmptyMessage
	})
}
