package microcompact

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
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
	return v.Original(i).Parts, e != nil && e.Middleware == newResultsName, true
}

// shortenAnswer shortens arguments and texts of assistant message i, except for parts
// that another middleware has changed.
func (s *survey) shortenAnswer(i int, parts []message.Part) {
	given, _, ok := original(s.view, i)
	if !ok {
		return
	}
	from, before := len(s.arena), s.done
	unchanged := contains(given)
	for _, p := range parts {
		if s.ctx.Err() == nil && unchanged(p) {
			p = s.shortenPart(i, p)
		}
		s.arena = append(s.arena, p)
	}
	if s.done == before {
		s.arena = s.arena[:from]
		return
	}
	s.edit(i, from)
}

// contains returns a function that reports whether a part is one of some parts.
func contains(parts []message.Part) func(message.Part) bool {
	const few = 8
	if len(parts) <= few {
		return func(p message.Part) bool { return slices.Contains(parts, p) }
	}
	all := make(map[message.Part]bool, len(parts))
	for _, p := range parts {
		all[p] = true
	}
	return func(p message.Part) bool { return all[p] }
}

// shortenPart returns a call of message i with shorter arguments, or the placeholder of a
// text. It returns the part itself if it is kept.
func (s *survey) shortenPart(i int, p message.Part) message.Part {
	by, before := s.view.Meter().Counter, len(s.archived)
	switch p := p.(type) {
	case message.ToolCall:
		if s.Limit.Arguments <= 0 || s.view.ProtectedPart(i, p).Whole || longer(p.Arguments, s.Limit.Arguments) == 0 {
			return p
		}
		short, ok := shortArguments(p.Arguments, s.Limit.Arguments, s.handle(i, p))
		if !ok {
			short = p.Arguments
		}
		if s.frees(by.Count(p.Arguments)-by.Count(short), before) {
			p.Arguments = short
			s.done.Arguments++
		}
		return p
	case message.Text:
		n := longer(p.Text, s.Limit.Text)
		if s.Limit.Text <= 0 || n == 0 {
			return p
		}
		short := s.placeholder(removed{chars: n, handle: s.handle(i, p)})
		if s.frees(by.Count(p.Text)-short.tokens, before) {
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
	short := map[string]string{} // placeholders of results
	for id := range shorten.CallIDs(parts) {
		if s.ctx.Err() != nil {
			break
		}
		was := shorten.Result(given, id)
		unchanged := isNew || slices.Equal(was, shorten.Result(parts, id))
		if unchanged && !isProtected(s.view, i, id) {
			s.shortenResult(i, parts, from, was, id, short)
		}
	}
	if s.done == before {
		s.arena = s.arena[:from]
		return
	}
	if len(short) > 0 {
		s.arena = shorten.AppendCleared(s.arena[:from], s.view.Messages(), i, s.arena[from:], func(id string) (string, bool) {
			text, ok := short[id]
			return text, ok
		})
	}
	s.edit(i, from)
}

// isBulky reports whether a message may have something to shorten.
func (s *survey) isBulky(parts []message.Part) bool {
	n := 0
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok {
			n += len(r.Text)
			if n > s.Limit.Results || r.Content != nil {
				return true
			}
		}
	}
	return false
}

// shortenResult shortens one result in tool message i, whose parts are also in the arena
// from that index: it adds a placeholder to short, or replaces attachments in the arena.
// was is the result before any rewrite.
func (s *survey) shortenResult(
	i int, parts []message.Part, from int, was []message.Part, callID string, short map[string]string,
) {
	var all removed
	opaque := false
	for _, p := range was {
		r, _ := p.(message.ToolResult)
		all.chars += length(r.Text)
		if r.Content != nil {
			all.attachments++
		}
		opaque = opaque || s.view.ProtectedPart(i, p).Opaque
	}
	before := len(s.archived)
	switch {
	case all.chars > s.Limit.Results && !opaque:
		all.handle = s.resultHandle(i, was, callID)
		placeholder := s.placeholder(all)
		freed := s.freedBy(i, parts, callID, placeholder.tokens)
		if !s.frees(freed, before) {
			return
		}
		if s.editing {
			short[callID] = placeholder.text
			if s.Digest > 0 {
				s.cleared = append(s.cleared, digest.Result{At: i, CallID: callID, Frees: freed})
			}
		}
	case all.attachments > 0:
		pieces, freed := s.shortPieces(i, parts, callID)
		if !s.frees(freed, before) {
			return
		}
		for k, r := range pieces {
			s.arena[from+k] = r
		}
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
		if !shorten.Joins(s.view.Messages(), i, k) {
			freed -= each
		}
	}
	return freed
}

// shortPieces returns the pieces of one result of message i that have attachments or a long text, by their positions, with
// placeholders in place of these, and the tokens that this frees. Each is archived by itself. What only the provider can read stays.
func (s *survey) shortPieces(i int, parts []message.Part, callID string) (short map[int]message.Part, freed int) {
	short = map[int]message.Part{}
	for k, r := range shorten.Pieces(parts, callID) {
		before, n := s.view.Meter().Part(r), length(r.Text)
		attached := r.Content != nil && !s.view.ProtectedPart(i, r).Opaque
		if n > s.Limit.Results {
			r.Text = s.placeholder(removed{chars: n, handle: s.handle(i, message.Text{Text: r.Text})}).text
		} else if !attached {
			continue
		}
		if attached {
			text := removed{attachments: 1, handle: s.handle(i, message.ToolResult{Content: r.Content})}.placeholder()
			r.Text, r.Content = strings.TrimPrefix(r.Text+"\n"+text, "\n"), nil
		}
		freed += before - s.view.Meter().Part(r)
		short[k] = r
	}
	return short, freed
}

// resultHandle returns the handle of a result of message i. Recalled results are in the archive
// already.
func (s *survey) resultHandle(i int, was []message.Part, callID string) store.Handle {
	if s.archive == nil {
		return store.Handle{}
	}
	if h := s.asked(s.view, s.call, callID); shorten.Archived(s.ctx, s.archive, h) {
		return h
	}
	return s.handle(i, was...)
}

// asked returns the handle that a call asks the archive for. call is the position of
// its message or -1. The handle is zero for other tools.
func (o *editor) asked(v *middleware.View, call int, callID string) store.Handle {
	if call < 0 {
		return store.Handle{}
	}
	parts, _, _ := original(v, call)
	return archived.Asked(shorten.Call(parts, callID))
}

// isProtected reports whether message i has a result of a protected tool for a call.
func isProtected(v *middleware.View, i int, callID string) bool {
	for _, r := range shorten.Pieces(v.At(i).Parts, callID) {
		if v.ProtectedPart(i, r).Whole {
			return true
		}
	}
	return false
}
