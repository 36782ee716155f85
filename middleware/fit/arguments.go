package fit

import (
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// noArguments stands in place of the arguments of a call.
const noArguments = "{}"

// arguments clears the arguments of old calls, oldest first.
func arguments(s *sketch) iter.Seq2[int, []message.Part] {
	return func(yield func(int, []message.Part) bool) {
		for i := range s.now {
			if s.state[i] == folded || s.view.Protected(i) != 0 || !s.now[i].HasCalls() {
				continue
			}
			parts := slices.Clone(s.now[i].Parts)
			for k, p := range parts {
				if c, ok := p.(message.ToolCall); ok {
					c.Arguments = noArguments
					parts[k] = c
				}
			}
			if !yield(i, parts) {
				return
			}
		}
	}
}
