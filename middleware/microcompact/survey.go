package microcompact

import (
	"context"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/store"
)

// survey is what may become shorter now.
type survey struct {
	view   *middleware.View
	end    int // of the old rounds
	round  round
	making bool // else what would become shorter is only counted
	edits  []middleware.Edit
	arena  []message.Part // of the parts of all edits
	done   Report
	freed  int             // tokens, by the meter
	gone   []digest.Result // results of which nothing stays, if they may leave facts

	keep keep
	has  func(store.Handle) bool // the archive, for what a model has recalled
	kept []*store.Named          // what the next edit takes out

	last short // the newest placeholder for text: pages of one length follow one another
}

// short is a placeholder for text.
type short struct {
	chars  int
	handle store.Handle
	text   string
	tokens int
}

// placeholder returns the placeholder for so many characters of text.
func (s *survey) placeholder(chars int, h store.Handle) short {
	if s.last.chars != chars || s.last.handle != h {
		text := gone{chars: chars, handle: h}.placeholder()
		s.last = short{chars: chars, handle: h, text: text, tokens: s.view.Meter().Counter.Count(text)}
	}
	return s.last
}

// survey looks through the old rounds, but for the beginning in which it has found
// nothing to do before. It makes the edits, or only counts what they would be about.
func (o *editor) survey(ctx context.Context, v *middleware.View, making bool) survey {
	from := v.Settled(o)
	end := o.old(v, from)
	s := survey{view: v, end: end, making: making, keep: v.Archive}
	s.has = func(h store.Handle) bool { return store.Has(ctx, v.Env().Archive, h) }
	if !making {
		s.keep = likelyKeep(v)
	}
	begun, first := from, end // of the round, and of the first one that becomes shorter
	for i := from; i < end; i++ {
		switch m := v.At(i); m.Role {
		case message.RoleAssistant:
			begun = i
			s.round.read(m, i, o.Protect)
			if v.Protected(i)&middleware.Whole == 0 && (o.Limit.Arguments > 0 || o.Limit.Text > 0) && m.HasCalls() {
				o.said(&s, i, m)
			}
		case message.RoleTool:
			if o.Limit.Results > 0 && v.Protected(i)&middleware.Whole == 0 {
				o.results(&s, i, m.Parts)
			}
		case message.RoleSystem, message.RoleUser:
		}
		if s.done.Items() > 0 {
			first = min(first, begun)
		}
	}
	if first > from {
		v.Settle(o, first)
	}
	return s
}

// digest has each result that goes leave a line of its facts.
func (s *survey) digest(tokens int) {
	for _, added := range digest.Leave(s.view, s.edits, s.gone, tokens) {
		s.freed -= added
	}
}

// old returns up to where the old rounds go, if they go beyond a position.
func (o *editor) old(v *middleware.View, from int) int {
	end, kept := v.Len(), 0
	for i := end - 1; i >= from; i-- {
		if v.At(i).Role != message.RoleAssistant || !v.At(i).HasCalls() {
			continue
		}
		if kept >= o.KeepRounds && v.Protected(i)&middleware.Fresh == 0 {
			return end
		}
		end = i
		kept++
	}
	if from > 0 && kept >= o.KeepRounds {
		return end // it belongs to the round before from, which is old: a result that came late
	}
	return from
}

// edit adds the edit of a message whose parts are those in the arena from the
// given one on.
func (s *survey) edit(i, from int) {
	if !s.making {
		s.arena = s.arena[:from]
		return
	}
	if s.edits == nil {
		s.edits = make([]middleware.Edit, 0, (s.end-i)/2+1) // a round has two messages at least
		s.arena = slices.Grow(s.arena, cap(s.edits))
	}
	s.edits = append(s.edits, middleware.RewriteOf(i, s.arena[from:len(s.arena):len(s.arena)]...))
	s.edits[len(s.edits)-1].Archive, s.kept = s.kept, nil
}

// said shortens arguments and text of a message with calls.
func (o *editor) said(s *survey, i int, m message.Message) {
	given, ok := givenOf(s.view, i)
	if !ok {
		return
	}
	from, before := len(s.arena), s.done
	for _, p := range m.Parts {
		if slices.Contains(given.parts, p) { // else another middleware has put it there
			p = o.shortSaid(s, p)
		}
		s.arena = append(s.arena, p)
	}
	if s.done == before {
		s.arena = s.arena[:from]
		return
	}
	s.edit(i, from)
}

// shortSaid returns a part of a message with calls as it shall be.
func (o *editor) shortSaid(s *survey, p message.Part) message.Part {
	by := s.view.Meter().Counter
	switch p := p.(type) {
	case message.ToolCall:
		if o.Limit.Arguments <= 0 || slices.Contains(o.Protect, p.Name) {
			return p
		}
		if longer(p.Arguments, o.Limit.Arguments) == 0 {
			return p
		}
		mark := len(s.kept)
		short, ok := shortArguments(p.Arguments, o.Limit.Arguments, s.handleOf(p))
		if freed := by.Count(p.Arguments) - by.Count(short); ok && freed > 0 {
			p.Arguments = short
			s.freed += freed
			s.done.Arguments++
		} else {
			s.kept = s.kept[:mark]
		}
		return p
	case message.Text:
		n := longer(p.Text, o.Limit.Text)
		if o.Limit.Text <= 0 || n == 0 {
			return p
		}
		mark := len(s.kept)
		short := s.placeholder(n, s.handleOf(p))
		if freed := by.Count(p.Text) - short.tokens; freed > 0 {
			p.Text = short.text
			s.freed += freed
			s.done.Texts++
		} else {
			s.kept = s.kept[:mark]
		}
		return p
	case message.Thinking, message.Media, message.ToolResult, message.Opaque:
	}
	return p
}

// given is a message as the caller has it.
type given struct {
	parts []message.Part
	birth bool // and what is in the view was shortened at birth
}

// givenOf returns what the caller has at a place of the view, unless the message
// there is one that a fold has put: that is somebody's summary.
func givenOf(v *middleware.View, i int) (given, bool) {
	s := v.Span(i)
	switch {
	case s.Edit == nil:
		return given{parts: v.At(i).Parts}, true
	case s.Edit.Kind != middleware.Rewrite:
		return given{}, false
	}
	return given{parts: v.History()[s.First].Parts, birth: s.Edit.By == AtBirth}, true
}
