package message

import (
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// Rule names what a message list must satisfy. The rules here are those on
// which the providers agree; sources: the API references and error texts of
// OpenAI chat completions, Anthropic messages, Gemini and Bedrock Converse.
type Rule string

// The rules of [Check], named after how they are broken.
const (
	UnansweredCall  Rule = "unanswered call"  // a tool call without its result
	OrphanedResult  Rule = "orphaned result"  // a result without its call since the last assistant message
	DisplacedResult Rule = "displaced result" // something stands between the call's message and the result
	DuplicateCall   Rule = "duplicate call"   // two calls of one message have the same id
	DuplicateResult Rule = "duplicate result" // a call has two results
	BadArguments    Rule = "bad arguments"    // arguments that are not a JSON object
	EmptyMessage    Rule = "empty message"    // no part that says anything
	NilPart         Rule = "nil part"         // a part that is nil
	MisplacedPart   Rule = "misplaced part"   // in a message that cannot have it: a call, a result, what is no content of a result
	UnknownPart     Rule = "unknown part"     // none of the six types of parts: a pointer to one, say
	UnknownRole     Rule = "unknown role"     // none of the four roles
)

// Violation is one broken rule. Violations are comparable.
type Violation struct {
	Rule   Rule
	At     int    // index of the message that breaks it
	CallID string // of the call or result concerned; "" for rules about something else
}

// String says what is broken and where.
func (v Violation) String() string {
	if v.CallID == "" {
		return fmt.Sprintf("message %d: %s", v.At, v.Rule)
	}
	return fmt.Sprintf("message %d: %s %q", v.At, v.Rule, v.CallID)
}

// InvalidError lists all that is wrong with a message list.
type InvalidError struct {
	Violations []Violation // in the order of the messages, at least one
}

// Error names the first violations and counts the others.
func (e *InvalidError) Error() string {
	const shown = 3
	var texts []string
	for _, v := range e.Violations[:min(shown, len(e.Violations))] {
		texts = append(texts, v.String())
	}
	if more := len(e.Violations) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return "message: " + strings.Join(texts, "; ")
}

// Check reports whether a provider would accept the list: each call has
// exactly its results, directly behind it; the parallel calls of a message are
// answered together; arguments are JSON objects; no message is empty. The
// error is an [*InvalidError] that lists every violation. A list that ends in
// calls still to be run breaks [UnansweredCall]: it can be stored, but not
// sent. No messages at all break no rule.
func Check(msgs []Message) error {
	return Rules(0).Check(msgs)
}

// Content returns the violations that message i shows by itself, whatever
// stands around it.
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
	if !slices.ContainsFunc(m.Parts, says) {
		report(EmptyMessage, "")
	}
	return found
}

// says reports whether a part keeps its message from being empty.
func says(p Part) bool {
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

// Pairing returns the violations that lie between messages: calls and results
// that do not belong together. Calls and results are matched within one round,
// so ids may repeat in later rounds, as those of local models do.
func Pairing(msgs []Message) []Violation { return pairing(msgs, 0) }

// pairing leaves out what the messages before from settled.
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

// pairer walks a history and holds the calls of the newest assistant message.
type pairer struct {
	msgs  []Message
	found []Violation

	at     int // the message that made the calls
	open   []openCall
	direct bool // nothing but results has been seen since
}

type openCall struct {
	id     string
	answer int // 1 + index of the message that answered it; 0: none has
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

// close reports the calls that nobody answered.
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

// reportOnce reports a result of several pieces once, also if others stand
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
