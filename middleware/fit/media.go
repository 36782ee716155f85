package fit

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// media puts a note in place of old images, sounds and documents, oldest first.
func media(s *sketch) iter.Seq2[int, []message.Part] {
	return func(yield func(int, []message.Part) bool) {
		for i := range s.now {
			if s.state[i] == folded || s.view.Protected(i) != 0 {
				continue
			}
			for k, p := range s.now[i].Parts {
				if without, ok := withoutMedia(p, s.mediaHandle(p)); ok && !yield(i, replaced(s.now[i].Parts, k, without)) {
					return
				}
			}
		}
	}
}

// withoutMedia returns what stands in place of a part that is media, or a result
// that holds some, with the handle under which it is kept.
func withoutMedia(p message.Part, h store.Handle) (message.Part, bool) {
	switch p := p.(type) {
	case message.Media:
		return message.Text{Text: noteOn(p, h)}, true
	case message.ToolResult:
		m, ok := p.Content.(message.Media)
		if !ok {
			return nil, false
		}
		p.Content = nil
		if p.Text != "" {
			p.Text += "\n"
		}
		p.Text += noteOn(m, h)
		return p, true
	case message.Text, message.Thinking, message.ToolCall, message.Opaque:
	}
	return nil, false
}

// bareNote returns what is left of a note on media without its handle, if part k
// of a message is one and has a handle.
func (s *sketch) bareNote(at, k int) (bare message.Text, longer bool) {
	before, now := s.view.Given(at).Parts, s.now[at].Parts
	if len(before) != len(now) {
		return bare, false
	}
	m, ok := before[k].(message.Media)
	note, isText := now[k].(message.Text)
	if !ok || !isText || len(store.HandlesIn(note.Text)) == 0 {
		return bare, false
	}
	bare = message.Text{Text: noteOn(m, store.Handle{})}
	return bare, len(bare.Text) < len(note.Text)
}

// noteOn returns the text that stands in place of media.
func noteOn(m message.Media, h store.Handle) string {
	const longest = 60 // of a name, in bytes
	what := strings.ToValidUTF8(m.Name, "?")
	if what == "" || len(what) > longest {
		what, _, _ = strings.Cut(m.Type, ";")
	}
	if what == "" || len(what) > longest {
		what = "media"
	}
	if !h.IsZero() {
		return fmt.Sprintf("(%s: left out of the request; %s %s)", what, store.RecallTool, h)
	}
	return fmt.Sprintf("(%s: left out of the request)", what)
}

// replaced returns the parts with another one at k.
func replaced(parts []message.Part, k int, p message.Part) []message.Part {
	out := slices.Clone(parts)
	out[k] = p
	return out
}
