package microcompact

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// original returns the parts of message i of the view before any rewrite. ok is false
// if a fold has put the message there: it is the summary of another middleware. isNew
// is true if NewResults has rewritten the message.
func original(v *middleware.View, i int) (parts []message.Part, isNew, ok bool) {
	e := v.Span(i).Edit
	if e != nil && e.Kind != journal.Rewrite {
		return nil, false, false
	}
	return v.Original(i).Parts, e != nil && e.Middleware == NewResults, true
}

// shortenAnswer shortens arguments and texts of assistant message i, except for parts
// that another middleware has changed.
func (s *survey) shortenAnswer(i int, parts []message.Part) {
	given, _, ok := original(s.view, i)
	if !ok {
		return
	}
	from, before := len(s.arena), s.done
	for _, p := range parts {
		if slices.Contains(given, p) {
			p = s.shortenPart(p)
		}
		s.arena = append(s.arena, p)
	}
	if s.done == before {
		s.arena = s.arena[:from]
		return
	}
	s.edit(i, from)
}

// shortenPart returns a call with shorter arguments, or the placeholder of a text. It
// returns the part itself if it is kept.
func (s *survey) shortenPart(p message.Part) message.Part {
	by, archived := s.view.Meter().Counter, len(s.archived)
	switch p := p.(type) {
	case message.ToolCall:
		if s.Limit.Arguments <= 0 || slices.Contains(s.Protect, p.Name) || longer(p.Arguments, s.Limit.Arguments) == 0 {
			return p
		}
		short, ok := shortArguments(p.Arguments, s.Limit.Arguments, s.handle(p))
		if !ok {
			short = p.Arguments
		}
		if s.frees(by.Count(p.Arguments)-by.Count(short), archived) {
			p.Arguments = short
			s.done.Arguments++
		}
		return p
	case message.Text:
		n := longer(p.Text, s.Limit.Text)
		if s.Limit.Text <= 0 || n == 0 {
			return p
		}
		short := s.placeholder(removed{chars: n, handle: s.handle(p)})
		if s.frees(by.Count(p.Text)-short.tokens, archived) {
			p.Text = short.text
			s.done.Texts++
		}
		return p
	case message.Thinking, message.Media, message.ToolResult, message.Opaque:
	}
	return p
}

// shortenResults shortens the results in tool message i, except for those that another
// middleware has changed.
func (s *survey) shortenResults(i int, parts []message.Part) {
	if !s.isBulky(parts) {
		return
	}
	given, isNew, ok := original(s.view, i)
	if !ok {
		return
	}
	from, before := len(s.arena), s.done
	s.arena = append(s.arena, parts...)
	for id := range shorten.CallIDs(parts) {
		was := shorten.Result(given, id)
		if !s.isProtected(s.view, s.call, parts, id) && (isNew || slices.Equal(was, shorten.Result(parts, id))) {
			s.shortenResult(i, from, was, id)
		}
	}
	if s.done == before {
		s.arena = s.arena[:from]
		return
	}
	s.edit(i, from)
}

// isBulky reports whether a message may have something to shorten.
func (s *survey) isBulky(parts []message.Part) bool {
	n := 0
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok {
			if n += len(r.Text); n > s.Limit.Results || r.Content != nil {
				return true
			}
		}
	}
	return false
}

// shortenResult shortens one result in tool message i, whose parts are those in the
// arena from that index. was is the result before any rewrite.
func (s *survey) shortenResult(i, from int, was []message.Part, callID string) {
	var all removed
	for _, p := range was {
		r, _ := p.(message.ToolResult)
		all.chars += length(r.Text)
		if r.Content != nil {
			all.attachments++
		}
	}
	parts, archived := s.arena[from:], len(s.archived)
	switch {
	case all.chars > s.Limit.Results:
		all.handle = s.resultHandle(was, callID)
		short := s.placeholder(all)
		freed := s.freedBy(i, parts, callID, short.tokens)
		if !s.frees(freed, archived) {
			return
		}
		if s.editing {
			s.arena = shorten.AppendCleared(s.arena[:from], parts, func(id string) (string, bool) { return short.text, id == callID })
			if s.Digest > 0 {
				s.cleared = append(s.cleared, digest.Result{At: i, CallID: callID, Frees: freed})
			}
		}
	case all.attachments > 0:
		short, freed := s.withoutAttachments(parts, callID)
		if !s.frees(freed, archived) {
			return
		}
		copy(parts, short)
	default:
		return
	}
	s.done.Results++
}

// freedBy returns the tokens that a placeholder of that size frees in the place of a
// result. If a message is one part, its tokens are known without counting.
func (s *survey) freedBy(i int, parts []message.Part, callID string, placeholder int) int {
	meter := s.view.Meter()
	each := meter.Counter.Count(callID) + placeholder
	if len(parts) == 1 {
		return s.view.TokensOf(i) - meter.Message(message.Message{Name: s.view.At(i).Name}) - each
	}
	freed := 0
	for k, r := range shorten.Pieces(parts, callID) {
		freed += meter.Part(r)
		if !shorten.Joins(parts, k) {
			freed -= each
		}
	}
	return freed
}

// withoutAttachments returns parts with placeholders in the place of the attachments of
// one result, and the tokens that this frees. Each attachment is archived by itself.
func (s *survey) withoutAttachments(parts []message.Part, callID string) (short []message.Part, freed int) {
	short = slices.Clone(parts)
	for k, r := range shorten.Pieces(parts, callID) {
		if r.Content == nil {
			continue
		}
		text := removed{attachments: 1, handle: s.handle(message.ToolResult{Content: r.Content})}.placeholder()
		freed += s.view.Meter().Part(r)
		if r.Content = nil; r.Text != "" {
			text = r.Text + "\n" + text
		}
		r.Text = text
		freed -= s.view.Meter().Part(r)
		short[k] = r
	}
	return short, freed
}

// resultHandle returns the handle of a result. Recalled results are in the archive
// already.
func (s *survey) resultHandle(was []message.Part, callID string) store.Handle {
	if s.archive == nil {
		return store.Handle{}
	}
	if h := s.asked(s.view, s.call, callID); store.Has(s.ctx, s.archive, h) {
		return h
	}
	return s.handle(was...)
}

// asked returns the handle that a call asks the archive for. call is the position of
// its message or -1. The handle is zero for other tools.
func (o *editor) asked(v *middleware.View, call int, callID string) store.Handle {
	if call < 0 {
		return store.Handle{}
	}
	parts, _, _ := original(v, call)
	return store.Asked(shorten.Call(parts, callID))
}

// isProtected reports whether a result is of a protected tool, by the name in its call
// or in one of its pieces. call is the position of the message with the call or -1.
func (o *editor) isProtected(v *middleware.View, call int, parts []message.Part, callID string) bool {
	if call >= 0 {
		for _, p := range v.At(call).Parts {
			if c, ok := p.(message.ToolCall); ok && c.ID == callID && slices.Contains(o.Protect, c.Name) {
				return true
			}
		}
	}
	for _, r := range shorten.Pieces(parts, callID) {
		if slices.Contains(o.Protect, r.Name) {
			return true
		}
	}
	return false
}
