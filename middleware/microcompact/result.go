package microcompact

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
)

// results shortens the results in the tool message at a position.
func (o *editor) results(s *survey, i int, parts []message.Part) {
	if !o.bulky(parts) {
		return
	}
	given, ok := givenOf(s.view, i)
	if !ok {
		return
	}
	before := s.done
	if r, ok := parts[0].(message.ToolResult); ok && len(parts) == 1 && r.Content == nil {
		o.alone(s, i, r, given)
		return
	}
	now := parts
	for k, p := range parts {
		r, ok := p.(message.ToolResult)
		if !ok || indexOf(parts, r.CallID) < k || s.round.protects(parts, r.CallID, o.Protect) {
			continue
		}
		g, all := o.judge(parts, given, r.CallID)
		if g == (gone{}) {
			continue
		}
		mark := len(s.kept)
		if all {
			g.handle = s.handleOfResult(given.parts, r.CallID)
		}
		short := s.without(now, r.CallID, g, all)
		if freed := s.tokensOf(now, r.CallID) - s.tokensOf(short, r.CallID); freed > 0 {
			now = short
			o.leaves(s, i, r.CallID, freed, all)
		} else {
			s.kept = s.kept[:mark]
		}
	}
	if s.done != before {
		from := len(s.arena)
		s.arena = append(s.arena, now...)
		s.edit(i, from)
	}
}

// bulky reports whether a message may have something to shorten.
func (o *editor) bulky(parts []message.Part) bool {
	n := 0
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok {
			if n += len(r.Text); n > o.Limit.Results || r.Content != nil {
				return true
			}
		}
	}
	return false
}

// alone shortens a result that is all that a message has, and text: what most are.
// The tokens of its message are known.
func (o *editor) alone(s *survey, i int, r message.ToolResult, given given) {
	was, _ := given.parts[0].(message.ToolResult)
	n := longer(was.Text, o.Limit.Results)
	if n == 0 || (r != was || len(given.parts) > 1) && !given.birth || s.round.protects(given.parts, r.CallID, o.Protect) {
		return
	}
	short := s.placeholder(n, s.handleOfResult(given.parts, r.CallID))
	beside := s.view.Meter().Message(message.Message{Name: s.view.At(i).Name}) + s.view.Meter().Counter.Count(r.CallID)
	freed := s.view.TokensOf(i) - beside - short.tokens
	if freed <= 0 {
		s.kept = nil
		return
	}
	o.leaves(s, i, r.CallID, freed, true)
	if from := len(s.arena); s.making {
		r.Text = short.text
		s.arena = append(s.arena, r)
		s.edit(i, from)
	}
}

// leaves notes what a result frees that becomes shorter, and, if all of it goes,
// that it may leave facts.
func (o *editor) leaves(s *survey, i int, callID string, freed int, all bool) {
	s.freed += freed
	s.done.Results++
	if all && s.making && o.Digest > 0 {
		s.gone = append(s.gone, digest.Result{At: i, CallID: callID, Frees: freed})
	}
}

// judge returns what of a result shall go: all of it, or only what is no text;
// nothing if there is nothing to shorten, or if another middleware has.
func (o *editor) judge(parts []message.Part, given given, callID string) (g gone, all bool) {
	was := pieces(given.parts, callID)
	if !given.birth && !slices.Equal(was, pieces(parts, callID)) {
		return gone{}, false
	}
	for _, r := range was {
		g.chars += length(r.Text)
		if r.Content != nil {
			g.attachments++
		}
	}
	switch {
	case g.chars > o.Limit.Results:
		return g, true
	case g.attachments > 0:
		return gone{attachments: 1}, false
	}
	return gone{}, false
}

// without returns the parts of a message with a placeholder in place of a result,
// or in place of each of its pieces that is no text; these are kept one by one.
func (s *survey) without(parts []message.Part, callID string, g gone, all bool) []message.Part {
	out := make([]message.Part, 0, len(parts))
	for k, p := range parts {
		r, ok := p.(message.ToolResult)
		ok = ok && r.CallID == callID && (all || r.Content != nil)
		if ok && !all {
			g.handle = s.handleOf(message.ToolResult{Content: r.Content})
		}
		switch {
		case !ok:
		case all && joins(parts, k):
			continue
		case all || r.Text == "":
			r.Text, r.Content = g.placeholder(), nil
		default:
			r.Text, r.Content = r.Text+"\n"+g.placeholder(), nil
		}
		if ok {
			p = r
		}
		out = append(out, p)
	}
	return out
}

// joins reports whether one placeholder stands for part k and the one before it:
// for pieces of one result, unless they differ in what a rewrite must keep.
func joins(parts []message.Part, k int) bool {
	if k == 0 {
		return false
	}
	a, ok1 := parts[k-1].(message.ToolResult)
	b, ok2 := parts[k].(message.ToolResult)
	return ok1 && ok2 && a.CallID == b.CallID && a.Name == b.Name && a.Error == b.Error
}

// pieces returns the pieces of one result.
func pieces(parts []message.Part, callID string) []message.ToolResult {
	var found []message.ToolResult
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok && r.CallID == callID {
			found = append(found, r)
		}
	}
	return found
}

// tokensOf returns the tokens of the pieces of one result.
func (s *survey) tokensOf(parts []message.Part, callID string) int {
	n := 0
	for _, r := range pieces(parts, callID) {
		n += s.view.Meter().Part(r)
	}
	return n
}
