package contextedit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// candidate is a result that would get shorter if it were cleared, or the
// thinking of a message.
type candidate struct {
	at     int // position of its message
	callID string
	call   int  // position of the call's message, -1: there is none
	round  int  // which round of the view it is in, from 1
	tokens int  // of the result
	freed  int  // tokens, if it is cleared, and its input with it if that goes too
	input  bool // its input goes too
	fresh  bool // no model has seen it yet
	failed bool
	listed bool // Only names the tool of the result
	stays  bool // by its name, or since one of the keeps holds it

	archived *archived // nil: what goes is not kept

	superseded bool // the call has been made again and has a newer result
	thinking   bool // it is thinking; then only at, call and freed say something
}

// survey is what a view has to clear.
type survey struct {
	found    []candidate // results, oldest first
	thinking []candidate // oldest first
	rounds   int

	view        *middleware.View
	placeholder int // tokens of its text, which are the same each time
}

// survey finds what could be cleared, now or later.
func (o *editor) survey(v *middleware.View) survey {
	s := survey{found: make([]candidate, 0, v.Len()/2), view: v}
	s.placeholder = s.view.Meter().Counter.Count(o.likelyPlaceholder(v))
	call, answer := -1, -1
	newest := 0
	if o.ClearThinking {
		newest = newestTurn(v)
	}
	for i, m := range v.Messages() {
		switch m.Role {
		case message.RoleAssistant:
			answer = i
			if call = -1; m.HasCalls() {
				call = i
				s.rounds++
			}
			if newest > 0 {
				if c, ok := thinkingOf(v, i, m, newest); ok {
					s.thinking = append(s.thinking, c)
				}
			}
		case message.RoleTool:
			if v.Protected(i)&middleware.Whole == 0 {
				o.inMessage(&s, m.Parts, i, call)
			}
		case message.RoleSystem, message.RoleUser:
		}
	}
	for i := range s.found {
		s.found[i].fresh = s.found[i].at > answer
	}
	return s
}

// inMessage appends the candidates of the tool message at a position, behind the
// message that may have made the calls. The pieces of a result are one
// candidate, wherever they stand in it.
func (o *editor) inMessage(s *survey, parts []message.Part, at, call int) {
	before := len(s.found)
	for i, p := range parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			continue
		}
		k := before + slices.IndexFunc(s.found[before:], func(c candidate) bool { return c.callID == r.CallID })
		if k < before {
			k = len(s.found)
			s.found = append(s.found, candidate{})
		}
		c, n := &s.found[k], s.tokensOf(parts, i, at)
		c.at, c.callID, c.call, c.round = at, r.CallID, call, s.rounds
		c.tokens += n
		c.freed += n
		c.failed = c.failed || r.Error
		c.stays = c.stays || o.excludes(r.Name)
		c.listed = c.listed || slices.Contains(o.Only, r.Name)
		if !joins(parts, i) {
			c.freed -= s.view.Meter().Counter.Count(r.CallID) + s.placeholder
		}
	}
	kept := before
	for i := before; i < len(s.found); i++ {
		if o.qualifies(s.view, s.found[:kept], &s.found[i]) {
			if kept != i {
				s.found[kept] = s.found[i]
			}
			kept++
		}
	}
	s.found = s.found[:kept]
}

// tokensOf returns the tokens of part i of the message at a position. Those of a
// result that is alone in its message are known: its text is not counted anew.
func (s *survey) tokensOf(parts []message.Part, i, at int) int {
	if len(parts) == 1 {
		return s.view.TokensOf(at) - s.view.Meter().Message(message.Message{Name: s.view.At(at).Name})
	}
	return s.view.Meter().Part(parts[i])
}

// qualifies reports whether a result could be cleared at all, and completes
// what is known of it. Those before it have been completed.
func (o *editor) qualifies(v *middleware.View, before []candidate, c *candidate) bool {
	if c.freed <= 0 || c.stays || isCleared(v, c) {
		return false
	}
	if o.Only == nil && len(o.ExcludeTools) == 0 && o.MayClear == nil && !o.ClearToolInputs && len(o.ClearInputsOf) == 0 {
		return true // the call has no say
	}
	call := callOf(v, c)
	if !o.mayClear(v, c, call) {
		return false
	}
	if saved := o.inputSaving(v, c, call); saved > 0 && !inputGoes(before, c) {
		c.input = true
		c.freed += saved
	}
	return true
}

// mayClear reports whether the options let a result of this call be cleared.
func (o *editor) mayClear(v *middleware.View, c *candidate, call message.ToolCall) bool {
	switch {
	case o.excludes(call.Name):
		return false
	case o.Only != nil && !c.listed && !slices.Contains(o.Only, call.Name):
		return false
	}
	return o.MayClear == nil || o.MayClear(call, piecesOf(v.At(c.at), c.callID))
}

// inputGoes reports whether the input of c's call goes with another result: in a
// broken history a call may have several.
func inputGoes(before []candidate, c *candidate) bool {
	for i := len(before) - 1; i >= 0 && before[i].call == c.call; i-- {
		if before[i].input && before[i].callID == c.callID {
			return true
		}
	}
	return false
}

// callOf returns the call that a result answers; zero: there is none.
func callOf(v *middleware.View, c *candidate) message.ToolCall {
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

func (o *editor) excludes(tool string) bool { return slices.Contains(o.ExcludeTools, tool) }

// inputSaving returns the tokens that clearing the input of a call frees; 0: it
// stays.
func (o *editor) inputSaving(v *middleware.View, c *candidate, call message.ToolCall) int {
	if c.call < 0 || v.Protected(c.call) != 0 || !o.ClearToolInputs && !slices.Contains(o.ClearInputsOf, call.Name) {
		return 0
	}
	if v.Env().Archive != nil && !store.Asked(call).IsZero() {
		return 0 // the placeholder of what was recalled says where, and the call which part
	}
	return v.Meter().Counter.Count(call.Arguments) - v.Meter().Counter.Count(likelyInput(v))
}

// isCleared reports whether this middleware has cleared a result already. The
// journal says so, not the text.
func isCleared(v *middleware.View, c *candidate) bool {
	s := v.Span(c.at)
	if s.Edit == nil || s.Edit.By != Name || s.Edit.Kind != middleware.Rewrite {
		return false
	}
	now := v.At(c.at)
	alone := !slices.ContainsFunc(now.Parts, func(p message.Part) bool {
		r, ok := p.(message.ToolResult)
		return ok && r.CallID != c.callID
	})
	return alone || !slices.Equal(piecesOf(now, c.callID), piecesOf(v.History()[s.First], c.callID))
}
