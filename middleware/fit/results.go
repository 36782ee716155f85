package fit

import (
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// sound clears old results of calls that worked.
func sound(s *sketch) iter.Seq2[int, []message.Part] {
	return s.results(func(at int, id string) bool { return !s.retold(at) && !failedIn(s.now[at].Parts, id) })
}

// failed clears old results that are errors: they say what not to do again.
func failed(s *sketch) iter.Seq2[int, []message.Part] {
	return s.results(func(at int, id string) bool { return !s.retold(at) && failedIn(s.now[at].Parts, id) })
}

// told clears what other middlewares have left of a result, which is short, and
// may say where the rest is.
func told(s *sketch) iter.Seq2[int, []message.Part] {
	return s.results(func(at int, _ string) bool { return s.retold(at) })
}

// retold reports whether another middleware has rewritten a message.
func (s *sketch) retold(at int) bool {
	e := s.view.Span(at).Edit
	return e != nil && e.By != Name
}

// results yields the messages of old results that are chosen, each with one
// more of them cleared, oldest first.
func (s *sketch) results(chosen func(at int, id string) bool) iter.Seq2[int, []message.Part] {
	return func(yield func(int, []message.Part) bool) {
		for i := range s.now {
			if s.now[i].Role != message.RoleTool || s.state[i] == folded || s.view.Protected(i) != 0 {
				continue
			}
			for _, id := range callIDs(s.now[i].Parts) {
				if chosen(i, id) && !yield(i, s.cleared(i, id)) {
					return
				}
			}
		}
	}
}

// callIDs returns the ids of the calls that are answered, each once.
func callIDs(parts []message.Part) []string {
	var ids []string
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok && !slices.Contains(ids, r.CallID) {
			ids = append(ids, r.CallID)
		}
	}
	return ids
}

func failedIn(parts []message.Part, id string) bool {
	return slices.ContainsFunc(parts, func(p message.Part) bool {
		r, ok := p.(message.ToolResult)
		return ok && r.CallID == id && r.Error
	})
}

// cleared returns the parts of a message with the placeholder in place of one result, and of
// all its pieces that a rewrite need not keep apart.
func (s *sketch) cleared(at int, id string) []message.Part {
	text := store.Placeholder(s.placeholder, s.handleOfResult(at, id))
	var out []message.Part
	for _, p := range s.now[at].Parts {
		r, ok := p.(message.ToolResult)
		if !ok || r.CallID != id {
			out = append(out, p)
			continue
		}
		r.Text, r.Content = text, nil
		if n := len(out); n == 0 || out[n-1] != message.Part(r) {
			out = append(out, r)
		}
	}
	return out
}
