package message

import (
	"slices"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// Content returns the violations of message i that do not depend on other messages.
func Content(msgs []Message, i int) []Violation {
	var found []Violation
	m := &msgs[i]
	report := func(r Rule, id string) { found = append(found, Violation{Rule: r, At: i, CallID: id}) }
	switch m.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
	default:
		report(UnknownRole, "")
	}
	for _, p := range m.Parts {
		if !KnownPart(p) {
			rule := UnknownPart
			if p == nil {
				rule = NilPart
			}
			report(rule, "")
			continue
		}
		switch p := p.(type) {
		case ToolCall:
			if m.Role != RoleAssistant {
				report(MisplacedPart, p.ID)
			}
			if !jsonscan.IsObject(p.Arguments) {
				report(BadArguments, p.ID)
			}
		case ToolResult:
			if m.Role != RoleTool || !holds(p.Content) {
				report(MisplacedPart, p.CallID)
			}
		case Text, Thinking, Media, Opaque:
		}
	}
	if !slices.ContainsFunc(m.Parts, hasContent) {
		report(EmptyMessage, "")
	}
	return found
}

// hasContent reports whether a message with this part is not empty.
func hasContent(p Part) bool {
	switch p := p.(type) {
	case nil:
		return false
	case Text:
		return !blank(p.Text)
	case Thinking, Media, ToolCall, ToolResult, Opaque:
		return true
	}
	return false
}

// holds reports whether a part may be the content of a result.
func holds(content Part) bool {
	switch content.(type) {
	case nil, Media, Opaque:
		return true
	case Text, Thinking, ToolCall, ToolResult:
		return false
	}
	return false
}

// Pairing returns the violations of calls and results that do not match. They are matched
// within one round, so IDs may be repeated in later rounds, as local models do.
func Pairing(msgs []Message) []Violation { return pairing(msgs, 0) }

// pairing is Pairing without the violations that messages before from have caused.
func pairing(msgs []Message, from int) []Violation {
	p := pairer{msgs: msgs}
	if at := newestAnswer(msgs[:from]); at >= 0 {
		for i := at; i < from; i++ {
			p.visit(i)
		}
		p.found = nil
	}
	for i := from; i < len(msgs); i++ {
		p.visit(i)
	}
	p.close()
	return p.found
}

// newestAnswer returns the position of the last assistant message, or -1.
func newestAnswer(msgs []Message) int {
	for i := range slices.Backward(msgs) {
		if msgs[i].Role == RoleAssistant {
			return i
		}
	}
	return -1
}

// pairer matches results with the calls of the last assistant message.
type pairer struct {
	msgs  []Message
	found []Violation

	at     int // the message of the calls
	open   []openCall
	direct bool // all messages since then are results
}

type openCall struct {
	id     string
	answer int // 1 + index of the message with its result; 0: no result yet
}

func (p *pairer) visit(i int) {
	m := &p.msgs[i]
	switch m.Role {
	case RoleAssistant:
		p.close()
		p.begin(i)
	case RoleTool:
		p.answer(i)
	default:
		p.direct = false
	}
}

func (p *pairer) begin(i int) {
	p.at, p.direct = i, true
	for _, part := range p.msgs[i].Parts {
		c, ok := part.(ToolCall)
		if !ok {
			continue
		}
		if p.find(c.ID) >= 0 {
			p.report(DuplicateCall, i, c.ID)
			continue
		}
		p.open = append(p.open, openCall{id: c.ID})
	}
}

func (p *pairer) answer(i int) {
	for _, part := range p.msgs[i].Parts {
		r, ok := part.(ToolResult)
		if !ok {
			continue
		}
		k := p.find(r.CallID)
		switch {
		case k < 0:
			p.reportOnce(OrphanedResult, i, r.CallID)
		case p.open[k].answer == i+1: // a further piece of the same result
		case p.open[k].answer > 0:
			p.reportOnce(DuplicateResult, i, r.CallID)
		default:
			p.open[k].answer = i + 1
			if !p.direct {
				p.report(DisplacedResult, i, r.CallID)
			}
		}
	}
}

// close reports the calls without results.
func (p *pairer) close() {
	for _, c := range p.open {
		if c.answer == 0 {
			p.report(UnansweredCall, p.at, c.id)
		}
	}
	p.open = p.open[:0]
}

func (p *pairer) find(id string) int {
	return slices.IndexFunc(p.open, func(c openCall) bool { return c.id == id })
}

func (p *pairer) report(r Rule, at int, id string) {
	p.found = append(p.found, Violation{Rule: r, At: at, CallID: id})
}

// reportOnce reports a result of several pieces once, even if there are other pieces
// between them.
func (p *pairer) reportOnce(r Rule, at int, id string) {
	v := Violation{Rule: r, At: at, CallID: id}
	for k := len(p.found) - 1; k >= 0 && p.found[k].At == at; k-- {
		if p.found[k] == v {
			return
		}
	}
	p.found = append(p.found, v)
}
