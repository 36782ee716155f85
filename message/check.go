package message

import (
	"slices"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// contentOf returns the violations of message i that do not depend on other messages.
func contentOf(msgs []Message, i int) []Violation {
	var found []Violation
	m := &msgs[i]
	report := func(r rule, id string) { found = append(found, Violation{Rule: r.String(), At: i, CallID: id}) }
	switch m.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
	default:
		report(unknownRole, "")
	}
	if !utf8.ValidString(m.Name) {
		report(badText, "")
	}
	for _, p := range m.Parts {
		switch {
		case p == nil:
			report(nilPart, "")
			continue
		case !knownPart(p):
			report(unknownPart, "")
			continue
		}
		if id, valid := isText(p); !valid {
			report(badText, id)
		}
		switch p := p.(type) {
		case ToolCall:
			if m.Role != RoleAssistant {
				report(misplacedPart, p.ID)
			}
			if !jsonscan.IsObject(p.Arguments) {
				report(badArguments, p.ID)
			}
		case ToolResult:
			if m.Role != RoleTool || !holds(p.Content) {
				report(misplacedPart, p.CallID)
			}
		case Text, Thinking, Media, Opaque:
		}
	}
	if !slices.ContainsFunc(m.Parts, hasContent) {
		report(emptyMessage, "")
	}
	return found
}

// hasContent reports whether a message with this part is not empty.
func hasContent(p Part) bool {
	switch p := p.(type) {
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
	}
	return false
}

// pairing returns the violations of calls and results that do not match, without those that
// messages before from have caused. They are matched within one round, so IDs may be repeated
// in later rounds, as local models do.
func pairing(msgs []Message, from int) []Violation {
	p := pairer{msgs: msgs}
	if at := newest(RoleAssistant, msgs[:from]); at >= 0 {
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

// newest returns the position of the last message of a role, or -1.
func newest(role Role, msgs []Message) int {
	for i := range slices.Backward(msgs) {
		if msgs[i].Role == role {
			return i
		}
	}
	return -1
}

// pairer matches results with the calls of the last assistant message.
type pairer struct {
	msgs  []Message
	found []Violation
	noted map[Violation]bool // those of results: of several pieces, they are reported once

	at      int // the message of the calls
	calls   index
	twins   twins
	answers []int // for each call 1 + the position of the message with its result; 0: no result yet
	direct  bool  // all messages since then are results
}

func (p *pairer) visit(i int) {
	switch p.msgs[i].Role {
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
	p.calls = index{ids: p.calls.ids[:0]}
	p.answers = p.answers[:0]
	p.twins = nil
	repeated := false
	for _, part := range p.msgs[i].Parts {
		c, ok := part.(ToolCall)
		if !ok {
			continue
		}
		if p.calls.find(c.ID) >= 0 {
			p.found = append(p.found, Violation{duplicateCall.String(), i, c.ID})
			repeated = true
		}
		p.calls.add(c.ID)
		p.answers = append(p.answers, 0)
	}
	if !repeated {
		return
	}
	p.twins = twinsOf(&p.calls)
	for more := true; more && i+1 < len(p.msgs); {
		i++
		more = p.twins.count(&p.msgs[i])
	}
}

func (p *pairer) answer(i int) {
	for n, part := range p.msgs[i].Parts {
		r, ok := part.(ToolResult)
		if !ok {
			continue
		}
		k := p.callOf(i, n, r.CallID)
		switch {
		case k < 0:
			p.note(orphanedResult, i, r.CallID)
		case p.answers[k] == i+1: // a further piece of the same result
		case p.answers[k] > 0:
			p.note(duplicateResult, i, r.CallID)
		default:
			p.answers[k] = i + 1
			if !p.direct {
				p.note(displacedResult, i, r.CallID)
			}
		}
	}
}

// callOf returns the call of a result, part n of message i, or -1. It is called once for
// each piece, in order.
func (p *pairer) callOf(i, n int, id string) int {
	if w := p.twins[id]; w != nil {
		return w.take(i, p.msgs[i].Parts, n)
	}
	return p.calls.find(id)
}

// close reports the calls without results.
func (p *pairer) close() {
	for k, answer := range p.answers {
		if answer == 0 {
			p.found = append(p.found, Violation{unansweredCall.String(), p.at, p.calls.ids[k]})
		}
	}
}

func (p *pairer) note(r rule, at int, id string) {
	v := Violation{r.String(), at, id}
	if p.noted[v] {
		return
	}
	if p.noted == nil {
		p.noted = map[Violation]bool{}
	}
	p.noted[v] = true
	p.found = append(p.found, v)
}

// index finds the calls of a message by ID.
type index struct {
	ids []string
	at  map[string]int // the first position of each ID, if there are more than a few
}

const fewCalls = 8 // among so many a search is faster than a map

func (x *index) add(id string) {
	x.ids = append(x.ids, id)
	if len(x.ids) <= fewCalls {
		return
	}
	if x.at == nil {
		x.at = make(map[string]int, 2*len(x.ids))
		for k, id := range slices.Backward(x.ids) {
			x.at[id] = k
		}
	}
	if _, ok := x.at[id]; !ok {
		x.at[id] = len(x.ids) - 1
	}
}

// find returns the first position of an ID, or -1.
func (x *index) find(id string) int {
	if x.at == nil {
		return slices.Index(x.ids, id)
	}
	if k, ok := x.at[id]; ok {
		return k
	}
	return -1
}

// indexOf returns the IDs of the calls of a message.
func indexOf(m *Message) (x index) {
	for c := range m.Calls() {
		x.add(c.ID)
	}
	return x
}
