package fit

import (
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

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
					parts[k] = s.withoutArguments(i, c)
				}
			}
			if !yield(i, parts) {
				return
			}
		}
	}
}

// withoutArguments returns a call with its arguments cleared, or as it is if that
// makes it no shorter.
func (s *sketch) withoutArguments(at int, c message.ToolCall) message.ToolCall {
	short := c
	if s.keeper == nil {
		short.Arguments = store.Arguments(store.Handle{})
		return short
	}
	given := c
	for was := range s.view.Original(at).Calls() {
		if was.ID == c.ID {
			given = was
			break
		}
	}
	short.Arguments = store.Arguments(s.handleOf(given))
	if s.view.Meter().Part(short) >= s.view.Meter().Part(c) {
		return c
	}
	return short
}
