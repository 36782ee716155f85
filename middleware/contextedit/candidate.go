package contextedit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// candidate is a result that would get shorter if it were cleared.
type candidate struct {
	at     int // position of its message
	callID string
	tool   string // name of the tool
	call   int    // position of the call's message, -1: there is none
	round  int    // which round of the view it is in, from 1
	tokens int    // of the result
	freed  int    // tokens, if it is cleared, and its input with it if that goes too
	input  bool   // its input goes too
	fresh  bool   // no model has seen it yet
	failed bool

	stays bool // one of the keeps holds it
	goes  bool // it is cleared now
}

// survey is what a view has to clear.
type survey struct {
	found  []candidate // oldest first
	rounds int
}

// survey finds the results that could be cleared, now or later.
func (o Options) survey(v *middleware.View) survey {
	s := survey{found: make([]candidate, 0, v.Len()/2)}
	call, answer := -1, -1
	for i, m := range v.All() {
		switch m.Role {
		case message.RoleAssistant:
			answer = i
			if call = -1; m.HasCalls() {
				call = i
				s.rounds++
			}
		case message.RoleTool:
			if v.Protected(i)&middleware.Whole == 0 {
				s.found = o.inMessage(s.found, v, candidate{at: i, call: call, round: s.rounds})
			}
		case message.RoleSystem, message.RoleUser:
		}
	}
	for i := range s.found {
		s.found[i].fresh = s.found[i].at > answer
	}
	return s
}

// inMessage appends the candidates of one tool message. The pieces of one
// result are one candidate, wherever they stand.
func (o Options) inMessage(found []candidate, v *middleware.View, in candidate) []candidate {
	before := len(found)
	parts := v.At(in.at).Parts
	for i, p := range parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			continue
		}
		k := before + slices.IndexFunc(found[before:], func(c candidate) bool { return c.callID == r.CallID })
		if k < before {
			k = len(found)
			found = append(found, in)
			found[k].callID, found[k].tool = r.CallID, r.Name
		}
		c, n := &found[k], tokensOf(v, in.at, i)
		c.tokens += n
		c.freed += n
		c.failed = c.failed || r.Error
		if !o.joins(parts, i) {
			c.freed -= tokens.Part(v.Counter(), o.cleared(r))
		}
	}
	kept := found[:before]
	for _, c := range found[before:] {
		call := callOf(v, c)
		if c.freed <= 0 || o.excludes(c.tool) || o.excludes(call.Name) || isCleared(v, c) {
			continue
		}
		if saved := o.inputSaving(v, c, call); saved > 0 && !inputOf(kept, c) {
			c.input = true
			c.freed += saved
		}
		kept = append(kept, c)
	}
	return kept
}

// inputOf reports whether one of these candidates takes the input of c's call
// with it: a broken history may have several results of one call.
func inputOf(found []candidate, c candidate) bool {
	for _, o := range slices.Backward(found) {
		if o.call != c.call {
			break
		}
		if o.input && o.callID == c.callID {
			return true
		}
	}
	return false
}

// tokensOf returns the tokens of one part of a message. Those of a result that
// is alone in its message are known: its text is not counted anew.
func tokensOf(v *middleware.View, at, part int) int {
	m := v.At(at)
	if len(m.Parts) == 1 {
		return v.TokensOf(at) - tokens.PerMessage - v.Counter().Count(m.Name)
	}
	return tokens.Part(v.Counter(), m.Parts[part])
}

// callOf returns the call that a result answers; zero: there is none.
func callOf(v *middleware.View, c candidate) message.ToolCall {
	if c.call < 0 {
		return message.ToolCall{}
	}
	for _, p := range v.At(c.call).Parts {
		if call, ok := p.(message.ToolCall); ok && call.ID == c.callID {
			return call
		}
	}
	return message.ToolCall{}
}

func (o Options) excludes(tool string) bool { return slices.Contains(o.ExcludeTools, tool) }

// inputSaving returns the tokens that clearing the input of a call frees; 0: it
// stays.
func (o Options) inputSaving(v *middleware.View, c candidate, call message.ToolCall) int {
	if c.call < 0 || v.Protected(c.call) != 0 || !o.ClearToolInputs && !slices.Contains(o.ClearInputsOf, call.Name) {
		return 0
	}
	return v.Counter().Count(call.Arguments) - v.Counter().Count(clearedInput)
}

// isCleared reports whether this middleware has cleared a result already. The
// journal says so, not the text.
func isCleared(v *middleware.View, c candidate) bool {
	s := v.Span(c.at)
	if s.Edit == nil || s.Edit.By != Name || s.Edit.Kind != middleware.Rewrite {
		return false
	}
	of := func(m message.Message) (pieces []message.ToolResult) {
		for r := range m.Results() {
			if r.CallID == c.callID {
				pieces = append(pieces, r)
			}
		}
		return pieces
	}
	now := v.At(c.at)
	alone := !slices.ContainsFunc(now.Parts, func(p message.Part) bool {
		r, ok := p.(message.ToolResult)
		return ok && r.CallID != c.callID
	})
	return alone || !slices.Equal(of(now), of(v.History()[s.First]))
}

// choose returns those that go now, oldest first, and the tokens that this
// frees.
func (o Options) choose(s survey) (chosen []candidate, freed int) {
	o.keep(s)
	for _, failed := range []bool{false, true} {
		for i := range s.found {
			c := &s.found[i]
			if c.failed == failed && !c.stays && (o.StopAfter == 0 || freed < o.StopAfter) {
				c.goes = true
				freed += c.freed
			}
		}
	}
	return slices.DeleteFunc(s.found, func(c candidate) bool { return !c.goes }), freed
}

// keep marks the results that one of the keeps holds.
func (o Options) keep(s survey) {
	kept, held := 0, 0
	for i := range slices.Backward(s.found) {
		c := &s.found[i]
		held += c.tokens
		if c.fresh || kept < o.Keep || c.round > s.rounds-o.KeepRounds || held <= o.KeepTokens {
			c.stays = true
			kept++
		}
	}
}
