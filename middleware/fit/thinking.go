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
			if s.state[i] == folded || s.view.Protected(i) != 0 || s.view.Span(i).Last >= newest {
				continue
			}
			m := s.now[i]
			if !slices.ContainsFunc(m.Parts, isThinking) || m.Role != message.RoleAssistant {
				continue
			}
			m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), isThinking)
			if !isEmpty(m) && !yield(i, m.Parts) {
				return
			}
		}
	}
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
