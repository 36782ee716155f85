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
	before, now := s.view.Original(at).Parts, s.now[at].Parts
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

// dropMedia puts a note in place of one part that is media, or of the media that
// a result holds, if that is smaller, and reports whether it did.
func (s *sketch) dropMedia(at, k int) bool {
	without, ok := withoutMedia(s.now[at].Parts[k], s.mediaHandle(s.now[at].Parts[k]))
	return ok && s.rewrite(at, replaced(s.now[at].Parts, k, without))
}

// mayDropMedia reports whether [sketch.dropMedia] would do something.
func (s *sketch) mayDropMedia(at, k int) bool {
	without, ok := withoutMedia(s.now[at].Parts[k], s.mediaHandle(s.now[at].Parts[k]))
	if ok {
		_, _, ok = s.lighter(at, replaced(s.now[at].Parts, k, without))
	}
	return ok
}

// noteOn returns the text that stands in place of media.
func noteOn(m message.Media, h store.Handle) string {
	const longest = 60 // of a name, in bytes
	fits := func(what string) bool {
		return what != "" && len(what) <= longest && !strings.ContainsAny(what, "\r\n")
	}
	what := strings.ToValidUTF8(m.Name, "?")
	if !fits(what) {
		what, _, _ = strings.Cut(m.Type, ";")
	}
	if !fits(what) {
		what = "media"
	}
	if !h.IsZero() {
		return fmt.Sprintf("(%s%s; %s %s)", what, isLeftOut, store.RecallTool, h)
	}
	return fmt.Sprintf("(%s%s)", what, isLeftOut)
}

// isLeftOut is what a note says of media.
const isLeftOut = ": left out of the request"

// noted cuts a text before the note on media that it ends with, if it does.
func noted(text string) (said, note string, ok bool) {
	k := strings.LastIndexByte(text, '\n')
	if k < 0 {
		return text, "", false
	}
	said, note = text[:k], text[k+1:]
	return said, note, strings.HasPrefix(note, "(") && strings.HasSuffix(note, ")") && strings.Contains(note, isLeftOut)
}

// replaced returns the parts with another one at k.
func replaced(parts []message.Part, k int, p message.Part) []message.Part {
	out := slices.Clone(parts)
	out[k] = p
	return out
}
